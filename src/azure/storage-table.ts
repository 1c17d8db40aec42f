// Table over Azure Table storage: rows as entities, ETags as preconditions. Not here: what the rows mean.
import { randomUUID } from "node:crypto";
import type { TableClient, TableEntity } from "@azure/data-tables";
import { StoreError, type Json, type Row, type RowKey, type Table } from "../fleet/table.ts";
import { joinValue, splitValue } from "./entity-value.ts";
import {
  endpointOf,
  fromConnectionString,
  isLocalEmulator,
  refusalOf,
  storageDeadlineMs,
  storageRetries,
  storeError,
  type StorageAccount,
} from "./storage-account.ts";

/**
 * Opens the table `name` (letters and digits). Nothing is sent: the table is created when a row is first written and it is
 * not there. Throws a plain Error for a key outside RowKey's alphabet and for a value that is too large, StoreError for
 * everything that the service or the way to it refuses.
 */
export async function openTable(account: StorageAccount, name: string): Promise<Table> {
  const client = await clientOf(account, name);
  const at = ({ partition, row }: RowKey): string => `${name}/${partition}/${row}`;
  const read = (key: RowKey) => readEntity(client, key, at(key));
  return {
    get: async (key) => (await read(checked(key)))?.row,
    async insert(key, value) {
      const entity = entityOf(checked(key), value);
      const write = () => client.createEntity(entity, options());
      const stored = await attempt(`insert ${at(key)}`, () => withTable(client, write));
      if (!("refused" in stored)) return rowOf(key, entity, stored.etag);
      return stored.refused === "EntityAlreadyExists" ? ownWrite(await read(key), entity) : undefined;
    },
    async replace(seen, value) {
      const entity = entityOf(checked(seen), value);
      const write = () => client.updateEntity(entity, "Replace", { ...options(), etag: seen.etag });
      const stored = await attempt(`replace ${at(seen)}`, write);
      if (!("refused" in stored)) return rowOf(seen, entity, stored.etag);
      return stored.refused === "UpdateConditionNotSatisfied" ? ownWrite(await read(seen), entity) : undefined;
    },
    async remove(seen) {
      const { partition, row, etag } = checked(seen);
      const removed = await attempt(`remove ${at(seen)}`, () =>
        client.deleteEntity(partition, row, { ...options(), etag }),
      );
      return !("refused" in removed) || removed.refused !== "UpdateConditionNotSatisfied";
    },
    list: (partition, bounds = {}) => listRows(client, name, { ...bounds, partition }),
  };
}

async function clientOf(account: StorageAccount, name: string): Promise<TableClient> {
  const { TableClient } = await import("@azure/data-tables");
  const common = { retryOptions: storageRetries };
  if ("accountName" in account) {
    return new TableClient(endpointOf(account.accountName, "table"), name, account.credential, common);
  }
  const { connectionString } = account;
  const allowInsecureConnection = isLocalEmulator(connectionString);
  return fromConnectionString(() =>
    TableClient.fromConnectionString(connectionString, name, { ...common, allowInsecureConnection }),
  );
}

const options = () => ({ abortSignal: AbortSignal.timeout(storageDeadlineMs) });

/** The alphabet of RowKey, which needs no encoding in Table storage (Learn, "Understanding the Table service data model"). */
function checked<K extends RowKey>(key: K): K {
  for (const part of [key.partition, key.row]) {
    if (!/^[a-z0-9:._-]{1,512}$/.test(part)) throw new Error(`not a table key: ${JSON.stringify(part.slice(0, 80))}`);
  }
  return key;
}

/** `written` names this write: after a retry it tells an own success from another writer's. */
type Entity = TableEntity<Record<string, string>>;

function entityOf({ partition, row }: RowKey, value: Json): Entity {
  return { partitionKey: partition, rowKey: row, written: randomUUID(), ...splitValue(value) };
}

function rowOf({ partition, row }: RowKey, entity: Readonly<Record<string, unknown>>, etag: string | undefined): Row {
  if (etag === undefined) throw new StoreError(`Storage gave no ETag for ${partition}/${row}.`);
  try {
    return { partition, row, value: joinValue(entity), etag };
  } catch {
    throw new StoreError(`The row ${partition}/${row} in Table storage is not one that fleetmend wrote.`);
  }
}

/**
 * The service may have done a write whose answer was lost; the SDK's retry of it is then refused. The row as it stands
 * tells: it carries the name of our write, or somebody else was faster.
 */
function ownWrite(stands: Read | undefined, entity: Entity): Row | undefined {
  return stands?.written === entity.written ? stands?.row : undefined;
}

interface Read {
  readonly row: Row;
  readonly written: unknown;
}

async function readEntity(client: TableClient, key: RowKey, at: string): Promise<Read | undefined> {
  const found = await attempt(`get ${at}`, () => client.getEntity(key.partition, key.row, options()));
  return "refused" in found ? undefined : { row: rowOf(key, found, found.etag), written: found.written };
}

async function listRows(
  client: TableClient,
  name: string,
  { partition, after, limit }: { readonly partition: string; readonly after?: string; readonly limit?: number },
): Promise<readonly Row[]> {
  const { odata } = await import("@azure/data-tables");
  checked({ partition, row: after ?? "-" });
  const filter =
    after === undefined
      ? odata`PartitionKey eq ${partition}`
      : odata`PartitionKey eq ${partition} and RowKey gt ${after}`;
  // 1,000 entities are the most that the service puts on a page (Learn, "Query timeout and pagination").
  const maxPageSize = Math.min(limit ?? 1000, 1000);
  const rows: Row[] = [];
  const listed = await attempt(`list ${name}/${partition}`, async () => {
    for await (const page of client.listEntities({ ...options(), queryOptions: { filter } }).byPage({ maxPageSize })) {
      rows.push(...page.map((entity) => rowOf({ partition, row: entity.rowKey ?? "" }, entity, entity.etag)));
      if (rows.length >= (limit ?? Infinity)) break;
    }
    return {};
  });
  return "refused" in listed ? [] : rows.slice(0, limit);
}

// What is an answer and no failure: the row, or the table with it, is not there, or is not what was read.
const refusals = ["EntityAlreadyExists", "UpdateConditionNotSatisfied", "ResourceNotFound", "TableNotFound"] as const;

/** The answer, or the refusal that is one. Throws StoreError. */
async function attempt<T extends object>(
  asked: string,
  work: () => Promise<T>,
): Promise<T | { readonly refused: (typeof refusals)[number] }> {
  try {
    return await work();
  } catch (error) {
    const { code } = refusalOf(error);
    const refused = refusals.find((known) => known === code);
    if (refused === undefined) throw error instanceof StoreError ? error : storeError(asked, error);
    return { refused };
  }
}

async function withTable<T>(client: TableClient, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (refusalOf(error).code !== "TableNotFound") throw error;
    // Does nothing where another instance has just made it.
    await client.createTable(options());
    return write();
  }
}
