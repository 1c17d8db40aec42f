// Pods that serve an older pair than the Secret holds: wait for the kubelet, then restart or explain. Nothing here makes
// the bundles good for both generations: that comes first, and is asked for.
import type { CasePlan } from "./plan-case-plan.ts";
import { type RepairCase, type ServingPod, failsWholly, judgeBundle, secretWrittenAt, stalePods } from "./plan-case.ts";
import { restartStep } from "./plan-steps.ts";
import type { Advice, PlanOptions } from "./repair-plan.ts";
import type { DeploymentState } from "./snapshot.ts";

/**
 * How long a pod may go on serving the old pair. The kubelet refreshes a mounted Secret 30 to 100 s after the write
 * (open-policy-agent/cert-controller#50, kubernetes-sigs/cluster-api#10522); certwatcher then polls every 10 s
 * (controller-runtime pkg/certwatcher).
 */
export const refreshSeconds = 120;

/** How often to look while pods move. */
const lookAgainSeconds = 10;

/** Undefined where no pod is stale, or a bundle is not good for what pods serve and for what they will serve. */
export function planStalePods(one: RepairCase, options: PlanOptions): CasePlan | undefined {
  const stale = stalePods(one);
  if (stale.length === 0) return undefined;
  if (!one.hooks.every((hook) => judgeBundle(one, hook.bundle) === "trusted")) return undefined;
  const names = stale.map((pod) => pod.name).join(", ");
  const deployment = one.backend.deployment;
  if (deployment !== undefined && isRollingOut(deployment)) {
    return waiting(lookAgainSeconds, `Deployment ${deployment.namespace}/${deployment.name} is rolling out`);
  }
  const left = refreshSeconds - secondsSinceSecret(one);
  if (left > 0) {
    return waiting(
      Math.min(lookAgainSeconds, Math.ceil(left)),
      `${names} will load the Secret's pair by ${new Date(one.snapshot.at.getTime() + left * 1000).toISOString().slice(11, 19)} at the latest, as the kubelet refreshes the mount`,
    );
  }
  if (deployment === undefined || wasRestarted(one, deployment, stale)) return explained(one, stale);
  const why = mayRestart(one, deployment, options);
  if (why === undefined) return explained(one, stale);
  return { next: { do: "step", step: restartStep(one, deployment, why) }, later: [], advice: [] };
}

/**
 * Why a restart is right, or undefined. Invariant: a restart never begins an outage that a person has not allowed. With
 * strategy Recreate no pod serves until the new one is ready; without readiness probes a rolling restart sends calls to a
 * pod that does not listen yet.
 */
function mayRestart(one: RepairCase, deployment: DeploymentState, options: PlanOptions): string | undefined {
  if (failsWholly(one)) {
    return "Every call is refused already and no bundle can change that: the pods serve a pair that cannot be trusted, and the Secret holds one that can.";
  }
  if (deployment.strategy === "RollingUpdate" && deployment.keepsServing === true) {
    return "The pods did not load the Secret's pair in two minutes. Both certificates are trusted, and the old pod serves until the new one is ready.";
  }
  if (options.allowOutage) {
    return "The pods did not load the Secret's pair in two minutes, and an outage was allowed: admission fails until the new pod is ready.";
  }
  return undefined;
}

/** The clock is the API server's for the write and ours for now; a write that seems to lie ahead counts as just made. */
function secondsSinceSecret(one: RepairCase): number {
  const written = secretWrittenAt(one);
  // No time at all: managedFields were cleared. Nothing that clears them is as quick as a kubelet.
  if (written === undefined) return Number.POSITIVE_INFINITY;
  return Math.max(0, (one.snapshot.at.getTime() - written.getTime()) / 1000);
}

function isRollingOut(deployment: DeploymentState): boolean {
  return deployment.observedGeneration < deployment.generation || deployment.updatedReplicas < deployment.replicas;
}

/** A pod that was made after the Secret's pair and still serves another does not mount it as we think: no second restart. */
function wasRestarted(one: RepairCase, deployment: DeploymentState, stale: readonly ServingPod[]): boolean {
  const restarted = Date.parse(deployment.restartedAt ?? "");
  if (Number.isNaN(restarted)) return false;
  const written = secretWrittenAt(one);
  if (written !== undefined && restarted >= written.getTime()) return true;
  return stale.every((pod) => pod.startedAt !== undefined && pod.startedAt.getTime() >= restarted);
}

function explained(one: RepairCase, stale: readonly ServingPod[]): CasePlan {
  return { next: { do: "nothing" }, later: [], advice: [staleAdvice(one, stale)] };
}

function staleAdvice(one: RepairCase, stale: readonly ServingPod[]): Advice {
  const { backend } = one;
  const names = stale.map((pod) => pod.name);
  const still = `${names.join(", ")} still ${names.length === 1 ? "serves" : "serve"} the older certificate`;
  const others = one.pods.length - stale.length;
  const deployment = backend.deployment;
  const base = {
    about: "pod-serves-older" as const,
    object: `${backend.namespace}/deployments/${deployment?.name ?? backend.service}`,
  };
  if (deployment !== undefined && wasRestarted(one, deployment, stale)) {
    return {
      ...base,
      sentence: `${still} after a restart. The bundles trust both, so admission works; but the Secret ${backend.secretName ?? ""} is not loaded, so look at how they mount it (a subPath is never refreshed).`,
      commands: [
        `kubectl get deployment ${deployment.name} -n ${deployment.namespace} -o jsonpath='{.spec.template.spec.volumes}'`,
      ],
    };
  }
  if (others > 0) {
    return {
      ...base,
      sentence: `${still}; the others (${others}) serve the new one. The bundles trust both, so admission works. Deleting the old pods costs nothing while the others serve.`,
      commands: names.map((name) => `kubectl delete pod ${name} -n ${backend.namespace}`),
    };
  }
  return {
    ...base,
    sentence: `${still}. The bundles trust both, so admission works, and it goes on working. A restart would load the new one, but until the new pod is ready every call fails (${costOf(deployment)}); fleetmend does that only when told to.`,
    commands: [
      "fleetmend repair --allow-outage",
      `kubectl rollout restart deployment/${deployment?.name ?? backend.service} -n ${backend.namespace}`,
    ],
  };
}

function costOf(deployment: DeploymentState | undefined): string {
  if (deployment === undefined) return "how it would be replaced is not known";
  if (deployment.strategy === "Recreate") return "strategy Recreate";
  return "its rolling update leaves a gap: a pod without a readiness probe counts as ready before it listens";
}

function waiting(seconds: number, why: string): CasePlan {
  return { next: { do: "wait", seconds, why }, later: [], advice: [] };
}
