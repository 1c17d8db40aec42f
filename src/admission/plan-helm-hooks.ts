// Families A0 to C: Helm hook Jobs wrote the Secret and the bundles once, and nothing reverts a patch until the next helm
// upgrade. So the bundles are patched: widen, wait until the pods have moved, narrow. The Secret is never written here.
import { bundleSteps, expectedNarrowing, narrowingSteps } from "./plan-bundles.ts";
import type { CasePlan } from "./plan-case-plan.ts";
import type { RepairCase } from "./plan-case.ts";
import { planStalePods } from "./plan-stale.ts";
import type { PlanOptions, Step } from "./repair-plan.ts";

/** Also right for a kai-operator that is down: then nothing reverts a patch either. */
export function planByBundles(one: RepairCase, options: PlanOptions): CasePlan {
  const widening = bundleSteps(one);
  if (widening.length > 0) return stepsInOrder(widening, expectedNarrowing(one, widening));
  const stale = planStalePods(one, options);
  if (stale !== undefined) return { ...stale, later: expectedNarrowing(one, []) };
  return stepsInOrder(narrowingSteps(one), []);
}

/** The first step now, the rest later. */
export function stepsInOrder(steps: readonly Step[], expected: readonly Step[]): CasePlan {
  const [first, ...rest] = steps;
  if (first === undefined) return { next: { do: "nothing" }, later: [], advice: [] };
  return { next: { do: "step", step: first }, later: [...rest, ...expected], advice: [] };
}
