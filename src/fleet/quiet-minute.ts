// Many events about one cluster become one care message, about a minute after the first: a change in ARM is a burst of them,
// and the cluster is not ready before its end. A row says that the message is on its way; it expires by itself.
import * as v from "valibot";
import type { CareQueue } from "./care-message.ts";
import { clusterKey } from "./cluster-key.ts";
import { later } from "./cluster-row.ts";
import type { Row, Table } from "./table.ts";

const time = v.pipe(v.string(), v.isoTimestamp());
const pendingRow = v.strictObject({
  version: v.literal(1),
  cluster: v.string(),
  run: v.string(),
  until: time,
  /** Whether the message is in the queue for certain. */
  sent: v.boolean(),
});
type PendingRow = v.InferOutput<typeof pendingRow>;

export const quietSeconds = 60;

/**
 * The row ends this much before the message can be seen. An event that comes in between sends one of its own: with clocks
 * that differ, it could otherwise be taken for announced by a message that has just been worked through.
 */
const marginSeconds = 10;

export interface QuietParts {
  readonly table: Table;
  readonly queue: CareQueue;
  readonly now: () => Date;
}

/**
 * Sees to it that the cluster is cared for in about a minute, by the run `run` where no message is on its way yet.
 * `announced`: one is. Throws StoreError; told again, it sends: a row counts only once its message has been sent. At worst
 * there are two messages, and the second pass finds nothing to do.
 */
export async function announceCare(
  { table, queue, now }: QuietParts,
  cluster: string,
  run: string,
): Promise<"sent" | "announced"> {
  const key = { partition: "pending", row: clusterKey(cluster) };
  const stored = await table.get(key);
  if (stored !== undefined && isAnnounced(stored, now())) return "announced";
  const until = later(now(), quietSeconds - marginSeconds);
  const pending: PendingRow = { version: 1, cluster, run, until, sent: false };
  const written = await (stored === undefined ? table.insert(key, pending) : table.replace(stored, pending));
  await queue.send(
    { version: 1, cluster, reason: "event", pass: "full", run, attempt: 0, deferrals: 0 },
    { delaySeconds: quietSeconds },
  );
  // Undefined: another instance writes the row, sends as well, and one of us marks it.
  if (written !== undefined) await table.replace(written, { ...pending, sent: true });
  return "sent";
}

/** A row that is not ours to understand announces nothing, and is written anew. */
function isAnnounced(stored: Row, now: Date): boolean {
  const pending = v.safeParse(pendingRow, stored.value);
  return pending.success && pending.output.sent && Date.parse(pending.output.until) > now.getTime();
}
