// One call of a rotation: observe, plan, at most one step, answer. It never loops and never sleeps: the caller calls again.
import { acquireLease, defaultLeaseSeconds, releaseLease, type LeaseOptions } from "../admission/lease.ts";
import { doRotationStep } from "./do-rotation-step.ts";
import { lookAtToken } from "./look-token.ts";
import { planToken } from "./plan-token.ts";
import type { RotationParts } from "./rotation-parts.ts";
import { stepText, type RotationPlan, type RotationStep } from "./rotation-step.ts";
import type { TokenCredential } from "./token-credential.ts";

export type RotationAnswer =
  | { readonly answer: "done"; readonly why: string }
  | { readonly answer: "stop"; readonly why: string; readonly todo: string }
  | {
      readonly answer: "wait";
      readonly seconds: number;
      readonly why: string;
      /** The step that this call did, or tried without a known outcome. */
      readonly did?: RotationStep;
      readonly tried?: RotationStep;
    };

/** What would be done next, and nothing done: for `--dry-run`. Only reads and exchanges are sent. */
export async function planRotation(parts: RotationParts, credential: TokenCredential): Promise<RotationPlan> {
  const look = await lookAtToken(parts, credential);
  return look.ok ? planToken(look.value.view, credential) : look.error;
}

/**
 * Does the next step, if there is one. The Lease keeps two rotators out of each other's way; that nothing is lost without it
 * is the work of each step's own precondition, so a Lease that cannot be written does not stop a rotation.
 */
export async function rotateToken(parts: RotationParts, credential: TokenCredential): Promise<RotationAnswer> {
  const first = await planRotation(parts, credential);
  if (first.plan !== "step") return answerOf(first);
  const options: LeaseOptions = { ...parts.lease, durationSeconds: defaultLeaseSeconds, now: parts.now };
  const lease = await acquireLease(parts.cluster, options);
  if (lease.lease === "elsewhere" || lease.lease === "again") {
    return { answer: "wait", seconds: lease.seconds, why: lease.why };
  }
  // What was seen before the Lease was ours may be another one's work half done.
  const answer = await doNextStep(parts, credential);
  await releaseLease(parts.cluster, options);
  return answer;
}

async function doNextStep(parts: RotationParts, credential: TokenCredential): Promise<RotationAnswer> {
  const look = await lookAtToken(parts, credential);
  if (!look.ok) return answerOf(look.error);
  const plan = planToken(look.value.view, credential);
  if (plan.plan !== "step") return answerOf(plan);
  const { admin } = look.value;
  if (admin === undefined) throw new Error("a step is planned only with a proven admin");
  const done = await doRotationStep({ parts, credential, look: look.value, admin: admin.calls }, plan.step);
  if (done.ok) return { answer: "wait", seconds: 1, why: stepText(plan.step), did: plan.step };
  const answer = answerOf(done.error);
  return answer.answer === "wait" ? { ...answer, tried: plan.step } : answer;
}

function answerOf(plan: Exclude<RotationPlan, { plan: "step" }>): RotationAnswer {
  switch (plan.plan) {
    case "wait":
      return { answer: "wait", seconds: plan.seconds, why: plan.why };
    case "done":
      return { answer: "done", why: plan.why };
    case "stop":
      return { answer: "stop", why: plan.why, todo: plan.todo };
  }
}
