// Cares for one cluster by one message: claims it, looks at it, and writes down how it ended. Messages come twice, late and
// out of order, and processes die: whatever happens, the cluster ends reported, and nothing is done twice.
//
// The order of the writes at the end: the continuation, the report, the row. Killed between any two of them, the message is
// delivered again and finds the row as it was: it makes the same report anew, and a continuation too many is dropped by
// its attempt.
import * as v from "valibot";
import { hasReservation } from "./budget.ts";
import { claimCluster, endClaim, type Claim } from "./care-claim.ts";
import { careMessage, type CareMessage } from "./care-message.ts";
import type { Care, CareResult } from "./care-of-cluster.ts";
import { isBegun, runOf } from "./care-of-cluster.ts";
import { careOnce } from "./care-run.ts";
import { isClusterId } from "./cluster-key.ts";
import { nameless } from "./nameless-cluster.ts";
import type { Wish } from "./cluster-row.ts";
import { decideMode } from "./decide-mode.ts";
import type { Delivery } from "./fleet.ts";
import type { FleetParts } from "./fleet-parts.ts";
import { knownCluster, rememberCluster } from "./known-clusters.ts";
import { notAssessedByArm } from "./not-assessed.ts";
import { release } from "./repair-budget.ts";
import { reportGivenUp, reportUnread } from "./report-failure.ts";
import { sendReport } from "./report-telemetry.ts";
import { latestReport, putLatest, putRun } from "./reports.ts";
import { readMemory, memoryAsJson } from "./run-memory.ts";
import { StoreError } from "./table.ts";
import { rememberTrouble } from "./trouble.ts";
import { TryAgain } from "./try-again.ts";

/** Longer than one invocation works on a cluster. */
const claimSeconds = 360;
/** More than an hour of other runs: by then somebody else has cared for the cluster again and again. */
const mostDeferrals = 24;
const longestDeferralSeconds = 600;
/** At first: the run's own last attempt is about to end, having sent this very message; others have only begun. */
const firstDeferralSeconds = { own: 1, other: 10 };
/** host.json's maxDequeueCount: after that many deliveries there is no other. */
export const mostDeliveries = 5;

/**
 * One delivery. Returns where the message has had its effect, or never will; throws TryAgain where it shall be delivered
 * again. A message that cannot be read is told of, and dropped.
 */
export async function careCluster(parts: FleetParts, message: unknown, delivery: Delivery): Promise<void> {
  const parsed = v.safeParse(careMessage, message);
  if (!parsed.success || !isClusterId(parsed.output.cluster)) {
    reportUnread(parts, message);
    return;
  }
  try {
    await claimAndCare(parts, parsed.output, delivery);
  } catch (error) {
    if (error instanceof TryAgain) throw error;
    await rememberTrouble(parts, parsed.output, error);
    if (error instanceof StoreError) throw new TryAgain(error.message, { cause: error });
    throw error;
  }
}

async function claimAndCare(parts: FleetParts, message: CareMessage, delivery: Delivery): Promise<void> {
  const answer = await claimCluster(parts.table, wishOf(parts, message, delivery), parts.now);
  switch (answer.claim) {
    case "done":
      parts.log(`dropped a message for ${message.cluster}: ${answer.why}`);
      return;
    case "elsewhere":
      await putOff(parts, message, answer);
      return;
    case "held":
      await careAndEnd(parts, message, { claim: answer.held, delivery });
  }
}

export function wishOf(parts: FleetParts, message: CareMessage, { dequeueCount }: Delivery): Wish {
  const { cluster, run, attempt, slot, pass } = message;
  const nonce = Math.floor(parts.random() * 2 ** 32).toString(36);
  return {
    cluster,
    run,
    attempt,
    owner: `${parts.instance}/${run}/${attempt}.${dequeueCount}/${nonce}`,
    ...(slot !== undefined && { slot: { timer: pass === "sentinel" ? "probe" : "scan", at: slot } }),
    seconds: claimSeconds,
  };
}

/** Somebody else cares for the cluster. The same message comes again: soon at first, and when they must have ended. */
async function putOff(
  parts: FleetParts,
  message: CareMessage,
  { run, until, why }: { readonly run: string; readonly until: Date; readonly why: string },
): Promise<void> {
  const { deferrals } = message;
  if (deferrals >= mostDeferrals) {
    await reportGivenUp(parts, message, `It was put off ${deferrals} times: ${why}.`);
    return;
  }
  const first = run === message.run ? firstDeferralSeconds.own : firstDeferralSeconds.other;
  const left = Math.max((until.getTime() - parts.now().getTime()) / 1000, 0);
  // Spread, so that those who wait for the same do not come all at once.
  const spread = parts.random();
  const wait = Math.min(first * 2 ** deferrals, longestDeferralSeconds) * (1 + spread / 4);
  const delaySeconds = Math.ceil(Math.min(wait, left + 1 + 5 * spread));
  await parts.queue.send({ ...message, deferrals: deferrals + 1 }, { delaySeconds });
  parts.log(`put off a message for ${message.cluster} by ${delaySeconds} s: ${why}`);
}

