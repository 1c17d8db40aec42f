// A local Azure Functions host for Node apps: loads a packaged app with the real @azure/functions library in this process,
// and runs HTTP, timer, queue (Azurite) and Event Grid triggers. It refuses what Azure refuses. Not here: scaling,
// other languages, any other trigger. Nothing deployed imports this.
import { QueueServiceClient } from "@azure/storage-queue";
import { randomBytes } from "node:crypto";
import { realpathSync } from "node:fs";
import { listen, type Listening } from "../listen.ts";
import { functionsOfApp, type HostedFunction } from "./functions-of-app.ts";
import { readHostJson, type HostJson } from "./host-json.ts";
import { createHttpFront, type HostKeys } from "./http-front.ts";
import { createInvoke, type Invoke } from "./invoke.ts";
import { loadApp, type LoadedApp } from "./load-app.ts";
import type { Log } from "./log-line.ts";
import { startQueue } from "./queue-listener.ts";
import { type OpenQueue, writeQueueOutputs } from "./queue-outputs.ts";
import { AppRefused } from "./refusal.ts";
import { createRunning, type Running } from "./running.ts";
import { startTimer } from "./timer-listener.ts";

export interface HostOptions {
  /** The unpacked package: host.json, package.json with `main`, and what that names. */
  readonly appFolder: string;
  /** The app settings. They are put into process.env while the host runs, as Azure does. */
  readonly settings: Readonly<Record<string, string>>;
  /** Stands in for the setting AzureWebJobsStorage. */
  readonly azuriteConnectionString?: string;
  /** Default: any free one. */
  readonly port?: number;
  readonly log?: Log;
  /** Default: random. */
  readonly keys?: Partial<HostKeys>;
  /** Only these functions are triggered, as on an instance of Flex Consumption's per-function scaling. Default: all. */
  readonly only?: readonly string[];
  /** Whether timers wait for their schedule. `fireTimer` works either way. Default true. */
  readonly timers?: boolean;
  /** At the most so long between two looks into an empty queue, where host.json allows longer. For demos and tests. */
  readonly maxPollingIntervalMs?: number;
  /** For how long a message is taken before its renewal; 600 as in Azure. Shorter where a killed host shall be survived. */
  readonly queueLeaseSeconds?: number;
  /** How long `stop` waits for running invocations. Default 30 s. */
  readonly graceMs?: number;
}

export interface Host {
  /** Sorted by name: what the library registered, with its bindings as the host was told them. */
  readonly functions: readonly HostFunction[];
  /** http://127.0.0.1:<port>, without a path. */
  readonly url: string;
  readonly keys: HostKeys;
  /** Runs a timer function now and waits for its end. Rejects with what it threw. */
  fireTimer(name: string, options?: { readonly isPastDue?: boolean }): Promise<void>;
  /** Ends listening, waits for what runs (bounded, see graceMs), and answers how many invocations were left running. */
  stop(): Promise<number>;
}

export interface HostFunction {
  readonly name: string;
  readonly trigger: HostedFunction["trigger"];
  readonly bindings: HostedFunction["registered"]["metadata"]["bindings"];
}

/** Runs the app; the caller stops it. Rejects with AppRefused, or with what the app threw while it was loaded. */
export async function startFunctionsHost(options: HostOptions): Promise<Host> {
  const appFolder = realpathSync(options.appFolder);
  const settings = settingsOf(options);
  const log = options.log ?? (() => undefined);
  const hostJson = readHostJson(appFolder);
  const restore = setEnvironment(settings);
  try {
    const app = await loadApp(appFolder, log);
    try {
      return await runApp({ app, settings, hostJson, log, options, restore });
    } catch (error) {
      await app.unload();
      throw error;
    }
  } catch (error) {
    restore();
    throw error;
  }
}

interface AppParts {
  readonly app: LoadedApp;
  readonly settings: Readonly<Record<string, string>>;
  readonly hostJson: HostJson;
  readonly log: Log;
  readonly options: HostOptions;
  readonly restore: () => void;
}

