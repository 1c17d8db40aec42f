import { describe, expect, it } from "vitest";
import {
  budgetView,
  releaseReservation,
  renewReservation,
  reserveRepair,
  type BudgetParts,
} from "../../src/fleet/budget.ts";
import type { BudgetPolicy, BudgetRow, RepairOutcome } from "../../src/fleet/budget-row.ts";
import { StoreError } from "../../src/fleet/table.ts";
import { createMemoryTable, overNetwork } from "./memory-table.ts";

const start = new Date("2026-12-01T06:00:00Z");
const key = { partition: "fleet", row: "budget" };
const policy: BudgetPolicy = { maxConcurrentRepairs: 4, maxRepairsPerHour: 20, breakerAfter: 3, breakerMinutes: 60 };

/** A budget, a clock, and what runs do with them. */
function fleet(varied: Partial<BudgetPolicy> = {}) {
  let at = start.getTime();
  const table = createMemoryTable();
  const parts: BudgetParts = {
    table,
    policy: { ...policy, ...varied },
    version: "1.0.0",
    now: () => new Date(at),
    random: () => 0.5,
    sleep: (ms) => {
      at += ms;
      return Promise.resolve();
    },
  };
  const wish = (n: number) => ({ cluster: `cluster-${n}`, run: `run-${n}`, seconds: 600 });
  return {
    parts,
    table,
    pass: (minutes: number): void => {
      at += minutes * 60_000;
    },
    row: (): BudgetRow => table.peek(key)?.value as unknown as BudgetRow,
    view: () => budgetView(parts),
    /** `reserved`, or the reason of the refusal. */
    reserve: async (n: number, other: Partial<BudgetParts> = {}) => {
      const answer = await reserveRepair({ ...parts, ...other }, wish(n));
      return answer.reserved ? "reserved" : answer.reason;
    },
    renew: (n: number) => renewReservation(parts, wish(n)),
    release: (n: number, outcome: RepairOutcome) => releaseReservation(parts, { ...wish(n), outcome }),
    proveMany: async function (from: number, to: number): Promise<void> {
      for (let n = from; n <= to; n += 1) {
        expect(await this.reserve(n)).toBe("reserved");
        await this.release(n, "proven");
      }
    },
  };
}

describe("the ramp", () => {
  it("begins at one repair at a time, and doubles with each proven one up to the maximum", async () => {
    const { reserve, release, view } = fleet({ maxConcurrentRepairs: 5 });
    expect([await reserve(1), await reserve(2)]).toEqual(["reserved", "concurrent"]);
    const allowed: number[] = [];
    for (const n of [1, 2, 3, 4]) {
      await reserve(n);
      await release(n, "proven");
      allowed.push((await view()).allowedNow);
    }
    expect(allowed).toEqual([2, 4, 5, 5]);
  });

  it("is not climbed by a repair that wrote nothing, or that was not proven", async () => {
    const { reserve, release, view } = fleet();
    await reserve(1);
    await release(1, "unused");
    await reserve(2);
    await release(2, "failed");
    expect((await view()).allowedNow).toBe(1);
  });

  it("begins anew with another version, while what runs goes on", async () => {
    const world = fleet();
    await world.proveMany(1, 2);
    expect([await world.reserve(3), await world.reserve(4)]).toEqual(["reserved", "reserved"]);
    expect(await world.reserve(5, { version: "1.0.1" })).toBe("concurrent");
    expect((await world.view()).allowedNow).toBe(1);
    expect(await world.renew(3)).toEqual({ until: new Date("2026-12-01T06:10:00Z") });
  });

  it("goes no further than a maximum that was lowered meanwhile", async () => {
    const world = fleet();
    await world.proveMany(1, 2);
    const lowered = { policy: { ...policy, maxConcurrentRepairs: 1 } };
    expect([await world.reserve(3, lowered), await world.reserve(4, lowered)]).toEqual(["reserved", "concurrent"]);
  });
});

describe("the hour", () => {
  it("sees no more starts than may be, and one more when the first is an hour and a minute old", async () => {
    const world = fleet({ maxRepairsPerHour: 3 });
    await world.proveMany(1, 1);
    world.pass(10);
    await world.proveMany(2, 3);
    expect(await reserveRepair(world.parts, { cluster: "cluster-4", run: "run-4", seconds: 600 })).toEqual({
      reserved: false,
      reason: "hour",
      why: "3 repairs were begun within 60 minutes, and no more may be.",
      retryAfterSeconds: 51 * 60,
    });
    world.pass(50.9);
    expect(await world.reserve(4)).toBe("hour");
    world.pass(0.1);
    expect(await world.reserve(4)).toBe("reserved");
  });

  it("gets back the start of a repair that wrote nothing", async () => {
    const { reserve, release } = fleet({ maxRepairsPerHour: 1 });
    await reserve(1);
    await release(1, "unused");
    expect(await reserve(2)).toBe("reserved");
  });

  it("keeps the start of a repair that wrote nothing in this delivery, and may have in an earlier one", async () => {
    const { reserve, release } = fleet({ maxRepairsPerHour: 1 });
    await reserve(1);
    await reserve(1);
    await release(1, "unused");
    expect(await reserve(2)).toBe("hour");
  });

  it("keeps the start of a run that died", async () => {
    const { reserve, pass } = fleet({ maxRepairsPerHour: 1 });
    await reserve(1);
    pass(20);
    expect(await reserve(2)).toBe("hour");
  });
});

