// Asks the API server whether we may do what a plan wants, before the first write, and writes the manifest that would
// allow it. Nothing here grants anything.
import * as v from "valibot";
import type { ClusterApi } from "./cluster-api.ts";
import type { AccessNeeded } from "./mend-outcome.ts";
import { accessNeededFor } from "./mend-patch.ts";
import type { Plan } from "./repair-plan.ts";

const review = v.looseObject({ status: v.looseObject({ allowed: v.boolean() }) });

/** Everything that the plan writes, each once, in the order of the steps. */
export function accessNeededByPlan(plan: Plan): readonly AccessNeeded[] {
  const all = plan.steps.flatMap((step) => accessNeededFor(step.action));
  const byText = new Map(all.map((needed) => [JSON.stringify(needed), needed]));
  return [...byText.values()];
}

/**
 * What is not allowed, as SelfSubjectAccessReviews say. A review that was not answered counts as allowed: the write will
 * tell. Not seen by a review: admission policies and quotas.
 */
export async function accessDenied(
  cluster: ClusterApi,
  needed: readonly AccessNeeded[],
): Promise<readonly AccessNeeded[]> {
  const answers = await Promise.all(needed.map((access) => isAllowed(cluster, access)));
  return needed.filter((_, index) => answers[index] === false);
}

async function isAllowed(cluster: ClusterApi, access: AccessNeeded): Promise<boolean> {
  const answer = await cluster.create("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {
    apiVersion: "authorization.k8s.io/v1",
    kind: "SelfSubjectAccessReview",
    spec: { resourceAttributes: access },
  });
  if (!answer.ok) return true;
  const parsed = v.safeParse(review, answer.value);
  return parsed.success ? parsed.output.status.allowed : true;
}

/** One Role for each namespace and one ClusterRole, as YAML: exactly what is missing, by name, to be bound by an administrator. */
export function manifestFor(missing: readonly AccessNeeded[]): string {
  const namespaces = [...new Set(missing.map(({ namespace }) => namespace))];
  return namespaces
    .map((namespace) =>
      role(
        namespace,
        missing.filter((access) => access.namespace === namespace),
      ),
    )
    .join("---\n");
}

function role(namespace: string | undefined, accesses: readonly AccessNeeded[]): string {
  const head = [
    "apiVersion: rbac.authorization.k8s.io/v1",
    `kind: ${namespace === undefined ? "ClusterRole" : "Role"}`,
    "metadata:",
    "  name: fleetmend-repair-missing",
    ...(namespace === undefined ? [] : [`  namespace: ${namespace}`]),
    "rules:",
  ];
  return [...head, ...accesses.flatMap(rule), ""].join("\n");
}

function rule({ group, resource, verb, name }: AccessNeeded): string[] {
  return [
    `  - apiGroups: ["${group}"]`,
    `    resources: ["${resource}"]`,
    ...(name === undefined ? [] : [`    resourceNames: ["${name}"]`]),
    `    verbs: ["${verb}"]`,
  ];
}
