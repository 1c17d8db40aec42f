// docs/telemetry.md against the table that the code is typed by.
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
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
});
