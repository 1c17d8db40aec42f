// The plan for one case, before plan.ts puts the cases together. A type only.
import type { Advice, Next, Step } from "./repair-plan.ts";

export interface CasePlan {
  readonly next: Next;
  /** What is expected to come after `next`, in order. */
  readonly later: readonly Step[];
  readonly advice: readonly Advice[];
}
