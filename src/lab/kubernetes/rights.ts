// What the caller of the lab may do: RBAC's rules and the answers made of them. Pure. Bindings are left out: the lab has
// one user, and a rule says itself in which namespace it holds.
import type { Attributes } from "./status.ts";

/** A PolicyRule of RBAC, which grants and never denies. */
export interface Right {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  /** Absent: all names. */
  readonly resourceNames?: readonly string[];
  /** A Role's namespace. Absent: a ClusterRole, which holds everywhere. */
  readonly namespace?: string;
}

/** RBAC's rule: one right that has it all is enough (plugin/pkg/auth/authorizer/rbac, RuleAllows). */
export function mayDo(rights: readonly Right[], asked: Attributes): boolean {
  const resource = asked.subresource === "" ? asked.resource.plural : `${asked.resource.plural}/${asked.subresource}`;
  return rights.some(
    (right) =>
      (right.namespace === undefined || right.namespace === asked.namespace) &&
      includes(right.verbs, asked.verb) &&
      includes(right.apiGroups, asked.resource.group) &&
      includes(right.resources, resource) &&
      (right.resourceNames === undefined || right.resourceNames.includes(asked.name)),
  );
}

function includes(list: readonly string[], value: string): boolean {
  return list.includes("*") || list.includes(value);
}

/** The `status` of a SelfSubjectRulesReview for one namespace: cluster-wide rights and those of the namespace. */
export function rulesReviewStatus(rights: readonly Right[], namespace: string): unknown {
  const here = rights.filter((right) => right.namespace === undefined || right.namespace === namespace);
  return {
    resourceRules: here.map(({ verbs, apiGroups, resources, resourceNames }) => ({
      verbs,
      apiGroups,
      resources,
      resourceNames,
    })),
    nonResourceRules: [],
    incomplete: false,
  };
}
