// A care message that has failed for good: its cluster is reported as not assessed, its run is ended, and what it had
// reserved is given back as a repair that could not be proven.
import * as v from "valibot";
import { releaseReservation } from "./budget.ts";
import { claimCluster, endClaim } from "./care-claim.ts";
import { careMessage } from "./care-message.ts";
import { wishOf } from "./care.ts";
import { isClusterId } from "./cluster-key.ts";
import type { FleetParts } from "./fleet-parts.ts";
import { givenUpReport, reportUnread } from "./report-failure.ts";
import { sendReport } from "./report-telemetry.ts";
import { putLatest, putRun } from "./reports.ts";
import { memoryAsJson, readMemory } from "./run-memory.ts";
import { StoreError } from "./table.ts";
import { lastTrouble } from "./trouble.ts";
import { TryAgain } from "./try-again.ts";

/** Throws TryAgain where the table does not answer. */
export async function reportPoisoned(parts: FleetParts, message: unknown): Promise<void> {
  const parsed = v.safeParse(careMessage, message);
  if (!parsed.success || !isClusterId(parsed.output.cluster)) {
    reportUnread(parts, message);
    return;
  }
  try {
    await endRun(parts, parsed.output);
  } catch (error) {
    if (error instanceof StoreError) throw new TryAgain(error.message, { cause: error });
    throw error;
  }
}

async function endRun(parts: FleetParts, message: v.InferOutput<typeof careMessage>): Promise<void> {
  const { table, now, telemetry } = parts;
  const trouble =
    (await lastTrouble(table, message)) ??
    "no error was written down, so its process ended, or the table did not answer";
  const report = await givenUpReport(parts, message, `Every delivery of its message failed: ${trouble}.`);
  const answer = await claimCluster(table, wishOf(parts, message, { dequeueCount: 0 }), now);
  if (answer.claim === "done") return;
  if (answer.claim === "elsewhere") {
    // Somebody else cares for the cluster, and the last report is theirs.
    await putRun(table, { report, ended: true, fence: 0 });
    sendReport(telemetry, report, []);
    return;
  }
  const { run, ...rest } = readMemory(answer.held.row.memory);
  const entry = { report, ended: true, fence: answer.held.fence };
  await putRun(table, entry);
  await putLatest(table, entry);
  sendReport(telemetry, report, []);
  const outcome = run?.run === message.run && !run.hasWritten ? "unused" : "failed";
  await releaseReservation(parts, { cluster: message.cluster, run: message.run, outcome });
  await endClaim(table, answer.held, { memory: memoryAsJson(rest) }, now);
}
