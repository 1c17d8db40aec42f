// The sentinel pass: a handful of requests while nothing has changed, and a full pass as soon as something has.
import { describe, expect, it } from "vitest";
import { startWorld, type World } from "./fleet-world.ts";

async function probe(world: World): Promise<void> {
  await world.fleet.probe({ at: world.parts.now(), isPastDue: false });
  await world.drain();
}

describe("a sentinel pass", () => {
  it("takes at most six requests where nothing has changed, and says so without an own verdict", async () => {
    await using world = await startWorld({ clusters: [{ name: "a" }, { name: "d", lab: { family: "D1" } }] });
    await world.tick();
    world.pass(900);
    await probe(world);
    for (const name of ["a", "d"]) {
      const report = await world.report(name);
      expect(report).toMatchObject({ pass: "sentinel", state: "healthy", reason: "sentinel" });
      expect(report?.requests).toBeLessThanOrEqual(6);
      expect(report?.requests).toBeGreaterThan(2);
    }
  });

  it("is also what the scan's timer makes of a cluster that is well", async () => {
    await using world = await startWorld({ clusters: [{ name: "a" }] });
    await world.tick();
    world.pass(900);
    await world.tick();
    expect(await world.report("a")).toMatchObject({ pass: "sentinel", reason: "timer" });
  });

  it("becomes a full pass, and a repair, where something has changed", async () => {
    await using world = await startWorld({ clusters: [{ name: "a" }] });
    await world.tick();
    await world.labs.get("a")?.inject("latent-drift");
    world.pass(900);
    await probe(world);
    expect(await world.report("a")).toMatchObject({ pass: "full", repair: { outcome: "proven" } });
  });

  it("is not enough for a cluster that is not well, nor after six hours, nor where Azure has changed it", async () => {
    await using world = await startWorld({ policy: { mode: "observe" }, clusters: [{ name: "a" }] });
    await world.labs.get("a")?.inject("drift");
    await world.tick();
    world.pass(900);
    await world.tick();
    expect(await world.report("a")).toMatchObject({ pass: "full", state: "broken", repair: { outcome: "planned" } });
    await world.labs.get("a")?.heal();
    world.pass(900);
    await world.tick();
    expect(await world.report("a")).toMatchObject({ pass: "full", state: "healthy" });
    world.pass(6 * 3600);
    await world.tick();
    expect(await world.report("a")).toMatchObject({ pass: "full" });
    const known = world.clusters.get("a");
    if (known !== undefined) world.clusters.set("a", { ...known, etag: "2" });
    world.pass(900);
    await world.tick();
    expect(await world.report("a")).toMatchObject({ pass: "full" });
    world.pass(900);
    await world.tick();
    expect(await world.report("a")).toMatchObject({ pass: "sentinel" });
  });

  it("is not sent to a cluster that was not well when it was last looked at", async () => {
    await using world = await startWorld({
      clusters: [{ name: "a" }, { name: "b", lab: false, powerState: "Stopped" }],
    });
    await world.tick();
    const before = world.queue.sent.length;
    world.pass(420);
    await probe(world);
    expect(world.queue.sent.slice(before).map(({ cluster }) => cluster.split("/").at(-1))).toEqual(["a"]);
  });
});
