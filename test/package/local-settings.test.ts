// local.settings.example.json against the table of settings, in both directions.
import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { readSettings, settingTable } from "../../src/settings.ts";

const file = path.join(import.meta.dirname, "..", "..", "local.settings.example.json");
const { Values: values } = JSON.parse(readFileSync(file, "utf8")) as { Values: Record<string, string> };
// What Core Tools need to know which worker to start; in Azure it is never set on Flex Consumption.
const ofTheHost = ["FUNCTIONS_WORKER_RUNTIME"];

it("the example names settings that fleetmend reads, and no others", () => {
  expect(Object.keys(values).filter((name) => !(name in settingTable) && !ofTheHost.includes(name))).toEqual([]);
});

it("the example has every setting that must be set, by fleetmend or for the host's schedules", () => {
  const required = Object.entries<object>(settingTable)
    .filter(([, row]) => !("optional" in row) && !("preset" in row))
    .map(([name]) => name);
  expect([...required, "SCAN_SCHEDULE", "PROBE_SCHEDULE"].filter((name) => !(name in values))).toEqual([]);
});

it("the example is accepted as it stands", () => {
  expect(readSettings(values)).toMatchObject({ ok: true });
});

it("the README's table has every setting with its default and its meaning, and no other", () => {
  const readme = readFileSync(path.join(import.meta.dirname, "..", "..", "README.md"), "utf8");
  const [, section = ""] = /^### Settings$(.*?)^## /ms.exec(readme) ?? [];
  const rows = [...section.matchAll(/^\| `(\w+)` +\| (.*?) *\| (.*?) *\|$/gm)].map(([, ...cells]) => cells);
  const wanted = Object.entries<{ preset?: string; optional?: true; meaning: string }>(settingTable).map(
    ([name, { preset, optional, meaning }]) => [
      name,
      preset === undefined ? (optional === true ? "" : "**required**") : `\`${preset}\``,
      meaning,
    ],
  );
  expect(rows).toEqual(wanted);
});
