// A fleet in which everything goes wrong that may: instances die in the middle of a call, messages come twice, late and out of
// order, the table and the queue fail before and after the effect, ARM throttles. Clusters are labs on the wire and the use
// cases are the real ones. Time is virtual: it passes only where every instance waits. What goes wrong is drawn by a seed;
// the order of what the wire answers is the machine's, so a seed repeats the chances and not each interleaving.
import type { ClusterApi } from "../../src/admission/cluster-api.ts";
import { createFleet } from "../../src/fleet/create-fleet.ts";
import type { CareMessage } from "../../src/fleet/care-message.ts";
import type { NotAssessed, OpenCluster } from "../../src/fleet/cluster-access.ts";
import type { Fleet } from "../../src/fleet/fleet.ts";
import type { FleetParts, FleetPolicy } from "../../src/fleet/fleet-parts.ts";
import type { ManagedCluster } from "../../src/fleet/managed-cluster.ts";
import { StoreError } from "../../src/fleet/table.ts";
import { TryAgain } from "../../src/fleet/try-again.ts";
import { connect } from "../../src/kubernetes/connect.ts";
import { failure, success } from "../../src/result.ts";
import { subscription } from "./fleet-world.ts";
import { createMemoryQueue } from "./memory-queue.ts";
import { createMemoryTable, overNetwork } from "./memory-table.ts";
import { seededRandom, startWorker, type Worker } from "./simulation.ts";

export interface ChaosCluster {
  readonly managed: ManagedCluster;
  /** Its API server's kubeconfig. Absent: it takes connections and never answers. */
  readonly kubeconfig?: string;
}

/** A write that had an effect in a cluster. */
export interface Written {
  readonly cluster: string;
  readonly path: string;
  readonly at: number;
}

export interface ChaosOptions {
  readonly seed: number;
  readonly clusters: readonly ChaosCluster[];
  readonly policy: Pick<FleetPolicy, "maxConcurrentRepairs" | "maxRepairsPerHour" | "breakerAfter" | "breakerMinutes">;
  readonly instances: number;
  /** How much goes wrong: 1 as told above, 0 nothing. */
  readonly wildness: 0 | 1;
  /** Called when a message has had its effect. */
  readonly onCared?: (cluster: string, world: ChaosWorld) => void;
  /** Called before each write to a cluster, while the writer lives. */
  readonly onWrite: (write: Omit<Written, "at">, world: ChaosWorld) => void;
}

export interface Counts {
  kills: number;
  twice: number;
  storeErrors: number;
  throttled: number;
  deliveries: number;
  poisoned: number;
}

export interface ChaosWorld {
  readonly table: ReturnType<typeof createMemoryTable>;
  readonly now: () => Date;
  readonly written: readonly Written[];
  readonly counts: Counts;
  /** Clusters that two instances cared for at the same moment, both alive. */
  readonly overlaps: readonly string[];
  /** The timer fires, as often as it takes, and everything is delivered that is in the queue then. */
  tick(): Promise<void>;
  pass(seconds: number): void;
  readonly close: () => void;
}

/** For each call: dying in it, and the table failing before or after its effect. */
const ofCare = { deaths: 0.002, storeFails: 0.01 };
/** A scan makes a thousand calls, and is done only where none fails: with more it never would be. */
const ofScan = { deaths: 0.0003, storeFails: 0.0003 };

/** How long a request waits for a cluster that never answers. */
const timeoutMs = 15_000;
const never = new Promise<never>(() => undefined);

