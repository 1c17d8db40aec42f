// A scan of 200 clusters with repairs, in which instances die, messages come twice and late, the table fails and ARM throttles:
// every cluster ends reported, no limit is exceeded, no repair is done twice, and who never answers delays nobody.
// FLEETMEND_CHAOS_SEED=n plays another one.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { budgetRow, type BudgetRow } from "../../src/fleet/budget-row.ts";
import * as v from "valibot";
import { latestReports } from "../../src/fleet/reports.ts";
import { startLab, type Fault, type Lab } from "../../src/lab/start.ts";
import { startChaos, type ChaosCluster, type ChaosWorld, type Written } from "./chaos-world.ts";
import { keysInTurn, managedCluster } from "./fleet-world.ts";

const seed = Number(process.env.FLEETMEND_CHAOS_SEED ?? "1");
const many = 200;
const faults: readonly Fault[] = ["drift", "one-holder", "empty-bundle"];
const faulty = 24;
const policy = { maxConcurrentRepairs: 3, maxRepairsPerHour: 12, breakerAfter: 3, breakerMinutes: 30 };
const hourMs = 3_600_000;

const labs = new Map<string, Lab>();
let well: Lab[] = [];
let clusters: ChaosCluster[] = [];
let world: ChaosWorld;
const wrong: string[] = [];
/** By cluster: when its first write was. */
const begun = new Map<string, number>();

const nameOf = (index: number): string => `aks-${String(index).padStart(3, "0")}`;
const silent = managedCluster(nameOf(many - 1));

beforeAll(async () => {
  // What is well is only read, so a few labs stand for all of them.
  well = await Promise.all(Array.from({ length: 4 }, () => startLab({ keys: keysInTurn() })));
  clusters = await Promise.all(
    Array.from({ length: many }, async (_, index): Promise<ChaosCluster> => {
      const name = nameOf(index);
      if (name === silent.name) return { managed: silent };
      if (index >= many - 11) return { managed: managedCluster(name, { powerState: "Stopped" }) };
      const lab = index < faulty ? await startLab({ keys: keysInTurn() }) : well[index % well.length];
      if (index < faulty && lab !== undefined) {
        labs.set(managedCluster(name).id, lab);
        await lab.inject(faults[index % faults.length] ?? "drift");
      }
      return { managed: managedCluster(name), kubeconfig: lab?.kubeconfig ?? "" };
    }),
  );
}, 120_000);

afterAll(async () => {
  world.close();
  await Promise.all([...labs.values(), ...well].map((lab) => lab.stop()));
});

function reservations(): BudgetRow["reservations"] {
  const row = world.table.peek({ partition: "fleet", row: "budget" });
  return row === undefined ? [] : v.parse(budgetRow, row.value).reservations;
}

/** What must hold at the moment of any write to a cluster. */
function beforeWrite({ cluster, path }: Omit<Written, "at">, { now }: ChaosWorld): void {
  const reserved = reservations();
  const at = now().getTime();
  if (!reserved.some((one) => one.cluster === cluster))
    wrong.push(`${cluster} is written to without a reservation: ${path}`);
  const running = reserved.filter(({ until }) => Date.parse(until) > at);
  if (running.length > policy.maxConcurrentRepairs) wrong.push(`${running.length} repairs at the same time`);
  if (!begun.has(cluster)) begun.set(cluster, at);
  const inHour = [...begun.values()].filter((one) => at - one < hourMs).length;
  if (inHour > policy.maxRepairsPerHour) wrong.push(`${inHour} repairs within an hour`);
}

async function states(): Promise<ReadonlyMap<string, string>> {
  return new Map((await latestReports(world.table)).map(({ report }) => [report.cluster, report.state]));
}

/** What the broken upgrade has left behind is a person's to look at. */
const isMended = (state: string | undefined): boolean => state === "healthy" || state === "attention";

describe(`a scan of ${many} clusters in which everything goes wrong, seed ${seed}`, () => {
  it("reports every cluster, keeps every limit, and repairs nothing twice", { timeout: 240_000 }, async () => {
    world = startChaos({ seed, clusters, policy, instances: 6, wildness: 1, onWrite: beforeWrite });
    let ticks = 0;
    for (; ticks < 12; ticks += 1) {
      await world.tick();
      const now = await states();
      if ([...labs.keys()].every((id) => isMended(now.get(id)))) break;
      world.pass(1200);
    }
    const last = await states();
    const { counts, written } = world;
    process.stdout.write(
      `chaos, seed ${seed}: ${ticks + 1} scans, ${counts.deliveries} deliveries, ${counts.kills} kills, ${counts.storeErrors} failed deliveries, ${counts.throttled} throttled, ${counts.poisoned} poisoned, ${written.length} writes\n`,
    );
    expect(wrong).toEqual([]);
    expect(world.overlaps).toEqual([]);
    expect(last.size).toBe(many);
    expect([...last.values()].filter((state) => state === "repairing")).toEqual([]);
    expect([...labs.keys()].filter((id) => !isMended(last.get(id)))).toEqual([]);
    expect(last.get(silent.id)).toBe("not-assessed");
    const once = new Set(written.map(({ cluster, path }) => `${cluster} ${path}`));
    expect(written).toHaveLength(once.size);
    for (const [id, lab] of labs) expect(await lab.createPod(), id).toMatchObject({ admitted: true });
    // The world was worth the looking.
    expect(counts.kills).toBeGreaterThan(10);
    expect(counts.storeErrors).toBeGreaterThan(10);
    expect(counts.throttled).toBeGreaterThan(10);
    expect(begun.size).toBe(faulty);
  });
});

describe("a cluster that never answers", () => {
  it("delays nobody: with two instances everybody else is reported before it is", async () => {
    const others = clusters.slice(faulty, faulty + 30);
    const order: string[] = [];
    const calm = startChaos({
      ...{ seed, policy, clusters: [{ managed: silent }, ...others], instances: 2, wildness: 0 },
      onWrite: ({ path }) => wrong.push(`written: ${path}`),
      onCared: (cluster) => order.push(cluster),
    });
    await calm.tick();
    calm.close();
    expect(order).toHaveLength(31);
    expect(order.at(-1)).toBe(silent.id);
    expect(wrong).toEqual([]);
  });
});
