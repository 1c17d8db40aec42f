// How much change the fleet may see at once: one row for all, replaced only by who has read it, so that of two that reserve
// at the same moment one has to read again. The rules are in budget-row.ts.
import type { BudgetView } from "./budget-view.ts";
import {
  budgetRow,
  decideRelease,
  decideRenewal,
  decideReservation,
  freshBudget,
  reservationOf,
  settled,
  skewSeconds,
  viewOf,
} from "./budget-row.ts";
import type { BudgetPolicy, BudgetRefusal, BudgetRow, RepairOutcome, RepairWish } from "./budget-row.ts";
import { readRow, UnreadableRow } from "./read-row.ts";
import { StoreError, type Row, type Table } from "./table.ts";

export interface BudgetParts {
  readonly table: Table;
  readonly policy: BudgetPolicy;
  /** The deployed version: a new one begins with the ramp at 1. */
  readonly version: string;
  readonly now: () => Date;
  /** In [0, 1). */
  readonly random: () => number;
  readonly sleep: (ms: number) => Promise<void>;
}

export type ReserveAnswer = { readonly reserved: true; readonly until: Date } | BudgetRefusal;

const key = { partition: "fleet", row: "budget" } as const;

/** With the waits between them about six seconds in all. */
const tries = 8;
const firstWaitMs = 50;

const ifDeleted = "do that while no repair runs, since those that run would no longer be counted.";

/**
 * Reserves one repair before the first write to a cluster. The run that has reserved before gets its own reservation again.
 * Where others come between at each try the answer is a refusal, `contended`. Throws StoreError where the table does not
 * answer: the reservation may stand then, and the same run asking again gets it.
 */
export async function reserveRepair(parts: BudgetParts, wish: RepairWish): Promise<ReserveAnswer> {
  try {
    const answer = await contend(parts, wish, (row, now) => {
      const decided = decideReservation(row, parts.policy, { ...wish, version: parts.version }, now);
      return { row: decided.row, answer: decided.refusal ?? reservationOf(decided.row, wish) };
    });
    if (answer === undefined) return contended();
    return "reserved" in answer ? answer : { reserved: true, until: new Date(answer.until) };
  } catch (error) {
    if (!(error instanceof UnreadableRow)) throw error;
    return { reserved: false, reason: "unreadable", why: error.message, retryAfterSeconds: 900 };
  }
}

function contended(): BudgetRefusal {
  const why = "The budget is contended: others wrote it at every try, or the table is very slow.";
  return { reserved: false, reason: "contended", why, retryAfterSeconds: 30 };
}

/**
 * Lengthens the run's reservation to `wish.seconds` from now. `lost`: it had expired and was counted as not proven, or
 * the row cannot be read; write nothing more without a new one. Throws StoreError.
 */
export async function renewReservation(
  parts: BudgetParts,
  wish: RepairWish,
): Promise<{ readonly until: Date } | "lost"> {
  try {
    const answer = await contend(parts, wish, (row, now) => {
      const renewed = decideRenewal(row, wish, now) ?? row;
      const own = reservationOf(renewed, wish);
      return { row: renewed, answer: own === undefined ? ("lost" as const) : { until: new Date(own.until) } };
    });
    return answer ?? unwritable();
  } catch (error) {
    if (!(error instanceof UnreadableRow)) throw error;
    return "lost";
  }
}

/** Whether the run has a reservation for the cluster, perhaps one that has expired and was not yet counted. Throws StoreError. */
export async function hasReservation(
  { table, version }: Pick<BudgetParts, "table" | "version">,
  named: { readonly cluster: string; readonly run: string },
): Promise<boolean> {
  try {
    return reservationOf(parse(await table.get(key), version), named) !== undefined;
  } catch (error) {
    // Then nothing is reserved either: whoever asks is refused, and told why.
    if (error instanceof UnreadableRow) return false;
    throw error;
  }
}

/**
 * Gives the reservation back. Done twice, or after it had expired, it changes nothing. `tripped`: this very release has
 * opened the breaker. Throws StoreError and UnreadableRow: the reservation expires by itself then, as not proven.
 */
export async function releaseReservation(
  parts: BudgetParts,
  release: { readonly cluster: string; readonly run: string; readonly outcome: RepairOutcome },
): Promise<{ readonly budget: BudgetView; readonly tripped: boolean }> {
  const answer = await contend(parts, release, (row, now) => {
    const released = decideRelease(row, parts.policy, release, now) ?? row;
    const tripped = row.breaker === undefined && released.breaker !== undefined;
    return { row: released, answer: { budget: viewOf(released, parts.policy), tripped } };
  });
  return answer ?? unwritable();
}

function unwritable(): never {
  throw new StoreError("the budget could not be written: others did at every try");
}

/**
 * The budget as it is by now; nothing is written. A row that cannot be read is shown as an open breaker, which is what it
 * amounts to. Throws StoreError.
 */
export async function budgetView(
  parts: Pick<BudgetParts, "table" | "policy" | "version" | "now">,
): Promise<BudgetView> {
  const stored = await parts.table.get(key);
  try {
    return viewOf(settled(parse(stored, parts.version), parts.policy, parts.now()), parts.policy);
  } catch (error) {
    if (!(error instanceof UnreadableRow)) throw error;
    const view = viewOf(freshBudget(parts.version), parts.policy);
    return { ...view, allowedNow: 0, breaker: { open: true, failures: 0, why: error.message } };
  }
}

/**
 * Reads, decides and replaces until nobody comes in between; undefined where somebody always does. What was decided is
 * only written where it changes something, so that a refusal costs no write. Deciding anew finds what an earlier try has
 * written though its answer was lost.
 */
async function contend<T>(
  parts: BudgetParts,
  own: { readonly cluster: string; readonly run: string },
  decide: (row: BudgetRow, now: Date) => { readonly row: BudgetRow; readonly answer: T | undefined },
): Promise<T | undefined> {
  let failure: StoreError | undefined;
  for (let n = 0; n < tries; n += 1) {
    if (n > 0) await parts.sleep(firstWaitMs * 2 ** (n - 1) * (0.5 + parts.random()));
    try {
      const stored = await parts.table.get(key);
      const before = parse(stored, parts.version);
      const now = parts.now();
      const { row, answer } = decide(settled(before, parts.policy, now, own), now);
      const isWritten = await wrote(parts.table, { stored, before, row });
      // A start that was written long after it was decided would not be one of its hour: it is decided anew.
      if (isWritten && parts.now().getTime() - now.getTime() < (skewSeconds / 2) * 1000) return answer;
      failure = undefined;
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      failure = error;
    }
  }
  if (failure !== undefined) throw failure;
  return undefined;
}

interface Change {
  readonly stored: Row | undefined;
  readonly before: BudgetRow;
  readonly row: BudgetRow;
}

/** False where somebody else wrote meanwhile. */
async function wrote(table: Table, { stored, before, row }: Change): Promise<boolean> {
  if (stored === undefined) return (await table.insert(key, row)) !== undefined;
  if (JSON.stringify(before) === JSON.stringify(row)) return true;
  return (await table.replace(stored, row)) !== undefined;
}

function parse(stored: Row | undefined, version: string): BudgetRow {
  return stored === undefined ? freshBudget(version) : readRow(budgetRow, stored, ifDeleted);
}
