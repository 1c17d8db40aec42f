// Did the API server have to make a true handshake for this dry run, or may it have used a connection that it kept from
// before? Only from what this run wrote and when; nothing here looks at a cluster.
import { sameBytes } from "./bundle.ts";
import type { HookReference } from "./finding.ts";
import type { ClusterSnapshot, Hook } from "./snapshot.ts";

/** What stood in one hook's bundle, oldest first; the last is what this run wrote, or saw its operator write. */
export interface BundleHistory {
  readonly hook: HookReference;
  readonly bundles: readonly {
    readonly bundle: Uint8Array;
    /** From when these bytes are known to have stood there: managedFields' time, our own look, our own write. */
    readonly since: Date;
  }[];
}

/**
 * How long the API server keeps an idle connection: `IdleConnTimeout` is Go's default of 90 s
 * (k8s.io/apimachinery pkg/util/net SetTransportDefaults).
 */
export const idleConnectionMs = 90_000;

/**
 * The time that a written configuration is given to arrive in the API server's own cache. A watch takes milliseconds; this
 * is room, not a guarantee.
 */
export const settleMs = 1_000;

/** A write that is older proves nothing fresh: pods may have loaded another certificate since (the kubelet takes 30–100 s). */
export const freshForMs = 60_000;

/**
 * `fresh` only if every connection that the API server may use for `hook` at `at` was made after this run's write. It
 * keeps one transport for each server name and bundle bytes at the least (k8s.io/apiserver pkg/util/webhook/client.go makes
 * one for each client configuration; client-go's transport/cache.go may share it between them), so: this run wrote these
 * bytes, and for 90 s before that no hook of this server name held them. Anything not known counts as `maybe-reused`. NOT
 * known here: another hook outside the snapshot that calls the same Service with the same bytes.
 */
export function connectionOf(
  hook: Hook,
  snapshot: ClusterSnapshot,
  changed: readonly BundleHistory[],
  at: Date,
): "fresh" | "maybe-reused" {
  const own = writeOf(hook, changed);
  if (own === undefined) return "maybe-reused";
  const sameName = snapshot.hooks.filter((other) => other.serverName === hook.serverName);
  // The first write of these bytes: what another hook of the name used since then is as fresh.
  const firstWrite = sameName
    .map((other) => writeOf(other, changed))
    .filter((write) => write !== undefined && sameBytes(write.bundle, own.bundle))
    .reduce((first, write) => Math.min(first, write?.since.getTime() ?? first), own.since.getTime());
  const settled = at.getTime() - own.since.getTime() >= settleMs;
  const recent = at.getTime() - firstWrite <= freshForMs;
  const unused = sameName.every((other) => wasUnused(own.bundle, historyOf(other, changed), firstWrite));
  return settled && recent && unused ? "fresh" : "maybe-reused";
}

/** The milliseconds to wait from `at` on until all that this run wrote has settled. */
export function unsettledMs(changed: readonly BundleHistory[], at: Date): number {
  const writes = changed.map(({ bundles }) => bundles.at(-1)?.since.getTime() ?? 0);
  return Math.max(0, Math.max(0, ...writes) + settleMs - at.getTime());
}

type Entry = BundleHistory["bundles"][number];

/** This run's write, if it is what the hook holds. */
function writeOf(hook: Hook, changed: readonly BundleHistory[]): Entry | undefined {
  const last = changed.find((history) => isOf(history, hook))?.bundles.at(-1);
  return last !== undefined && sameBytes(last.bundle, hook.bundle) ? last : undefined;
}

/** For a hook that this run did not write: its present bytes, since managedFields' time. */
function historyOf(hook: Hook, changed: readonly BundleHistory[]): readonly Entry[] {
  const known = changed.find((history) => isOf(history, hook))?.bundles;
  if (known !== undefined) return known;
  return hook.bundleWriter?.time === undefined ? [] : [{ bundle: hook.bundle, since: hook.bundleWriter.time }];
}

/** Whether the history covers the 90 s before `write` (in ms) and `bundle` did not stand there at any moment of them. */
function wasUnused(bundle: Uint8Array, history: readonly Entry[], write: number): boolean {
  const from = write - idleConnectionMs;
  const isCovered = history[0] !== undefined && history[0].since.getTime() <= from;
  const stood = history.some((entry, index) => {
    const until = history[index + 1]?.since.getTime() ?? Infinity;
    return sameBytes(entry.bundle, bundle) && entry.since.getTime() < write && until > from;
  });
  return isCovered && !stood;
}

const isOf = (history: BundleHistory, { holder, name }: Hook): boolean =>
  history.hook.holderKind === holder.kind && history.hook.holder === holder.name && history.hook.name === name;
