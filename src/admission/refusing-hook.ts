// Which hook does a refusal mean, and which hooks had answered before it? The API server names a hook by its entry's name
// only, and KAI gives one name to its mutating and its validating hook.
import type { Refusal } from "./classify.ts";
import type { RefusalPhase } from "./probe-report.ts";
import { isCalledForPods, refusesDryRun } from "./reach.ts";
import type { Hook } from "./snapshot.ts";

/** What is known of one hook, for telling it from others of its name. */
export interface KnownHook {
  readonly hook: Hook;
  /** False only where rules, selectors or conditions surely do not match the pod. */
  readonly mayBeReached: boolean;
  /** Whether the verdict finds no certificate in its bundle: such a hook fails before anything is called. */
  readonly hasUnreadableBundle: boolean;
}

/** A text that only a hook causes. */
type HookRefusal = Extract<Refusal, { readonly kind: "call-failed" | "denied" | "no-dry-run" }>;

/**
 * The hooks that may have spoken: several where the text does not tell, none where nobody known fits or no hook spoke.
 * What tells: the name, the URL's host and path, whether a hook refuses dry runs or has an unreadable bundle, and that the
 * API server comes to the mutating hooks first, in the order of their holders' names.
 */
export function speakersOf(refusal: Refusal, known: readonly KnownHook[]): readonly Hook[] {
  if (!isFromHook(refusal)) return [];
  const named = known.filter(({ hook }) => isCalledForPods(hook) && isNamed(hook, refusal));
  const reached = named.filter(({ mayBeReached }) => mayBeReached);
  const likely = reached.length > 0 ? reached : named;
  if (refusal.kind === "no-dry-run") return firstToFail(likely, ({ hook }) => refusesDryRun(hook));
  const isConfig = refusal.kind === "call-failed" && refusal.failureClass === "config";
  return isConfig ? firstToFail(likely, (each) => each.hasUnreadableBundle) : likely.map(({ hook }) => hook);
}

function isFromHook(refusal: Refusal): refusal is HookRefusal {
  return refusal.kind === "call-failed" || refusal.kind === "denied" || refusal.kind === "no-dry-run";
}

function isNamed(hook: Hook, refusal: HookRefusal): boolean {
  const url = refusal.kind === "call-failed" ? refusal.url : undefined;
  if (refusal.hook === undefined) return url !== undefined && isCalledAt(hook, url);
  return refusal.hook === hook.name && (url === undefined || isCalledAt(hook, url));
}

/** Whether the API server calls this hook at this URL, the query aside. */
function isCalledAt(hook: Hook, url: string): boolean {
  const { service } = hook;
  if (service === undefined) return hook.url !== undefined && withoutQuery(hook.url) === withoutQuery(url);
  // client-go's request joins the path with path.Join: no slash at the end, and one alone where there is no path.
  const path = `/${service.path.split("/").filter(Boolean).join("/")}`;
  return withoutQuery(url) === withoutQuery(`https://${hook.serverName}:${service.port}${path}`);
}

const withoutQuery = (url: string): string => (url.split("?")[0] ?? url).replace(/\/$/, "");

/** Of hooks that fail without being called, the one whose turn comes first; all, where none is known to fail so. */
function firstToFail(hooks: readonly KnownHook[], fails: (hook: KnownHook) => boolean): readonly Hook[] {
  const failing = hooks.filter(fails).map(({ hook }) => hook);
  if (failing.length === 0) return hooks.map(({ hook }) => hook);
  const mutating = failing.filter(isMutating).sort(byTurn);
  return mutating.length > 0 ? mutating.slice(0, 1) : failing;
}

/**
 * Who refused and where, for people. A hook of one name on both sides leaves the phase `unknown`.
 */
export function refuserOf(refusal: Refusal, speakers: readonly Hook[]): { by: string; phase: RefusalPhase } {
  switch (refusal.kind) {
    case "refused":
      return { by: refusal.by, phase: refusal.phase };
    case "denied":
    case "no-dry-run":
    case "call-failed":
      return { by: `hook ${refusal.hook ?? "without a name"}`, phase: phaseOf(speakers) };
    case "conversion-failed":
      return { by: `conversion webhook for ${refusal.subject}`, phase: "unknown" };
    case "namespace-not-found":
    case "deadline":
    case "unknown":
      return { by: "the API server", phase: "unknown" };
  }
}

function phaseOf(speakers: readonly Hook[]): RefusalPhase {
  if (speakers.length === 0) return "unknown";
  if (speakers.every(isMutating)) return "mutating";
  return speakers.some(isMutating) ? "unknown" : "validating";
}

/**
 * Whether the request had come past `hook`, supposing it was reached, when it was refused in `phase`. The order is that of
 * k8s.io/apiserver pkg/endpoints/handlers/create.go and kube-apiserver's AllOrderedPlugins: mutating hooks one after
 * another, the object's own validation, validating plugins and policies, the validating hooks side by side (one error
 * returns, so that none of the others is known), ResourceQuota.
 */
export function hadAnswered(hook: Hook, phase: RefusalPhase, speakers: readonly Hook[]): boolean {
  switch (phase) {
    case "quota":
      // A mutating hook may have changed the pod, and a refusal does not show it: sure is only a hook that takes any pod.
      return isMutating(hook) || !selectsByPod(hook);
    case "schema":
    case "validating":
      return isMutating(hook);
    case "mutating":
    case "unknown": {
      const first = speakers.filter(isMutating).sort(byTurn)[0];
      return isMutating(hook) && first !== undefined && byTurn(hook, first) < 0;
    }
    case "authorization":
      return false;
  }
}

export const isMutating = ({ holder }: Hook): boolean => holder.kind === "MutatingWebhookConfiguration";

const selectsByPod = ({ objectSelector, matchConditions }: Hook): boolean =>
  matchConditions.length > 0 ||
  objectSelector.matchExpressions.length > 0 ||
  Object.keys(objectSelector.matchLabels).length > 0;

/** The API server sorts mutating configurations by name (pkg/admission/configuration/mutating_webhook_manager.go). */
function byTurn(a: Hook, b: Hook): number {
  if (a.holder.name === b.holder.name) return a.index - b.index;
  return a.holder.name < b.holder.name ? -1 : 1;
}
