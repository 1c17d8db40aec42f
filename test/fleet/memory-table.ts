// A fake of Azure Table storage behind our Table: rows in memory with etags, and, where asked for, the ways in which a call
// over the network goes wrong. It stands for the service, not for any code of ours.
import { StoreError, type Json, type Row, type RowKey, type Table } from "../../src/fleet/table.ts";

/** Chances in [0, 1], drawn from `random` for each call. */
export interface TableFaults {
  readonly random: () => number;
  /** The request never arrives. */
  readonly before: number;
  /** It takes effect, and the answer is lost. */
  readonly after: number;
  /** It takes effect, the answer is lost, and the SDK sends it again: the caller sees what the second one finds. */
  readonly resent: number;
  /** Between call, effect and answer. */
  readonly pause: () => Promise<void>;
}

export interface MemoryTable extends Table {
  /** The row as it is, without a fault or a pause: for what a test wants to know. */
  peek(key: RowKey): Row | undefined;
  /** How many calls have been made. */
  calls(): number;
}

const allowedKey = /^[a-z0-9:._-]{1,512}$/;

export function createMemoryTable(faults?: TableFaults): MemoryTable {
  const rows = new Map<string, Row>();
  let written = 0;
  let calls = 0;

  const nameOf = ({ partition, row }: RowKey): string => {
    if (!allowedKey.test(partition) || !allowedKey.test(row)) throw new Error(`${partition}/${row} is not a key`);
    return `${partition}/${row}`;
  };
  const store = ({ partition, row }: RowKey, value: Json): Row => {
    written += 1;
    const stored = { partition, row, value: copyOf(value), etag: `W/"${written}"` };
    rows.set(nameOf(stored), stored);
    return structuredClone(stored);
  };
  const call = async <T>(act: () => T): Promise<T> => {
    calls += 1;
    if (faults === undefined) return act();
    await faults.pause();
    if (faults.random() < faults.before) throw new StoreError("the connection was refused");
    let answer = act();
    await faults.pause();
    if (faults.random() < faults.after) throw new StoreError("the connection was reset");
    if (faults.random() < faults.resent) answer = act();
    return answer;
  };

  return {
    get: (key) => call(() => structuredClone(rows.get(nameOf(key)))),
    insert: (key, value) => call(() => (rows.has(nameOf(key)) ? undefined : store(key, value))),
    replace: (read, value) => call(() => (rows.get(nameOf(read))?.etag === read.etag ? store(read, value) : undefined)),
    remove: (read) =>
      call(() => {
        const stored = rows.get(nameOf(read));
        if (stored !== undefined && stored.etag !== read.etag) return false;
        rows.delete(nameOf(read));
        return true;
      }),
    list: (partition, { after, limit } = {}) =>
      call(() =>
        [...rows.values()]
          .filter((row) => row.partition === partition && (after === undefined || row.row > after))
          .sort((one, other) => (one.row < other.row ? -1 : 1))
          .slice(0, limit)
          .map((row) => structuredClone(row)),
      ),
    peek: (key) => structuredClone(rows.get(nameOf(key))),
    calls: () => calls,
  };
}

/** What a store gives back: the value as JSON carries it. */
function copyOf(value: Json): Json {
  return JSON.parse(JSON.stringify(value)) as Json;
}
