// A finding in plain words: what is wrong with both sides, what follows from it, and what to do. The words for a refused
// handshake are trust's; what fleetmend would do step by step is the plan's to say.
import { explainRejection } from "../trust/explain.ts";
import { explainBackend, explainSecret } from "./explain-backend.ts";
import { explainLook, explainNotice, explainOperator } from "./explain-owner.ts";
import type { Finding } from "./finding.ts";
import { listed, newPair, servesInWords } from "./finding-words.ts";
import type { FindingExplanation, FindingOf } from "./finding-words.ts";

/** Pure, and never throws. What it says holds names, dates and fingerprints, and no secret. */
export function explainFinding(finding: Finding): FindingExplanation {
  const { sentence, todo } = explainKind(finding);
  return { sentence: capitalized(sentence), todo: capitalized(todo) };
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function explainKind(finding: Finding): FindingExplanation {
  switch (finding.kind) {
    case "bundle-stale":
    case "bundle-empty":
    case "bundle-unparsable":
    case "certificate-expired":
    case "certificate-not-yet-valid":
    case "certificate-wrong-name":
    case "certificate-unusable":
    case "next-certificate-refused":
      return explainRefused(finding);
    case "secret-key-mismatch":
    case "secret-key-missing":
    case "secret-unusable":
    case "secret-bad-certificate":
    case "secret-absent":
    case "pod-serves-older":
      return explainSecret(finding);
    case "replicas-differ":
    case "holders-differ":
    case "service-missing":
    case "service-port-missing":
    case "service-unroutable":
    case "no-ready-endpoints":
    case "pod-not-serving":
      return explainBackend(finding);
    case "no-hooks":
    case "operator-down":
    case "operator-absent":
    case "operator-blind":
      return explainOperator(finding);
    case "owner-unknown":
    case "foreign-last-writer":
    case "bundle-wider-than-needed":
    case "fails-open":
    case "hook-leftover":
    case "expires-soon":
      return explainNotice(finding);
    case "trust-undetermined":
    case "not-seen":
    case "probe-disagrees":
    case "call-failed":
    case "drift-latent":
      return explainLook(finding);
  }
}

type Refused = FindingOf<
  | "bundle-stale"
  | "bundle-empty"
  | "bundle-unparsable"
  | "certificate-expired"
  | "certificate-not-yet-valid"
  | "certificate-wrong-name"
  | "certificate-unusable"
  | "next-certificate-refused"
>;

function explainRefused(finding: Refused): FindingExplanation {
  const { served, bundle, serverName, cause, readyPods } = finding;
  const sides = { bundle, ...(served.leaf && { leaf: served.leaf }) };
  // Of such a Secret it is known, or told by its age, that the pods still serve another leaf.
  const isNext = finding.kind === "next-certificate-refused";
  const serves = isNext ? "the Secret, which the pods have yet to load, holds" : servesInWords(served, readyPods);
  const context = { serves, bundle: "the bundle", serverName };
  const { sentence, todo } = explainRejection(cause, sides, context);
  return { sentence: `${sentence} ${consequence(finding)}`, todo: remedy(finding, todo) };
}

/** What follows, and when: a client that was built before keeps its connections, one whose bundle cannot be read has none. */
function consequence(finding: Refused): string {
  const { kind, served, readyPods, asked } = finding;
  if (kind === "next-certificate-refused") {
    return "Calls work until the pods load it: within two minutes of its change, or at their next restart.";
  }
  const { resources = ["pods"], failurePolicy = "Fail" } = asked ?? {};
  const write = resources.includes("pods") ? "pod create" : `write to ${resources.join(" and ")}`;
  const isPart = served.pods.length > 0 && served.pods.length < readyPods;
  const which = isPart ? `A ${write} that meets ${listed(served.pods)}` : `Every ${write} that it is asked about`;
  const outcome =
    failurePolicy === "Ignore" ? "passes without it, and nobody is told (failurePolicy Ignore)," : "is refused";
  const when =
    kind === "bundle-unparsable" ? "at once" : "at the next connection, however many still pass over older ones";
  return `${which} ${outcome} ${when}.`;
}

function remedy(finding: Refused, todo: string): string {
  const { kind, fixableBy } = finding;
  const isBundles = finding.cause.kind === "bundle-empty" || kind === "bundle-stale" || kind === "bundle-unparsable";
  switch (fixableBy) {
    case "fleetmend":
      return "Type fleetmend repair: it brings bundle and pods in line, and admission is at no moment worse than now.";
    case "time":
      return kind === "certificate-not-yet-valid"
        ? todo
        : "Wait two minutes and look again: the pods are about to load what the Secret holds, or the operator to copy it.";
    case "person":
    case "nobody-needed":
      return isBundles
        ? "Have whoever owns it put the certificate that is served, or its CA, into the bundle: fleetmend writes only to hooks whose owner it knows to be KAI."
        : `${todo} ${newPair}`;
  }
}