async function runApp(parts: AppParts): Promise<Host> {
  const { app, settings, hostJson, log, options } = parts;
  const functions = functionsOfApp(app.core.functions, settings, hostJson);
  const chosen = functions.filter(({ name }) => options.only?.includes(name) ?? true);
  const listened = chosen.filter(({ isDisabled }) => !isDisabled);
  const running = createRunning();
  const open = queueOpener(settings);
  const invokeOnly = createInvoke(app, log, hostJson.functionTimeout);
  const invokeAndWrite: Invoke = async (hosted, input) => {
    const response = await invokeOnly(hosted, input);
    await writeQueueOutputs(hosted, response, open, hostJson.extensions.queues.messageEncoding);
    return response;
  };
  const invoke: Invoke = (hosted, input) => running.track(invokeAndWrite(hosted, input));
  const keys = { default: newKey(), master: newKey(), eventGrid: newKey(), ...options.keys };
  const timers = startTimers(chosen, { ...parts, invoke });
  const front = createHttpFront({
    functions: listened,
    keys,
    routePrefix: hostJson.extensions.http.routePrefix,
    invoke,
    fireTimer: (name) => timers.get(name)?.fireByHand(),
  });
  const listeners: { stop(): unknown }[] = [...timers.values()];
  const stopListeners = async (): Promise<void> => {
    await Promise.all(listeners.map((listener) => listener.stop()));
  };
  let http: Listening | undefined;
  try {
    http = await listen(front, options.port);
    listeners.push(...(await startQueues(listened, { ...parts, invoke, open, running })));
  } catch (error) {
    await stopListeners();
    await http?.stop();
    throw error;
  }
  const { port, stop: stopHttp } = http;
  return {
    functions: functions.map(describe).sort((one, other) => (one.name < other.name ? -1 : 1)),
    url: `http://127.0.0.1:${port}`,
    keys,
    async fireTimer(name, fireOptions) {
      const timer = timers.get(name);
      if (timer === undefined) throw new Error(`There is no timer function ${name}.`);
      await timer.fire(fireOptions);
    },
    stop: () => stop(parts, running, stopListeners, stopHttp),
  };
}

function describe({ name, trigger, registered }: HostedFunction): HostFunction {
  return { name, trigger, bindings: registered.metadata.bindings };
}

const newKey = (): string => randomBytes(32).toString("base64url");

function settingsOf({ settings, azuriteConnectionString }: HostOptions): Readonly<Record<string, string>> {
  return azuriteConnectionString === undefined
    ? settings
    : { ...settings, AzureWebJobsStorage: azuriteConnectionString };
}

/** The answer puts back what was there before. */
function setEnvironment(settings: Readonly<Record<string, string>>): () => void {
  const before = Object.keys(settings).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, settings);
  return () => {
    for (const [name, value] of before) {
      if (value === undefined) Reflect.deleteProperty(process.env, name);
      else process.env[name] = value;
    }
  };
}

function queueOpener(settings: Readonly<Record<string, string>>): OpenQueue {
  return (connection, queueName) => {
    const connectionString = settings[connection];
    if (connectionString === undefined) {
      throw new AppRefused(
        `The connection ${connection} is not in the app settings; this host needs a connection string.`,
      );
    }
    return QueueServiceClient.fromConnectionString(connectionString).getQueueClient(queueName);
  };
}

function startTimers(functions: readonly HostedFunction[], parts: AppParts & { readonly invoke: Invoke }) {
  const now = () => new Date();
  const started = functions.flatMap((hosted) => {
    const { trigger } = hosted;
    if (trigger.kind !== "timer") return [];
    const timer = startTimer({ hosted, trigger, invoke: parts.invoke, log: parts.log, now });
    if (parts.options.timers === false || hosted.isDisabled) timer.stop();
    return [[hosted.name, timer] as const];
  });
  return new Map(started);
}

async function startQueues(
  functions: readonly HostedFunction[],
  parts: AppParts & { readonly invoke: Invoke; readonly open: OpenQueue; readonly running: Running },
) {
  const { hostJson, options, open, invoke, running, log } = parts;
  const { queues } = hostJson.extensions;
  const shortest = Math.min(queues.maxPollingInterval, options.maxPollingIntervalMs ?? Number.POSITIVE_INFINITY);
  const starting = functions.map(async (hosted) => {
    if (hosted.trigger.kind !== "queue") return [];
    const { connection, queueName } = hosted.trigger;
    const queue = open(connection, queueName);
    await queue.createIfNotExists();
    return [
      startQueue({
        hosted,
        queue,
        poison: queueName.endsWith("-poison") ? undefined : open(connection, `${queueName}-poison`),
        options: { ...queues, maxPollingInterval: shortest },
        leaseSeconds: options.queueLeaseSeconds ?? 600,
        invoke,
        running,
        log,
      }),
    ];
  });
  return (await Promise.all(starting)).flat();
}

async function stop(
  { app, options, restore }: AppParts,
  running: Running,
  stopListeners: () => Promise<void>,
  stopHttp: () => Promise<void>,
): Promise<number> {
  await stopListeners();
  const left = await running.settle(options.graceMs ?? 30_000);
  await stopHttp();
  await app.unload();
  restore();
  return left;
}
