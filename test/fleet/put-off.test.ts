// A message that finds its cluster in somebody else's care: it comes back soon, and not for ever.
import { describe, expect, it } from "vitest";
import { claimCluster } from "../../src/fleet/care-claim.ts";
import type { CareMessage } from "../../src/fleet/care-message.ts";
import { deliver, idOf, startWorld, type World } from "./fleet-world.ts";

const message: CareMessage = {
  version: 1,
  cluster: idOf("a"),
  reason: "continuation",
  pass: "due",
  run: "run-1",
  attempt: 1,
  deferrals: 0,
};

/** Holds the cluster, for six minutes as an invocation that works on it does, or longer, as if it did so again and again. */
async function hold(world: World, run: string, seconds = 360) {
  const wish = { cluster: idOf("a"), run, attempt: 0, owner: `other/${run}`, seconds };
  const answer = await claimCluster(world.table, wish, world.parts.now);
  if (answer.claim !== "held") throw new Error(`not held: ${answer.claim}`);
  return answer.held;
}

/** Delivers the message over and over, and answers after how many seconds each time. */
async function waitsOf(world: World, count: number): Promise<readonly number[]> {
  const waits: number[] = [];
  await world.queue.send(message);
  for (let next = world.queue.nextAt(); next !== undefined; next = world.queue.nextAt()) {
    const wait = Math.max(0, next.getTime() - world.parts.now().getTime()) / 1000;
    waits.push(Math.round(wait));
    world.pass(wait + 0.001);
    await deliver(world);
    if (waits.length === count) break;
  }
  return waits;
}

describe("a message for a cluster that is held", () => {
  it("comes back within seconds where its own run is just ending, then less and less often", async () => {
    await using world = await startWorld({ clusters: [{ name: "a", lab: false }] });
    await hold(world, "run-1");
    const waits = await waitsOf(world, 7);
    [0, 1, 2, 4, 8, 16, 32].forEach((least, index) => {
      expect(waits[index]).toBeGreaterThanOrEqual(least);
      expect(waits[index]).toBeLessThanOrEqual(least * 1.25 + 1);
    });
  });

  it("comes back within a quarter of a minute where somebody else cares for it", async () => {
    await using world = await startWorld({ clusters: [{ name: "a", lab: false }] });
    await hold(world, "run-0");
    const waits = await waitsOf(world, 2);
    expect(waits[1]).toBeGreaterThanOrEqual(10);
    expect(waits[1]).toBeLessThanOrEqual(15);
  });

  it("waits no longer than the claim lasts, and is cared for then", async () => {
    await using world = await startWorld({ clusters: [{ name: "a" }] });
    const held = await hold(world, "run-0");
    await world.queue.send(message);
    await world.drain(() => world.parts.now() > held.until);
    expect(world.parts.now().getTime() - held.until.getTime()).toBeLessThan(10_000);
    await world.drain();
    expect(await world.report("a")).toMatchObject({ state: "healthy", run: "run-1" });
  });

  it("outlasts an hour of other runs before it is given up, and is reported then", async () => {
    await using world = await startWorld({ clusters: [{ name: "a", lab: false }] });
    const began = world.parts.now().getTime();
    await hold(world, "run-0", 86_400);
    await world.queue.send(message);
    await world.drain();
    expect(world.parts.now().getTime() - began).toBeGreaterThan(3_600_000);
    expect(await world.runs("a")).toMatchObject([{ run: "run-1", state: "not-assessed" }]);
  });
});
