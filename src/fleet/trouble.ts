// The last error of a message that will be delivered again, for the report that is made when it has failed for good: the
// queue hands on the message and not the reason.
import * as v from "valibot";
import { clusterKey } from "./cluster-key.ts";
import type { CareMessage } from "./care-message.ts";
import type { FleetParts } from "./fleet-parts.ts";
import { StoreError, type RowKey, type Table } from "./table.ts";

const trouble = v.object({ run: v.string(), at: v.string(), message: v.string() });

const keyOf = (cluster: string): RowKey => ({ partition: "trouble", row: clusterKey(cluster) });

/** Best effort: where the table is what fails, only the log has it. The errors that come here are ours and hold no secret. */
export async function rememberTrouble(parts: FleetParts, { cluster, run }: CareMessage, error: unknown): Promise<void> {
  const message = error instanceof Error ? `${error.name}: ${error.message}`.slice(0, 500) : "an unknown error";
  parts.log(`${cluster}, run ${run}: ${message}`);
  const value = { run, at: parts.now().toISOString(), message };
  try {
    const stored = await parts.table.get(keyOf(cluster));
    await (stored === undefined ? parts.table.insert(keyOf(cluster), value) : parts.table.replace(stored, value));
  } catch (failure) {
    if (!(failure instanceof StoreError)) throw failure;
  }
}

/** What the run failed with last, if it was written down. */
export async function lastTrouble(table: Table, { cluster, run }: CareMessage): Promise<string | undefined> {
  const parsed = v.safeParse(trouble, (await table.get(keyOf(cluster)))?.value);
  return parsed.success && parsed.output.run === run ? parsed.output.message : undefined;
}

export async function forgetTrouble(table: Table, cluster: string): Promise<void> {
  const stored = await table.get(keyOf(cluster));
  if (stored !== undefined) await table.remove(stored);
}
