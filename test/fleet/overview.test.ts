// What is told of one cluster before, while and after it is looked at.
import { describe, expect, it } from "vitest";
import { startWorld } from "./fleet-world.ts";

const order = { cluster: "a", what: "scan", dryRun: false, waitSeconds: 0, caller: "key" } as const;

describe("the report of a cluster", () => {
  it("that nobody has looked at says so, and how to have it looked at", async () => {
    await using world = await startWorld({ clusters: [{ name: "a", lab: false }] });
    expect(await world.fleet.report("a")).toMatchObject({
      ok: true,
      value: { history: [], note: expect.stringMatching(/^Not looked at yet.*POST .*gpu:a.scan/) as string },
    });
  });

  it("of an order says that it waits, until it has run", async () => {
    await using world = await startWorld({ clusters: [{ name: "a" }] });
    const ordered = await world.fleet.order(order);
    const run = ordered.ok ? ordered.value.run : "";
    const waits = expect.stringMatching(/^The run waits in the queue/) as string;
    expect(await world.fleet.report("a", run)).toMatchObject({ ok: true, value: { note: waits } });
    await world.drain();
    const after = await world.fleet.report("a", run);
    expect(after).toMatchObject({ ok: true, value: { report: { run, state: "healthy" } } });
    expect(after).not.toHaveProperty("value.note");
  });

  it("of a run that never was, or that has been forgotten, is refused", async () => {
    await using world = await startWorld({ clusters: [{ name: "a", lab: false }] });
    const longAgo = (world.parts.now().getTime() - 25 * 60 * 60 * 1000).toString(36);
    for (const run of ["run-1", `order-${longAgo}-1`]) {
      expect(await world.fleet.report("a", run)).toMatchObject({ ok: false, error: { kind: "wrong-input" } });
    }
  });
});
