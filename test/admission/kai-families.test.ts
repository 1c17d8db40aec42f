// docs/kai-families.md against the code: every family is in its table, and the numbers of requests are those of a look.
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { lookAt, prover, serve } from "./recorded-cluster.ts";
import { healthy } from "./recorded-objects.ts";

const lines = readFileSync(path.join(import.meta.dirname, "..", "..", "docs", "kai-families.md"), "utf8").split("\n");

/** The cells of each row of a table, without markup. */
const rows = lines
  .filter((line) => line.startsWith("|"))
  .map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.replaceAll("*", "").trim()),
  );

describe("docs/kai-families.md", () => {
  it("lists the families in their order", () => {
    const families = rows.map(([first = ""]) => first).filter((first) => /^[A-D]\d?$/.test(first));
    expect(families).toEqual(["A0", "A", "B", "C", "D0", "D1", "D2", "D3", "D4"]);
  });

  it.each([
    { family: "A", version: "v0.5.5", column: 1 },
    { family: "C", version: "v0.8.5", column: 2 },
    { family: "D1", version: "v0.20.1", column: 3 },
    { family: "D4", version: "v0.17.0", column: 4 },
  ])("says how many requests a look at $family takes, and the parts add up", async ({ version, column }) => {
    const at = rows.findIndex(([first]) => first === "requests");
    const end = rows.findIndex(([first]) => first === "in all");
    const parts = rows.slice(at + 2, end).map((cells) => Number(cells[column] ?? ""));
    const stated = Number(rows[end]?.[column]);
    expect(parts.reduce((sum, part) => sum + part, 0)).toBe(stated);
    expect((await lookAt(serve(await healthy(version), { user: prover }))).requests).toBe(stated);
  });
});
