// What stood in each hook's bundle during one repair, so that its proof can say whether the API server had to connect
// anew. Pure: values in, values out.
import type { BundleHistory } from "./fresh-connection.ts";
import type { Step } from "./repair-plan.ts";
import type { ClusterSnapshot } from "./snapshot.ts";
import { isSameHook, referenceTo } from "./hook-words.ts";

/** The histories with what `snapshot` shows: written by us or, where an operator has the pen, by it. */
export function withSnapshot(histories: readonly BundleHistory[], snapshot: ClusterSnapshot): readonly BundleHistory[] {
  return snapshot.hooks.map((hook) => {
    const reference = referenceTo(hook);
    const known = histories.find((one) => isSameHook(one.hook, reference));
    if (known !== undefined) return append(known, hook.bundle, snapshot.at);
    const since = hook.bundleWriter?.time ?? snapshot.at;
    return { hook: reference, bundles: [{ bundle: hook.bundle, since }] };
  });
}

/** The histories after a step that was done at `at`. */
export function withStep(histories: readonly BundleHistory[], step: Step, at: Date): readonly BundleHistory[] {
  const { action } = step;
  if (action.kind !== "set-bundle") return histories;
  return histories.map((history) => {
    const change = action.entries.find(({ hook }) => isSameHook(hook, history.hook));
    return change === undefined ? history : append(history, change.bundle, at);
  });
}

/** Those whose bundle changed while we looked: of the others nothing is known that makes a connection fresh. */
export function changedOnly(histories: readonly BundleHistory[]): readonly BundleHistory[] {
  return histories.filter(({ bundles }) => bundles.length > 1);
}

function append(history: BundleHistory, bundle: Uint8Array, since: Date): BundleHistory {
  const last = history.bundles.at(-1);
  if (last !== undefined && Buffer.compare(last.bundle, bundle) === 0) return history;
  return { ...history, bundles: [...history.bundles, { bundle, since }] };
}
