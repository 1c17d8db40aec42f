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
}

const allowedKey = /^[a-z0-9:._-]{1,512}$/;

export function createMemoryTable(): MemoryTable {
  const rows = new Map<string, Row>();
  let written = 0;

  const nameOf = ({ partition, row }: RowKey): string => {
    if (!allowedKey.test(partition) || !allowedKey.test(row)) throw new Error(`${partition}/${row} is not a key`);
    return `${partition}/${row}`;
  };
  const store = ({ partition, row }: RowKey, value: Json): Row => {
    written += 1;
    const stored = Object.freeze({ partition, row, value: copyOf(value), etag: `W/"${written}"` });
    rows.set(nameOf(stored), stored);
    return stored;
  };
  const peek = (key: RowKey): Row | undefined => rows.get(nameOf(key));
  const remove = (read: Row): boolean => {
    const stored = rows.get(nameOf(read));
    if (stored !== undefined && stored.etag !== read.etag) return false;
    rows.delete(nameOf(read));
    return true;
  };

  return {
    peek,
    get: async (key) => Promise.resolve(peek(key)),
    insert: async (key, value) => Promise.resolve(rows.has(nameOf(key)) ? undefined : store(key, value)),
    replace: async (read, value) =>
      Promise.resolve(rows.get(nameOf(read))?.etag === read.etag ? store(read, value) : undefined),
    remove: async (read) => Promise.resolve(remove(read)),
    list: async (partition, { after, limit } = {}) =>
      Promise.resolve(
        [...rows.values()]
          .filter((row) => row.partition === partition && (after === undefined || row.row > after))
          .sort((one, other) => (one.row < other.row ? -1 : 1))
          .slice(0, limit),
      ),
  };
}

/** The way to the table over a network: each caller may have its own. */
export function overNetwork(table: Table, faults: TableFaults): Table {
  const call = async <T>(act: () => Promise<T>): Promise<T> => {
    await faults.pause();
    if (faults.random() < faults.before) throw new StoreError("the connection was refused");
    let answer = await act();
    await faults.pause();
    if (faults.random() < faults.after) throw new StoreError("the connection was reset");
    if (faults.random() < faults.resent) answer = await act();
    return answer;
  };
  return {
    get: (key) => call(() => table.get(key)),
    insert: (key, value) => call(() => table.insert(key, value)),
    replace: (read, value) => call(() => table.replace(read, value)),
    remove: (read) => call(() => table.remove(read)),
    list: (partition, options) => call(() => table.list(partition, options)),
  };
}

/** What a store gives back: the value as JSON carries it. Frozen, so that who reads cannot change what others read. */
function copyOf(value: Json): Json {
  return frozen(JSON.parse(JSON.stringify(value)) as Json);
}

function frozen<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  for (const inner of Object.values(value)) frozen(inner);
  return Object.freeze(value);
}
