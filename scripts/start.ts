// `npm start`: the packaged app in the local Functions host, until Ctrl-C. Without settings of your own it is deployed in the
// lab, over a small simulated subscription; with `--settings local.settings.json` it looks after a real one, as you (az login).
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { startAzurite } from "../src/lab/azurite.ts";
import { startHostProcess, type HostProcess } from "../src/lab/functions-host/start-host-process.ts";
import { AppRefused } from "../src/lab/functions-host/refusal.ts";
import { startFleetWorld } from "../src/lab/fleet-world.ts";
import type { Situation } from "../src/lab/subscription.ts";
import { readSettings } from "../src/settings.ts";
import { writeAppPackage } from "./package/bundle-app.ts";

const usage = `npm start [-- options]
  --settings FILE   a local.settings.json: look after the subscription that it names, as you (az login)
  --mode MODE       off, observe (default) or repair, in the lab
  --port N          default 7071; 0: any free one
  --quiet           without the host's log`;

const situations: readonly Situation[] = ["drift", "expired", "stopped", "forbidden"];
const schedules = { SCAN_SCHEDULE: "0 */15 * * * *", PROBE_SCHEDULE: "0 7/15 * * * *" };

/** Something that runs until it is stopped. */
interface Running {
  readonly host: HostProcess;
  readonly about: string;
  stop(): Promise<void>;
}

interface Options {
  readonly port: number;
  readonly log?: (line: string) => void;
}

async function overLab(mode: string, options: Options): Promise<Running> {
  const settings = { ...schedules, FLEETMEND_MODE: mode };
  const world = await startFleetWorld({ ...options, clusters: 6, seed: 1, situations, settings });
  const names = world.subscription.clusters.map((cluster) => `${cluster.name} (${cluster.situation()})`);
  const about = `The lab's subscription ${world.subscription.id}, mode ${mode}: ${names.join(", ")}.`;
  return { host: world.host(), about, stop: world.stop };
}

async function overSettings(file: string, options: Options): Promise<Running> {
  const values = valuesIn(file);
  const read = readSettings(values);
  if (!read.ok) {
    const mistakes = read.error.map(({ name, message }) => `  ${name} ${message}`);
    throw new AppRefused([`${file} cannot be used:`, ...mistakes].join("\n"));
  }
  const folder = await mkdtemp(path.join(tmpdir(), "fleetmend-app-"));
  const azurite = values.AzureWebJobsStorage === "UseDevelopmentStorage=true" ? await startAzurite() : undefined;
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
    const { FLEETMEND_SUBSCRIPTION_ID: subscription, FLEETMEND_MODE: mode } = read.value;
    return {
      host,
      about: `Subscription ${subscription}, mode ${mode}.`,
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

function valuesIn(file: string): Readonly<Record<string, string>> {
  try {
    const { Values: values } = JSON.parse(readFileSync(file, "utf8")) as { Values?: Record<string, string> };
    if (values !== undefined) return values;
  } catch (error) {
    throw new AppRefused(`${file} cannot be read: ${String(error)}. Copy local.settings.example.json and fill it in.`);
  }
  throw new AppRefused(`${file} has no "Values". Copy local.settings.example.json and fill it in.`);
}

function definedIn(environment: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

function said({ host, about }: Running): string {
  const { url, keys } = host;
  return `
${about}
${host.functions.length} functions: ${host.functions.join(", ")}

Paste this into another terminal, then the README's curl lines:

  url=${url} key=${keys.default} master=${keys.master}

Ctrl-C ends it.
`;
}

async function run(): Promise<number> {
  const { values } = parseArgs({
    options: {
      settings: { type: "string" },
      mode: { type: "string", default: "observe" },
      port: { type: "string", default: "7071" },
      quiet: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) {
    process.stdout.write(`${usage}\n`);
    return 0;
  }
  if (!/^\d{1,5}$/.test(values.port)) throw new AppRefused(`--port must be a number, 0 for any free one.\n${usage}`);
  if (!["off", "observe", "repair"].includes(values.mode)) {
    throw new AppRefused(`--mode must be off, observe or repair.\n${usage}`);
  }
  const log = (line: string): void => {
    process.stderr.write(`${line}\n`);
  };
  const options = { port: Number(values.port), ...(!values.quiet && { log }) };
  const running =
    values.settings === undefined ? await overLab(values.mode, options) : await overSettings(values.settings, options);
  process.stdout.write(said(running));
  const interrupted = new Promise<number>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const)
      process.once(signal, () => {
        resolve(0);
      });
  });
  const code = await Promise.race([interrupted, running.host.ended]);
  await running.stop();
  return code;
}

try {
  process.exitCode = await run();
} catch (error) {
  if (!(error instanceof AppRefused) && !(error instanceof TypeError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
