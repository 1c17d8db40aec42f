// One call of the repair: look, plan, do at most one step, say what next. Nothing is remembered between calls and nothing
// sleeps; the caller loops, or sends itself a message, and bounds how long it does. Proving the repair is probe.ts.
//
// Why a process may die between any two requests. The requests of a call are, in order: reads; questions about rights, which
// change nothing; the Lease, which expires by itself; one patch; the Lease again, to remember it. So a dead process has
// either written one step or none, and each step by itself leaves admission no worse than it found it:
// - A bundle is patched on one holder. Invariant: the new bundle was judged for every ready pod before it was written, and
//   while some pod is unknown it only grows. Holders are independent of each other: between the patch of the mutating one
//   and that of the validating one, the second is as it was.
// - A Secret's tls.crt grows behind its first block. Invariant: key and leaf stay the same, so no pod loads anything else;
//   what the operator copies into the bundles trusts what it trusted before, and more.
// - A Secret or a bundle is narrowed. Invariant: every pod there is was read in this very call and serves the Secret's leaf.
// - The operator is asked to reconcile. Invariant: only while the Secret holds every leaf that is served.
// - A Deployment is restarted. Invariant: admission fails anyway, another pod serves meanwhile, or a person allowed it.
// A patch that comes late (sent by a process that was thought dead) meets its preconditions: the whole old clientConfig, the
// Secret's resourceVersion, the Deployment's generation.
import type { ApiFailure, ClusterApi } from "./cluster-api.ts";
import { assess } from "./assess.ts";
import { collect } from "./collect.ts";
import {
  type HeldLease,
  type LeaseOptions,
  acquireLease,
  annotateHeldLease,
  defaultLeaseSeconds,
  releaseLease,
  renewOwnLease,
} from "./lease.ts";
import { type Ledger, ledgerAnnotation, mostTakenBack, parseLedger, timesTakenBack, withStep } from "./mend-ledger.ts";
import type { DoneBecause, MendOutcome, Observation } from "./mend-outcome.ts";
import { lastWriterOf } from "./mend-last-writer.ts";
import { accessDenied, accessNeededByPlan, manifestFor } from "./mend-rights.ts";
import { secondsAfterFailure, secondsAfterStep, writeStep } from "./mend-write.ts";
import { planRepair } from "./plan.ts";
import type { Step } from "./repair-plan.ts";
import type { Unseen } from "./snapshot.ts";

export interface MendOptions {
  readonly now: () => Date;
  /** KAI's namespace, where the cluster is not to be searched for it. */
  readonly namespace?: string;
  readonly probeNamespace: string;
  readonly allowOutage: boolean;
  /** Only look and plan: no question about rights, no Lease, no write. */
  readonly planOnly?: boolean;
  /** Who holds the Lease. The same in all calls of one repair, different for every repairer. */
  readonly holder: string;
  readonly leaseSeconds?: number;
}

/**
 * Observes, plans, and does the step that is due, if one is. `done`: fleetmend does nothing more by itself. `wait`: call
 * again in so many seconds. `blind`: the cluster could not be looked at.
 */
export async function mend(cluster: ClusterApi, options: MendOptions): Promise<MendOutcome> {
  const { now, namespace, probeNamespace, allowOutage } = options;
  const collected = await collect(cluster, { now, probeNamespace, ...(namespace !== undefined && { namespace }) });
  if (!collected.ok) return blind(collected.error);
  const snapshot = collected.value;
  const findings = assess(snapshot);
  const seen: Observation = { snapshot, findings, plan: planRepair(snapshot, findings, { allowOutage }) };
  if (options.planOnly === true) return done(seen, { kind: "only-planned" }, "only planned, nothing was written");
  const { next } = seen.plan;
  switch (next.do) {
    case "step":
      return doStep(cluster, options, seen, next.step);
    case "wait":
      await Promise.all(leasesOf(seen, options).map((lease) => renewOwnLease(cluster, lease)));
      return { ...seen, outcome: "wait", seconds: next.seconds, why: next.why, notes: [] };
    case "nothing":
      return finish(cluster, options, seen);
  }
}

