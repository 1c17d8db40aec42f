import { describe, expect, it } from "vitest";
import { claimCluster, endClaim, readClusterRow, renewClaim, type Claim } from "../../src/fleet/care-claim.ts";
import { decideClaim, type CareEnd, type ClusterRow, type Wish } from "../../src/fleet/cluster-row.ts";
import { StoreError, type Table } from "../../src/fleet/table.ts";
import { createMemoryTable, overNetwork } from "./memory-table.ts";
import { Simulation, startWorker, type Worker } from "./simulation.ts";

const subscription = "00000000-0000-0000-0000-000000000001";
const cluster = `/subscriptions/${subscription}/resourcegroups/rg/providers/microsoft.containerservice/managedclusters/aks-1`;
const key = { partition: "care", row: `${subscription}:rg:aks-1` };
const at = (time: string): Date => new Date(`2026-12-01T${time}Z`);

const wish = (varied: Partial<Wish> = {}): Wish => ({
  cluster,
  owner: "one/1",
  run: "run-1",
  attempt: 0,
  seconds: 60,
  ...varied,
});

const row = (varied: Partial<ClusterRow> = {}): ClusterRow => ({ version: 1, cluster, fence: 7, slots: {}, ...varied });
const held = {
  owner: "two/1",
  run: "run-0",
  since: "2026-12-01T05:59:00.000Z",
  until: "2026-12-01T06:00:30.000Z",
};

describe("decideClaim", () => {
  it("claims a cluster that has no row", () => {
    expect(decideClaim(undefined, wish(), at("06:00:00"))).toEqual({
      version: 1,
      cluster,
      fence: 1,
      slots: {},
      held: { owner: "one/1", run: "run-1", since: "2026-12-01T06:00:00.000Z", until: "2026-12-01T06:01:00.000Z" },
    });
  });

  it.each<[string, ClusterRow, Partial<Wish>, string]>([
    ["that nobody holds", row(), {}, "06:00:00"],
    ["whose holder's time has passed", row({ held }), {}, "06:00:30"],
    ["that the same owner holds", row({ held }), { owner: "two/1" }, "06:00:00"],
    [
      "whose run goes on with this message",
      row({ next: { run: "run-1", attempt: 2, at: "2026-12-01T06:00:00Z" } }),
      { attempt: 2 },
      "06:00:00",
    ],
    [
      "whose run has sent this message and not said so",
      row({ next: { run: "run-1", attempt: 1, at: "2026-12-01T06:00:00Z" } }),
      { attempt: 2 },
      "06:00:00",
    ],
    [
      "whose other run should have gone on ten minutes ago",
      row({ next: { run: "run-0", attempt: 2, at: "2026-12-01T06:00:00Z" } }),
      {},
      "06:10:00",
    ],
    [
      "whose last slot of the timer is older",
      row({ slots: { timer: "2026-12-01T05:45:00Z" } }),
      { slot: { timer: "timer", at: "2026-12-01T06:00:00Z" } },
      "06:00:01",
    ],
    [
      "whose last slot is another timer's",
      row({ slots: { sentinel: "2026-12-01T06:07:00Z" } }),
      { slot: { timer: "timer", at: "2026-12-01T06:00:00Z" } },
      "06:08:00",
    ],
  ])("claims a cluster %s, with a higher fence", (_name, before, varied, time) => {
    const decided = decideClaim(before, wish(varied), at(time));
    expect(decided).toMatchObject({ fence: 8, held: { owner: varied.owner ?? "one/1", run: "run-1" } });
  });

  it.each<[string, ClusterRow, string, Date, string]>([
    [
      "somebody holds",
      row({ held }),
      "06:00:29",
      at("06:00:30"),
      "two/1 cares for it since 2026-12-01T05:59:00.000Z (run run-0)",
    ],
    [
      "has a run that goes on",
      row({ next: { run: "run-0", attempt: 2, at: "2026-12-01T06:05:00Z" } }),
      "06:00:00",
      at("06:15:00"),
      "the run run-0 goes on at 2026-12-01T06:05:00Z",
    ],
    [
      "has a run that is a little late",
      row({ next: { run: "run-0", attempt: 2, at: "2026-12-01T06:00:00Z" } }),
      "06:09:59",
      at("06:10:00"),
      "the run run-0 goes on at 2026-12-01T06:00:00Z",
    ],
  ])("leaves alone a cluster that %s", (_name, before, time, until, why) => {
    expect(decideClaim(before, wish(), at(time))).toEqual({ claim: "elsewhere", run: "run-0", until, why });
  });

  it.each<[string, ClusterRow, Partial<Wish>, string]>([
    [
      "of a slot that has been cared for",
      row({ slots: { timer: "2026-12-01T06:00:00Z" } }),
      { slot: { timer: "timer", at: "2026-12-01T06:00:00Z" } },
      "the slot 2026-12-01T06:00:00Z of timer, or a later one, has been cared for",
    ],
    [
      "of an earlier slot, in another writing",
      row({ slots: { timer: "2026-12-01T06:00:00Z" } }),
      { slot: { timer: "timer", at: "2026-12-01T05:45:00.000Z" } },
      "the slot 2026-12-01T06:00:00Z of timer, or a later one, has been cared for",
    ],
    [
      "of a run that has ended",
      row({ last: { run: "run-1", at: "2026-12-01T05:59:00Z" } }),
      { attempt: 3 },
      "the run run-1 has ended",
    ],
    [
      "of an attempt that the run has gone past",
      row({ next: { run: "run-1", attempt: 2, at: "2026-12-01T06:00:00Z" } }),
      { attempt: 1 },
      "the run run-1 has gone on to attempt 2",
    ],
    [
      "that is done, also while somebody else holds the cluster",
      row({ held, last: { run: "run-1", at: "2026-12-01T05:58:00Z" } }),
      {},
      "the run run-1 has ended",
    ],
  ])("drops a message %s", (_name, before, varied, why) => {
    expect(decideClaim(before, wish(varied), at("06:00:00"))).toEqual({ claim: "done", why });
  });
});

