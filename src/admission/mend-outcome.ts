// What one call of mend answers: types only. A caller loops (or sends itself a delayed message) until `done`.
import type { ApiFailure } from "./cluster-api.ts";
import type { Finding } from "./finding.ts";
import type { Plan, Step } from "./repair-plan.ts";
import type { ClusterSnapshot } from "./snapshot.ts";

/** One thing that RBAC must allow, in the words of a SelfSubjectAccessReview. */
export interface AccessNeeded {
  readonly group: string;
  readonly resource: string;
  readonly verb: string;
  /** Absent for a create, which RBAC cannot tie to a name. */
  readonly name?: string;
  /** Absent for objects of the whole cluster. */
  readonly namespace?: string;
}

/** What was observed in this call and what follows from it. */
export interface Observation {
  readonly snapshot: ClusterSnapshot;
  readonly findings: readonly Finding[];
  readonly plan: Plan;
}

/** Why nothing more is done. */
export type DoneBecause =
  /** Nothing is left that fleetmend does by itself. What is left for a person is in `plan.advice`. */
  | { readonly kind: "nothing-left" }
  /** `--dry-run`: the plan was only made. */
  | { readonly kind: "only-planned" }
  /** The next step, or one after it, is not allowed. Nothing was tried. */
  | { readonly kind: "rights-missing"; readonly missing: readonly AccessNeeded[]; readonly manifest: string }
  /** The API server refused the write for good: a policy, or a right that was taken away meanwhile. */
  | { readonly kind: "refused"; readonly step: Step; readonly failure: ApiFailure }
  /** Somebody takes our value back again and again. */
  | { readonly kind: "fight"; readonly object: string; readonly with: string; readonly times: number };

export type MendOutcome =
  | (Observation & {
      readonly outcome: "done";
      readonly because: DoneBecause;
      readonly why: string;
      /** What a person should know of how it went, such as a Lease that could not be written. */
      readonly notes: readonly string[];
    })
  | (Observation & {
      readonly outcome: "wait";
      readonly seconds: number;
      readonly why: string;
      /** The step that this call did, if it did one. */
      readonly did?: Step;
      /** The step whose write did not succeed, or whose outcome is not known. The next call finds out by looking. */
      readonly tried?: { readonly step: Step; readonly failure: ApiFailure };
      readonly notes: readonly string[];
    })
  /** The cluster could not be looked at; nothing is known of it. `seconds` where trying again may help. */
  | { readonly outcome: "blind"; readonly failure: ApiFailure; readonly why: string; readonly seconds?: number };
