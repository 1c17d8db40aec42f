// NCRONTAB, which is not cron: six fields, the first of them seconds, day of month and day of week both have to fit, and
// always UTC here, as on Flex Consumption. Only reading and reckoning; the waiting is timer-listener.ts's.
// Source: github.com/atifaziz/NCrontab; learn.microsoft.com/azure/azure-functions/functions-bindings-timer.
import { Cron } from "croner";
import { AppRefused } from "./refusal.ts";

// NCRONTAB has none of croner's further signs (?, L, W, #); months and days may be named.
const sixFields = /^[0-9*,/-]+(?: (?:[0-9*,/-]|[A-Za-z]{3,9})+){5}$/;

/** Throws AppRefused where the host could not read the schedule. */
export function checkSchedule(schedule: string, name: string): void {
  if (!sixFields.test(schedule)) {
    throw new AppRefused(`${name}: '${schedule}' is not an NCRONTAB expression of six fields (the first is seconds).`);
  }
  try {
    cronOf(schedule);
  } catch (error) {
    throw new AppRefused(`${name}: '${schedule}' is not an NCRONTAB expression: ${String(error)}`);
  }
}

/** The next time after `after`. */
export function nextOccurrence(schedule: string, after: Date): Date {
  const next = cronOf(schedule).nextRun(after);
  if (next === null) throw new AppRefused(`'${schedule}' never comes about.`);
  return next;
}

/** Whether two of its next times are less than a minute apart. */
export function comesWithinAMinute(schedule: string): boolean {
  const [first, second] = cronOf(schedule).nextRuns(2);
  return first !== undefined && second !== undefined && second.getTime() - first.getTime() < 60_000;
}

// sloppyRanges: NCRONTAB reads `7/15` as "from 7 on, every 15th".
const cronOf = (schedule: string): Cron =>
  new Cron(schedule, { timezone: "Etc/UTC", mode: "6-part", domAndDow: true, sloppyRanges: true, paused: true });
