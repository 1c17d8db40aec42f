// fleetmend deployed in the lab: the packaged app in the local host, as a process of its own, over Azurite and the lab's
// subscription. What the demo, `npm start` and the tests of the whole app stand on.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { writeAppPackage } from "../../scripts/package/bundle-app.ts";
import { startAzurite, type Azurite } from "./azurite.ts";
import { startHostProcess, type HostProcess } from "./functions-host/start-host-process.ts";
import { startSubscription, type Subscription, type SubscriptionOptions } from "./subscription.ts";

export interface FleetWorldOptions extends SubscriptionOptions {
  /** App settings beside those that lead to the lab, such as FLEETMEND_MODE. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly port?: number;
  /** At the most so long between two looks into an empty queue. Default 200: nobody waits for a poll of ten seconds here. */
  readonly pollingMs?: number;
  /** A line of the host's log. */
  readonly log?: (line: string) => void;
  /** The Node that runs host and app. Default: this process's. */
  readonly node?: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed from JSON; the text where it is none. */
  readonly body: unknown;
}

export interface FleetWorld {
  readonly subscription: Subscription;
  readonly azurite: Azurite;
  /** The host that runs now: `restart` starts another one. */
  readonly host: () => HostProcess;
  /** Asks the app with its function key; `path` is such as `/api/fleet`. */
  readonly ask: (method: "GET" | "POST", path: string, body?: unknown) => Promise<Answer>;
  /** Has a timer function run now; resolves when the host has taken it. */
  readonly fireTimer: (name: "scanFleet" | "probeFleet") => Promise<void>;
  /** Delivers an event as Event Grid does, and answers the status. */
  readonly deliver: (event: unknown) => Promise<number>;
  /** Kills the host in the middle of what it does, and starts another over the same storage. */
  readonly restart: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

// Timers run by hand only, but where the settings say otherwise: the first of January at four.
const bySettingOnly = { SCAN_SCHEDULE: "0 0 4 1 1 *", PROBE_SCHEDULE: "0 0 4 1 1 *" };

/** Everything answers when it resolves. The caller stops it. */
export async function startFleetWorld(options: FleetWorldOptions): Promise<FleetWorld> {
  const folder = await mkdtemp(path.join(tmpdir(), "fleetmend-app-"));
  const appFolder = path.join(folder, "app");
  const stops: (() => Promise<void>)[] = [() => rm(folder, { recursive: true, force: true })];
  const stop = async (): Promise<void> => {
    await stops.reduceRight((before, one) => before.then(one), Promise.resolve());
  };
  const keep = async <T extends { stop(): Promise<void> }>(starting: Promise<T>): Promise<T> => {
    const started = await starting;
    stops.push(() => started.stop());
    return started;
  };
  try {
    const [subscription, azurite] = await settledFirst([
      keep(startSubscription(options)),
      keep(startAzurite()),
      writeAppPackage(appFolder),
    ]);
    const environment = {
      ...ofTheMachine(),
      ...subscription.environment,
      ...bySettingOnly,
      AzureWebJobsStorage: azurite.connectionString,
      ...options.settings,
    };
    const { port, pollingMs = 200, log, node } = options;
    const startHost = (): Promise<HostProcess> =>
      startHostProcess({
        appFolder,
        environment,
        pollingMs,
        ...(port !== undefined && { port }),
        ...(log !== undefined && { log }),
        ...(node !== undefined && { node }),
      });
    let host = await startHost();
    stops.push(() => host.stop());
    return {
      subscription,
      azurite,
      host: () => host,
      ...callsOf(() => host),
      async restart() {
        await host.kill();
        host = await startHost();
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** As Promise.all, but nothing is still starting when it rejects. */
async function settledFirst<T extends readonly unknown[]>(starting: { [I in keyof T]: Promise<T[I]> }): Promise<T> {
  await Promise.allSettled(starting);
  return await Promise.all(starting);
}

/** What any process needs; nothing of the caller's that fleetmend or a proxy would read. */
function ofTheMachine(): Record<string, string> {
  const names = ["PATH", "HOME", "TMPDIR", "SystemRoot", "TEMP"];
  return Object.fromEntries(
    names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  );
}

function callsOf(host: () => HostProcess): Pick<FleetWorld, "ask" | "fireTimer" | "deliver"> {
  const send = async (method: string, url: string, key: string, body?: unknown): Promise<Answer> => {
    const response = await fetch(url, {
      method,
      headers: { "x-functions-key": key, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: response.status, headers: response.headers, body: parsed(await response.text()) };
  };
  return {
    ask: (method, target, body) => send(method, `${host().url}${target}`, host().keys.default, body),
    async fireTimer(name) {
      const { status } = await send("POST", `${host().url}/admin/functions/${name}`, host().keys.master, { input: "" });
      if (status !== 202) throw new Error(`the host does not run ${name}: ${status}`);
    },
    async deliver(event) {
      const { url, keys } = host();
      const endpoint = `${url}/runtime/webhooks/eventgrid?functionName=clusterChanged`;
      return (await send("POST", endpoint, keys.eventGrid, event)).status;
    },
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