async function claimed(table: Table, varied: Partial<Wish> = {}, time = "06:00:00"): Promise<Claim> {
  const answer = await claimCluster(table, wish(varied), () => at(time));
  if (answer.claim !== "held") throw new Error(answer.why);
  return answer.held;
}

describe("a claim", () => {
  it("is renewed from now on, also when its time has passed and nobody came", async () => {
    const table = createMemoryTable();
    const claim = await claimed(table);
    const renewed = await renewClaim(table, claim, () => at("06:05:00"));
    expect(renewed).toMatchObject({ claim: "held", held: { fence: 1, until: at("06:06:00") } });
  });

  it("that another run has taken over is lost, for renewing and for ending", async () => {
    const table = createMemoryTable();
    const claim = await claimed(table);
    const other = await claimed(table, { owner: "two/1", run: "run-2" }, "06:01:00");
    const lost = { claim: "lost", why: `another run has claimed ${cluster}` };
    expect(await renewClaim(table, claim, () => at("06:01:01"))).toEqual(lost);
    expect(await endClaim(table, claim, {}, () => at("06:01:02"))).toEqual(lost);
    expect((await readClusterRow(table, cluster))?.held?.run).toBe("run-2");
    expect(await endClaim(table, other, {}, () => at("06:01:03"))).toEqual({ claim: "ended" });
    expect(await endClaim(table, claim, {}, () => at("06:01:04"))).toEqual(lost);
  });

  it.each<[string, CareEnd, Partial<ClusterRow>]>([
    [
      "over",
      { memory: { seen: 1 } },
      {
        memory: { seen: 1 },
        last: { run: "run-1", at: "2026-12-01T06:00:10.000Z" },
        slots: { timer: "2026-12-01T06:00:00Z" },
      },
    ],
    [
      "to go on",
      { next: { attempt: 1, at: at("06:01:00") } },
      { memory: "before", next: { run: "run-1", attempt: 1, at: "2026-12-01T06:01:00.000Z" }, slots: {} },
    ],
    ["to be tried again", { again: true }, { memory: "before", slots: {} }],
  ])("that ends as %s writes that, and leaves the cluster to the next", async (_name, end, expected) => {
    const table = createMemoryTable();
    await table.insert(key, row({ memory: "before" }));
    const claim = await claimed(table, { slot: { timer: "timer", at: "2026-12-01T06:00:00Z" } });
    expect(await endClaim(table, claim, end, () => at("06:00:10"))).toEqual({ claim: "ended" });
    expect(await readClusterRow(table, cluster)).toEqual({ version: 1, cluster, fence: 8, ...expected });
  });

  it("of a continuation that is to be tried again leaves the run to go on", async () => {
    const table = createMemoryTable();
    const next = { run: "run-1", attempt: 3, at: "2026-12-01T06:00:00Z" };
    await table.insert(key, row({ next }));
    const claim = await claimed(table, { attempt: 3 });
    await endClaim(table, claim, { again: true }, () => at("06:00:10"));
    expect((await readClusterRow(table, cluster))?.next).toEqual(next);
  });

  it("is not made over a row that cannot be read: the error names the row and says what to do", async () => {
    const table = createMemoryTable();
    await table.insert(key, { ...row(), fence: "secret words" });
    await expect(claimed(table)).rejects.toThrow(
      `The table's row care/${subscription}:rg:aks-1 is not as this version of fleetmend writes it (fence: number is ` +
        "expected). Deploy the version that wrote it, or delete the row: the cluster is then cared for at the next timer, in full.",
    );
  });

  it.each(["before", "after"] as const)("is an error of the table where it throws %s every effect", async (when) => {
    const faults = { random: () => 0, before: 0, after: 0, resent: 0, pause: () => Promise.resolve(), [when]: 1 };
    await expect(claimed(overNetwork(createMemoryTable(), faults))).rejects.toThrow(StoreError);
  });
});