export function startChaos(options: ChaosOptions): ChaosWorld {
  const { seed, clusters, onWrite, wildness } = options;
  const random = seededRandom(seed);
  let time = Date.now();
  const now = (): Date => new Date(time);
  const chance = (probability: number): boolean => random() < probability * wildness;
  let sleepers: { readonly at: number; readonly worker: Worker; readonly wake: () => void }[] = [];
  const sleep = (ms: number, worker: Worker): Promise<void> =>
    new Promise((resolve) => sleepers.push({ at: time + ms, worker, wake: resolve }));
  const rows = createMemoryTable();
  const counts: Counts = { kills: 0, twice: 0, storeErrors: 0, throttled: 0, deliveries: 0, poisoned: 0 };
  const written: Written[] = [];
  const inCare = new Map<string, number>();
  const overlaps: string[] = [];
  const opened: OpenCluster[] = [];
  // Nobody's death: the queue is the service's, and what it loses it loses for everybody.
  const queue = createMemoryQueue(now, {
    random,
    before: 0,
    after: 0,
    twice: 0.05 * wildness,
    lateSeconds: 90 * wildness,
    pause: () => Promise.resolve(),
  });

  /** Anything that an instance does to the world: it may die before, and after. */
  const mortal = (worker: Worker, deaths: number) => async (): Promise<void> => {
    if (!worker.isDead && chance(deaths)) {
      worker.kill();
      counts.kills += 1;
    }
    if (worker.isDead) await never;
  };

  const accessFor = (worker: Worker, mayDie: () => Promise<void>): FleetParts["access"] => ({
    async open({ id, name }) {
      await mayDie();
      if (chance(0.03)) {
        counts.throttled += 1;
        return failure(throttled(name));
      }
      const cluster = clusters.find(({ managed }) => managed.id === id);
      if (cluster?.kubeconfig === undefined)
        return success({ api: silentApi(() => sleep(timeoutMs, worker)), close: () => undefined });
      const { kubeconfig } = cluster;
      const connection = await connect({ kubeconfig, environment: {}, sleep: () => Promise.resolve() });
      if (!connection.ok) throw new Error(connection.error.message);
      const { value } = connection;
      inCare.set(id, (inCare.get(id) ?? 0) + 1);
      if ((inCare.get(id) ?? 0) > 1) overlaps.push(id);
      const leave = (): void => void inCare.set(id, (inCare.get(id) ?? 1) - 1);
      void worker.death.then(leave);
      let isOpen = true;
      const close = (): void => {
        if (isOpen) value.close();
        isOpen = false;
      };
      opened.push({ api: value.cluster, close });
      return success({
        api: mortalApi(value.cluster, {
          mayDie,

          before: (path) => {
            onWrite({ cluster: id, path }, world);
          },
          after: (path) => written.push({ cluster: id, path, at: time }),
        }),
        close() {
          if (!worker.isDead) leave();
          close();
        },
      });
    },
    forget: () => Promise.resolve(),
  });

  const fleetOf = (worker: Worker, instance: string, rates = ofCare): Fleet => {
    const mayDie = mortal(worker, rates.deaths);
    const fails = rates.storeFails * wildness;
    const faults = { random, before: fails, after: fails, resent: 0.01 * wildness, pause: mayDie };
    const list = (): ReturnType<FleetParts["directory"]["list"]> => {
      if (!chance(0.5)) return Promise.resolve(success(clusters.map(({ managed }) => managed)));
      counts.throttled += 1;
      return Promise.resolve(failure({ kind: "throttled", message: "429", todo: "Nothing.", retryAfterSeconds: 20 }));
    };
    const get = async (id: string): ReturnType<FleetParts["directory"]["get"]> => {
      await mayDie();
      const found = clusters.find(({ managed }) => managed.id === id);
      if (found === undefined || chance(0.3)) {
        counts.throttled += 1;
        return failure({ kind: "throttled", message: "429", todo: "Nothing.", retryAfterSeconds: 20 });
      }
      return success(found.managed);
    };
    return createFleet({
      directory: { list, get },
      access: accessFor(worker, mayDie),
      table: overNetwork(rows, faults),
      queue: {
        async send(message, how) {
          await mayDie();
          if (chance(rates.storeFails)) throw new StoreError("the connection was refused");
          await queue.send(message, how);
          await mayDie();
          if (chance(rates.storeFails)) throw new StoreError("the connection was reset");
        },
      },
      telemetry: { availability: () => undefined, event: () => undefined, metric: () => undefined },
      policy: { subscription, mode: "repair", tagMayRaise: false, probeNamespace: "osmo-workflows", ...options.policy },
      now,
      random,
      sleep: (ms) => sleep(ms, worker),
      instance,
      version: "1",
      log: () => undefined,
    });
  };

  /** One delivery to a process of its own. Resolves also where that dies. */
  const deliver = async (instance: string): Promise<boolean> => {
    const delivered = queue.receive();
    const poison = delivered === undefined ? queue.takePoison() : undefined;
    if (delivered === undefined && poison === undefined) return false;
    counts.deliveries += 1;
    const worker = startWorker();
    const fleet = fleetOf(worker, instance);
    const work = async (): Promise<void> => {
      if (delivered === undefined) {
        counts.poisoned += 1;
        await tried(() => fleet.poisoned(poison));
        return;
      }
      const { message, dequeueCount } = delivered;
      try {
        await fleet.care(message, { dequeueCount });
        delivered.done();
        options.onCared?.((message as CareMessage).cluster, world);
      } catch (error) {
        if (!(error instanceof TryAgain)) throw error;
        counts.storeErrors += 1;
        delivered.failed();
      }
    };
    await Promise.race([work(), worker.death]);
    return true;
  };

  /** As the host does it with the poison queue: five times. */
  const tried = async (act: () => Promise<void>): Promise<void> => {
    for (let n = 0; n < 5; n += 1) {
      try {
        await act();
        return;
      } catch (error) {
        if (!(error instanceof TryAgain)) throw error;
        counts.storeErrors += 1;
      }
    }
  };

  const drain = async (): Promise<void> => {
    const busy = new Set<Promise<unknown>>();
    for (;;) {
      while (busy.size < options.instances) {
        const work: Promise<unknown> = deliver(`instance-${busy.size}`).finally(() => busy.delete(work));
        busy.add(work);
        // Whether there was a message is known at once.
        await Promise.resolve();
        if (queue.nextAt() === undefined || (queue.nextAt() ?? now()) > now()) break;
      }
      await new Promise((resolve) => setImmediate(resolve));
      sleepers = sleepers.filter(({ worker }) => !worker.isDead);
      const due = sleepers.findIndex(({ at }) => at <= time);
      if (due >= 0) {
        sleepers.splice(due, 1)[0]?.wake();
        continue;
      }
      // Time passes only where nobody works: each that is busy sleeps.
      if (busy.size > new Set(sleepers.map(({ worker }) => worker)).size) continue;
      const next = Math.min(queue.nextAt()?.getTime() ?? Infinity, ...sleepers.map(({ at }) => at));
      if (next === Infinity) return;
      time = Math.max(time, next);
    }
  };

  const world: ChaosWorld = {
    table: rows,
    now,
    written,
    counts,
    overlaps,
    async tick() {
      for (let n = 0; n < 20; n += 1) {
        const worker = startWorker();
        const scan = fleetOf(worker, "timer", ofScan).scan({ at: now(), isPastDue: n > 0 });
        const isDone = await Promise.race([
          scan
            .then(() => true)
            .catch((error: unknown) =>
              error instanceof StoreError || isListing(error) ? false : Promise.reject(error as Error),
            ),
          worker.death.then(() => false),
        ]);
        if (isDone) break;
        time += 60_000;
      }
      await drain();
    },
    pass(seconds) {
      time += seconds * 1000;
    },
    close() {
      for (const one of opened) one.close();
    },
  };
  return world;
}