async function doStep(cluster: ClusterApi, options: MendOptions, seen: Observation, step: Step): Promise<MendOutcome> {
  const missing = await accessDenied(cluster, accessNeededByPlan(seen.plan));
  if (missing.length > 0) {
    const because = { kind: "rights-missing", missing, manifest: manifestFor(missing) } as const;
    return done(seen, because, "a right is missing that the plan needs, so nothing was tried");
  }
  const lease = await acquireLease(cluster, leaseFor(step.backend.namespace, options));
  if (lease.lease === "elsewhere" || lease.lease === "again") {
    return { ...seen, outcome: "wait", seconds: lease.seconds, why: lease.why, notes: [] };
  }
  const notes = lease.lease === "without" ? [lease.note] : [];
  const held = lease.lease === "held" ? lease.object : undefined;
  const ledger = parseLedger(held?.metadata.annotations?.[ledgerAnnotation]);
  const times = timesTakenBack(ledger, step, options.now());
  if (times >= mostTakenBack) return stopFight(cluster, options, seen, { step, times });
  const written = await writeStep(cluster, step.action);
  if (written.ok) {
    await remember(cluster, options, step, { held, ledger });
    const seconds = secondsAfterStep(step.action);
    return { ...seen, outcome: "wait", seconds, why: "to look at what the step has done", did: step, notes };
  }
  const seconds = secondsAfterFailure(written.error);
  if (seconds === undefined) {
    const because = { kind: "refused", step, failure: written.error } as const;
    return done(seen, because, `the API server refused the write: ${written.error.message}`, notes);
  }
  const why = `the write did not succeed (${written.error.message}): looking again`;
  return { ...seen, outcome: "wait", seconds, why, tried: { step, failure: written.error }, notes };
}

/** Only what has been written can be taken back, so it is remembered afterwards: a process killed before forgets one. */
async function remember(
  cluster: ClusterApi,
  options: MendOptions,
  step: Step,
  { held, ledger }: { readonly held: HeldLease | undefined; readonly ledger: Ledger },
): Promise<void> {
  const next = withStep(ledger, step, options.now());
  if (held === undefined || next === undefined) return;
  const value = JSON.stringify(next);
  const leaseOptions = leaseFor(step.backend.namespace, options);
  await annotateHeldLease(cluster, held, { name: ledgerAnnotation, value, options: leaseOptions });
}

/** Writing the value once more would only make the log longer. Who writes it is in managedFields, where they say. */
async function stopFight(
  cluster: ClusterApi,
  options: MendOptions,
  seen: Observation,
  { step, times }: { readonly step: Step; readonly times: number },
): Promise<MendOutcome> {
  const { namespace } = step.backend;
  const note = await releaseLease(cluster, leaseFor(namespace, options));
  const { object, writer } = lastWriterOf(step, seen.snapshot);
  const forget = `kubectl annotate lease fleetmend -n ${namespace} ${ledgerAnnotation}-`;
  const why = `${object} was taken back ${times} times within the hour, last by ${writer}: stop that first, then ${forget}`;
  return done(seen, { kind: "fight", object, with: writer, times }, why, note === undefined ? [] : [note]);
}

/** Nothing to do by what was seen. Where a read failed in a way that passes, what was not seen may say otherwise. */
async function finish(cluster: ClusterApi, options: MendOptions, seen: Observation): Promise<MendOutcome> {
  const why = notReadThisTime(seen);
  if (why !== undefined) return { ...seen, outcome: "wait", seconds: 3, why, notes: [] };
  const notes = await Promise.all(leasesOf(seen, options).map((lease) => releaseLease(cluster, lease)));
  return done(
    seen,
    { kind: "nothing-left" },
    "there is nothing left that fleetmend does by itself",
    notes.filter((note) => note !== undefined),
  );
}

/** What was asked for and failed in a way that passes, in words. A caller bounds how often it is worth asking again. */
function notReadThisTime({ snapshot }: Observation): string | undefined {
  const object = snapshot.unseen.find(({ why }) => passes(why.kind));
  if (object !== undefined) return `${object.what} could not be read (${object.why.message})`;
  for (const pod of snapshot.backends.flatMap(({ pods }) => pods)) {
    if (pod.served?.from !== "unseen" || !passes(pod.served.why.kind)) continue;
    return `the certificate of pod ${pod.name} could not be read (${pod.served.why.message})`;
  }
  return undefined;
}

/** A 409 to a read is nobody's answer in life, and says nothing that would hold the next time. */
const passing: readonly Unseen["why"]["kind"][] = ["throttled", "server-error", "timeout", "unreachable", "conflict"];

function passes(kind: Unseen["why"]["kind"]): boolean {
  return passing.includes(kind);
}

function done(seen: Observation, because: DoneBecause, why: string, notes: readonly string[] = []): MendOutcome {
  return { ...seen, outcome: "done", because, why, notes };
}

function blind(failure: ApiFailure): MendOutcome {
  const why = `the cluster could not be looked at: ${failure.message}`;
  return { outcome: "blind", failure, why, ...(passes(failure.kind) && { seconds: failure.retryAfterSeconds ?? 5 }) };
}

function leaseFor(namespace: string, { holder, leaseSeconds, now }: MendOptions): LeaseOptions {
  return { namespace, holder, durationSeconds: leaseSeconds ?? defaultLeaseSeconds, now };
}

/** A Lease for each namespace that has a backend; nearly always one. */
function leasesOf({ snapshot }: Observation, options: MendOptions): readonly LeaseOptions[] {
  const namespaces = [...new Set(snapshot.backends.map(({ namespace }) => namespace))];
  return namespaces.map((namespace) => leaseFor(namespace, options));
}
