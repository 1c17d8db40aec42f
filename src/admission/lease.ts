// The Lease `fleetmend`: keeps the Functions app and people at the command line out of each other's way on one cluster.
// It is advice. The fence is the precondition of each write, so a Lease that cannot be written never stops a repair.
import * as v from "valibot";
import type { ApiFailure, ClusterApi } from "./cluster-api.ts";

/** Long enough for one observation and one write of a slow cluster; short enough that nobody waits for a killed process. */
export const defaultLeaseSeconds = 30;

const leaseName = "fleetmend";

export interface LeaseOptions {
  /** The namespace of the webhook's Service. */
  readonly namespace: string;
  /** Who we are, such as `cli/alice@laptop/4711`. The same in every call of one repair. */
  readonly holder: string;
  readonly durationSeconds: number;
  readonly now: () => Date;
}

export type LeaseAnswer =
  /** `object` is the Lease as it is now, for the next write to it. */
  | { readonly lease: "held"; readonly object: HeldLease }
  /** Somebody else repairs. `seconds` until the Lease may be taken over. */
  | { readonly lease: "elsewhere"; readonly seconds: number; readonly why: string }
  /** Another process wrote the Lease while we looked, or the API server asks for patience. */
  | { readonly lease: "again"; readonly seconds: number; readonly why: string }
  /** It cannot be written. Go on without it, and say so. */
  | { readonly lease: "without"; readonly note: string };

const leaseObject = v.looseObject({
  metadata: v.looseObject({
    resourceVersion: v.string(),
    annotations: v.nullish(v.record(v.string(), v.string())),
  }),
  spec: v.optional(
    v.looseObject({
      holderIdentity: v.nullish(v.string()),
      leaseDurationSeconds: v.nullish(v.number()),
      acquireTime: v.nullish(v.string()),
      renewTime: v.nullish(v.string()),
      leaseTransitions: v.nullish(v.number()),
    }),
    {},
  ),
});
type LeaseObject = v.InferOutput<typeof leaseObject>;
export type HeldLease = LeaseObject;

/**
 * Takes the Lease, renews it where it is ours, takes it over where it has expired (leaseTransitions + 1). The
 * resourceVersion is the fence: of two that take it at once, one gets a 409 and `again`.
 */
export async function acquireLease(cluster: ClusterApi, options: LeaseOptions): Promise<LeaseAnswer> {
  const read = await cluster.get(leasePath(options));
  if (!read.ok && read.error.kind === "not-found") {
    const body = {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { name: leaseName, namespace: options.namespace },
      spec: heldSpec({}, options),
    };
    return answerOf(await cluster.create(leasesPath(options), body), options);
  }
  if (!read.ok) return cannotWrite(read.error, options);
  const parsed = v.safeParse(leaseObject, read.value);
  if (!parsed.success) return unreadable(options);
  const lease = parsed.output;
  const taken = heldElsewhere(lease, options);
  if (taken !== undefined) return taken;
  return answerOf(
    await cluster.replace(leasePath(options), { ...lease, spec: heldSpec(lease.spec, options) }),
    options,
  );
}

/**
 * Gives the Lease back where it is ours; a Lease that is not ours, or none, is left alone. Failing costs nothing but the
 * next repairer's patience until it expires, so there is no answer to act on: only a note.
 */
export async function releaseLease(cluster: ClusterApi, options: LeaseOptions): Promise<string | undefined> {
  const lease = await ownLease(cluster, options);
  if (lease === undefined) return undefined;
  // As client-go's ReleaseOnCancel: no holder, one second, so that others need not wait.
  const spec = { ...lease.spec, holderIdentity: "", leaseDurationSeconds: 1, renewTime: microTime(options.now()) };
  const written = await cluster.replace(leasePath(options), { ...lease, spec });
  if (written.ok) return undefined;
  return `Could not give back ${leaseReference(options)} (${written.error.message}); it expires by itself.`;
}

/** Sets an annotation on the Lease that we hold. Failing is no reason to do anything: what it says is only remembered. */
export async function annotateHeldLease(
  cluster: ClusterApi,
  held: HeldLease,
  annotation: { readonly name: string; readonly value: string; readonly options: LeaseOptions },
): Promise<void> {
  const annotations = { ...held.metadata.annotations, [annotation.name]: annotation.value };
  const metadata = { ...held.metadata, annotations };
  await cluster.replace(leasePath(annotation.options), { ...held, metadata });
}

/** Renews the Lease where it is ours, so that others stay away while we wait. Failing is no reason to do anything. */
export async function renewOwnLease(cluster: ClusterApi, options: LeaseOptions): Promise<void> {
  const lease = await ownLease(cluster, options);
  if (lease === undefined) return;
  await cluster.replace(leasePath(options), { ...lease, spec: heldSpec(lease.spec, options) });
}

