// `npm start`: the packaged app in the local Functions host, until Ctrl-C. Without settings of your own it is deployed in the
// lab, over a small simulated subscription; with `--settings local.settings.json` it looks after a real one, as you (az login).
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { startAzurite } from "../src/lab/azurite.ts";
import { startHostProcess, type HostProcess } from "../src/lab/functions-host/start-host-process.ts";
import { AppRefused } from "../src/lab/functions-host/refusal.ts";
import { startFleetWorld } from "../src/lab/fleet-world.ts";
import { listen } from "../src/lab/listen.ts";
import type { Situation } from "../src/lab/subscription.ts";
import { writeAppPackage } from "./package/bundle-app.ts";
import { curlLines } from "./start/curl-lines.ts";
import { readLocalSettings } from "./start/local-settings.ts";

const usage = `npm start [-- options]
  --settings FILE   a local.settings.json: look after the subscription that it names, as you (az login)
  --mode MODE       off, observe (default) or repair, in the lab
  --port N          default 7071, or any where that is taken; 0: any free one
  --quiet           without the host's log`;

const situations: readonly Situation[] = ["drift", "expired", "stopped", "forbidden"];
const schedules = { SCAN_SCHEDULE: "0 */15 * * * *", PROBE_SCHEDULE: "0 7/15 * * * *" };

/** Something that runs until it is stopped. */
interface Running {
  readonly host: HostProcess;
  readonly about: string;
  /** One that a curl line can name. */
  readonly cluster: string;
  stop(): Promise<void>;
}

interface Options {
  readonly port: number;
  readonly log?: (line: string) => void;
}

const usualPort = 7071;

/** The port that Core Tools take, where nobody has it. */
async function freePort(): Promise<number> {
  try {
    const { stop } = await listen(createServer(), usualPort);
    await stop();
    return usualPort;
  } catch {
    return 0;
  }
}

async function overLab(mode: string, options: Options): Promise<Running> {
  const settings = { ...schedules, FLEETMEND_MODE: mode };
  const world = await startFleetWorld({ ...options, clusters: 6, seed: 1, situations, settings });
  const names = world.subscription.clusters.map((cluster) => `${cluster.name} (${cluster.situation()})`);
  const about = `The lab's subscription ${world.subscription.id}, mode ${mode}: ${names.join(", ")}.`;
  const drifted = world.subscription.clusters.find((cluster) => cluster.situation() === "drift");
  return { host: world.host(), about, cluster: drifted?.name ?? "", stop: world.stop };
}

async function overSettings(file: string, options: Options): Promise<Running> {
  const { values, settings } = readLocalSettings(file);
  const azurite = values.AzureWebJobsStorage === "UseDevelopmentStorage=true" ? await startAzurite() : undefined;
  const folder = await mkdtemp(path.join(tmpdir(), "fleetmend-app-"));
  const stop = async (): Promise<void> => {
    await azurite?.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const appFolder = path.join(folder, "app");
    await writeAppPackage(appFolder);
    // With what this shell has: the Azure CLI's sign-in, a proxy, certificates.
    const environment = {
      ...definedIn(process.env),
      ...schedules,
      ...values,
      ...(azurite !== undefined && { AzureWebJobsStorage: azurite.connectionString }),
    };
    const host = await startHostProcess({ ...options, appFolder, environment });
    const { FLEETMEND_SUBSCRIPTION_ID: subscription, FLEETMEND_MODE: mode } = settings;
    return {
      host,
      about: `Subscription ${subscription}, mode ${mode}.`,
      cluster: "NAME-OF-YOUR-CLUSTER",
      async stop() {
        await host.stop();
        await stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function definedIn(environment: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

function said({ host, about, cluster }: Running): string {
  const { url, keys } = host;
  return `
${about}
${host.functions.length} functions: ${host.functions.join(", ")}

Paste this into another terminal, then any of the lines below it:

  url=${url} key=${keys.default} master=${keys.master}

${curlLines(cluster)
  .map((line) => `  ${line}\n`)
  .join("")}
Ctrl-C ends it.
`;
}

function readOptions() {
  try {
    return parseArgs({
      options: {
        settings: { type: "string" },
        mode: { type: "string" },
        port: { type: "string" },
        quiet: { type: "boolean", default: false },
        help: { type: "boolean", default: false },
      },
    }).values;
  } catch (error) {
    // Node's words for what it cannot parse name the option.
    throw new AppRefused(`${(error as Error).message}\n${usage}`);
  }
}

async function aborted(signal: AbortSignal): Promise<number> {
  if (!signal.aborted) await once(signal, "abort");
  return 0;
}

async function run(interrupted: AbortSignal): Promise<number> {
  const values = readOptions();
  if (values.help) {
    process.stdout.write(`${usage}\n`);
    return 0;
  }
  if (values.port !== undefined && !(/^\d{1,5}$/.test(values.port) && Number(values.port) < 65536)) {
    throw new AppRefused(`--port must be a number up to 65535, 0 for any free one.\n${usage}`);
  }
  const { mode = "observe", settings } = values;
  if (!["off", "observe", "repair"].includes(mode)) {
    throw new AppRefused(`--mode must be off, observe or repair.\n${usage}`);
  }
  if (values.mode !== undefined && settings !== undefined) {
    throw new AppRefused(`--mode is the lab's: with --settings, set FLEETMEND_MODE in the file.\n${usage}`);
  }
  const log = (line: string): void => {
    process.stderr.write(`${line}\n`);
  };
  const port = values.port === undefined ? await freePort() : Number(values.port);
  const options = { port, ...(!values.quiet && { log }) };
  const running = settings === undefined ? await overLab(mode, options) : await overSettings(settings, options);
  process.stdout.write(said(running));
  const code = await Promise.race([aborted(interrupted), running.host.ended]);
  await running.stop();
  return code;
}

const interrupted = new AbortController();
// From the first moment on: what has been started by then is stopped. A second signal ends it at once.
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    interrupted.abort();
  });
}
try {
  process.exitCode = await run(interrupted.signal);
} catch (error) {
  // A terminal's Ctrl-C also ends what was just starting.
  if (!interrupted.signal.aborted) {
    if (!(error instanceof AppRefused)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
