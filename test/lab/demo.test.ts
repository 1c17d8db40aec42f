// The stage of the fleet's demo on a small subscription: it shows what the app says, and insists. The whole story is what
// .ci/run plays (`npm run demo`), which takes over a minute.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { processIo } from "../../src/cli/process-io.ts";
import { createFleetStage, type FleetStage } from "../../src/lab/demo-fleet-stage.ts";
import { createPage, insist, NotAsTold, tell } from "../../src/lab/demo-page.ts";
import { startFleetWorld, type FleetWorld } from "../../src/lab/fleet-world.ts";

let world: FleetWorld;
let stage: FleetStage;
let said = "";
const page = createPage({ ...processIo(), env: {}, stdout: { write: (text: string) => (said += text) } });

beforeAll(async () => {
  const settings = { FLEETMEND_MODE: "repair" };
  world = await startFleetWorld({ clusters: 3, situations: ["drift", "forbidden"], settings });
  stage = createFleetStage(page, world, () => 0);
});
afterAll(() => world.stop());

const named = (situation: string) => {
  const found = world.subscription.clusters.find((cluster) => cluster.situation() === situation);
  if (found === undefined) throw new Error(`no cluster is ${situation}`);
  return found;
};

describe("the stage of the fleet's demo", () => {
  it("watches until it is over, within 80 plain columns, and shows who is not well", { timeout: 90_000 }, async () => {
    said = "";
    await world.fireTimer("scanFleet");
    const drifted = named("drift");
    await stage.watch(({ clusters }) => clusters.some(({ repair }) => repair === "proven"), 60);
    expect(said).toMatch(new RegExp(`^${drifted.name} +bundle-\\S+ .*healthy, proven$`, "m"));
    expect(said).toMatch(new RegExp(`^${named("forbidden").name} +forbidden +not assessed$`, "m"));
    expect(said).not.toContain(named("healthy").name);
    expect(said.match(/^.{81,}$/gmu)).toBeNull();
    expect(said).not.toContain("\u001b");
  });

  it("does not wait for ever", async () => {
    await expect(stage.watch(() => false, 0.1)).rejects.toThrow(NotAsTold);
  });

  it("does not take another answer for a report", async () => {
    await expect(stage.order(named("forbidden"), "no-such-order", 1)).rejects.toThrow(/must answer 200.*404/);
  });
});

describe("a story", () => {
  const act = (isSo: boolean) => ({
    title: "An act",
    words: "Words.",
    play: () =>
      Promise.resolve().then(() => {
        insist(isSo, "it must be so");
      }),
  });

  it("ends well where every act ends as told, and says where one does not", async () => {
    said = "";
    expect(await tell(page, {}, [act(true)])).toBe(true);
    expect(await tell(page, {}, [act(true), act(false)])).toBe(false);
    expect(said).toContain("The demo did not end as told: it must be so.");
  });
});
