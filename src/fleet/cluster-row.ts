// The row that says who cares for a cluster, and what becomes of a message for it: decisions over plain values. Pure.
import * as v from "valibot";
import type { Json } from "./table.ts";

const time = v.pipe(v.string(), v.isoTimestamp());
export const clusterRow = v.strictObject({
  version: v.literal(1),
  cluster: v.string(),
  /** Raised with every claim; never lowered, never used twice. */
  fence: v.pipe(v.number(), v.integer(), v.minValue(1)),
  /** Absent while nobody cares for the cluster. */
  held: v.optional(v.strictObject({ owner: v.string(), run: v.string(), since: time, until: time })),
  /** The run that goes on later, and the attempt that goes on with it. */
  next: v.optional(v.strictObject({ run: v.string(), attempt: v.pipe(v.number(), v.integer()), at: time })),
  /** The last run that came to its end. */
  last: v.optional(v.strictObject({ run: v.string(), at: time })),
  /** The latest slot of each timer for which care has ended. */
  slots: v.record(v.string(), time),
  /** What the use case wants to know at the next care, which it parses itself. Whatever comes out of a table is JSON. */
  memory: v.optional(v.custom<Json>(() => true)),
});
export type ClusterRow = v.InferOutput<typeof clusterRow>;

/** One delivery of a message for a cluster, wanting to care for it. */
export interface Wish {
  readonly cluster: string;
  /** Names this delivery: the same only for a claim that is tried again after an error. Two deliveries must never share it. */
  readonly owner: string;
  readonly run: string;
  readonly attempt: number;
  /** For a timer's message: which timer, and when it fired (RFC 3339). */
  readonly slot?: { readonly timer: string; readonly at: string };
  /** For how long it is claimed; renew well before. */
  readonly seconds: number;
}

export type ClaimRefusal =
  /** Somebody cares for the cluster, or a run of it goes on at `until`. */
  | { readonly claim: "elsewhere"; readonly run: string; readonly until: Date; readonly why: string }
  /** The message has had its effect: drop it. */
  | { readonly claim: "done"; readonly why: string };

/**
 * A continuation that is this late has been lost with its message, or fails at each try: somebody else may begin. Five
 * tries of a message, a minute apart (host.json), and some waiting in the queue.
 */
export const continuationGraceSeconds = 600;

/**
 * The row with the wish's claim in it, or why there is none. Duplicates are told from what the row remembers: the slot has
 * been cared for, the run has ended or has gone on past this attempt. What it no longer remembers costs one more pass.
 */
export function decideClaim(row: ClusterRow | undefined, wish: Wish, now: Date): ClusterRow | ClaimRefusal {
  const refusal = row === undefined ? undefined : (alreadyDone(row, wish) ?? heldElsewhere(row, wish, now));
  if (refusal !== undefined) return refusal;
  return {
    ...(row ?? { version: 1, cluster: wish.cluster, slots: {} }),
    fence: (row?.fence ?? 0) + 1,
    held: { owner: wish.owner, run: wish.run, since: now.toISOString(), until: later(now, wish.seconds) },
  };
}

function alreadyDone(row: ClusterRow, wish: Wish): ClaimRefusal | undefined {
  const slot = wish.slot === undefined ? undefined : row.slots[wish.slot.timer];
  if (wish.slot !== undefined && slot !== undefined && Date.parse(wish.slot.at) <= Date.parse(slot)) {
    return { claim: "done", why: `the slot ${slot} of ${wish.slot.timer}, or a later one, has been cared for` };
  }
  if (row.last?.run === wish.run) return { claim: "done", why: `the run ${wish.run} has ended` };
  if (row.next?.run === wish.run && wish.attempt < row.next.attempt) {
    return { claim: "done", why: `the run ${wish.run} has gone on to attempt ${row.next.attempt}` };
  }
  return undefined;
}

function heldElsewhere({ held, next }: ClusterRow, wish: Wish, now: Date): ClaimRefusal | undefined {
  if (held !== undefined && held.owner !== wish.owner && Date.parse(held.until) > now.getTime()) {
    const why = `${held.owner} cares for it since ${held.since} (run ${held.run})`;
    return { claim: "elsewhere", run: held.run, until: new Date(held.until), why };
  }
  if (next === undefined || next.run === wish.run) return undefined;
  const until = new Date(Date.parse(next.at) + continuationGraceSeconds * 1000);
  if (until <= now) return undefined;
  return { claim: "elsewhere", run: next.run, until, why: `the run ${next.run} goes on at ${next.at}` };
}

/** How care ends. */
export interface CareEnd {
  /** The run is not over: its continuation `attempt` has been sent and comes at `at`. */
  readonly next?: { readonly attempt: number; readonly at: Date };
  /**
   * The pass was not done, and its message will come again: neither the slot nor the run counts as done, and an earlier
   * `next` stays.
   */
  readonly again?: boolean;
  /** Replaces what is remembered; absent: stays as it is. */
  readonly memory?: Json;
}

/** The row after the holder has ended. */
export function endedRow(row: ClusterRow, wish: Pick<Wish, "run" | "slot">, end: CareEnd, now: Date): ClusterRow {
  const free = { ...row, held: undefined, memory: end.memory ?? row.memory };
  if (end.again === true) return free;
  if (end.next !== undefined) {
    return { ...free, next: { run: wish.run, attempt: end.next.attempt, at: end.next.at.toISOString() } };
  }
  const slots = wish.slot === undefined ? row.slots : { ...row.slots, [wish.slot.timer]: wish.slot.at };
  return { ...free, next: undefined, slots, last: { run: wish.run, at: now.toISOString() } };
}

/** RFC 3339, so many seconds after. */
export function later(now: Date, seconds: number): string {
  return new Date(now.getTime() + seconds * 1000).toISOString();
}
