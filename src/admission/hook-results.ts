// What the answer to one dry run says of each hook, put together with reach and with our own handshakes. Pure: the answer
// has been got, by probe.ts.
import type { Refusal } from "./classify.ts";
import type { HandshakeAnswer, HookProbe, HookResult } from "./probe-report.ts";
import { isCalledForPods, reach, refusesDryRun, type Reach, type SelectablePod } from "./reach.ts";
import { hadAnswered, isMutating, refuserOf, speakersOf, type KnownHook } from "./refusing-hook.ts";
import type { ServedTrust } from "./served-trust.ts";
import type { Hook } from "./snapshot.ts";

/** How the dry run ended, or why there is no answer. */
export type DryRun =
  | { readonly outcome: "green"; /** As it came back, after all mutating hooks. */ readonly pod: SelectablePod }
  | { readonly outcome: "refused"; readonly refusal: Refusal }
  | { readonly outcome: "no-answer"; readonly because: string }
  | { readonly outcome: "forbidden"; readonly message: string }
  | { readonly outcome: "no-namespace"; readonly namespace: string };

export interface ProbeContext {
  /** Every hook that a pod may meet, KAI's and others. */
  readonly allHooks: readonly Hook[];
  readonly pod: SelectablePod;
  /** Absent where the namespace was not read. */
  readonly namespaceLabels?: Readonly<Record<string, string>>;
  readonly trustOf: (hook: Hook) => ServedTrust;
  readonly connectionOf: (hook: Hook) => "fresh" | "maybe-reused";
}

/**
 * The result for each of `hooks`, in their order. `proven` needs all of it: reached by the pod as sent and as it came
 * back, got through by the dry run, not failing open, and every ready pod trusted by the verdict.
 */
export function hookResults(hooks: readonly Hook[], dryRun: DryRun, context: ProbeContext): readonly HookProbe[] {
  const speakers = dryRun.outcome === "refused" ? speakersOf(dryRun.refusal, knownHooks(context)) : [];
  return hooks.map((hook) => {
    const subject = { hook, trust: context.trustOf(hook), reached: reachOf(hook, dryRun, context) };
    const { holder, index, name } = hook;
    const reference = { holderKind: holder.kind, holder: holder.name, index, name };
    return { hook: reference, ...resultOf(subject, dryRun, speakers, context) };
  });
}

/** One hook, and all that is known of it but the answer. `reached` is undefined where the namespace was not read. */
interface Subject {
  readonly hook: Hook;
  readonly trust: ServedTrust;
  readonly reached: Reach | undefined;
}

function resultOf(subject: Subject, dryRun: DryRun, speakers: readonly Hook[], context: ProbeContext): HookResult {
  const { hook, reached } = subject;
  const handshake = subject.trust.answer;
  // A hook that has spoken was reached, whatever we think of it: another hook may have changed the pod.
  if (dryRun.outcome === "refused" && speakers.includes(hook)) return spoken(hook, dryRun.refusal, speakers, handshake);
  if (reached?.reach === "not-reached") return { result: "not-reached", because: reached.because, handshake };
  switch (dryRun.outcome) {
    case "forbidden":
      return { result: "forbidden", message: dryRun.message, handshake };
    case "no-namespace":
      return { result: "no-namespace", namespace: dryRun.namespace, handshake };
    case "no-answer":
      return { result: "undecided", because: dryRun.because, handshake };
    case "refused": {
      const { by, phase } = refuserOf(dryRun.refusal, speakers);
      if (hadAnswered(hook, phase, speakers)) return passed(subject, context);
      if (hook.failurePolicy === "Ignore") return blind(handshake);
      return { result: "blocked", by, phase, message: textOf(dryRun.refusal), handshake };
    }
    case "green":
      return passed(subject, context);
  }
}

function knownHooks(context: ProbeContext): readonly KnownHook[] {
  return context.allHooks.map((hook) => ({
    hook,
    mayBeReached:
      context.namespaceLabels === undefined ||
      reach(hook, context.pod, context.namespaceLabels).reach !== "not-reached",
    hasUnreadableBundle: context.trustOf(hook).broken?.stage === "config",
  }));
}

function reachOf(hook: Hook, dryRun: DryRun, context: ProbeContext): Reach | undefined {
  const { namespaceLabels, pod } = context;
  if (namespaceLabels === undefined) return isCalledForPods(hook) ? undefined : reach(hook, pod, {});
  const asSent = reach(hook, pod, namespaceLabels);
  if (dryRun.outcome !== "green") return asSent;
  const asReturned = reach(hook, dryRun.pod, namespaceLabels);
  // A validating hook sees the pod as it came back, a mutating one at some point on the way there.
  if (!isMutating(hook) || asSent.reach === asReturned.reach) return asReturned;
  return { reach: "undecided", because: "another hook changed the pod, so that it may not have met this one" };
}

/** The hook itself refused, or another of its name did. */
function spoken(hook: Hook, refusal: Refusal, speakers: readonly Hook[], handshake: HandshakeAnswer): HookResult {
  const alone = speakers.length === 1;
  // Whichever of the two denied: the mutating one comes first, and has answered.
  if (refusal.kind === "denied" && (alone || isMutating(hook)))
    return { result: "denied-by-target", message: refusal.message };
  if (refusal.kind === "call-failed") {
    const { failureClass, goText } = refusal;
    return { result: "failed", failureClass, goText, ...(alone ? {} : { oneOf: speakers.length }) };
  }
  if (refusal.kind === "no-dry-run" && refusesDryRun(hook))
    return { result: "undecided", because: `it takes no dry run: sideEffects is ${hook.sideEffects}`, handshake };
  const because = `${speakers.length} hooks are called ${hook.name}, and the API server does not say which: ${textOf(refusal)}`;
  return { result: "undecided", because, handshake };
}

const textOf = (refusal: Refusal): string => ("message" in refusal ? refusal.message : refusal.goText);

/** The dry run came through: what that is worth. */
function passed({ hook, trust, reached }: Subject, context: ProbeContext): HookResult {
  const handshake = trust.answer;
  if (reached?.reach !== "reached") {
    const because = reached?.reach === "undecided" ? reached.because : "the namespace was not read";
    return { result: "undecided", because, handshake };
  }
  if (hook.failurePolicy === "Ignore") return blind(handshake);
  switch (handshake.trust) {
    case "trusted":
      return { result: "proven", connection: context.connectionOf(hook) };
    case "undetermined":
      return { result: "undecided", because: `the dry run is green, but ${handshake.reason}`, handshake };
    case "broken": {
      if (trust.broken?.stage !== "config") return { result: "latent", goText: handshake.goText };
      // Without a readable bundle there is no client, and so no kept connection: the API server has not seen it yet.
      const because = "the dry run is green, and the bundle cannot be read: the API server may not have seen it yet";
      return { result: "undecided", because, handshake };
    }
  }
}

const blind = (handshake: HandshakeAnswer): HookResult => ({
  result: "blind",
  because: "failurePolicy is Ignore: a failed call is hidden, so that a green answer says nothing",
  handshake,
});
