// A fleet whose clusters are labs on the wire, whose table and queue are in memory, and whose time passes only where
// somebody waits. ARM is a list. Everything of ours is the real thing.
import { createFleet } from "../../src/fleet/create-fleet.ts";
import type { FleetParts, FleetPolicy } from "../../src/fleet/fleet-parts.ts";
import type { ClusterReport } from "../../src/fleet/cluster-report.ts";
import type { NotAssessed } from "../../src/fleet/cluster-access.ts";
import type { Fleet } from "../../src/fleet/fleet.ts";
import type { DirectoryFailure, ManagedCluster } from "../../src/fleet/managed-cluster.ts";
import { latestReport, runsOf } from "../../src/fleet/reports.ts";
import type { TelemetryProperties } from "../../src/fleet/telemetry.ts";
import { TryAgain } from "../../src/fleet/try-again.ts";
import { connect } from "../../src/kubernetes/connect.ts";
import { startLab, type Lab, type LabOptions } from "../../src/lab/start.ts";
import { failure, success } from "../../src/result.ts";
import { generateKeys, type KeyPair } from "../../src/trust/mint.ts";
import { createMemoryQueue } from "./memory-queue.ts";
import { createMemoryTable } from "./memory-table.ts";
import { seededRandom } from "./simulation.ts";

export const subscription = "00000000-0000-0000-0000-000000000001";

export function idOf(name: string, group = "gpu"): string {
  return `/subscriptions/${subscription}/resourcegroups/${group}/providers/microsoft.containerservice/managedclusters/${name}`;
}

export function managedCluster(name: string, more: Partial<ManagedCluster> = {}): ManagedCluster {
  return {
    id: idOf(name, more.resourceGroup),
    name,
    resourceGroup: "gpu",
    location: "westeurope",
    tags: {},
    provisioningState: "Succeeded",
    powerState: "Running",
    kubernetesVersion: "1.37.2",
    entra: true,
    private: false,
    authorizedIpRanges: false,
    etag: "1",
    ...more,
  };
}

/** EC pairs, made once: KAI's are RSA, which takes a tenth of a second each, and the verdict does not mind. */
const pairs = Array.from({ length: 3 }, () => generateKeys("ec-p256"));
export function keysInTurn(): () => Promise<KeyPair> {
  let next = 0;
  return () => pairs[next++ % pairs.length] ?? generateKeys("ec-p256");
}

export interface Sent {
  readonly item: string;
  readonly properties: TelemetryProperties;
  readonly value?: number | boolean;
}

export interface World extends AsyncDisposable {
  readonly fleet: Fleet;
  readonly parts: FleetParts;
  readonly labs: ReadonlyMap<string, Lab>;
  readonly clusters: Map<string, ManagedCluster>;
  readonly queue: ReturnType<typeof createMemoryQueue>;
  readonly table: ReturnType<typeof createMemoryTable>;
  readonly sent: Sent[];
  readonly logged: string[];
  readonly forgotten: string[];
  /** ARM's next answers to everything. */
  arm?: DirectoryFailure;
  /** Why clusters cannot be opened, by name. */
  readonly closed: Map<string, NotAssessed>;
  /** Another kubeconfig than the lab's own, by name. */
  readonly kubeconfigs: Map<string, string>;
  readonly listings: () => number;
  pass(seconds: number): void;
  /** Delivers messages until none is left, waiting for those that come later. */
  drain(until?: (world: World) => boolean): Promise<void>;
  tick(): Promise<void>;
  report(name: string): Promise<ClusterReport | undefined>;
  runs(name: string): Promise<readonly ClusterReport[]>;
}

export interface WorldOptions {
  readonly policy?: Partial<FleetPolicy>;
  readonly clusters: readonly (Partial<ManagedCluster> & {
    readonly name: string;
    readonly lab?: LabOptions | false;
  })[];
  readonly table?: (table: ReturnType<typeof createMemoryTable>) => ReturnType<typeof createMemoryTable>;
}