describe("a reservation", () => {
  it("is given once to a run, however often its message comes, and counts as begun the last time", async () => {
    const { reserve, row, pass } = fleet();
    await reserve(1);
    pass(5);
    expect(await reserve(1)).toBe("reserved");
    expect(row().reservations).toEqual([
      {
        cluster: "cluster-1",
        run: "run-1",
        at: "2026-12-01T06:05:00.000Z",
        until: "2026-12-01T06:15:00.000Z",
        again: true,
      },
    ]);
    expect(row().starts).toEqual([{ run: "run-1", at: "2026-12-01T06:05:00.000Z" }]);
  });

  it("is not given to a second run for the same cluster", async () => {
    const world = fleet();
    await world.proveMany(1, 2);
    await world.reserve(3);
    expect(await reserveRepair(world.parts, { cluster: "cluster-3", run: "run-9", seconds: 600 })).toEqual({
      reserved: false,
      reason: "same-cluster",
      why: "The run run-3 has reserved a repair of this cluster until 2026-12-01T06:10:00.000Z.",
      retryAfterSeconds: 660,
    });
  });

  it("of a run that died is gone a minute after its time, and counts as not proven", async () => {
    const { reserve, view, pass } = fleet();
    await reserve(1);
    pass(10.99);
    expect(await reserve(2)).toBe("concurrent");
    pass(0.01);
    expect(await reserve(2)).toBe("reserved");
    expect((await view()).breaker).toEqual({ open: false, failures: 1 });
  });

  it("that has expired unnoticed is renewed; one that was counted is lost", async () => {
    const { reserve, renew, pass, view } = fleet();
    await reserve(1);
    pass(30);
    expect(await renew(1)).toEqual({ until: new Date("2026-12-01T06:40:00Z") });
    pass(30);
    expect(await reserve(2)).toBe("reserved");
    expect(await renew(1)).toBe("lost");
    expect((await view()).breaker.failures).toBe(1);
  });

  it("lasts an hour at the most", async () => {
    const { parts, row } = fleet();
    await reserveRepair(parts, { cluster: "cluster-1", run: "run-1", seconds: 86_400 });
    expect(row().reservations[0]?.until).toBe("2026-12-01T07:00:00.000Z");
  });

  it("that expired an hour ago is a new start for its run, which the hour may refuse", async () => {
    const world = fleet({ maxRepairsPerHour: 2 });
    await world.proveMany(1, 1);
    await world.reserve(2);
    world.pass(55);
    await world.renew(2);
    world.pass(7);
    await world.proveMany(3, 4);
    expect(await world.reserve(2)).toBe("hour");
  });

  it("is released once: a second release changes nothing", async () => {
    const { reserve, release, row } = fleet();
    await reserve(1);
    await release(1, "failed");
    const before = row();
    expect((await release(1, "failed")).tripped).toBe(false);
    await release(1, "proven");
    expect(row()).toEqual(before);
  });
});

