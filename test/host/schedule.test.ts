// NCRONTAB as the host reads it.
import { expect, it } from "vitest";
import { AppRefused } from "../../src/lab/functions-host/refusal.ts";
import { checkSchedule, nextOccurrence } from "../../src/lab/functions-host/schedule.ts";

const after = new Date("2026-12-01T06:08:00Z");

it.each([
  ["0 */15 * * * *", "2026-12-01T06:15:00.000Z"],
  ["0 7/15 * * * *", "2026-12-01T06:22:00.000Z"],
  ["0 0 3 * * Sun", "2026-12-06T03:00:00.000Z"],
  // Day of month and day of week both have to fit: the next Sunday that is a 13th.
  ["0 0 3 13 * 0", "2026-12-13T03:00:00.000Z"],
])("%s comes about next at %s", (schedule, expected) => {
  expect(nextOccurrence(schedule, after).toISOString()).toBe(expected);
});

it.each(["*/15 * * * *", "0 */15 * * * ?", "0 99 * * * *", ""])("%j is refused", (schedule) => {
  expect(() => {
    checkSchedule(schedule, "scanFleet");
  }).toThrow(AppRefused);
});
