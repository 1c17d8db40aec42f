// What the verdicts say about each hook: refused now, refused as soon as pods load their Secret, about to expire, or not
// known. Broken is what the verdict calls broken, however green a probe is.
import { summarizePem } from "../trust/bundle.ts";
import type { CertificateSummary, Rejection, Verdict } from "../trust/verdict.ts";
import { holderPath, isRefreshing, referenceTo, seenSecret } from "./assess-case.ts";
import type { HookCase } from "./assess-case.ts";
import { sameBytes } from "./bundle.ts";
import type { Finding, FindingKind, FixableBy } from "./finding.ts";
import type { GroupVerdict, UnseenPods } from "./hook-verdicts.ts";
import { judged, servedGroup } from "./hook-verdicts.ts";
import { servedByPair } from "./served-pair.ts";
import type { ClusterSnapshot } from "./snapshot.ts";

/** Long enough for a change request and a quiet night; KAI's own certificates live ten years. */
const expiryNoticeMs = 30 * 24 * 60 * 60 * 1000;

export function assessTrust(one: HookCase, snapshot: ClusterSnapshot): readonly Finding[] {
  return [
    ...one.groups.flatMap((group) => groupFinding(one, group, snapshot)),
    ...one.unseen.map((unseen) => undetermined(one, unseen)),
    ...nextRefused(one, snapshot),
    ...expiresSoon(one, snapshot),
    ...widerThanNeeded(one),
  ];
}

function groupFinding(one: HookCase, group: GroupVerdict, snapshot: ClusterSnapshot): readonly Finding[] {
  const { verdict } = group;
  switch (verdict.outcome) {
    case "trusted":
      return [];
    case "undetermined":
      return [undetermined(one, { pods: group.served.pods, reason: verdict.reason, because: "verdict" })];
    case "broken": {
      const secret = one.backend && seenSecret(one.backend);
      const isGuess = group.served.servedFrom === "secret" && secret !== undefined && isRefreshing(secret, snapshot.at);
      return [isGuess ? nextFinding(one, group.served, verdict) : refused(one, group, verdict, snapshot)];
    }
  }
}

type Broken = Extract<Verdict, { outcome: "broken" }>;

function handshakeOf(one: HookCase, served: GroupVerdict["served"], { bundle, goText, cause }: Broken) {
  const { hook, readyPods } = one;
  const { serverName, failurePolicy, rules } = hook;
  const asked = { resources: [...new Set(rules.flatMap((rule) => rule.resources))], failurePolicy };
  const sides = { serverName, bundle, served, readyPods, goText, cause, asked };
  return { hook: referenceTo(hook), ...sides, object: holderPath(hook) };
}

function refused(one: HookCase, group: GroupVerdict, verdict: Broken, snapshot: ClusterSnapshot): Finding {
  const kind = kindOf(verdict.cause);
  const evidence = handshakeOf(one, group.served, verdict);
  return { kind, ...evidence, severity: "broken", fixableBy: fixableBy(kind, one, group, snapshot) };
}

type RefusalKind =
  | "bundle-stale"
  | "bundle-empty"
  | "bundle-unparsable"
  | "certificate-expired"
  | "certificate-not-yet-valid"
  | "certificate-wrong-name"
  | "certificate-unusable";

function kindOf(cause: Rejection): RefusalKind {
  switch (cause.kind) {
    case "bundle-empty":
    case "bundle-unparsable":
      return cause.kind;
    case "no-issuer-in-bundle":
    case "same-name-other-key":
    case "already-in-chain":
      return "bundle-stale";
    case "expired":
      return "certificate-expired";
    case "not-yet-valid":
      return "certificate-not-yet-valid";
    case "wrong-name":
    case "legacy-common-name":
      return "certificate-wrong-name";
    case "chain-unparsable":
    case "rsa-key-too-large":
    case "chain-too-long":
    case "unsupported-public-key":
    case "refused-public-key":
    case "go-panic":
    case "unhandled-critical-extension":
    case "issuer-cannot-sign":
    case "insecure-algorithm":
    case "unsupported-algorithm":
    case "not-a-ca":
    case "path-too-long":
    case "incompatible-key-usage":
    case "name-constraint":
    case "invalid-policies":
    case "signature-limit-reached":
      return "certificate-unusable";
  }
}

const bundleKinds: readonly FindingKind[] = ["bundle-stale", "bundle-empty", "bundle-unparsable"];

/** Who can put a refused hook right. What the planner then does depends on more than is looked at here. */
function fixableBy(kind: RefusalKind, one: HookCase, group: GroupVerdict, snapshot: ClusterSnapshot): FixableBy {
  if (kind === "certificate-not-yet-valid") return "time";
  const isOurs = one.owner === "kai-helm-hooks" || one.owner === "kai-operator";
  const next = nextChain(one, group);
  if (next !== undefined && judged(one.hook, next.chain, snapshot).outcome === "trusted") {
    return next.isRefreshing(snapshot.at) ? "time" : isOurs ? "fleetmend" : "person";
  }
  return isOurs && bundleKinds.includes(kind) ? "fleetmend" : "person";
}

