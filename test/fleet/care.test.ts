// Caring for one cluster on the wire, message by message.
import { describe, expect, it } from "vitest";
import { startWorld } from "./fleet-world.ts";

describe("care", () => {
  it("finds a healthy cluster healthy", async () => {
    await using world = await startWorld({ clusters: [{ name: "a" }] });
    await world.tick();
    expect(await world.report("a")).toMatchObject({ state: "healthy", pass: "full", capability: "repair" });
  });

  it("repairs a drift over several messages, and proves it", async () => {
    await using world = await startWorld({ clusters: [{ name: "a" }] });
    await world.labs.get("a")?.inject("drift");
    await world.tick();
    const report = await world.report("a");
    expect(report).toMatchObject({ state: "healthy", repair: { outcome: "proven" } });
    expect(report?.findings.map(({ kind }) => kind)).toEqual(["foreign-last-writer", "foreign-last-writer"]);
    expect(report?.repair?.done.map(({ object }) => object)).toEqual([
      "mutatingwebhookconfigurations/kai-binder",
      "validatingwebhookconfigurations/kai-binder",
    ]);
    expect(world.queue.sent.map(({ attempt }) => attempt)).toEqual([0, 1, 2]);
    expect(await world.labs.get("a")?.createPod()).toMatchObject({ admitted: true });
  });
});
