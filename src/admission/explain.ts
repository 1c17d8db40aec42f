// A finding in plain words: one sentence with both sides, its consequence, and what to do. One text for each kind; the
// words for a refused handshake are trust's. What fleetmend would do step by step is the plan's to say.
import { explainRejection } from "../trust/explain.ts";
import type { CertificateSummary } from "../trust/verdict.ts";
import type { Finding, HookReference, ServedGroup } from "./finding.ts";

export interface FindingExplanation {
  /** What is wrong, both sides, and what follows. Sentences from a capital letter to a full stop. */
  readonly sentence: string;
  /** What to do or to type; "Nothing." where nothing is to be done. */
  readonly todo: string;
}

type Of<K extends Finding["kind"]> = Extract<Finding, { kind: K }>;

/** Never throws, for any finding; holds fingerprints and dates, and no secret. */
export function explainFinding(finding: Finding): FindingExplanation {
  const { sentence, todo } = explainKind(finding);
  return { sentence: capitalized(sentence), todo: capitalized(todo) };
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
      return explainSecret(finding);
    case "pod-serves-older":
      return explainOlder(finding);
    case "replicas-differ":
      return {
        sentence: `The pods behind ${finding.service} serve different certificates: ${finding.groups.map(groupInWords).join("; ")}. Which one a call meets is chance.`,
        todo: "A bundle that holds all of them accepts each; fleetmend repair writes it, and narrows it when the pods agree.",
      };
    case "holders-differ":
      return {
        sentence: `The hooks of ${finding.service} hold different bundles: ${finding.bundles.map(({ hook, certificates }) => `${hookInWords(hook)} has ${certificatesInWords(certificates)}`).join("; ")}. A pod create passes through all of them, so one that is wrong is enough.`,
        todo: "Bring every entry to what the pods serve; fleetmend repair patches all of them, not only the first.",
      };
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
    case "drift-latent":
      return explainLook(finding);
  }
}

type Refused = Of<
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
  const { hook, served, bundle, serverName, cause, readyPods } = finding;
  const sides = served.leaf === undefined ? { bundle } : { bundle, leaf: served.leaf };
  const context = { serves: servesInWords(served, readyPods), bundle: "the bundle", serverName };
  const { sentence, todo } = explainRejection(cause, sides, context);
  return { sentence: `${sentence} ${consequence(finding)}`, todo: fixInWords(finding, hook, todo) };
}

function consequence({ kind, served, readyPods }: Refused): string {
  if (kind === "next-certificate-refused") {
    return "The pods still serve the one before, so that calls work until they load it: within two minutes, or at a restart.";
  }
  const isPart = served.pods.length > 0 && served.pods.length < readyPods;
  const which = isPart ? `Calls that meet ${listed(served.pods)} are refused` : "Every call is refused";
  return `${which} at the next connection, however many still pass over connections made before.`;
}

function fixInWords(finding: Refused, hook: HookReference, todo: string): string {
  if (finding.fixableBy === "time")
    return "Wait two minutes and look again: the kubelet is still refreshing the pods' mount.";
  if (finding.fixableBy === "fleetmend")
    return `Type fleetmend repair: it brings ${hookInWords(hook)} in line without an outage.`;
  return todo;
}

type SecretFault = Of<
  "secret-key-mismatch" | "secret-key-missing" | "secret-unusable" | "secret-bad-certificate" | "secret-absent"
>;

const keepsOldPair =
  "Pods that run keep the pair they have and go on working; one that starts will not, and a bundle made from the Secret would be wrong.";
const newPair =
  "Have KAI make a new pair: a helm upgrade of the release in families A to C; in operator families delete the Secret while kai-operator works, then restart the pods.";

function explainSecret(finding: SecretFault): FindingExplanation {
  switch (finding.kind) {
    case "secret-key-mismatch":
      return {
        sentence: `In Secret ${finding.secret} the key does not belong to ${certificateInWords(finding.certificate)}. ${keepsOldPair}`,
        todo: newPair,
      };
    case "secret-key-missing":
      return {
        sentence: `Secret ${finding.secret} has ${certificateInWords(finding.certificate)} and no key for it. ${keepsOldPair}`,
        todo: newPair,
      };
    case "secret-unusable":
      return {
        sentence: `Secret ${finding.secret} holds no pair that a webhook server could load (${finding.detail}). ${keepsOldPair}`,
        todo: newPair,
      };
    case "secret-bad-certificate": {
      const { sentence } = explainRejection(
        finding.cause,
        { leaf: finding.certificate, bundle: [] },
        { serves: `Secret ${finding.secret} holds`, bundle: "any bundle", serverName: finding.serverName },
      );
      return { sentence: `${sentence} Pods will serve it as soon as they load it, and be refused.`, todo: newPair };
    }
    case "secret-absent":
      return {
        sentence: `Secret ${finding.secret}, which the pods mount, is gone. ${keepsOldPair}`,
        todo: newPair,
      };
  }
}

