// Asks what this user may do, before anything is tried: a read-only user must never provoke a 403, which fills the audit
// log and teaches people to ignore it.
import { failure } from "../result.ts";
import type { ClusterApi } from "./cluster-api.ts";
import { parseReview, parseRules } from "./parse-answer.ts";
import type { ResourceRule } from "./parse-answer.ts";

/** One thing that may be allowed, in the words of RBAC. */
export interface Right {
  readonly verb: "get" | "list" | "create";
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly name?: string;
}

export interface NamespaceRights {
  readonly namespace: string;
  readonly rules: readonly ResourceRule[];
  /** False where an authorizer could not list its rules: what no rule allows may still be allowed. */
  readonly complete: boolean;
}

const reviews = "/apis/authorization.k8s.io/v1";

/**
 * All rules for this user in a namespace, those of the whole cluster among them, in one SelfSubjectRulesReview. Where the
 * review itself fails nothing is known, and each question is asked by itself.
 */
export async function rightsIn(cluster: ClusterApi, namespace: string): Promise<NamespaceRights> {
  const answer = await cluster.create(`${reviews}/selfsubjectrulesreviews`, {
    apiVersion: "authorization.k8s.io/v1",
    kind: "SelfSubjectRulesReview",
    spec: { namespace },
  });
  const status = answer.ok ? parseRules(answer.value) : failure(answer.error.message);
  if (!status.ok) return { namespace, rules: [], complete: false };
  return { namespace, rules: status.value.resourceRules, complete: !status.value.incomplete };
}

/**
 * Whether trying is right where the answer costs nothing: allowed, or not known to be refused. For what every reader may
 * do; `isAllowed` is for the rest.
 */
export function mayTry(rights: NamespaceRights, right: Right): boolean {
  return !rights.complete || rights.rules.some((rule) => covers(rule, right));
}

/** By the rules; where they are incomplete, by a SelfSubjectAccessReview. An unanswered review counts as refused. */
export async function isAllowed(cluster: ClusterApi, rights: NamespaceRights, right: Right): Promise<boolean> {
  if (rights.rules.some((rule) => covers(rule, right))) return true;
  return rights.complete ? false : reviewed(cluster, rights.namespace, right);
}

/** One SelfSubjectAccessReview; false where it was not answered. */
export async function reviewed(cluster: ClusterApi, namespace: string, right: Right): Promise<boolean> {
  const answer = await cluster.create(`${reviews}/selfsubjectaccessreviews`, {
    apiVersion: "authorization.k8s.io/v1",
    kind: "SelfSubjectAccessReview",
    spec: { resourceAttributes: { namespace, ...right } },
  });
  if (!answer.ok) return false;
  const parsed = parseReview(answer.value);
  return parsed.ok && parsed.value;
}

/**
 * Whether a rule allows something, as RBAC reads it (k8s.io/component-helpers/auth/rbac/validation, VerbMatches and so on):
 * `*` for all, `*` and a subresource for that one of all resources, resource names only where they are listed.
 */
function covers(rule: ResourceRule, { verb, group, resource, subresource, name }: Right): boolean {
  const wanted = subresource === undefined ? resource : `${resource}/${subresource}`;
  const resources = ["*", wanted, ...(subresource === undefined ? [] : [`*/${subresource}`])];
  return (
    rule.verbs.some((one) => one === "*" || one === verb) &&
    rule.apiGroups.some((one) => one === "*" || one === group) &&
    rule.resources.some((one) => resources.includes(one)) &&
    (rule.resourceNames.length === 0 || (name !== undefined && rule.resourceNames.includes(name)))
  );
}
