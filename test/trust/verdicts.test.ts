// docs/verdicts.md against the verdict: every kind, each with an example that is judged now.
import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { kindNames, verdictsPage } from "./verdicts-page.ts";

const root = path.join(import.meta.dirname, "..", "..");

it("has a kind for each that the verdict may give", () => {
  const source = readFileSync(path.join(root, "src", "trust", "verdict.ts"), "utf8");
  const [, union = ""] = /^export type Rejection =(.*?);$\n\n/ms.exec(source) ?? [];
  const inCode = [...union.matchAll(/kind: "([a-z-]+)"/g)].map(([, kind]) => kind);
  expect(inCode.length).toBeGreaterThan(20);
  expect([...kindNames].sort()).toEqual(inCode.sort());
});

it("is what the verdict says today", async () => {
  await expect(await verdictsPage()).toMatchFileSnapshot(path.join(root, "docs", "verdicts.md"));
});

it("is there: a snapshot that is missing would be written, and pass", () => {
  expect(readFileSync(path.join(root, "docs", "verdicts.md"), "utf8")).toContain("## same-name-other-key");
});