const isListing = (error: unknown): boolean =>
  error instanceof Error && error.message.startsWith("The clusters could not be listed");

const throttled = (name: string): NotAssessed => ({
  kind: "throttled",
  message: `ARM: 429 for ${name}`,
  todo: "Nothing.",
  passing: true,
  retryAfterSeconds: 20,
});

/** Each request ends with its time-out. */
function silentApi(timeout: () => Promise<void>): ClusterApi {
  let requests = 0;
  const late = async () => {
    requests += 1;
    await timeout();
    return failure({ kind: "timeout", cause: "connect", message: "no answer within 15 s" } as const);
  };
  return {
    server: "https://silent.example",
    requestCount: () => requests,
    get: late,
    list: late,
    create: late,
    replace: late,
    patch: late,
    handshake: async () => {
      await timeout();
      return failure({ kind: "timeout", message: "no answer within 15 s" } as const);
    },
  };
}

interface Watched {
  readonly mayDie: () => Promise<void>;
  readonly before: (path: string) => void;
  readonly after: (path: string) => void;
}

/** Whoever calls may die before the request leaves and after it has had its effect. */
function mortalApi(api: ClusterApi, { mayDie, before, after }: Watched): ClusterApi {
  const call = async <T>(act: () => Promise<T>): Promise<T> => {
    await mayDie();
    const answer = await act();
    await mayDie();
    return answer;
  };
  const write = async <T extends { readonly ok: boolean }>(path: string, act: () => Promise<T>): Promise<T> => {
    await mayDie();
    const isOurs = !/\/(?:leases|events|authorization\.k8s\.io)(?:\/|$)/.test(path);
    if (isOurs) before(path);
    const answer = await act();
    if (isOurs && answer.ok) after(path);
    await mayDie();
    return answer;
  };
  return {
    server: api.server,
    requestCount: () => api.requestCount(),
    get: (path) => call(() => api.get(path)),
    list: (path, how) => call(() => api.list(path, how)),
    create: (path, body, how) =>
      how?.dryRun === true ? call(() => api.create(path, body, how)) : write(path, () => api.create(path, body, how)),
    replace: (path, body) => write(path, () => api.replace(path, body)),
    patch: (path, operations) => write(path, () => api.patch(path, operations)),
    handshake: (target) => call(() => api.handshake(target)),
  };
}
