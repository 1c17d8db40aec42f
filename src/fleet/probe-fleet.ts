// The other timer's work: a sentinel message for each cluster that was well when it was last looked at. The others get full
// passes from the scan.
import type { Tick } from "./fleet.ts";
import type { FleetParts } from "./fleet-parts.ts";
import { latestReports } from "./reports.ts";
import { sendAll } from "./send-all.ts";
import { slotOf, timerMessage } from "./timer-slot.ts";

/** Throws where the table or the queue did not answer: fired again, it does no harm. ARM is not asked. */
export async function probeFleet({ table, queue, log }: FleetParts, { at }: Tick): Promise<void> {
  const reports = (await latestReports(table)).map(({ report }) => report);
  const well = reports.filter(({ state }) => state === "healthy" || state === "nothing-to-watch");
  const slot = slotOf(at);
  await sendAll(
    queue,
    well.map(({ cluster }) => timerMessage("probe", slot, cluster)),
  );
  log(`Sentinels ${slot}: ${well.length} of ${reports.length} clusters were well.`);
}
