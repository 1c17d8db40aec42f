// That Microsoft's renderer draws the card at all: skipped where there is no Chromium (Debian: apt-get install chromium).
import { readFileSync, statSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { chromiumPath, drawCards, picturedCards } from "../../scripts/picture-card.ts";

const executable = chromiumPath();
const picture = path.join(import.meta.dirname, "../../docs/pictures/teams-card.png");
const png = [0x89, 0x50, 0x4e, 0x47];

describe("the picture of the card", () => {
  it("is in docs, and small", () => {
    expect([...readFileSync(picture).subarray(0, 4)]).toEqual(png);
    expect(statSync(picture).size).toBeLessThan(150 * 1024);
  });

  it.skipIf(executable === undefined)(
    "is drawn by adaptivecards in Chromium (skipped where there is none)",
    async () => {
      const folder = await mkdtemp(path.join(tmpdir(), "fleetmend-card-"));
      try {
        const file = path.join(folder, "card.png");
        const heights = await drawCards(picturedCards(), file, executable ?? "");
        // A card that the renderer refuses is empty; these have a header, five facts and buttons.
        expect(heights).toHaveLength(2);
        expect(Math.min(...heights)).toBeGreaterThan(250);
        expect([...readFileSync(file).subarray(0, 4)]).toEqual(png);
      } finally {
        await rm(folder, { recursive: true });
      }
    },
    120_000,
  );
});
