// Does a create of this pod in this namespace reach this hook, as the API server decides it: rules, namespaceSelector,
// objectSelector, matchConditions. Nothing here says whether the call would succeed.
import type { Hook, LabelSelector, WebhookRule } from "./snapshot.ts";

type Labels = Readonly<Record<string, string>>;

/** What a hook's selection may look at in a pod. */
export interface SelectablePod {
  readonly labels: Labels;
  readonly schedulerName: string;
}

export type Reach =
  | { readonly reach: "reached" }
  | { readonly reach: "not-reached"; readonly because: string }
  | { readonly reach: "undecided"; readonly because: string };

/**
 * Whether the API server calls `hook` for a create of `pod` in a namespace with these labels. Undecided where a
 * matchCondition is of a form that is not read here; a condition that is surely false decides whatever the others say
 * (k8s.io/apiserver pkg/admission/plugin/webhook/generic/webhook.go ShouldCallHook, matchconditions/matcher.go).
 * matchPolicy is not looked at: v1 pods have no equivalent. Changes that other mutating hooks make to the pod before this
 * one sees it are not known here.
 */
export function reach(hook: Hook, pod: SelectablePod, namespaceLabels: Labels): Reach {
  if (!isCalledForPods(hook)) return { reach: "not-reached", because: `its rules cover ${covered(hook.rules)}` };
  const byNamespace = firstMismatch(hook.namespaceSelector, namespaceLabels);
  if (byNamespace !== undefined)
    return { reach: "not-reached", because: `its namespaceSelector wants ${byNamespace} of the namespace` };
  const byObject = firstMismatch(hook.objectSelector, pod.labels);
  if (byObject !== undefined)
    return { reach: "not-reached", because: `its objectSelector wants ${byObject} of the pod` };
  return byConditions(hook, pod);
}

/** Whether any rule covers `CREATE` of `pods` in the core group, v1 (pkg/admission/plugin/webhook/predicates/rules). */
export function isCalledForPods(hook: Hook): boolean {
  return hook.rules.some(coversPods);
}

/**
 * Whether the API server refuses a dry run rather than call this hook: `Some` and `Unknown` (and, in v1beta1, nothing).
 * It does so even where failurePolicy is Ignore.
 */
export function refusesDryRun(hook: Hook): boolean {
  return hook.sideEffects !== "None" && hook.sideEffects !== "NoneOnDryRun";
}

/** Whether the labels satisfy the selector (k8s.io/apimachinery pkg/labels): a missing key satisfies NotIn. */
export function selects(selector: LabelSelector, labels: Labels): boolean {
  return firstMismatch(selector, labels) === undefined;
}

/** The scheduler that a condition of KAI's form asks for, such as `object.spec.schedulerName == 'kai-scheduler'`. */
export function schedulerAskedFor(expression: string): string | undefined {
  // Nothing escaped, so that the literal is its own value in CEL.
  const match = /^\s*object\.spec\.schedulerName\s*==\s*(?:'([^'"\\]*)'|"([^'"\\]*)")\s*$/.exec(expression);
  return match?.[1] ?? match?.[2];
}

function coversPods(rule: WebhookRule): boolean {
  return (
    rule.scope !== "Cluster" &&
    oneOf(rule.operations, "CREATE") &&
    oneOf(rule.apiGroups, "") &&
    oneOf(rule.apiVersions, "v1") &&
    rule.resources.some(isPods)
  );
}

const oneOf = (items: readonly string[], wanted: string): boolean => items.includes("*") || items.includes(wanted);

/** `pods` and the wildcards that include it: one alone leaves subresources out, `pods/` and a wildcard takes the pod in. */
function isPods(resource: string): boolean {
  const [name, sub = ""] = resource.split("/", 2);
  return (name === "*" || name === "pods") && (sub === "*" || sub === "");
}

function covered(rules: readonly WebhookRule[]): string {
  const all = rules.map((rule) => `${rule.operations.join(",")} of ${rule.resources.join(",")}`);
  return all.length === 0 ? "nothing" : `${all.join("; ")}, not the creation of pods`;
}

/** The first requirement that the labels do not satisfy, in words; undefined if they satisfy all. */
function firstMismatch(selector: LabelSelector, labels: Labels): string | undefined {
  const wanted = Object.entries(selector.matchLabels).find(([key, value]) => labelOf(labels, key) !== value);
  if (wanted !== undefined) return `${wanted[0]}=${wanted[1]}`;
  const failed = selector.matchExpressions.find((requirement) => !satisfied(requirement, labels));
  if (failed === undefined) return undefined;
  const values = failed.values.length > 0 ? ` (${failed.values.join(", ")})` : "";
  return `${failed.key} ${failed.operator}${values}`;
}

// `constructor` is a legal label, and must not be found in Object.prototype.
const labelOf = (labels: Labels, key: string): string | undefined =>
  Object.hasOwn(labels, key) ? labels[key] : undefined;

function satisfied(requirement: LabelSelector["matchExpressions"][number], labels: Labels): boolean {
  const value = labelOf(labels, requirement.key);
  switch (requirement.operator) {
    case "In":
      return value !== undefined && requirement.values.includes(value);
    case "NotIn":
      return value === undefined || !requirement.values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    default:
      // The API server stores no other operator (metav1 validation); one of the future is not met, and so said.
      return false;
  }
}

function byConditions(hook: Hook, pod: SelectablePod): Reach {
  const asked = hook.matchConditions.map((condition) => ({
    ...condition,
    scheduler: schedulerAskedFor(condition.expression),
  }));
  const refusing = asked.find(({ scheduler }) => scheduler !== undefined && scheduler !== pod.schedulerName);
  if (refusing !== undefined) {
    const because = `its matchCondition ${refusing.name} wants schedulerName ${String(refusing.scheduler)}, the pod has ${pod.schedulerName}`;
    return { reach: "not-reached", because };
  }
  const unread = asked.find(({ scheduler }) => scheduler === undefined);
  if (unread !== undefined)
    return {
      reach: "undecided",
      because: `its matchCondition ${unread.name} is not decided here: ${unread.expression}`,
    };
  return { reach: "reached" };
}
