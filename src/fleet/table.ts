// Rows that are replaced only by who has read them: all that the fleet's use cases need of a store. src/azure implements it
// over Azure Table storage. What fails for a reason of the store's own (network, throttling, 5xx) is thrown as StoreError.

/**
 * A JSON value; the implementation splits what is too long for one property (Table storage: 64 KiB). A key whose value is
 * undefined is as good as none, as JSON.stringify has it.
 */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json | undefined };

export interface RowKey {
  /** At most 512 characters of `[a-z0-9:._-]`; the implementation refuses anything else. */
  readonly partition: string;
  readonly row: string;
}

export interface Row extends RowKey {
  readonly value: Json;
  /** Opaque; changes with every write. */
  readonly etag: string;
}

export interface Table {
  get(key: RowKey): Promise<Row | undefined>;
  /** Undefined where the row is there already. */
  insert(key: RowKey, value: Json): Promise<Row | undefined>;
  /** Undefined where the row has changed since it was read, or is gone. */
  replace(read: Row, value: Json): Promise<Row | undefined>;
  /** False where the row has changed since it was read. True also where it is gone. */
  remove(read: Row): Promise<boolean>;
  /** In the order of the row keys. `after` (exclusive) and `limit` bound it. */
  list(partition: string, options?: { readonly after?: string; readonly limit?: number }): Promise<readonly Row[]>;
}

/** The store could not be asked, or its answer was not understood; a write may have happened. Worth trying again. */
export class StoreError extends Error {
  override readonly name = "StoreError";
}
