// The sentinel pass: whether anything differs from the last full pass, in about five requests. What it is that differs is for
// a full pass to say, in the same invocation.
import { parseServingSecret } from "../admission/collect-secret.ts";
import { collectHooks } from "../admission/collect.ts";
import type { ClusterApi } from "../admission/cluster-api.ts";
import type { Care } from "./care-of-cluster.ts";
import { fingerprintOf, hashOf } from "./remember-full-pass.ts";
import type { FullPass } from "./run-memory.ts";

/** A full pass at least this often, whatever the sentinel says. */
export const fullPassHours = 6;
const hourMs = 3_600_000;

/** Whether a sentinel pass is enough now: what it would compare with, or undefined where a full pass is due. */
export function sentinelFor({ message, memory, previous, cluster, parts }: Care): FullPass | undefined {
  const { full } = memory;
  const isWell = previous?.state === "healthy" || previous?.state === "nothing-to-watch";
  if (full === undefined || !isWell || memory.run !== undefined || message.attempt > 0) return undefined;
  if (message.pass !== "due" && message.pass !== "sentinel") return undefined;
  const age = parts.now().getTime() - Date.parse(full.at);
  if (age >= fullPassHours * hourMs || age < 0 || full.etag !== cluster.etag) return undefined;
  const end = full.certificateEnds === undefined ? Infinity : Date.parse(full.certificateEnds);
  return end <= parts.now().getTime() ? undefined : full;
}

/**
 * Undefined where everything is as the last full pass saw it. Two lists, each Secret by name, one dry run; as soon as one of
 * them differs, or cannot be asked, the rest is left to the full pass.
 */
export async function noticeChange(api: ClusterApi, full: FullPass): Promise<string | undefined> {
  const hooks = await collectHooks(api);
  if (!hooks.ok) return `the webhook configurations could not be read (${hooks.error.message})`;
  if (fingerprintOf(hooks.value) !== full.fingerprint) return "a webhook configuration of KAI's has changed";
  const secrets = await Promise.all(full.secrets.map((secret) => noticeSecret(api, secret)));
  return secrets.find((change) => change !== undefined) ?? noticeRefusal(api, full);
}

async function noticeSecret(api: ClusterApi, known: FullPass["secrets"][number]): Promise<string | undefined> {
  const { namespace, name, sha256 } = known;
  const answer = await api.get(`/api/v1/namespaces/${namespace}/secrets/${name}`);
  if (!answer.ok) return `the Secret ${namespace}/${name} could not be read (${answer.error.message})`;
  const secret = parseServingSecret(answer.value);
  return secret.ok && hashOf(secret.value.certificates) === sha256
    ? undefined
    : `the Secret ${namespace}/${name} has changed`;
}

async function noticeRefusal(api: ClusterApi, { pod }: FullPass): Promise<string | undefined> {
  if (pod === undefined) return undefined;
  const { namespace } = pod.metadata as { readonly namespace: string };
  const answer = await api.create(`/api/v1/namespaces/${namespace}/pods`, pod, { dryRun: true });
  return answer.ok ? undefined : `a dry-run pod was refused (${answer.error.message})`;
}
