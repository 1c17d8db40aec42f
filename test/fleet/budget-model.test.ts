// The budget under everything at once: three workers with clocks of their own, interleaved at every await, that die and
// whose messages come again; a table that fails before and after the effect; time that jumps. Each seed is a world.
import { describe, expect, it } from "vitest";
import { releaseReservation, renewReservation, reserveRepair, type BudgetParts } from "../../src/fleet/budget.ts";
import type { BudgetPolicy, BudgetRow } from "../../src/fleet/budget-row.ts";
import { StoreError } from "../../src/fleet/table.ts";
import { createMemoryTable, overNetwork } from "./memory-table.ts";
import { Simulation, startWorker, type Worker } from "./simulation.ts";

const start = new Date("2026-12-01T06:00:00Z");
const key = { partition: "fleet", row: "budget" };
const seeds = 60;

/** What is true of the worlds, whatever the budget's row says. */
interface Seen {
  begun: number;
  died: number;
  lost: number;
  tripped: number;
  readonly refused: Set<string>;
}

describe("the budget, with three workers that die, clocks that differ and a table that fails", () => {
  it("is never exceeded, and nothing that was lost blocks for ever", async () => {
    const seen: Seen = { begun: 0, died: 0, lost: 0, tripped: 0, refused: new Set() };
    for (let seed = 1; seed <= seeds; seed += 1) await runWorld(seed, seen);
    // The worlds were worth the looking.
    expect(seen.begun).toBeGreaterThan(4 * seeds);
    expect(seen.died).toBeGreaterThan(seeds);
    expect(seen.lost).toBeGreaterThan(0);
    expect(seen.tripped).toBeGreaterThan(0);
    expect([...seen.refused].sort()).toEqual(["breaker-open", "concurrent", "hour", "same-cluster"]);
  });
});

async function runWorld(seed: number, seen: Seen): Promise<void> {
  const simulation = new Simulation(seed, start);
  const { now, random } = simulation;
  const policy: BudgetPolicy = {
    maxConcurrentRepairs: 1 + Math.floor(random() * 3),
    maxRepairsPerHour: 2 + Math.floor(random() * 6),
    breakerAfter: 2 + Math.floor(random() * 3),
    breakerMinutes: 20,
  };
  const rows = createMemoryTable();
  /** Who repairs at this moment, by his own belief. */
  const repairing = new Set<Worker>();
  /** When each repair was begun, by the true time. One that goes on after its worker's death is still the same. */
  const begun: { readonly run: string; readonly at: number }[] = [];
  const label = `seed ${seed}`;

  simulation.afterEach = () => {
    const row = rows.peek(key)?.value as unknown as BudgetRow | undefined;
    expect(row?.reservations.length ?? 0, `${label}: reservations`).toBeLessThanOrEqual(policy.maxConcurrentRepairs);
    const live = [...repairing].filter(({ isDead }) => !isDead);
    expect(live.length, `${label}: repairs at once`).toBeLessThanOrEqual(policy.maxConcurrentRepairs);
    const lastHour = begun.filter(({ at }) => at > now().getTime() - 3_600_000);
    expect(new Set(lastHour.map(({ run }) => run)).size, `${label}: repairs in an hour`).toBeLessThanOrEqual(
      policy.maxRepairsPerHour,
    );
  };

  const partsOf = (worker: Worker): BudgetParts => {
    const skewMs = (random() - 0.5) * 20_000;
    const pause = (): Promise<void> => {
      if (simulation.chance(0.01) && !worker.isDead) {
        worker.kill();
        seen.died += 1;
      }
      // A process that stands still for a while; everybody else goes on.
      return simulation.sleep(simulation.chance(0.01) ? 120_000 : simulation.random() * 1500, worker);
    };
    return {
      table: overNetwork(rows, { random, before: 0.05, after: 0.05, resent: 0.05, pause }),
      policy,
      version: simulation.chance(0.95) ? "1" : "2",
      now: () => new Date(now().getTime() + skewMs),
      random,
      sleep: (ms) => simulation.sleep(ms, worker),
    };
  };

  /** One delivery of a run's message. */
  const deliver = async (worker: Worker, wish: { cluster: string; run: string; seconds: number }): Promise<void> => {
    const parts = partsOf(worker);
    const answer = await reserveRepair(parts, wish);
    if (!answer.reserved) {
      seen.refused.add(answer.reason);
      return simulation.sleep(Math.min(answer.retryAfterSeconds, 600) * 1000, worker);
    }
    let { until } = answer;
    if (until <= parts.now()) return;
    if (simulation.chance(0.1)) {
      await releaseReservation(parts, { ...wish, outcome: "unused" });
      return;
    }
    begun.push({ run: wish.run, at: now().getTime() });
    seen.begun += 1;
    for (let step = 0; step < 4; step += 1) {
      const left = until.getTime() - parts.now().getTime();
      repairing.add(worker);
      await simulation.sleep(Math.min(simulation.random() * 60_000, left), worker);
      repairing.delete(worker);
      if (simulation.chance(0.02)) {
        worker.kill();
        return;
      }
      const renewed = await renewReservation(parts, wish);
      if (renewed === "lost") seen.lost += 1;
      if (renewed === "lost" || renewed.until <= parts.now()) return;
      until = renewed.until;
    }
    const outcome = simulation.chance(0.6) ? "proven" : "failed";
    const { tripped } = await releaseReservation(parts, { ...wish, outcome });
    if (tripped) seen.tripped += 1;
  };

  const wrong: unknown[] = [];
  let messages = 20;
  /** Processes on one instance, one after the other: a new one where the last has died. */
  const instance = async (name: string): Promise<void> => {
    for (let n = 0; messages > 0; n += 1) {
      messages -= 1;
      const wish = { cluster: `cluster-${Math.floor(random() * 6)}`, run: `${name}-${n}`, seconds: 180 };
      for (let delivery = 0; delivery < 3; delivery += 1) {
        const worker = startWorker();
        const done = deliver(worker, wish).catch((error: unknown) => {
          if (!(error instanceof StoreError)) wrong.push(error);
        });
        const isOver = await Promise.race([done.then(() => true), worker.death.then(() => false)]);
        repairing.delete(worker);
        if (isOver && simulation.chance(0.8)) break;
      }
      if (simulation.chance(0.1)) simulation.jump(simulation.random() * 4000);
    }
  };
  const instances = ["a", "b", "c"].map((name) => instance(name));
  await simulation.run();
  await Promise.all(instances);
  expect(wrong, label).toEqual([]);

  // All workers are gone: when the longest time is over, a repair is begun again.
  simulation.jump(3600 + 3600 + 2 * 60 + policy.breakerMinutes * 60);
  const calm = { table: rows, policy, version: "1", now, random, sleep: () => Promise.resolve() };
  expect(await reserveRepair(calm, { cluster: "cluster-0", run: "last", seconds: 60 }), label).toMatchObject({
    reserved: true,
  });
}
