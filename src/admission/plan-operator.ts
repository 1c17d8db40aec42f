// Families D0 to D4: kai-operator copies the Secret's tls.crt into every bundle and takes other bundles back within a
// second. So the Secret is the lever; a bundle is patched directly only where the operator is down or does not follow.
import { sameBytes, withCertificates, withoutCertificate } from "./bundle.ts";
import { reconcileRequestAnnotation } from "./mend-patch.ts";
import { operatorIn } from "./owner.ts";
import { commandsForBlindness } from "./plan-advice.ts";
import { bundleSteps, expectedNarrowing, leavesMissingFrom, narrowingSteps } from "./plan-bundles.ts";
import type { CasePlan } from "./plan-case-plan.ts";
import { type RepairCase, helpablePods, isSameEntry, isSettled, judgeBundle, referenceOf } from "./plan-case.ts";
import { certificatesIn, fingerprintOf, shortFingerprint } from "./plan-certificates.ts";
import { planByBundles, stepsInOrder } from "./plan-helm-hooks.ts";
import { planStalePods } from "./plan-stale.ts";
import { addedFingerprints, reconcileStep, secretStep } from "./plan-steps.ts";
import type { Advice, PlanOptions, Step } from "./repair-plan.ts";
import type { Hook, ServingSecret } from "./snapshot.ts";

/**
 * How long a working operator may take to follow. It takes 12 to 150 ms (measured with v0.9.14, v0.17.0 and v0.20.1); the
 * rest is for a slow API server and a workqueue that backs off.
 */
const followSeconds = 10;

/** A request that is older says nothing about the operator of today. */
const requestExpiresSeconds = 600;

/**
 * Whether kai-operator writes bundles. `deaf`: it is down, or it was ready and did not follow though it had the time. `gone`:
 * there is none. `ready` is not yet working, and `unseen` not yet gone: both are found out by asking.
 */
type OperatorState = "deaf" | "gone" | "ready" | "unseen";

/**
 * The bundles first where nobody takes them back: they decide what is admitted. Then the Secret, so that an operator that
 * comes back copies what every pod needs; then the bundles through a working operator; then the pods; then narrower again.
 */
export function planThroughOperator(one: RepairCase, options: PlanOptions): CasePlan {
  const state = operatorState(one);
  if (state === "gone") return planByBundles(one, options);
  const direct = bundleSteps(one, leftAlone(one, state));
  if (direct.length > 0) return stepsInOrder(direct, expectedNarrowing(one, direct));
  const nothing: CasePlan = { next: { do: "nothing" }, later: [], advice: [] };
  // Without tls.crt a working operator makes a new pair by itself: nothing to put behind it, nothing to hurry.
  if (one.secret.state === "unseen" || one.secret.certificates === undefined) return nothing;
  const pair: OperatorPair = { secret: one.secret.secret, certificates: one.secret.certificates };
  if (leavesMissingFrom(one, pair.certificates).length > 0) return widenSecret(one, pair) ?? nothing;
  return (
    followSecret(one, pair, bundleSteps(one)) ??
    waitForPods(one, pair, options) ??
    narrowSecret(one, pair) ??
    narrowBundles(one, pair, state) ??
    nothing
  );
}

/**
 * The hooks that nobody takes back: all of them where the operator is down. One that is blind may be so for some only (a
 * name that it has no right to); a bundle that is what the Secret holds is one that it does write.
 */
function leftAlone(one: RepairCase, state: OperatorState): readonly Hook[] {
  if (state !== "deaf") return [];
  const { secret } = one;
  const isDown = !one.isOperatorBlind;
  const copied = secret.state === "unseen" ? undefined : secret.certificates;
  return one.hooks.filter((hook) => isDown || copied === undefined || !sameBytes(hook.bundle, copied));
}

function narrowBundles(one: RepairCase, pair: OperatorPair, state: OperatorState): CasePlan | undefined {
  const narrowing = narrowingSteps(one);
  if (state !== "deaf" || narrowing.length === 0) return followSecret(one, pair, narrowing);
  return stepsInOrder(narrowing, []);
}

/** The Secret that the operator copies from, whether or not its pair can be used. */
interface OperatorPair {
  readonly secret: ServingSecret;
  readonly certificates: Uint8Array;
}

function operatorState(one: RepairCase): OperatorState {
  const { snapshot, installation } = one;
  const operator = operatorIn(snapshot, installation.namespace);
  if (operator !== undefined) return operator.readyReplicas > 0 && !one.isOperatorBlind ? "ready" : "deaf";
  return snapshot.unseen.some(({ what }) => what.includes("/deployments")) ? "unseen" : "gone";
}

/**
 * Invariant: the Secret holds every leaf that a pod serves before anything makes the operator copy it. With the Secret as
 * it is, a working operator writes, or has written, a bundle that refuses these pods.
 */
function widenSecret(one: RepairCase, { secret, certificates }: OperatorPair): CasePlan | undefined {
  // A pair that no pod will load endangers nothing while the bundles are good, and is left to a person.
  const fails = one.hooks.some((hook) => judgeBundle(one, hook.bundle) === "broken");
  if (one.secret.state !== "usable" && !fails) return undefined;
  const missing = leavesMissingFrom(one, certificates);
  const wider = withCertificates(certificates, missing);
  if (!helpablePods(one).every((pod) => one.judge(wider, pod.chain) === "trusted")) return undefined;
  const added = [...new Set([...addedFingerprints(secret), ...missing.map(fingerprintOf)])];
  const step = secretStep(one, { secret, certificates: wider, phase: "widen", added });
  const expected =
    one.secret.state === "usable"
      ? [secretStep(one, { secret, certificates, phase: "narrow", added: [], before: wider })]
      : [];
  return stepsInOrder([step], expected);
}

