// The settings: every mistake at once, by name, with an example, and never a value.
import { describe, expect, it } from "vitest";
import { readSettings, settingTable } from "../src/settings.ts";

const least = {
  FLEETMEND_SUBSCRIPTION_ID: "0b1f6471-1bf0-4dda-aec3-cb9272f09590",
  AzureWebJobsStorage__accountName: "stfleetmend",
};

describe("settings", () => {
  it("needs a subscription and a storage account, and has a preset for the rest", () => {
    expect(readSettings(least)).toMatchObject({
      ok: true,
      value: {
        FLEETMEND_MODE: "observe",
        FLEETMEND_TAG_MAY_RAISE: false,
        FLEETMEND_MAX_CONCURRENT_REPAIRS: 4,
        FLEETMEND_TEAMS_SECRET_ID: undefined,
      },
    });
  });

  it("lists every mistake", () => {
    const read = readSettings({ FLEETMEND_MODE: "fix", SCAN_SCHEDULE: "* */15 * * * *", FLEETMEND_MODUS: "off" });
    expect(read.ok ? [] : read.error.map(({ name }) => name)).toEqual([
      "FLEETMEND_SUBSCRIPTION_ID",
      "SCAN_SCHEDULE",
      "FLEETMEND_MODE",
      "FLEETMEND_MODUS",
      "AzureWebJobsStorage__accountName",
    ]);
  });

  it.each(Object.entries(settingTable))("%s takes its own example and preset", (name, row) => {
    const texts = ["preset" in row ? row.preset : row.example, row.example].filter((text) => !text.includes("…"));
    for (const text of texts) expect(readSettings({ ...least, [name]: text })).toMatchObject({ ok: true });
  });

  it.each(["*/5 * * * *", "0 0 0 0 0", "every day", "* * * * * *"])("refuses the schedule %j", (SCAN_SCHEDULE) => {
    expect(readSettings({ ...least, SCAN_SCHEDULE })).toEqual({
      ok: false,
      error: [
        {
          name: "SCAN_SCHEDULE",
          message: "must be six fields, the first (seconds) a number. Example: 0 */15 * * * *",
        },
      ],
    });
  });

  it("takes an empty value for none, and never repeats a value", () => {
    const read = readSettings({
      ...least,
      FLEETMEND_MODE: "",
      FLEETMEND_TEAMS_SECRET_ID: "https://flow.example/?sig=hunter2",
    });
    expect(JSON.stringify(read)).not.toContain("hunter2");
    expect(read).toMatchObject({ ok: false, error: [{ name: "FLEETMEND_TEAMS_SECRET_ID" }] });
  });
});