async function ownLease(cluster: ClusterApi, options: LeaseOptions): Promise<LeaseObject | undefined> {
  const read = await cluster.get(leasePath(options));
  if (!read.ok) return undefined;
  const parsed = v.safeParse(leaseObject, read.value);
  return parsed.success && parsed.output.spec.holderIdentity === options.holder ? parsed.output : undefined;
}

/**
 * Whether somebody else holds it now. client-go (tools/leaderelection) never trusts the other's clock: it counts from the
 * moment at which it saw the record change, which a process without memory cannot. So renewTime is compared with our
 * clock. Clocks that differ by less than a lease make us a little early or late; a renewTime that lies further ahead than
 * a lease lasts is a wrong clock, and waiting for it could last hours: it counts as expired. Both are safe because the
 * Lease is not the fence.
 */
function heldElsewhere({ spec }: LeaseObject, options: LeaseOptions): LeaseAnswer | undefined {
  const holder = spec.holderIdentity ?? "";
  if (holder === "" || holder === options.holder) return undefined;
  const renewed = Date.parse(spec.renewTime ?? "");
  if (Number.isNaN(renewed)) return undefined;
  const durationMs = (spec.leaseDurationSeconds ?? defaultLeaseSeconds) * 1000;
  const leftMs = renewed + durationMs - options.now().getTime();
  if (leftMs <= 0 || leftMs > 2 * durationMs) return undefined;
  const since = typeof spec.acquireTime !== "string" ? "" : ` since ${secondsOnly(spec.acquireTime)}`;
  return {
    lease: "elsewhere",
    seconds: Math.ceil(leftMs / 1000),
    why: `${leaseReference(options)} is held by ${holder}${since}`,
  };
}

function heldSpec(previous: NonNullable<LeaseObject["spec"]>, options: LeaseOptions): Record<string, unknown> {
  const now = microTime(options.now());
  const isRenewal = previous.holderIdentity === options.holder;
  // A Lease that was never held has had no transition; one that was given back or has expired gets one more.
  const isFirst = typeof previous.holderIdentity !== "string";
  const transitions = previous.leaseTransitions ?? 0;
  return {
    ...previous,
    holderIdentity: options.holder,
    leaseDurationSeconds: options.durationSeconds,
    acquireTime: isRenewal ? (previous.acquireTime ?? now) : now,
    renewTime: now,
    leaseTransitions: isRenewal || isFirst ? transitions : transitions + 1,
  };
}

function answerOf(written: Awaited<ReturnType<ClusterApi["create"]>>, options: LeaseOptions): LeaseAnswer {
  if (!written.ok) return cannotWrite(written.error, options);
  const parsed = v.safeParse(leaseObject, written.value);
  return parsed.success ? { lease: "held", object: parsed.output } : unreadable(options);
}

function unreadable(options: LeaseOptions): LeaseAnswer {
  return { lease: "without", note: `Repairing without ${leaseReference(options)}: what is there cannot be read.` };
}

function cannotWrite(failure: ApiFailure, options: LeaseOptions): LeaseAnswer {
  switch (failure.kind) {
    case "conflict":
      return { lease: "again", seconds: 1, why: `${leaseReference(options)} was taken by somebody else meanwhile` };
    case "throttled":
      return { lease: "again", seconds: failure.retryAfterSeconds ?? 2, why: "the API server asks us to slow down" };
    // A broken webhook that matches Leases answers 500 to each write, and a slow one outlasts our time-out: waiting for
    // either to heal would be waiting for our own repair. A cluster that is really away fails our next write, too.
    case "server-error":
    case "timeout":
    case "unreachable":
    case "unauthorized":
    case "forbidden":
    case "not-found":
    case "invalid":
      return {
        lease: "without",
        note: `Repairing without ${leaseReference(options)}, which cannot be written (${failure.message}). Each write carries its own precondition.`,
      };
  }
}

const leaseReference = ({ namespace }: LeaseOptions): string => `the Lease ${namespace}/${leaseName}`;
const leasesPath = ({ namespace }: LeaseOptions): string =>
  `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
const leasePath = (options: LeaseOptions): string => `${leasesPath(options)}/${leaseName}`;

/** Kubernetes' MicroTime (apimachinery pkg/apis/meta/v1/micro_time.go): exactly six digits, or the server refuses it. */
function microTime(date: Date): string {
  return date.toISOString().replace(/Z$/, "000Z");
}

const secondsOnly = (time: string): string => time.replace(/\.\d+Z$/, "Z");
