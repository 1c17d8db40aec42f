// The rules of the budget, over the one row that holds it: what is reserved, what was begun, how far the ramp has come, and
// whether the breaker is open. Pure: a row, a wish and a time go in, a row and an answer come out. The table is in budget.ts.
import * as v from "valibot";
import type { BudgetView } from "./budget-view.ts";
import { later } from "./cluster-row.ts";

const time = v.pipe(v.string(), v.isoTimestamp());
const count = v.pipe(v.number(), v.integer(), v.minValue(0));

export const budgetRow = v.strictObject({
  version: v.literal(1),
  reservations: v.array(
    v.strictObject({
      cluster: v.string(),
      run: v.string(),
      at: time,
      until: time,
      /** The run has asked more than once: whoever asked before may have written to the cluster. */
      again: v.optional(v.literal(true)),
    }),
  ),
  /** What was begun in the last hour. */
  starts: v.array(v.strictObject({ run: v.string(), at: time })),
  /** 1, 2, 4, …; `maxConcurrentRepairs` bounds it where it is used, so that a changed setting needs no write. */
  ramp: v.pipe(v.number(), v.integer(), v.minValue(1)),
  /** Repairs in a row that were not proven. */
  failures: count,
  breaker: v.optional(v.strictObject({ until: time, why: v.string() })),
  /** The version of fleetmend that the ramp was climbed with. */
  deployed: v.string(),
});
export type BudgetRow = v.InferOutput<typeof budgetRow>;

export interface BudgetPolicy {
  readonly maxConcurrentRepairs: number;
  readonly maxRepairsPerHour: number;
  readonly breakerAfter: number;
  readonly breakerMinutes: number;
}

export interface RepairWish {
  /** The cluster's id. */
  readonly cluster: string;
  readonly run: string;
  /** Until when the repair has to be released or renewed: at the most an hour. */
  readonly seconds: number;
}

/**
 * `proven`: written, and the probe says that it holds. `failed`: written, and not proven, whatever the reason. `unused`:
 * nothing was written to the cluster; the start is given back, unless the run has reserved twice: who asked before may have
 * written and died.
 */
export const repairEnds = ["proven", "failed", "unused"] as const;
export type RepairOutcome = (typeof repairEnds)[number];

export const budgetReasons = [
  "breaker-open",
  "concurrent", // as many run as the ramp allows
  "hour", // as many were begun within 60 minutes as may be
  "same-cluster", // another run has reserved for this cluster
  "contended", // others wrote the row at each try, or the table is slow
  "unreadable", // the row is not ours to understand: nothing is repaired until somebody looks
] as const;

export interface BudgetRefusal {
  readonly reserved: false;
  readonly reason: (typeof budgetReasons)[number];
  readonly why: string;
  readonly retryAfterSeconds: number;
}

export const hourSeconds = 3600;

/**
 * How far the clocks of two instances may be apart, and how long a reservation may take to be written. Others wait that
 * much longer, so that the limits hold by any instance's clock. Azure's hosts are kept within a second.
 */
export const skewSeconds = 60;

/** A budget that nobody has used: the ramp at 1. */
export function freshBudget(version: string): BudgetRow {
  return { version: 1, reservations: [], starts: [], ramp: 1, failures: 0, deployed: version };
}

interface Named {
  readonly cluster: string;
  readonly run: string;
}

/**
 * The row as it is by now. A reservation that nobody released or renewed in time is gone, and counts as a repair that was
 * not proven, at the time when it expired: its run died, perhaps after a write. Its start still counts in the hour. The
 * reservation of `keep` stays, however late: its run is alive and speaks for itself.
 */