function explainOlder(finding: Of<"pod-serves-older">): FindingExplanation {
  const { secret, certificate, served, secretWrittenAt, state } = finding;
  const since = secretWrittenAt === undefined ? "" : ` since ${instant(secretWrittenAt)}`;
  const both = `${groupInWords(served)}, and Secret ${secret} holds ${certificateInWords(certificate)}${since}`;
  if (state === "refreshing") {
    return {
      sentence: `${both}. The kubelet refreshes a mounted Secret within 100 s, so this passes.`,
      todo: "Wait two minutes and look again.",
    };
  }
  return {
    sentence: `${both}. The kubelet has had its two minutes: the pods will not load it by themselves.`,
    todo: "Keep both certificates in the bundle (fleetmend repair does), then restart the pods when that may be: with strategy Recreate a restart is an outage of pod creation.",
  };
}

type BackendFault = Of<
  "service-missing" | "service-port-missing" | "service-unroutable" | "no-ready-endpoints" | "pod-not-serving"
>;

const noTlsChange = "No change of certificates or bundles helps.";

function explainBackend(finding: BackendFault): FindingExplanation {
  const hooks = finding.hooks.map(hookInWords).join(", ");
  switch (finding.kind) {
    case "service-missing":
      return {
        sentence: `${hooks} lead to Service ${finding.service}, which is not there: every call fails.`,
        todo: `Find out whether KAI was uninstalled. If it was, the configuration is an orphan and may be deleted; if not, put the Service back. ${noTlsChange}`,
      };
    case "service-port-missing":
      return {
        sentence: `${hooks} call port ${finding.port} of Service ${finding.service}, which has no such port: every call fails.`,
        todo: `Give the Service that port. ${noTlsChange}`,
      };
    case "service-unroutable":
      return {
        sentence: `${hooks} lead to Service ${finding.service} of type ${finding.serviceType}, to which the API server has no route.`,
        todo: `Make it a ClusterIP Service. ${noTlsChange}`,
      };
    case "no-ready-endpoints":
      return {
        sentence: `Service ${finding.service} has no ready endpoint${finding.pods.length === 0 ? " and no pod" : `; its pods are ${listed(finding.pods)}`}: every call through ${hooks} fails.`,
        todo: `Get a pod ready: kubectl describe its Deployment and pods. ${noTlsChange}`,
      };
    case "pod-not-serving":
      return {
        sentence: `${listed(finding.pods)} of ${finding.readyPods} ready pods behind ${finding.service} ${finding.because === "refused" ? "listen on no" : "speak no TLS on"} port ${finding.port} (${finding.detail}): calls that meet them fail.`,
        todo: `Look at the pod's log and ports. ${noTlsChange}`,
      };
  }
}

const likelyBlindness = {
  "no-right-to-update":
    "Its rights name only the default configurations, so it could create these and cannot update them.",
  "missing-cluster-policy-crd":
    "This release does nothing at all without the GPU Operator's CRD clusterpolicies.nvidia.com.",
  unknown: "Look at its log.",
} as const;

function explainOperator(
  finding: Of<"no-hooks" | "operator-down" | "operator-absent" | "operator-blind">,
): FindingExplanation {
  switch (finding.kind) {
    case "no-hooks":
      return {
        sentence: `KAI is in namespace ${finding.namespace} and has registered no webhook${finding.operatorReady === undefined ? "" : `, with ${finding.operatorReady} ready kai-operator`}: pods are admitted as they come.`,
        todo: "If its webhooks are switched on, look at kai-operator's log: some releases do nothing without the CRD clusterpolicies.nvidia.com.",
      };
    case "operator-down":
      return {
        sentence: `${finding.deployment} has ${finding.ready} of ${finding.replicas} pods ready: nobody keeps the bundles and Secrets in line, and nothing is taken back.`,
        todo: "Get kai-operator running. Until then fleetmend repair patches bundles directly, and they stay.",
      };
    case "operator-absent":
      return {
        sentence: `The hooks in namespace ${finding.namespace} were made by kai-operator, and there is none any more: nobody maintains them.`,
        todo: "Put kai-operator back, or, if KAI was uninstalled, delete what it left.",
      };
    case "operator-blind":
      return {
        sentence: `${finding.deployment} is ready and does not reconcile: since ${instant(finding.unchangedSince)} ${hookInWords(finding.hook)} holds ${certificatesInWords(finding.bundle)}, and its Secret ${certificatesInWords(finding.secret)}. A working operator needs less than a second.`,
        todo: `${likelyBlindness[finding.likely]} fleetmend repair makes sure, and then patches the bundle directly.`,
      };
  }
}

type Notice = Of<
  "owner-unknown" | "foreign-last-writer" | "bundle-wider-than-needed" | "fails-open" | "hook-leftover" | "expires-soon"
>;

