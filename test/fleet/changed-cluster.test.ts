import { describe, expect, it } from "vitest";
import type { CareQueue } from "../../src/fleet/care-message.ts";
import { changedCluster } from "../../src/fleet/changed-cluster.ts";
import { announceCare } from "../../src/fleet/quiet-minute.ts";
import { StoreError } from "../../src/fleet/table.ts";
import { createMemoryQueue } from "./memory-queue.ts";
import { createMemoryTable, overNetwork } from "./memory-table.ts";
import { Simulation } from "./simulation.ts";

const start = new Date("2026-12-01T06:00:00Z");
const subscription = "00000000-0000-0000-0000-000000000001";
const cluster = (name: string): string =>
  `/subscriptions/${subscription}/resourcegroups/rg/providers/microsoft.containerservice/managedclusters/${name}`;
const key = { partition: "pending", row: `${subscription}:rg:aks-1` };

const written = (name: string): unknown => ({
  type: "Microsoft.Resources.ResourceWriteSuccess",
  data: { resourceUri: cluster(name), operationName: "Microsoft.ContainerService/managedClusters/write" },
});

function world() {
  let at = start.getTime();
  const now = (): Date => new Date(at);
  const table = createMemoryTable();
  const queue = createMemoryQueue(now);
  const forgotten: string[] = [];
  const lines: string[] = [];
  let runs = 0;
  const parts = {
    table,
    queue,
    now,
    subscription,
    access: {
      forget: (id: string) => {
        forgotten.push(id);
        return Promise.resolve();
      },
    },
    newRun: () => `event-${(runs += 1)}`,
    log: (line: string) => lines.push(line),
  };
  const pass = (seconds: number): void => {
    at += seconds * 1000;
  };
  return { parts, table, queue, forgotten, lines, pass };
}

describe("changedCluster", () => {
  it("forgets what was learnt of the cluster, and has it looked at in a minute", async () => {
    const { parts, queue, forgotten, lines } = world();
    await changedCluster(parts, written("aks-1"));
    expect(forgotten).toEqual([cluster("aks-1")]);
    expect(queue.sent).toEqual([
      {
        version: 1,
        cluster: cluster("aks-1"),
        reason: "event",
        pass: "full",
        run: "event-1",
        attempt: 0,
        deferrals: 0,
      },
    ]);
    expect(queue.nextAt()).toEqual(new Date("2026-12-01T06:01:00Z"));
    expect(lines).toEqual([`Event: ${cluster("aks-1")} (written); it is looked at in a minute.`]);
  });

  it("makes one message of a burst, and another of what comes later", async () => {
    const { parts, queue, pass } = world();
    for (const seconds of [0, 1, 20, 28]) {
      pass(seconds);
      await changedCluster(parts, [written("aks-1"), written("aks-1")]);
    }
    expect(queue.sent).toHaveLength(1);
    pass(1);
    await changedCluster(parts, written("aks-1"));
    expect(queue.sent).toHaveLength(2);
  });

  it("keeps clusters apart", async () => {
    const { parts, queue } = world();
    await changedCluster(parts, [written("aks-1"), written("aks-2")]);
    expect(queue.sent.map((message) => message.cluster)).toEqual([cluster("aks-1"), cluster("aks-2")]);
  });

  it("drops what is none of ours, with a line", async () => {
    const { parts, queue, forgotten, lines } = world();
    await changedCluster(parts, { eventType: "Microsoft.EventGrid.SubscriptionValidationEvent", data: {} });
    expect([queue.sent, forgotten]).toEqual([[], []]);
    expect(lines).toEqual(["Event ignored: microsoft.eventgrid.subscriptionvalidationevent of no operation."]);
  });

  it("fails where the message could not be sent, and sends when told again", async () => {
    const { parts, queue } = world();
    const broken = { ...queue, send: () => Promise.reject(new StoreError("the queue is away")) };
    await expect(changedCluster({ ...parts, queue: broken }, written("aks-1"))).rejects.toThrow(StoreError);
    expect(queue.sent).toEqual([]);
    await changedCluster(parts, written("aks-1"));
    expect(queue.sent).toHaveLength(1);
  });

  it("takes a row that nobody can read for none", async () => {
    const { parts, table, queue } = world();
    await table.insert(key, "what is this");
    await changedCluster(parts, written("aks-1"));
    expect(queue.sent).toHaveLength(1);
  });
});

describe("announceCare by several instances at once, with a table and a queue that fail", () => {
  it("never loses an event that it has taken: a message can be seen a minute later", async () => {
    for (let seed = 1; seed <= 60; seed += 1) await announceAtOnce(seed);
  });
});

/** Each event is told again until it is taken, as Event Grid and the queue do; instances die in between. */
async function announceAtOnce(seed: number): Promise<void> {
  const simulation = new Simulation(seed, start);
  const { now, random } = simulation;
  const pause = (): Promise<void> => simulation.sleep(simulation.random() * 3000);
  const table = overNetwork(createMemoryTable(), { random, before: 0.1, after: 0.1, resent: 0.1, pause });
  const memory = createMemoryQueue(now, { random, before: 0.1, after: 0.1, twice: 0.05, lateSeconds: 0, pause });
  const seenAt: number[] = [];
  const queue: CareQueue = {
    send: async (message, options) => {
      const earliest = now().getTime() + 60_000;
      await memory.send(message, options);
      seenAt.push(earliest);
    },
  };
  let untaken = 0;
  const event = async (after: number): Promise<void> => {
    await simulation.sleep(after * 1000);
    const happened = now().getTime();
    for (;;) {
      try {
        const skew = (simulation.random() - 0.5) * 8000;
        await announceCare({ table, queue, now: () => new Date(now().getTime() + skew) }, cluster("aks-1"), "event-1");
        break;
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        untaken += 1;
        await simulation.sleep(10_000);
      }
    }
    expect(
      seenAt.some((at) => at >= happened),
      `seed ${seed}: nobody looks after the event`,
    ).toBe(true);
  };
  const events = Array.from({ length: 30 }, () => event(simulation.random() * 300));
  await simulation.run();
  await Promise.all(events);
  // In five minutes not much more than one message in a minute, and one for each failure.
  expect(memory.sent.length, `seed ${seed}`).toBeLessThanOrEqual(12 + 3 * untaken);
}
