// What is wrong with the serving Secret, and with pods that serve something else than it holds. The served leaf is believed,
// never the Secret: a Secret whose key does not fit is admitted as long as pods keep the pair that they loaded before.
import { summarizeDer } from "../trust/bundle.ts";
import type { CertificateSummary } from "../trust/verdict.ts";
import { isRefreshing, isRefused, leafGroupsOf, pathIn, qualified, writtenAt } from "./assess-case.ts";
import type { BackendCase } from "./assess-case.ts";
import { sameBytes } from "./bundle.ts";
import type { Finding, FixableBy } from "./finding.ts";
import { judged } from "./hook-verdicts.ts";
import { servedByPair } from "./served-pair.ts";
import type { ClusterSnapshot, ServingSecret } from "./snapshot.ts";

/** Findings about the Secret behind one backend: none of them where it could not be read. */
export function assessSecret(one: BackendCase, snapshot: ClusterSnapshot): readonly Finding[] {
  const { backend, hooks } = one;
  const { secret, secretName } = backend;
  if (hooks.length === 0 || secret === undefined || secretName === undefined) return [];
  if (!secret.seen) return secret.why.kind === "not-found" ? [absent(one, secretName)] : [];
  const { value } = secret;
  const [leaf] = servedByPair(value.certificates ?? new Uint8Array());
  const certificate = leaf && summarizeDer(leaf);
  if (value.key !== "matches" || leaf === undefined || certificate === undefined) {
    return [unloadable(one, value, certificate)];
  }
  return [
    ...badCertificate(one, value, certificate, snapshot),
    ...otherLeaf(one, value, { leaf, certificate }, snapshot),
  ];
}

function absent(one: BackendCase, name: string): Finding {
  const { namespace } = one.backend;
  return {
    kind: "secret-absent",
    secret: qualified({ namespace, name }),
    servedBy: leafGroupsOf(one.backend).map(({ served }) => served),
    severity: "warning",
    object: pathIn(namespace, "secrets", name),
    // A working operator makes a new pair within a second; nobody does where hook Jobs made it.
    fixableBy: one.hooks.some(({ isOperated }) => isOperated) ? "time" : "person",
  };
}

/** Where the key matches, it is the certificate that Go cannot read. */
const unloadableKinds = {
  mismatch: "secret-key-mismatch",
  missing: "secret-key-missing",
  unreadable: "secret-unusable",
  matches: "secret-unusable",
} as const;

function unloadable(one: BackendCase, secret: ServingSecret, certificate: CertificateSummary | undefined): Finding {
  return {
    kind: unloadableKinds[secret.key],
    secret: qualified(secret),
    ...(certificate && { certificate }),
    detail: detailOf(secret, certificate),
    servedBy: leafGroupsOf(one.backend).map(({ served }) => served),
    severity: "warning",
    object: pathIn(secret.namespace, "secrets", secret.name),
    fixableBy: "person",
  };
}

function detailOf({ certificates, key }: ServingSecret, certificate: CertificateSummary | undefined): string {
  if (certificates === undefined) return "it has no tls.crt";
  if (certificates.length === 0) return "its tls.crt is empty";
  if (certificate === undefined) return "its tls.crt holds no certificate that can be read";
  switch (key) {
    case "missing":
      return "it has no tls.key";
    case "unreadable":
      return "its tls.key cannot be read";
    case "mismatch":
    case "matches":
      return "its tls.key is not the key of the first certificate in tls.crt";
  }
}

/** Expired, not yet valid or for another name, whatever the bundle: said of a leaf that no pod serves yet. */
function badCertificate(
  one: BackendCase,
  secret: ServingSecret,
  certificate: CertificateSummary,
  snapshot: ClusterSnapshot,
): readonly Finding[] {
  const [first] = one.hooks;
  const certificates = secret.certificates ?? new Uint8Array();
  const isServed = one.hooks.some(({ groups }) =>
    groups.some(({ served }) => served.leaf?.fingerprint === certificate.fingerprint),
  );
  if (first === undefined || isServed) return [];
  // With the pair itself as bundle nothing is left to refuse but the leaf.
  const verdict = judged({ ...first.hook, bundle: certificates }, servedByPair(certificates), snapshot);
  if (verdict.outcome !== "broken") return [];
  return [
    {
      kind: "secret-bad-certificate",
      secret: qualified(secret),
      certificate,
      serverName: first.hook.serverName,
      cause: verdict.cause,
      severity: "warning",
      object: pathIn(secret.namespace, "secrets", secret.name),
      fixableBy: verdict.cause.kind === "not-yet-valid" ? "time" : "person",
    },
  ];
}

interface Leaf {
  readonly leaf: Uint8Array;
  readonly certificate: CertificateSummary;
}

/** Pods that mount this Secret and serve another leaf. */
function otherLeaf(
  one: BackendCase,
  secret: ServingSecret,
  { leaf, certificate }: Leaf,
  snapshot: ClusterSnapshot,
): readonly Finding[] {
  const { backend, hooks } = one;
  const mounting = backend.pods.filter(({ secretName }) => secretName === undefined || secretName === secret.name);
  const state = isRefreshing(secret, snapshot.at) ? "refreshing" : "stale";
  const secretWrittenAt = writtenAt(secret);
  const rolls = backend.deployment?.strategy === "RollingUpdate";
  const others = leafGroupsOf({ ...backend, pods: mounting }).filter((group) => !sameBytes(group.leaf, leaf));
  return others.map(({ served }) => ({
    kind: "pod-serves-older",
    secret: qualified(secret),
    certificate,
    served,
    ...(secretWrittenAt && { secretWrittenAt }),
    state,
    severity: state === "refreshing" ? "info" : "warning",
    object: pathIn(secret.namespace, "pods", served.pods[0] ?? ""),
    fixableBy: fixableBy(state, rolls || hooks.some((hook) => isRefused(hook, served.pods))),
  }));
}

/** A restart is ours to do only where it costs nothing: a pod goes on serving, or admission fails already. */
function fixableBy(state: "refreshing" | "stale", mayRestart: boolean): FixableBy {
  if (state === "refreshing") return "time";
  return mayRestart ? "fleetmend" : "person";
}