export async function startWorld(options: WorldOptions): Promise<World> {
  let aheadMs = 0;
  const now = (): Date => new Date(Date.now() + aheadMs);
  const labs = new Map<string, Lab>();
  const clusters = new Map<string, ManagedCluster>();
  for (const { lab, ...cluster } of options.clusters) {
    clusters.set(cluster.name, managedCluster(cluster.name, cluster));
    if (lab !== false) labs.set(cluster.name, await startLab({ keys: keysInTurn(), ...lab }));
  }
  const table = createMemoryTable();
  const queue = createMemoryQueue(now);
  const sent: Sent[] = [];
  const logged: string[] = [];
  const forgotten: string[] = [];
  const closed = new Map<string, NotAssessed>();
  const kubeconfigs = new Map([...labs].map(([name, lab]) => [name, lab.kubeconfig]));
  let listings = 0;
  const parts: FleetParts = {
    directory: {
      list: () => {
        listings += 1;
        return Promise.resolve(world.arm === undefined ? success([...clusters.values()]) : failure(world.arm));
      },
      get: (id) => {
        const found = [...clusters.values()].find((cluster) => cluster.id === id);
        if (world.arm !== undefined) return Promise.resolve(failure(world.arm));
        const gone: DirectoryFailure = { kind: "not-found", message: "ARM does not know it.", todo: "Nothing." };
        return Promise.resolve(found === undefined ? failure(gone) : success(found));
      },
    },
    access: {
      async open({ name }) {
        const reason = closed.get(name);
        if (reason !== undefined) return failure(reason);
        const connection = await connect({
          kubeconfig: kubeconfigs.get(name) ?? "",
          environment: {},
          sleep: () => Promise.resolve(),
        });
        if (!connection.ok) throw new Error(connection.error.message);
        const { value } = connection;
        return success({
          api: value.cluster,
          close: () => {
            value.close();
          },
        });
      },
      forget: (id) => {
        forgotten.push(id);
        return Promise.resolve();
      },
    },
    table: options.table?.(table) ?? table,
    queue,
    telemetry: {
      availability: ({ name, success: value, properties }) =>
        sent.push({ item: `availability ${name}`, value, properties }),
      event: (item, properties) => sent.push({ item, properties }),
      metric: (item, value, properties) => sent.push({ item, value, properties }),
    },
    policy: {
      subscription,
      mode: "repair",
      tagMayRaise: false,
      probeNamespace: "osmo-workflows",
      maxConcurrentRepairs: 4,
      maxRepairsPerHour: 20,
      breakerAfter: 3,
      breakerMinutes: 60,
      ...options.policy,
    },
    now,
    random: seededRandom(1),
    sleep: (ms) => {
      aheadMs += ms;
      return Promise.resolve();
    },
    instance: "test",
    version: "1",
    log: (line) => logged.push(line),
  };
  const fleet = createFleet(parts);
  const world: World = {
    fleet,
    parts,
    labs,
    clusters,
    queue,
    table,
    sent,
    logged,
    forgotten,
    closed,
    kubeconfigs,
    listings: () => listings,
    pass: (seconds) => (aheadMs += seconds * 1000),
    async drain(until = () => false) {
      for (let next = queue.nextAt(); next !== undefined && !until(world); next = queue.nextAt()) {
        aheadMs += Math.max(0, next.getTime() - now().getTime());
        await deliver(world);
      }
    },
    async tick() {
      await fleet.scan({ at: now(), isPastDue: false });
      await world.drain();
    },
    report: async (name) => (await latestReport(table, idFor(clusters, name)))?.report,
    runs: async (name) => (await runsOf(table, idFor(clusters, name))).map(({ report }) => report),
    async [Symbol.asyncDispose]() {
      await Promise.all([...labs.values()].map((lab) => lab.stop()));
    },
  };
  return world;
}

const idFor = (clusters: ReadonlyMap<string, ManagedCluster>, name: string): string =>
  clusters.get(name)?.id ?? idOf(name);

/** One delivery, as the host makes it: what is thrown is delivered again. */
export async function deliver(world: World): Promise<void> {
  const delivered = world.queue.receive();
  if (delivered === undefined) return;
  try {
    await world.fleet.care(delivered.message, { dequeueCount: delivered.dequeueCount });
    delivered.done();
  } catch (error) {
    if (!(error instanceof TryAgain)) throw error;
    delivered.failed();
    for (let poison = world.queue.takePoison(); poison !== undefined; poison = world.queue.takePoison()) {
      await world.fleet.poisoned(poison);
    }
  }
}
