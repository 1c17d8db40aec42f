// Who cares for a cluster: its row is taken, renewed and given back, each time by replacing exactly the row that was read.
// Invariant: only the holder of the claim writes the row, so a row with our owner and fence in it was written by us.
import { clusterKey } from "./cluster-key.ts";
import { clusterRow, decideClaim, endedRow, later } from "./cluster-row.ts";
import type { CareEnd, ClaimRefusal, ClusterRow, Wish } from "./cluster-row.ts";
import { readRow } from "./read-row.ts";
import { StoreError, type Row, type RowKey, type Table } from "./table.ts";

/** What a holder has in hand. Each renewal gives a new one; the old one is of no use then. */
export interface Claim {
  readonly wish: Wish;
  /** Raised with every claim on the cluster: what is written elsewhere can carry it, and yield to a higher one. */
  readonly fence: number;
  readonly until: Date;
  /** The cluster's row as it was claimed: `next`, `last` and `memory` are of earlier cares. */
  readonly row: ClusterRow;
  readonly stored: Row;
}

export type ClaimAnswer = { readonly claim: "held"; readonly held: Claim } | ClaimRefusal;

/** Somebody else has claimed the cluster meanwhile: write nothing more, and report nothing as if it were held. */
export interface Lost {
  readonly claim: "lost";
  readonly why: string;
}

/** An answer that was lost is asked for again so often before the error is the caller's. */
const tries = 4;

const ifDeleted = "the cluster is then cared for at the next timer, in full.";

/**
 * Claims the cluster: a row that is not there, that nobody holds, whose holder's time has passed, or that this very owner
 * holds already. Throws StoreError where the table does not answer (the claim may then stand, until it expires) and
 * UnreadableRow.
 */
export async function claimCluster(table: Table, wish: Wish, now: () => Date): Promise<ClaimAnswer> {
  return insist(async () => {
    const stored = await table.get(keyOf(wish.cluster));
    const at = now();
    const decided = decideClaim(stored && parse(stored), wish, at);
    if ("claim" in decided) return decided;
    const written = await (stored === undefined
      ? table.insert(keyOf(wish.cluster), decided)
      : table.replace(stored, decided));
    return written && { claim: "held", held: claimOf(wish, decided, written) };
  });
}

/** Holds it for `wish.seconds` from now on; also where its time has passed and nobody has claimed it since. */
export async function renewClaim(
  table: Table,
  claim: Claim,
  now: () => Date,
): Promise<{ readonly claim: "held"; readonly held: Claim } | Lost> {
  return rewrite(
    table,
    claim,
    (row) => row.held && { ...row, held: { ...row.held, until: later(now(), claim.wish.seconds) } },
  );
}

/**
 * Gives the cluster back and says how care ended. A continuation must have been sent before: a message too many is
 * dropped, one too few would leave a repair half done.
 */
export async function endClaim(
  table: Table,
  claim: Claim,
  end: CareEnd,
  now: () => Date,
): Promise<{ readonly claim: "ended" } | Lost> {
  const written = await rewrite(table, claim, (row) => endedRow(row, claim.wish, end, now()));
  return written.claim === "lost" ? written : { claim: "ended" };
}

/** The cluster's row, for who only wants to look. */
export async function readClusterRow(table: Table, cluster: string): Promise<ClusterRow | undefined> {
  const stored = await table.get(keyOf(cluster));
  return stored && parse(stored);
}

async function rewrite(
  table: Table,
  claim: Claim,
  change: (row: ClusterRow) => ClusterRow | undefined,
): Promise<{ readonly claim: "held"; readonly held: Claim } | Lost> {
  let current: { row: ClusterRow; stored: Row } | undefined = claim;
  return insist(async () => {
    current ??= await readOwn(table, claim);
    const changed = current && change(current.row);
    if (current === undefined || changed === undefined) {
      return { claim: "lost", why: `another run has claimed ${claim.wish.cluster}` };
    }
    const { stored } = current;
    // Whatever comes of the write, what we know of the row is old now.
    current = undefined;
    const written = await table.replace(stored, changed);
    return written && { claim: "held", held: claimOf(claim.wish, changed, written) };
  });
}

/** The row where the claim's fence is still the highest: also after a write of ours whose answer was lost. */
async function readOwn(table: Table, claim: Claim): Promise<{ row: ClusterRow; stored: Row } | undefined> {
  const stored = await table.get(keyOf(claim.wish.cluster));
  if (stored === undefined) return undefined;
  const row = parse(stored);
  return row.fence === claim.fence ? { row, stored } : undefined;
}

/**
 * Tries until there is an answer. Undefined means that the row had changed under us, which is read anew; or that our own
 * write was sent twice by the SDK, whose second try then finds the first one's effect.
 */
async function insist<T>(attempt: () => Promise<T | undefined>): Promise<T> {
  let last: StoreError | undefined;
  for (let n = 0; n < tries; n += 1) {
    try {
      const answer = await attempt();
      if (answer !== undefined) return answer;
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      last = error;
    }
  }
  throw last ?? new StoreError("the row changed under every write");
}

const claimOf = (wish: Wish, row: ClusterRow, stored: Row): Claim => ({
  wish,
  fence: row.fence,
  until: new Date(row.held?.until ?? 0),
  row,
  stored,
});

const parse = (stored: Row): ClusterRow => readRow(clusterRow, stored, ifDeleted);

const keyOf = (cluster: string): RowKey => ({ partition: "care", row: clusterKey(cluster) });