describe("the breaker", () => {
  async function tripped() {
    const world = fleet();
    await world.proveMany(1, 2);
    const answers: boolean[] = [];
    for (const n of [3, 4, 5]) {
      expect(await world.reserve(n)).toBe("reserved");
      answers.push((await world.release(n, "failed")).tripped);
    }
    expect(answers).toEqual([false, false, true]);
    return world;
  }

  it("opens after so many repairs in a row that were not proven, and says why", async () => {
    const { parts, view } = await tripped();
    const why = "3 repairs in a row could not be proven, the last one in run run-5";
    expect((await view()).breaker).toEqual({ open: true, failures: 3, until: "2026-12-01T07:00:00.000Z", why });
    expect(await reserveRepair(parts, { cluster: "cluster-6", run: "run-6", seconds: 600 })).toEqual({
      reserved: false,
      reason: "breaker-open",
      why: `The breaker is open until 2026-12-01T07:00:00.000Z: ${why}.`,
      retryAfterSeconds: 3600,
    });
  });

  it("closes when its time is over, with the ramp at one", async () => {
    const { reserve, pass, view } = await tripped();
    pass(60);
    expect((await view()).breaker).toEqual({ open: false, failures: 0 });
    expect([await reserve(6), await reserve(7)]).toEqual(["reserved", "concurrent"]);
  });

  it("does not open where a proven repair comes in between", async () => {
    const { reserve, release, view } = fleet();
    for (const [n, outcome] of [
      [1, "failed"],
      [2, "failed"],
      [3, "proven"],
      [4, "failed"],
    ] as const) {
      await reserve(n);
      await release(n, outcome);
    }
    expect((await view()).breaker).toEqual({ open: false, failures: 1 });
  });

  it("lets end what was begun before, and the ramp stays down", async () => {
    const world = fleet({ breakerAfter: 1 });
    await world.proveMany(1, 2);
    await world.reserve(3);
    await world.reserve(4);
    await world.release(3, "failed");
    expect(await world.renew(4)).toEqual({ until: new Date("2026-12-01T06:10:00Z") });
    await world.release(4, "proven");
    expect(await world.view()).toMatchObject({ allowedNow: 1, breaker: { open: true } });
  });

  it("opened by runs that died is over as long after their death, whoever looks when", async () => {
    const { reserve, view, pass } = fleet({ breakerAfter: 1 });
    await reserve(1);
    pass(30);
    expect((await view()).breaker.until).toBe("2026-12-01T07:11:00.000Z");
    pass(40.9);
    expect(await reserve(2)).toBe("breaker-open");
    pass(0.1);
    expect(await reserve(2)).toBe("reserved");
  });
});

describe("a clock that was far ahead", () => {
  it("does not block reservations, starts and breaker for as long as it was wrong", async () => {
    const world = fleet({ maxConcurrentRepairs: 1, maxRepairsPerHour: 1, breakerAfter: 1 });
    const wrong = { now: () => new Date("2027-12-01T06:00:00Z") };
    expect(await world.reserve(1, wrong)).toBe("reserved");
    // From when somebody with the right time writes: the hour for the reservation, and the breaker's after it.
    expect(await world.reserve(2)).toBe("concurrent");
    world.pass(61);
    expect(await world.reserve(2)).toBe("breaker-open");
    world.pass(61);
    expect(await world.reserve(2)).toBe("reserved");
  });
});

describe("a table that is busy, slow or broken", () => {
  it("refuses with `contended` where somebody writes in between at every try", async () => {
    const { table, reserve, pass } = fleet();
    await reserve(1);
    pass(1);
    const busy = { ...table, replace: () => Promise.resolve(undefined) };
    expect(await reserve(1, { table: busy })).toBe("contended");
  });

  it("refuses with `contended` where a write takes so long that the hour is another", async () => {
    const { table, reserve, parts, pass } = fleet();
    const slow = {
      ...table,
      insert: async (...args: Parameters<typeof table.insert>) => {
        pass(1);
        return table.insert(...args);
      },
      replace: async (...args: Parameters<typeof table.replace>) => {
        pass(1);
        return table.replace(...args);
      },
    };
    expect(await reserve(1, { table: slow })).toBe("contended");
    expect(parts.now()).toEqual(new Date("2026-12-01T06:08:06.350Z"));
  });

  it("throws the table's error after eight tries, having waited longer each time", async () => {
    const { table, parts } = fleet();
    const broken = overNetwork(table, {
      random: () => 0,
      before: 1,
      after: 0,
      resent: 0,
      pause: () => Promise.resolve(),
    });
    const waits: number[] = [];
    const sleep = (ms: number) => Promise.resolve(void waits.push(ms));
    const wish = { cluster: "cluster-1", run: "run-1", seconds: 600 };
    await expect(reserveRepair({ ...parts, table: broken, sleep }, wish)).rejects.toThrow(StoreError);
    expect(waits).toEqual([50, 100, 200, 400, 800, 1600, 3200]);
  });

  it("refuses where the row cannot be read, says which and what to do, and shows an open breaker", async () => {
    const { table, parts, view } = fleet();
    await table.insert(key, { version: 2 });
    const why =
      "The table's row fleet/budget is not as this version of fleetmend writes it (version: 1 is expected). Deploy the " +
      "version that wrote it, or delete the row: do that while no repair runs, since those that run would no longer be counted.";
    const answer = await reserveRepair(parts, { cluster: "cluster-1", run: "run-1", seconds: 600 });
    expect(answer).toEqual({ reserved: false, reason: "unreadable", why, retryAfterSeconds: 900 });
    expect(await view()).toMatchObject({ allowedNow: 0, breaker: { open: true, why } });
  });
});
