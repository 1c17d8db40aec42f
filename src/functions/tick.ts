// One firing of a timer, as the host tells it.
import type { Timer } from "@azure/functions";
import type { Tick } from "../fleet/fleet.ts";

/**
 * The time that a run is for: what the schedule said, so that a firing that comes twice or late names the same slot; the
 * present where the host keeps no schedule, or somebody fires the timer before its time.
 */
export function tickOf({ isPastDue, scheduleStatus }: Timer, now: Date): Tick {
  // The host types the status as always there; it is null where useMonitor is off.
  const next = Date.parse((scheduleStatus as Timer["scheduleStatus"] | null)?.next ?? "");
  return { at: next <= now.getTime() ? new Date(next) : now, isPastDue };
}

/** ARM or the storage account did not answer: three more tries within the quarter of an hour. Only timers are retried so. */
export const timerRetry = { strategy: "fixedDelay", maxRetryCount: 3, delayInterval: { seconds: 60 } } as const;
