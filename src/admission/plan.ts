// From what is observed to the next step. Pure and without memory: whatever a process that was killed has left behind is
// simply the next observation. The owner decides which repair holds; every new bundle is judged before it becomes a step.
import type { Finding } from "./finding.ts";
import { identifyInstallations } from "./owner.ts";
import { adviceFor } from "./plan-advice.ts";
import type { CasePlan } from "./plan-case-plan.ts";
import { type RepairCase, repairCasesOf } from "./plan-case.ts";
import { isAbout } from "./plan-findings.ts";
import { planByBundles } from "./plan-helm-hooks.ts";
import { planThroughOperator } from "./plan-operator.ts";
import type { Advice, Next, Plan, PlanOptions, Step } from "./repair-plan.ts";
import type { ClusterSnapshot } from "./snapshot.ts";

/**
 * The plan for one cluster. `next` is the one thing to do now: a step where any backend has one (those that fail now
 * first), else the shortest wait, else nothing. The time is the snapshot's.
 *
 * Invariants: an undetermined verdict gives no step, and neither does what only a Secret says; a pod that is trusted is
 * trusted after each step; a healthy cluster gives no step at all. Not checked: whether we may do it (mend asks), and what
 * changes after the snapshot (each step carries what it expects).
 */
export function planRepair(snapshot: ClusterSnapshot, findings: readonly Finding[], options: PlanOptions): Plan {
  const installations = identifyInstallations(snapshot);
  const plans = repairCasesOf(snapshot, installations, findings).map((one) =>
    curing(
      planCase(one, options),
      findings.filter((finding) => isAbout(finding, one)),
    ),
  );
  const due = plans.filter(({ next }) => next.do === "step");
  const steps = [...due, ...plans.filter(({ next }) => next.do !== "step")].flatMap(stepsOf);
  return {
    next: nextOf(plans),
    steps,
    advice: [
      ...plans.flatMap(({ advice }) => advice),
      ...adviceFor(snapshot, installations, findings).filter((advice) => !isBeingHealed(advice, steps)),
    ],
  };
}

/** A `tls.crt` that holds nothing may be whole again with the served certificate in it: then there is nothing to delete. */
function isBeingHealed({ about, object }: Advice, steps: readonly Step[]): boolean {
  const [namespace = "", , name = ""] = object.split("/");
  return (
    about === "secret-unusable" &&
    steps.some(
      ({ action }) =>
        action.kind === "set-secret-certificates" && action.secretPath.endsWith(`/${namespace}/secrets/${name}`),
    )
  );
}

function planCase(one: RepairCase, options: PlanOptions): CasePlan {
  switch (one.installation.owner) {
    case "kai-helm-hooks":
      return planByBundles(one, options);
    case "kai-operator":
      return planThroughOperator(one, options);
    case "cert-manager":
    case "platform":
    case "unknown":
      return { next: { do: "nothing" }, later: [], advice: [] };
  }
}

function nextOf(plans: readonly CasePlan[]): Next {
  const steps = plans.flatMap(({ next }) => (next.do === "step" ? [next] : []));
  if (steps[0] !== undefined) return steps[0];
  const waits = plans.flatMap(({ next }) => (next.do === "wait" ? [next] : []));
  const [soonest] = waits.sort((left, right) => left.seconds - right.seconds);
  return soonest ?? { do: "nothing" };
}

const stepsOf = ({ next, later }: CasePlan): readonly Step[] => (next.do === "step" ? [next.step, ...later] : later);

/** A step names only what was found at its backend. */
function curing(plan: CasePlan, findings: readonly Finding[]): CasePlan {
  const found = (step: Step): Step => ({
    ...step,
    cures: step.cures.filter((kind) => findings.some((finding) => finding.kind === kind)),
  });
  const next = plan.next.do === "step" ? ({ do: "step", step: found(plan.next.step) } as const) : plan.next;
  return { ...plan, next, later: plan.later.map(found) };
}