interface NextChain {
  readonly chain: readonly Uint8Array[];
  readonly isRefreshing: (at: Date) => boolean;
}

/** What the pods of a group will serve once they have loaded their Secret, where that is another leaf than now. */
function nextChain({ backend }: HookCase, group: GroupVerdict): NextChain | undefined {
  const secret = backend && seenSecret(backend);
  if (group.served.servedFrom !== "handshake" || secret?.key !== "matches" || secret.certificates === undefined) {
    return undefined;
  }
  const chain = servedByPair(secret.certificates);
  const [next] = chain;
  const [now] = group.chain;
  // The first block alone: certwatcher loads no change of the others, and serves more blocks than the Secret may hold.
  if (next === undefined || (now !== undefined && sameBytes(next, now))) return undefined;
  return { chain, isRefreshing: (at) => isRefreshing(secret, at) };
}

/** A hook that works and will not any more once its pods load what their Secret already holds. */
function nextRefused(one: HookCase, snapshot: ClusterSnapshot): readonly Finding[] {
  const accepted = one.groups.filter(({ verdict }) => verdict.outcome === "trusted");
  const waiting = accepted.filter((group) => nextChain(one, group) !== undefined);
  const [first] = waiting;
  const next = first && nextChain(one, first);
  if (next === undefined) return [];
  const verdict = judged(one.hook, next.chain, snapshot);
  if (verdict.outcome !== "broken") return [];
  const pods = waiting.flatMap(({ served }) => served.pods);
  return [nextFinding(one, servedGroup(pods, "secret", next.chain), verdict)];
}

function nextFinding(one: HookCase, served: GroupVerdict["served"], verdict: Broken): Finding {
  const isOurs = one.owner === "kai-helm-hooks" || one.owner === "kai-operator";
  const byBundle = isOurs && bundleKinds.includes(kindOf(verdict.cause));
  return {
    kind: "next-certificate-refused",
    ...handshakeOf(one, served, verdict),
    severity: "warning",
    // An operator that works copies the Secret into the bundle by itself.
    fixableBy: byBundle ? (one.isOperated ? "time" : "fleetmend") : "person",
  };
}

function undetermined({ hook }: HookCase, unseen: UnseenPods): Finding {
  return {
    kind: "trust-undetermined",
    hook: referenceTo(hook),
    ...unseen,
    severity: "undetermined",
    object: holderPath(hook),
    fixableBy: "person",
  };
}

/** The first certificate of an accepted path to expire within the notice, if any. */
function expiresSoon({ hook, groups }: HookCase, { at }: ClusterSnapshot): readonly Finding[] {
  const due = groups.flatMap(({ verdict }) =>
    verdict.outcome === "trusted" && verdict.earliestExpiry.getTime() - at.getTime() < expiryNoticeMs
      ? [firstToExpire(verdict.path)]
      : [],
  );
  const certificate = firstToExpire(due.flatMap((one) => one ?? []));
  if (certificate === undefined) return [];
  const evidence = { hook: referenceTo(hook), certificate, at } as const;
  return [{ kind: "expires-soon", ...evidence, severity: "warning", object: holderPath(hook), fixableBy: "person" }];
}

function firstToExpire(certificates: readonly CertificateSummary[]): CertificateSummary | undefined {
  const [first] = certificates.toSorted((left, right) => left.notAfter.getTime() - right.notAfter.getTime());
  return first;
}

/**
 * Certificates of the bundle that no pod needs and that are not in the Secret. Said only where every ready pod was read by
 * handshake and is accepted: otherwise one that seems unused may be the one that is needed next.
 */
function widerThanNeeded(one: HookCase): readonly Finding[] {
  const { hook, groups, unseen, readyPods, backend } = one;
  const read = groups.flatMap(({ served }) => served.pods).length;
  const anchors = groups.flatMap(({ verdict, served }) =>
    verdict.outcome === "trusted" && served.servedFrom === "handshake" ? [verdict.anchor.fingerprint] : [],
  );
  const secret = backend && seenSecret(backend);
  if (anchors.length === 0 || anchors.length < groups.length || read < readyPods) return [];
  if (unseen.length > 0 || secret === undefined) return [];
  const needed = new Set([
    ...anchors,
    ...summarizePem(secret.certificates ?? new Uint8Array()).map(({ fingerprint }) => fingerprint),
  ]);
  const unused = summarizePem(hook.bundle).filter(({ fingerprint }) => !needed.has(fingerprint));
  if (unused.length === 0) return [];
  return [
    {
      kind: "bundle-wider-than-needed",
      hook: referenceTo(hook),
      unused,
      ...(hook.bundleWriter && { writer: hook.bundleWriter }),
      severity: "info",
      object: holderPath(hook),
      fixableBy: one.owner === "kai-helm-hooks" || one.owner === "kai-operator" ? "fleetmend" : "nobody-needed",
    },
  ];
}