describe("claims of many workers, interleaved at every await, with a table that fails and workers that die", () => {
  it("hold one cluster one at a time, and none blocks it for ever", async () => {
    let cares = 0;
    for (let seed = 1; seed <= 80; seed += 1) cares += await contendForOne(seed);
    expect(cares).toBeGreaterThan(400);
  });
});

/** Who holds, by his own clock and renewed in time, is alone; each fence is one claim's. How often somebody held. */
async function contendForOne(seed: number): Promise<number> {
  const simulation = new Simulation(seed, at("06:00:00"));
  const { now, random } = simulation;
  let holder: Worker | undefined;
  let cares = 0;
  const fences = new Set<number>();
  const pauseOf = (worker: Worker) => (): Promise<void> => {
    if (simulation.chance(0.01)) worker.kill();
    return simulation.sleep(simulation.random() * 2000, worker);
  };
  const rows = createMemoryTable();

  const work = async (name: string): Promise<void> => {
    const worker = startWorker();
    const faults = { random, before: 0.08, after: 0.08, resent: 0.08, pause: pauseOf(worker) };
    const table = overNetwork(rows, faults);
    for (let n = 0; n < 4; n += 1) {
      const owner = `${name}/${n}`;
      try {
        const answer = await claimCluster(table, wish({ owner, run: owner.replace("/", "-") }), now);
        if (answer.claim !== "held") {
          await simulation.sleep(20_000, worker);
          continue;
        }
        let claim = answer.held;
        expect(fences.has(claim.fence), `seed ${seed}: fence ${claim.fence} twice`).toBe(false);
        fences.add(claim.fence);
        for (let step = 0; step < 5; step += 1) {
          const renewed = await renewClaim(table, claim, now);
          if (renewed.claim === "lost") break;
          claim = renewed.held;
          if (claim.until <= now()) continue;
          expect(holder, `seed ${seed}: two hold the cluster`).toBeUndefined();
          holder = worker;
          await simulation.sleep(Math.min(5000, claim.until.getTime() - now().getTime() - 1), worker);
          holder = undefined;
          cares += 1;
          if (simulation.chance(0.05)) simulation.jump(300);
        }
        await endClaim(table, claim, { again: true }, now);
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        await simulation.sleep(60_000, worker);
      }
    }
  };
  const wrong: unknown[] = [];
  for (const name of ["a", "b", "c", "d"]) work(name).catch((error: unknown) => wrong.push(error));
  await simulation.run();
  expect(wrong).toEqual([]);
  simulation.jump(61);
  expect((await claimCluster(rows, wish({ owner: "last/1", run: "last-1" }), now)).claim, `seed ${seed}`).toBe("held");
  return cares;
}