interface Held {
  readonly claim: Claim;
  readonly delivery: Delivery;
}

async function careAndEnd(parts: FleetParts, message: CareMessage, held: Held): Promise<void> {
  try {
    const care = await prepare(parts, message, held);
    const result = await careOnce(care);
    await end(care, result, held);
  } catch (error) {
    // So that the next delivery need not wait until the claim has expired. Where that fails, too, it waits.
    if (!(error instanceof TryAgain))
      await endClaim(parts.table, held.claim, { again: true }, parts.now).catch(nothing);
    throw error;
  }
}

const nothing = (): void => undefined;

async function prepare(parts: FleetParts, message: CareMessage, { claim, delivery }: Held): Promise<Care> {
  const memory = readMemory(claim.row.memory);
  const [told, previous] = await Promise.all([clusterOf(parts, message), latestReport(parts.table, message.cluster)]);
  const isLost = isBegun(message, memory, delivery.dequeueCount);
  const reserved = isLost && (await hasReservation(parts, message));
  const care: Care = {
    parts,
    message,
    claim,
    ...told,
    mode: decideMode(parts.policy, told.cluster.tags),
    memory,
    run: runOf(message, memory, { now: parts.now(), reserved }),
    ...(previous !== undefined && { previous: previous.report }),
  };
  // A run that never came back: its place in the budget is this cluster's, and would be in our way. It may have written
  // since it was last heard of.
  const { run: other } = memory;
  if (other !== undefined && other.run !== message.run) {
    if (other.reserved) await release(care, "failed", other.run);
    return { ...care, memory: { ...memory, run: undefined } };
  }
  return care;
}

/** The continuation first, then the report, the row last: see above. */
async function end(care: Care, result: CareResult, { claim, delivery }: Held): Promise<void> {
  const { parts, message } = care;
  const { table, queue, now } = parts;
  const at = result.next && new Date(now().getTime() + result.next.seconds * 1000);
  const next = at && { attempt: message.attempt + 1, at };
  if (result.next !== undefined) {
    const continuation: CareMessage = {
      ...message,
      reason: "continuation",
      attempt: message.attempt + 1,
      deferrals: 0,
    };
    await queue.send(continuation, { delaySeconds: result.next.seconds });
  }
  const isAgain = result.again === true && delivery.dequeueCount < mostDeliveries;
  await writeReport(care, result, next === undefined && !isAgain);
  const memory = memoryAsJson(result.memory);
  const ended = await endClaim(table, claim, { memory, ...(next && { next }), ...(isAgain && { again: true }) }, now);
  if (ended.claim === "lost") parts.log(`cared for ${message.cluster}, and lost the claim: ${ended.why}`);
  if (isAgain) throw new TryAgain(result.report?.headline ?? `${message.cluster} is better tried again`);
}

async function writeReport(care: Care, { report }: CareResult, isEnded: boolean): Promise<void> {
  const { parts, claim, memory, run, previous } = care;
  // Put off until the run was over: what was reported of it is its last word.
  const last = report ?? (isEnded && previous?.run === run.run ? previous : undefined);
  if (last === undefined) return;
  const entry = { report: last, ended: isEnded, fence: claim.fence };
  if (last.pass !== "sentinel") await putRun(parts.table, entry);
  await putLatest(parts.table, entry);
  if (report !== undefined) sendReport(parts.telemetry, report, memory.full?.findings ?? []);
  parts.log(`${last.resourceGroup}/${last.name}: ${last.state}. ${last.headline}`);
}

/** As ARM last told; asked anew where the message says that something has changed, or a person waits. */
async function clusterOf(
  parts: FleetParts,
  { cluster: id, reason }: CareMessage,
): Promise<Pick<Care, "cluster" | "unknown">> {
  const known = await knownCluster(parts.table, id);
  if (known !== undefined && reason !== "event" && reason !== "order") return { cluster: known };
  const told = await parts.directory.get(id);
  if (told.ok) {
    await rememberCluster(parts.table, told.value, known);
    return { cluster: told.value };
  }
  if (known !== undefined && told.error.kind !== "not-found") return { cluster: known };
  return { cluster: known ?? nameless(id), unknown: notAssessedByArm(told.error) };
}
