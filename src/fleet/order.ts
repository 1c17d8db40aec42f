// An order by hand: it is checked, and becomes a care message like any other. What is done, the claim decides.
import { failure, success, type Result } from "../result.ts";
import { readClusterRow } from "./care-claim.ts";
import type { CareMessage } from "./care-message.ts";
import { continuationGraceSeconds } from "./cluster-row.ts";
import type { ClusterReport } from "./cluster-report.ts";
import { decideMode } from "./decide-mode.ts";
import { findCluster, referenceTo } from "./find-cluster.ts";
import type { Order, Ordered, OrderFailure } from "./fleet.ts";
import type { FleetParts } from "./fleet-parts.ts";
import type { ManagedCluster } from "./managed-cluster.ts";
import { runsOf } from "./reports.ts";
import { StoreError } from "./table.ts";

/** Functions ends an HTTP request after 230 s (Microsoft Learn, "Azure Functions scale and hosting", time-out). */
const longestWaitSeconds = 200;
const pollMs = 1_000;

/** Sends the message; waits for the report as long as the order says. */
export async function orderCare(parts: FleetParts, order: Order): Promise<Result<Ordered, OrderFailure>> {
  try {
    return await send(parts, order);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return failure({
      kind: "unavailable",
      message: `The table or the queue did not answer: ${error.message}`,
      todo: "Try again in a minute.",
      retryAfterSeconds: 60,
    });
  }
}

async function send(parts: FleetParts, order: Order): Promise<Result<Ordered, OrderFailure>> {
  if (!(order.waitSeconds >= 0 && order.waitSeconds <= longestWaitSeconds)) return failure(wrongWait);
  const found = await findCluster(parts, order.cluster);
  if (!found.ok) return found;
  const refusal = refusedByMode(parts, order, found.value) ?? (await busy(parts, found.value));
  if (refusal !== undefined) return failure(refusal);
  const message = messageFor(parts, order, found.value);
  await parts.queue.send(message);
  const report = await reportInTime(parts, message, order.waitSeconds);
  return success({ cluster: referenceTo(found.value), run: message.run, ...(report !== undefined && { report }) });
}

const wrongWait: OrderFailure = {
  kind: "wrong-input",
  message: `wait must be 0 to ${longestWaitSeconds} seconds.`,
  todo: `Give a number of seconds: ?wait=60`,
};

/** `scan` and `probe` never write, as on the command line. */
function messageFor({ now, random }: FleetParts, order: Order, { id }: ManagedCluster): CareMessage {
  const nonce = Math.floor(random() * 2 ** 32).toString(36);
  const pass = order.what === "probe" ? "probe" : order.what === "scan" || order.dryRun ? "plan" : "full";
  return {
    version: 1,
    cluster: id,
    reason: "order",
    pass,
    run: `order-${now().getTime().toString(36)}-${nonce}`,
    attempt: 0,
    deferrals: 0,
    caller: order.caller.slice(0, 200),
  };
}

function refusedByMode({ policy }: FleetParts, order: Order, cluster: ManagedCluster): OrderFailure | undefined {
  const { mode } = decideMode(policy, cluster.tags);
  const isRepair = order.what === "repair" && !order.dryRun;
  if (mode === "off") {
    const todo = "Set the cluster's tag fleetmend-mode, or the setting FLEETMEND_MODE.";
    return { kind: "mode", message: `fleetmend is switched off for ${cluster.name}.`, todo };
  }
  if (!isRepair || mode === "repair") return undefined;
  return {
    kind: "mode",
    message: `The mode of ${cluster.name} is ${mode}: nothing is repaired there.`,
    todo: "See the plan with ?dryRun=true, or set FLEETMEND_MODE=repair.",
  };
}

async function busy({ table, now }: FleetParts, cluster: ManagedCluster): Promise<OrderFailure | undefined> {
  const { id, name } = cluster;
  const row = await readClusterRow(table, id);
  const held = row?.held;
  const until = held?.until ?? (row?.next && graceAfter(row.next.at));
  if (until === undefined || Date.parse(until) <= now().getTime()) return undefined;
  const run = held?.run ?? row?.next?.run ?? "";
  const who = held === undefined ? `by the run ${run}` : `by the run ${run} on ${instanceOf(held)} since ${held.since}`;
  return {
    kind: "busy",
    message: `${name} is being cared for ${who}, until ${until} at the latest.`,
    todo: `See how it goes: GET /api/clusters/${referenceTo(cluster)}?run=${run}`,
    retryAfterSeconds: Math.min(60, Math.ceil((Date.parse(until) - now().getTime()) / 1000)),
  };
}

/** An owner is `<instance>/<run>/…` (care.ts): what stands before the run says where. */
const instanceOf = ({ owner, run }: { readonly owner: string; readonly run: string }): string =>
  owner.split(`/${run}/`)[0] ?? owner;

const graceAfter = (at: string): string => new Date(Date.parse(at) + continuationGraceSeconds * 1000).toISOString();

async function reportInTime(
  { table, now, sleep }: FleetParts,
  { cluster, run }: CareMessage,
  waitSeconds: number,
): Promise<ClusterReport | undefined> {
  const end = now().getTime() + waitSeconds * 1000;
  while (now().getTime() < end) {
    await sleep(pollMs);
    const found = (await runsOf(table, cluster)).find(({ report, ended }) => ended && report.run === run);
    if (found !== undefined) return found.report;
  }
  return undefined;
}
