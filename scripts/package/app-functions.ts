// The functions that the package must register, no more and no fewer. An entry file that fails looks to Azure like an app
// with fewer functions, and to everybody else like a fleet without troubles.
import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { startFunctionsHost, type HostFunction } from "../../src/lab/functions-host/start-functions-host.ts";
import type { ZipEntry } from "./zip.ts";

/** Name and kind of trigger, sorted by name. */
export const appFunctions: readonly (readonly [name: string, trigger: HostFunction["trigger"]["kind"]])[] = [
  ["careCluster", "queue"],
  ["careClusterPoison", "queue"],
  ["clusterChanged", "eventGrid"],
  ["clusterChangedQueue", "queue"],
  ["clusterReport", "http"],
  ["fleet", "http"],
  ["forwardAlert", "http"],
  ["health", "http"],
  ["probeFleet", "timer"],
  ["probeNow", "http"],
  ["repairNow", "http"],
  ["scanFleet", "timer"],
  ["scanNow", "http"],
];

// What the host itself resolves in the functions' bindings. Nothing is invoked, so nothing else is read.
const settings = { SCAN_SCHEDULE: "0 */15 * * * *", PROBE_SCHEDULE: "0 7/15 * * * *" };

/** Starts the package in the local host, without a listener, and answers what it registered. Rejects as the host does. */
export async function functionsIn(folder: string): Promise<readonly HostFunction[]> {
  const host = await startFunctionsHost({ appFolder: folder, settings, only: [], timers: false });
  await host.stop();
  return host.functions;
}

/** What is missing and what is there too much, a sentence each. */
export function differences(functions: readonly HostFunction[]): readonly string[] {
  const wanted = appFunctions.map(([name, trigger]) => `${name} (${trigger})`);
  const found = functions.map(({ name, trigger }) => `${name} (${trigger.kind})`);
  return [
    ...wanted.filter((one) => !found.includes(one)).map((one) => `The package does not register ${one}.`),
    ...found
      .filter((one) => !wanted.includes(one))
      .map((one) => `The package registers ${one}, which is not expected.`),
  ];
}

/** Every file of the folder, for the zip. */
export function entriesOf(folder: string): readonly ZipEntry[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const file = path.join(entry.parentPath, entry.name);
      return { name: path.relative(folder, file).replaceAll(path.sep, "/"), content: readFileSync(file) };
    });
}