export function settled(row: BudgetRow, policy: BudgetPolicy, now: Date, keep?: Named): BudgetRow {
  const bounded = boundedTimes(row, policy, now);
  const isOver = (one: Named & { readonly until: string }): boolean =>
    !(keep !== undefined && isOf(keep, one)) && expiry(one) <= now.getTime();
  const starts = bounded.starts.filter(({ at }) => Date.parse(at) + (hourSeconds + skewSeconds) * 1000 > now.getTime());
  const reservations = bounded.reservations.filter((one) => !isOver(one));
  const dead = bounded.reservations.filter(isOver).sort((one, other) => expiry(one) - expiry(other));
  const counted = dead.reduce<BudgetRow>((next, one) => {
    const at = new Date(expiry(one));
    return failed(closedInTime(next, at), one.run, { policy, now: at });
  }, bounded);
  return closedInTime({ ...counted, reservations, starts }, now);
}

const expiry = ({ until }: { readonly until: string }): number => Date.parse(until) + skewSeconds * 1000;

/** Times too far ahead were written by a clock that was wrong, or under another setting: they must not block for so long. */
function boundedTimes(row: BudgetRow, policy: BudgetPolicy, now: Date): BudgetRow {
  const atMost = (at: string, seconds: number): string =>
    Date.parse(at) > now.getTime() + (seconds + skewSeconds) * 1000 ? later(now, seconds) : at;
  const { breaker } = row;
  return {
    ...row,
    reservations: row.reservations.map((one) => ({ ...one, until: atMost(one.until, hourSeconds) })),
    starts: row.starts.map((one) => ({ ...one, at: atMost(one.at, hourSeconds) })),
    breaker: breaker && { ...breaker, until: atMost(breaker.until, policy.breakerMinutes * 60) },
  };
}

function closedInTime(row: BudgetRow, now: Date): BudgetRow {
  if (row.breaker === undefined || Date.parse(row.breaker.until) > now.getTime()) return row;
  return { ...row, breaker: undefined, failures: 0, ramp: 1 };
}

function failed(row: BudgetRow, run: string, at: { readonly policy: BudgetPolicy; readonly now: Date }): BudgetRow {
  const failures = row.failures + 1;
  const next = { ...row, failures };
  if (row.breaker !== undefined || failures < at.policy.breakerAfter) return next;
  const why = `${failures} repairs in a row could not be proven, the last one in run ${run}`;
  return { ...next, ramp: 1, breaker: { until: later(at.now, at.policy.breakerMinutes * 60), why } };
}

export interface Decided {
  readonly row: BudgetRow;
  /** Absent: the wish's reservation stands in the row. */
  readonly refusal?: BudgetRefusal;
}

/**
 * Reserves, or says why not. The run's own reservation is given again and lengthened, since the same message may come twice;
 * it counts as begun now, because whoever asked before may have died before the first write.
 */
export function decideReservation(
  settledRow: BudgetRow,
  policy: BudgetPolicy,
  wish: RepairWish & { readonly version: string },
  now: Date,
): Decided {
  const { version, cluster, run } = wish;
  // A new version has proven nothing yet.
  const row = settledRow.deployed === version ? settledRow : { ...settledRow, deployed: version, ramp: 1 };
  const until = later(now, Math.min(wish.seconds, hourSeconds));
  const own = reservationOf(row, wish);
  const others = own === undefined ? row : withoutReservation(row, own);
  const isCounted = row.starts.length > others.starts.length;
  const refusal = isCounted ? undefined : refusalOf(others, policy, wish, now);
  if (refusal !== undefined) return { row, refusal };
  const at = now.toISOString();
  return {
    row: {
      ...others,
      reservations: [...others.reservations, { cluster, run, at, until, ...(own !== undefined && { again: true }) }],
      starts: [...others.starts, { run, at }],
    },
  };
}

/** As if it had never been. */
function withoutReservation(row: BudgetRow, own: BudgetRow["reservations"][number]): BudgetRow {
  return {
    ...row,
    reservations: row.reservations.filter((one) => one !== own),
    starts: row.starts.filter(({ run, at }) => run !== own.run || at !== own.at),
  };
}

/** Most repairs are over in seconds, and asking costs one read of the row. */
const concurrentSeconds = 15;

