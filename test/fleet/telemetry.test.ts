// docs/telemetry.md against the table that the code is typed by.
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { budgetReasons, repairEnds } from "../../src/fleet/budget-row.ts";
import { careReasons } from "../../src/fleet/care-message.ts";
import { notAssessedKinds } from "../../src/fleet/cluster-access.ts";
import { clusterStates, repairOutcomes } from "../../src/fleet/cluster-report.ts";
import { modes } from "../../src/fleet/mode.ts";
import { telemetryItems } from "../../src/fleet/telemetry.ts";

const text = readFileSync(path.join(import.meta.dirname, "../../docs/telemetry.md"), "utf8");

/** Each section's properties: those of its line `Properties: …`, and the first column of its table. */
function documented(): Record<string, readonly string[]> {
  const [, ...sections] = text.split(/^## /m);
  return Object.fromEntries(
    sections.map((section) => {
      const [name = ""] = section.split("\n", 1);
      const line = /^Properties: (.*?)$/m.exec(section)?.[1] ?? "";
      const rows = section.matchAll(/^\| `(\w+)`/gm);
      const inLine = [...line.matchAll(/`(\w+)`/g)].map(([, property = ""]) => property);
      return [name, [...inLine, ...[...rows].map(([, property = ""]) => property)].toSorted()];
    }),
  );
}

describe("docs/telemetry.md", () => {
  it("names every item and every property, and no other", () => {
    const sorted = Object.entries(telemetryItems).map(([name, properties]) => [name, [...properties].toSorted()]);
    expect(documented()).toEqual(Object.fromEntries(sorted));
  });

  it.each<[section: string, property: string, values: readonly string[]]>([
    ["", "state", clusterStates],
    ["", "reason", careReasons],
    ["availability", "mode", modes.filter((mode) => mode !== "off")],
    ["notAssessed", "kind", notAssessedKinds],
    // A repair that waits is not over, and sends nothing.
    ["repair", "outcome", repairOutcomes.filter((outcome) => outcome !== "waiting")],
    ["budget", "kind", ["refused", "released", ...budgetReasons, ...repairEnds]],
  ])("in %j has the values of %s, and no other", (section, property, values) => {
    const [head = "", ...sections] = text.split(/^## /m);
    const part = section === "" ? head : (sections.find((one) => one.startsWith(`${section}\n`)) ?? "");
    const row = new RegExp(`^\\| \`${property}\` *\\|(.*)$`, "m").exec(part)?.[1] ?? "";
    const told = [...row.matchAll(/`([a-z-]+)`/g)].map(([, value = ""]) => value);
    expect(told.toSorted()).toEqual([...values].toSorted());
  });
});
