// What a full pass leaves behind for the sentinel: hashes of what decides admission, and the pod of the dry run.
import { createHash } from "node:crypto";
import type { Scan } from "../admission/judgement.ts";
import { probePod } from "../admission/probe-pod.ts";
import { earliestServedEnd } from "../admission/served-end.ts";
import type { ClusterSnapshot, Hook } from "../admission/snapshot.ts";
import type { Care } from "./care-of-cluster.ts";
import type { FullPass } from "./run-memory.ts";

export function rememberFullPass(care: Care, { snapshot, findings, probe }: Scan): FullPass {
  const ends = earliestServedEnd(snapshot);
  return {
    at: snapshot.at.toISOString(),
    etag: care.cluster.etag,
    fingerprint: fingerprintOf(snapshot.hooks),
    secrets: secretsOf(snapshot),
    // Only where a dry run came through does another one tell a change.
    ...(probe?.answer?.status === 201 && { pod: { ...probePod(snapshot, care.parts.policy.probeNamespace) } }),
    ...(ends !== undefined && { certificateEnds: ends.toISOString() }),
    findings: findings.map(({ kind, severity, object }) => ({ kind, severity, object })),
  };
}

// What changes without meaning anything; the bundle's bytes are in clientConfig, too.
const leftOut: ReadonlySet<string> = new Set(["resourceVersion", "generation", "bundleWriter", "bundle"]);

/** Over all that collect reads of the hooks but the above. */
export function fingerprintOf(hooks: readonly Hook[]): string {
  return sha256(JSON.stringify(hooks, (key, value: unknown) => (leftOut.has(key) ? undefined : value)));
}

/** Of `tls.crt`; where the Secret was not seen, there is nothing to compare with. */
function secretsOf({ backends }: ClusterSnapshot): FullPass["secrets"] {
  const seen = backends.flatMap(({ secret }) => (secret?.seen === true ? [secret.value] : []));
  const each = seen.map(({ namespace, name, certificates }) => ({ namespace, name, sha256: hashOf(certificates) }));
  return [...new Map(each.map((one) => [`${one.namespace}/${one.name}`, one])).values()];
}

export function hashOf(certificates: Uint8Array | undefined): string {
  return certificates === undefined ? "absent" : sha256(certificates);
}

function sha256(bytes: string | Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