function refusalOf(row: BudgetRow, policy: BudgetPolicy, wish: RepairWish, now: Date): BudgetRefusal | undefined {
  const refuse = (reason: BudgetRefusal["reason"], why: string, free: number): BudgetRefusal => ({
    reserved: false,
    reason,
    why,
    retryAfterSeconds: Math.max(1, Math.ceil((free - now.getTime()) / 1000)),
  });
  if (row.breaker !== undefined) {
    const { until, why } = row.breaker;
    return refuse("breaker-open", `The breaker is open until ${until}: ${why}.`, Date.parse(until));
  }
  const other = row.reservations.find(({ cluster }) => cluster === wish.cluster);
  if (other !== undefined) {
    const why = `The run ${other.run} has reserved a repair of this cluster until ${other.until}.`;
    return refuse("same-cluster", why, Date.parse(other.until) + skewSeconds * 1000);
  }
  const allowed = Math.min(row.ramp, policy.maxConcurrentRepairs);
  if (row.reservations.length >= allowed) {
    const most = `at the most ${policy.maxConcurrentRepairs}`;
    const running = row.reservations.length === 1 ? "1 repair runs" : `${row.reservations.length} repairs run`;
    const why = `${running}, and the ramp allows ${allowed} now (${most}).`;
    return refuse("concurrent", why, now.getTime() + concurrentSeconds * 1000);
  }
  if (row.starts.length >= policy.maxRepairsPerHour) {
    const oldest = Math.min(...row.starts.map(({ at }) => Date.parse(at)));
    const why = `${row.starts.length} repairs were begun within 60 minutes, and no more may be.`;
    return refuse("hour", why, oldest + (hourSeconds + skewSeconds) * 1000);
  }
  return undefined;
}

/** The row with the run's own reservation until then. Undefined where it has none: it expired and was counted. */
export function decideRenewal(row: BudgetRow, wish: RepairWish, now: Date): BudgetRow | undefined {
  const own = reservationOf(row, wish);
  if (own === undefined) return undefined;
  const until = later(now, Math.min(wish.seconds, hourSeconds));
  return { ...row, reservations: row.reservations.map((one) => (one === own ? { ...one, until } : one)) };
}

/** Undefined where there is nothing to release: it was released before, or expired and was counted. */
export function decideRelease(
  row: BudgetRow,
  policy: BudgetPolicy,
  release: Named & { readonly outcome: RepairOutcome },
  now: Date,
): BudgetRow | undefined {
  const own = reservationOf(row, release);
  if (own === undefined) return undefined;
  const without = { ...row, reservations: row.reservations.filter((one) => one !== own) };
  switch (release.outcome) {
    case "unused":
      return own.again === true ? without : withoutReservation(row, own);
    case "failed":
      return failed(without, own.run, { policy, now });
    case "proven": {
      // While the breaker is open the ramp stays down: what is proven now was begun before.
      if (row.breaker !== undefined) return without;
      const ramp = Math.min(row.ramp * 2, Math.max(row.ramp, policy.maxConcurrentRepairs));
      return { ...without, failures: 0, ramp };
    }
  }
}

const isOf = (wish: Named, one: Named): boolean => one.cluster === wish.cluster && one.run === wish.run;

/** What the run has reserved for the cluster. */
export function reservationOf(row: BudgetRow, wish: Named): BudgetRow["reservations"][number] | undefined {
  return row.reservations.find((one) => isOf(wish, one));
}

/** The row as it is shown. */
export function viewOf(row: BudgetRow, policy: BudgetPolicy): BudgetView {
  return {
    maxConcurrentRepairs: policy.maxConcurrentRepairs,
    maxRepairsPerHour: policy.maxRepairsPerHour,
    allowedNow: Math.min(row.ramp, policy.maxConcurrentRepairs),
    running: row.reservations.map(({ cluster, run, until }) => ({ cluster, run, until })),
    startedInLastHour: row.starts.length,
    breaker: {
      open: row.breaker !== undefined,
      failures: row.failures,
      ...(row.breaker !== undefined && { until: row.breaker.until, why: row.breaker.why }),
    },
  };
}
