// Which bundle each hook of a case should have now, and the steps that write it: one per holder, the mutating one first.
// Whether a bundle may be written directly at all is the owner's question, asked in plan-helm-hooks and plan-operator.
import { holdsOnlyCertificates, sameBytes, withCertificates } from "./bundle.ts";
import { certificatesIn } from "./plan-certificates.ts";
import { type RepairCase, helpablePods, isSameEntry, isSettled, judgeBundle } from "./plan-case.ts";
import { type HookChange, bundleStep, holderPathOf } from "./plan-steps.ts";
import type { Step } from "./repair-plan.ts";
import type { Hook } from "./snapshot.ts";

/**
 * Widen, or replace what nothing serves: one step for each holder that has an entry which fails now, or will once the pods
 * have loaded the Secret.
 * Invariant: a pod that was trusted before a step is trusted after it; judged here by the verdict, for every pod that was
 * read, before the step exists. While a pod is not known, nothing that was trusted is dropped.
 */
export function bundleSteps(one: RepairCase, hooks: readonly Hook[] = one.hooks): readonly Step[] {
  // What only the Secret says is a guess: without one handshake nothing is written.
  if (one.pods.length === 0) return [];
  const changes = hooks.flatMap((hook) => {
    if (judgeBundle(one, hook.bundle) !== "broken") return [];
    const target = targetBundle(one, hook);
    if (judgeBundle(one, target.bundle) !== "trusted" || sameBytes(target.bundle, hook.bundle)) return [];
    return [{ hook, ...target }];
  });
  return byHolder(one, changes);
}

/**
 * Back to exactly what the Secret holds, where nothing else is served any more. Only bundles that fleetmend itself wrote:
 * what others have put there is theirs, however wide.
 */
export function narrowingSteps(one: RepairCase): readonly Step[] {
  if (!isSettled(one)) return [];
  const bundle = secretAnchors(one);
  if (judgeBundle(one, bundle) !== "trusted") return [];
  const wide = one.hooks.filter(
    (hook) =>
      hook.bundleWriter?.manager === "fleetmend" &&
      judgeBundle(one, hook.bundle) === "trusted" &&
      !sameBytes(hook.bundle, bundle),
  );
  return byHolder(
    one,
    wide.map((hook) => ({ hook, bundle, phase: "narrow" as const })),
  );
}

/** How the narrowing will look once these widening steps are done and the pods have moved: expected, not promised. */
export function expectedNarrowing(one: RepairCase, widening: readonly Step[]): readonly Step[] {
  if (one.secret.state !== "usable") return [];
  const bundle = secretAnchors(one);
  const widened = widening.flatMap(({ action }) => (action.kind === "set-bundle" ? action.entries : []));
  const changes = one.hooks.flatMap((hook): HookChange[] => {
    const change = widened.find((entry) => isSameEntry(entry.hook, hook));
    const before = change?.bundle ?? (hook.bundleWriter?.manager === "fleetmend" ? hook.bundle : undefined);
    if (before === undefined || sameBytes(before, bundle)) return [];
    return [{ hook, bundle, before, phase: "narrow" }];
  });
  return byHolder(one, changes);
}

interface Target {
  readonly bundle: Uint8Array;
  readonly phase: "widen" | "replace";
}

/**
 * The Secret's certificates, byte for byte, where its pair can be used; then each leaf that a pod serves and that these do
 * not make trusted; then, while a pod is not known, whatever the bundle holds already. Where the pair cannot be used, the
 * served leaves alone: pods keep the pair they have (certwatcher loads only what parses and fits), so the Secret's
 * certificate is not what the API server will see.
 */
function targetBundle(one: RepairCase, hook: Hook): Target {
  const base = secretAnchors(one);
  const served = leavesMissingFrom(one, base);
  const known = [...certificatesIn(base), ...served];
  const kept =
    one.unknownPods === 0
      ? []
      : certificatesIn(hook.bundle).filter((der) => !known.some((other) => sameBytes(other, der)));
  const bundle = withCertificates(base, [...served, ...kept]);
  const now = certificatesIn(bundle);
  const before = certificatesIn(hook.bundle);
  const isSuperset = before.length > 0 && before.every((der) => now.some((other) => sameBytes(other, der)));
  return { bundle, phase: isSuperset || (served.length > 0 && base.length > 0) ? "widen" : "replace" };
}

/** The leaves that pods serve and that this bundle does not make trusted, each once. */
export function leavesMissingFrom(one: RepairCase, bundle: Uint8Array): readonly Uint8Array[] {
  const leaves = helpablePods(one)
    .filter((pod) => one.judge(bundle, pod.chain) !== "trusted")
    .map((pod) => pod.leaf);
  return leaves.filter((leaf, index) => leaves.findIndex((other) => sameBytes(other, leaf)) === index);
}

/** The bytes of `tls.crt` where they can be used. Never a private key that stands there by mistake: bundles are public. */
function secretAnchors(one: RepairCase): Uint8Array {
  if (one.secret.state !== "usable") return new Uint8Array();
  const { certificates } = one.secret;
  return holdsOnlyCertificates(certificates)
    ? certificates
    : withCertificates(new Uint8Array(), certificatesIn(certificates));
}

function byHolder(one: RepairCase, changes: readonly HookChange[]): readonly Step[] {
  const paths = [...new Set(changes.map(({ hook }) => holderPathOf(hook.holder)))];
  return paths.map((path) =>
    bundleStep(
      one,
      changes.filter(({ hook }) => holderPathOf(hook.holder) === path),
    ),
  );
}