/**
 * The bundles are to become what the Secret holds: ask the operator, give it its time, then write them ourselves.
 * `direct` are the steps that would do that. Undefined where there are none.
 */
function followSecret(one: RepairCase, { secret }: OperatorPair, direct: readonly Step[]): CasePlan | undefined {
  if (direct.length === 0) return undefined;
  const state = stateAskedAbout(one, secret, direct);
  const age = secondsSinceRequest(one, secret, state);
  if (age === undefined) return stepsInOrder([reconcileStep(one, secret, textOf(state), direct)], direct);
  if (age < followSeconds) {
    const why = "kai-operator was asked to reconcile and has not followed yet";
    return { next: { do: "wait", seconds: Math.ceil(followSeconds - age), why }, later: direct, advice: [] };
  }
  return { ...stepsInOrder(direct, []), advice: blindAdvice(one) };
}

/** The Secret's certificates and the bundles that are not what they should be, in short fingerprints. */
interface AskedAbout {
  readonly secret: string;
  readonly bundles: readonly string[];
}

function stateAskedAbout(one: RepairCase, secret: ServingSecret, direct: readonly Step[]): AskedAbout {
  const words = (pem: Uint8Array): string => certificatesIn(pem).map(shortFingerprint).join("+") || "none";
  const pending = direct.flatMap(({ action }) => (action.kind === "set-bundle" ? action.entries : []));
  const bundles = one.hooks
    .filter((hook) => pending.some((entry) => isSameEntry(entry.hook, hook)))
    .map((hook) => words(hook.bundle));
  return { secret: words(secret.certificates ?? new Uint8Array()), bundles: [...new Set(bundles)] };
}

const textOf = ({ secret, bundles }: AskedAbout): string => `secret:${secret} bundles:${bundles.join(",")}`;

/**
 * Undefined where nothing was asked about this state, or too long ago, or by a clock that is ahead of ours. A request about
 * another state says nothing, whatever the clocks say; one about more bundles than now differ is still about these.
 */
function secondsSinceRequest(one: RepairCase, secret: ServingSecret, state: AskedAbout): number | undefined {
  const request = /^(\S+) secret:(\S+) bundles:(\S+)$/.exec(secret.annotations[reconcileRequestAnnotation] ?? "");
  const [, time = "", aboutSecret, aboutBundles = ""] = request ?? [];
  const age = (one.snapshot.at.getTime() - Date.parse(time)) / 1000;
  const asked = aboutBundles.split(",");
  const isCurrent = aboutSecret === state.secret && state.bundles.every((bundle) => asked.includes(bundle));
  return isCurrent && age >= 0 && age < requestExpiresSeconds ? age : undefined;
}

/** Stale pods, and what will be taken out of the Secret once they have moved. */
function waitForPods(one: RepairCase, pair: OperatorPair, options: PlanOptions): CasePlan | undefined {
  const stale = planStalePods(one, options);
  return stale && { ...stale, later: expectedSecretNarrowing(one, pair) };
}

function expectedSecretNarrowing(one: RepairCase, { secret, certificates }: OperatorPair): readonly Step[] {
  const narrower = withoutAdded(secret, certificates);
  if (narrower === undefined) return [];
  return [secretStep(one, { secret, certificates: narrower, phase: "narrow", added: [], before: certificates })];
}

/** Drops the blocks that fleetmend added, once every pod serves the Secret's own leaf. */
function narrowSecret(one: RepairCase, { secret, certificates }: OperatorPair): CasePlan | undefined {
  if (!isSettled(one)) return undefined;
  const narrower = withoutAdded(secret, certificates);
  if (narrower === undefined) return undefined;
  if (!one.pods.every((pod) => one.judge(narrower, pod.chain) === "trusted")) return undefined;
  return stepsInOrder([secretStep(one, { secret, certificates: narrower, phase: "narrow", added: [] })], []);
}

/** `tls.crt` without the blocks that are ours; undefined where there is none. Never the first block: the leaf. */
function withoutAdded(secret: ServingSecret, certificates: Uint8Array): Uint8Array | undefined {
  const added = addedFingerprints(secret);
  const own = certificatesIn(certificates).filter((der, index) => index > 0 && added.includes(fingerprintOf(der)));
  const narrower = own.reduce((rest, der) => withoutCertificate(rest, der) ?? rest, certificates);
  return narrower.length < certificates.length ? narrower : undefined;
}

/** Said where no finding says it: the operator was asked just now and did not follow. */
function blindAdvice(one: RepairCase): readonly Advice[] {
  const operator = operatorIn(one.snapshot, one.installation.namespace);
  const [hook] = one.hooks;
  if (operator === undefined || hook === undefined || one.isOperatorBlind) return [];
  const deployment = `${operator.namespace}/${operator.name}`;
  return [
    {
      about: "operator-blind",
      object: `${operator.namespace}/deployments/${operator.name}`,
      sentence: `${deployment} is ready, but it did not write its bundles when it was asked to reconcile, so they are patched directly; there they stay. Its log, a missing CRD or a missing right tells why.`,
      commands: commandsForBlindness(deployment, referenceOf(hook), "unknown"),
    },
  ];
}