function explainNotice(finding: Notice): FindingExplanation {
  switch (finding.kind) {
    case "owner-unknown":
      return {
        sentence: `Nobody is known to maintain ${hookInWords(finding.hook)}${finding.evidence.length === 0 ? "" : ` (${finding.evidence.join("; ")})`}.`,
        todo: "fleetmend does not write to it. Find its owner, or bring its bundle in line by hand.",
      };
    case "foreign-last-writer": {
      const { manager, time } = finding.writer;
      return {
        sentence: `The bundle of ${hookInWords(finding.hook)} was last written by ${manager}${time === undefined ? "" : ` at ${instant(time)}`}, not by ${finding.expected}.`,
        todo: manager === "fleetmend" ? "Nothing: that was a repair." : "Nothing, if that was meant.",
      };
    }
    case "bundle-wider-than-needed":
      return {
        sentence: `${hookInWords(finding.hook)} also trusts ${certificatesInWords(finding.unused)}, which nothing serves.`,
        todo:
          finding.fixableBy === "fleetmend"
            ? "fleetmend repair takes out what it put in itself."
            : "Nothing: it does no harm.",
      };
    case "fails-open":
      return {
        sentence: `${hookInWords(finding.hook)} has failurePolicy Ignore: where it fails, pods are admitted without it and nobody is told.`,
        todo: "Nothing, if that was meant. A green dry run proves nothing for it.",
      };
    case "hook-leftover":
      return explainLeftover(finding);
    case "expires-soon":
      return {
        sentence: `${certificateInWords(finding.certificate)}, on which ${hookInWords(finding.hook)} depends, expires on ${instant(finding.certificate.notAfter)}.`,
        todo: newPair,
      };
  }
}

function explainLeftover({ leftover }: Of<"hook-leftover">): FindingExplanation {
  const { kind, namespace, name, state } = leftover;
  return {
    sentence: `${kind} ${namespace}/${name} of KAI's helm hooks is still there (${state}): a helm upgrade did not come to its end.`,
    todo: `The release's helm history in ${namespace} shows it; helm rollback or a new upgrade clears it, and the upgrade makes a new pair.`,
  };
}

function explainLook(
  finding: Of<"trust-undetermined" | "not-seen" | "probe-disagrees" | "drift-latent">,
): FindingExplanation {
  switch (finding.kind) {
    case "trust-undetermined":
      return {
        sentence: `Whether ${hookInWords(finding.hook)} works is not known: ${finding.reason}.`,
        todo: "Give fleetmend the rights of infra/kubernetes/prove.yaml, so that it may look at what the pods serve.",
      };
    case "not-seen":
      return {
        sentence: `${finding.what} could not be read: ${finding.reason}.`,
        todo: "Look again; if it stays, see docs/rights.md for the right that it needs.",
      };
    case "probe-disagrees":
      return {
        sentence: `The API server says of ${hookInWords(finding.hook)} “${finding.probeText}”, and what its pods serve predicts ${finding.predicted.length === 0 ? "no refusal" : finding.predicted.map((text) => `“${text}”`).join(" or ")}.`,
        todo: "Look again. If it stays, the API server reaches other pods than the ones seen here, or fleetmend is wrong: please report it.",
      };
    case "drift-latent":
      return {
        sentence: `${hookInWords(finding.hook)} still works over connections made before, and will refuse at the next handshake: ${finding.goText}.`,
        todo: "Type fleetmend repair now, before a pod or the API server restarts.",
      };
  }
}

const kindsOfHolder: Readonly<Record<string, string>> = {
  MutatingWebhookConfiguration: "mutating",
  ValidatingWebhookConfiguration: "validating",
};

/** `mutating kai-binder [binder.run.ai]`. */
function hookInWords({ holderKind, holder, name }: HookReference): string {
  return `${kindsOfHolder[holderKind] ?? holderKind} ${holder} [${name}]`;
}

function servesInWords({ pods, servedFrom }: ServedGroup, readyPods: number): string {
  if (servedFrom === "secret") return "the Secret, which the pods may not have loaded, holds";
  const [only] = pods;
  if (only === undefined) return "the webhook serves";
  if (pods.length === 1) return readyPods === 1 ? "the pod serves" : `pod ${only} serves`;
  if (pods.length === readyPods) return readyPods === 2 ? "both pods serve" : `all ${readyPods} pods serve`;
  return `${listed(pods)} serve`;
}

function groupInWords({ pods, leaf, servedFrom }: ServedGroup): string {
  const who = servedFrom === "secret" ? "by the Secret, " : "";
  return `${who}${listed(pods)} ${pods.length === 1 ? "serves" : "serve"} ${certificateInWords(leaf)}`;
}

function certificatesInWords(certificates: readonly CertificateSummary[]): string {
  return certificates.length === 0 ? "no certificate" : listed(certificates.map(certificateInWords));
}

/** By date and fingerprint: subject and serial are the same in all of KAI's generations. */
function certificateInWords(certificate: CertificateSummary | undefined): string {
  if (certificate === undefined) return "a certificate that cannot be read";
  return `the certificate made on ${instant(certificate.notBefore)} (sha256 ${certificate.fingerprint.slice(0, 8)}…)`;
}

function listed(items: readonly string[]): string {
  if (items.length <= 3) return items.join(", ");
  return `${items.slice(0, 3).join(", ")} and ${items.length - 3} more`;
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** `2026-05-03 12:00 UTC`. */
function instant(date: Date): string {
  return `${date.toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
