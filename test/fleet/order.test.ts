// Orders by hand: what is refused and why, and what an order does.
import { describe, expect, it } from "vitest";
import { claimCluster } from "../../src/fleet/care-claim.ts";
import type { Order } from "../../src/fleet/fleet.ts";
import { StoreError } from "../../src/fleet/table.ts";
import { idOf, startWorld, type World } from "./fleet-world.ts";

const order = (rest: Partial<Order> = {}): Order => ({
  cluster: "a",
  what: "scan",
  dryRun: false,
  waitSeconds: 0,
  caller: "key",
  ...rest,
});

/** Gives the order and lets its message be delivered while it waits. */
async function given(world: World, wanted: Order) {
  const answer = await world.fleet.order(wanted);
  await world.drain();
  return answer;
}

describe("an order is refused", () => {
  it.each<[string, Partial<Order>, string]>([
    ["for a cluster that nobody knows", { cluster: "nope" }, "unknown-cluster"],
    ["for a name that is there twice", { cluster: "twin" }, "ambiguous"],
    ["for a wait that no HTTP request survives", { waitSeconds: 201 }, "wrong-input"],
    ["for a wait that is no number", { waitSeconds: Number.NaN }, "wrong-input"],
    ["for a repair where the mode is observe", { cluster: "watched", what: "repair" }, "mode"],
    ["for anything where the mode is off", { cluster: "off" }, "mode"],
  ])("%s", async (_why, rest, kind) => {
    await using world = await startWorld({
      clusters: [
        { name: "a", lab: false },
        { name: "twin", lab: false },
        { name: "watched", lab: false, tags: { "fleetmend-mode": "observe" } },
        { name: "off", lab: false, tags: { "fleetmend-mode": "off" } },
      ],
    });
    const twin = { ...world.clusters.get("twin"), id: idOf("twin", "other"), resourceGroup: "other" };
    world.clusters.set("twin-2", twin as never);
    const answer = await world.fleet.order(order(rest));
    expect(answer).toMatchObject({ ok: false, error: { kind } });
    if (!answer.ok) expect(answer.error.todo).not.toBe("");
    expect(world.queue.sent).toEqual([]);
  });

  it("where somebody cares for the cluster: who, until when, and where to see it", async () => {
    await using world = await startWorld({ clusters: [{ name: "a", lab: false }] });
    const wish = { cluster: idOf("a"), run: "run-0", attempt: 0, owner: "vm-7/81/run-0/0.1/x", seconds: 60 };
    await claimCluster(world.table, wish, world.parts.now);
    expect(await world.fleet.order(order())).toMatchObject({
      ok: false,
      error: {
        kind: "busy",
        message: expect.stringMatching(
          /^a is being cared for by the run run-0 on vm-7\/81 since \S+, until \S+ at the latest\.$/,
        ) as string,
        todo: "See how it goes: GET /api/clusters/gpu:a?run=run-0",
        retryAfterSeconds: 60,
      },
    });
  });

  it("where the table does not answer", async () => {
    await using world = await startWorld({
      clusters: [{ name: "a", lab: false }],
      table: (table) => ({ ...table, get: () => Promise.reject(new StoreError("the connection was refused")) }),
    });
    expect(await world.fleet.order(order())).toMatchObject({ ok: false, error: { kind: "unavailable" } });
  });
});

describe("an order", () => {
  it("to scan looks and plans, and writes nothing", async () => {
    await using world = await startWorld({ clusters: [{ name: "a" }] });
    await world.labs.get("a")?.inject("drift");
    const answer = await given(world, order());
    expect(answer).toMatchObject({ ok: true, value: { cluster: "gpu:a" } });
    expect(await world.report("a")).toMatchObject({
      reason: "order",
      caller: "key",
      state: "broken",
      repair: { outcome: "planned", done: [], planned: [{}, {}] },
    });
    expect(await world.labs.get("a")?.createPod()).toMatchObject({ admitted: false });
  });

  it("to repair without writing only plans; to repair, repairs and proves", async () => {
    await using world = await startWorld({ clusters: [{ name: "a" }] });
    await world.labs.get("a")?.inject("drift");
    await given(world, order({ what: "repair", dryRun: true }));
    expect(await world.report("a")).toMatchObject({ repair: { outcome: "planned", done: [] } });
    await given(world, order({ what: "repair", caller: "ada@contoso.com" }));
    expect(await world.report("a")).toMatchObject({
      caller: "ada@contoso.com",
      state: "healthy",
      repair: { outcome: "proven", done: [{}, {}] },
    });
  });

  it("to probe never repairs, whatever the mode", async () => {
    await using world = await startWorld({ clusters: [{ name: "a" }] });
    await world.labs.get("a")?.inject("drift");
    await given(world, order({ what: "probe" }));
    expect(await world.report("a")).toMatchObject({ state: "broken", repair: { outcome: "planned", done: [] } });
  });

  it("is answered with its report where that comes in time, and found by its run where not", async () => {
    await using world = await startWorld({ clusters: [{ name: "a" }] });
    const late = await given(world, order({ waitSeconds: 2 }));
    if (!late.ok) throw new Error(late.error.message);
    expect(late.value.report).toBeUndefined();
    expect(await world.fleet.report("gpu:a", late.value.run)).toMatchObject({
      ok: true,
      value: { report: { run: late.value.run, state: "healthy" } },
    });
    expect(await world.fleet.report("a", "scan-of-long-ago")).toMatchObject({
      ok: false,
      error: { kind: "wrong-input" },
    });
  });
});

describe("messages that nobody meant", () => {
  it("a message twice, and one of a slot that is over, have no second effect", async () => {
    await using world = await startWorld({ clusters: [{ name: "a" }] });
    await world.labs.get("a")?.inject("drift");
    const at = world.parts.now();
    await world.fleet.scan({ at, isPastDue: false });
    await world.fleet.scan({ at, isPastDue: true });
    await world.drain();
    expect(await world.runs("a")).toHaveLength(1);
    expect(world.sent.filter(({ item }) => item === "repair")).toHaveLength(1);
  });

  it.each<[string, unknown]>([
    ["text", "hello"],
    ["nothing", null],
    ["another version", { version: 2 }],
    ["something that is no cluster", { version: 1, cluster: "x", reason: "timer", pass: "due", run: "r", attempt: 0 }],
  ])("%s is told of and dropped, by care and by the poison queue", async (_what, message) => {
    await using world = await startWorld({ clusters: [{ name: "a", lab: false }] });
    await world.fleet.care(message, { dequeueCount: 1 });
    await world.fleet.poisoned(message);
    const told = world.sent.filter(({ item }) => item === "notAssessed");
    expect(told).toHaveLength(2);
  });

  it("a poisoned message becomes the cluster's report", async () => {
    await using world = await startWorld({ clusters: [{ name: "a", lab: false }] });
    const lost = { version: 1, cluster: idOf("a"), reason: "event", pass: "full", run: "run-9", attempt: 0 };
    await world.fleet.poisoned(lost);
    expect(await world.report("a")).toMatchObject({ state: "not-assessed", notAssessed: { kind: "gave-up" } });
  });
});
