// `npm run bench:coldstart`: what the package costs an instance before it can say which functions it has, beside an app of
// one function with bare @azure/functions, in turns, on the same Node; and the time from a start to the first care done.
import { execFileSync } from "node:child_process";
import { build } from "esbuild";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { startFleetWorld } from "../src/lab/fleet-world.ts";
import type { FleetOverview } from "../src/fleet/fleet.ts";
import { writeAppPackage } from "./package/bundle-app.ts";

const rounds = 21;
const goals = { ms: 1.5, rss: 1.3 };

interface Measured {
  readonly ms: number;
  readonly rss: number;
  readonly functions: number;
}

/** What everybody pays: the library alone, bundled by the same rules. */
async function writeBareApp(folder: string): Promise<void> {
  mkdirSync(path.join(folder, "dist"), { recursive: true });
  await build({
    stdin: {
      contents: `import { app } from "@azure/functions";
        app.http("ping", { methods: ["GET"], authLevel: "anonymous", handler: () => ({ body: "pong" }) });`,
      resolveDir: import.meta.dirname,
    },
    bundle: true,
    platform: "node",
    target: "node22",
    format: "cjs",
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: "none",
    external: ["@azure/functions-core"],
    outfile: path.join(folder, "dist", "index.js"),
    logLevel: "silent",
  });
  writeFileSync(path.join(folder, "package.json"), JSON.stringify({ main: "dist/index.js", type: "commonjs" }));
}

function measure(folder: string): Measured {
  const script = path.join(import.meta.dirname, "measure-start.mjs");
  return JSON.parse(execFileSync(process.execPath, [script, folder], { encoding: "utf8" })) as Measured;
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** From the start of the host's process to the first report, on a cluster that is well; the lab itself is up already. */
async function firstCare(): Promise<{ readonly listening: number; readonly reported: number }> {
  const world = await startFleetWorld({ clusters: 1, situations: [], pollingMs: 50 });
  try {
    const began = performance.now();
    await world.restart();
    const listening = performance.now() - began;
    await world.fireTimer("scanFleet");
    while (performance.now() - began < 60_000) {
      const { clusters = [] } = (await world.ask("GET", "/api/fleet")).body as Partial<FleetOverview>;
      if (clusters.some(({ run }) => run !== "")) return { listening, reported: performance.now() - began };
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    throw new Error("no report within a minute");
  } finally {
    await world.stop();
  }
}

const folder = mkdtempSync(path.join(tmpdir(), "bench-coldstart-"));
const bare = path.join(folder, "bare");
const app = path.join(folder, "app");
await Promise.all([writeBareApp(bare), writeAppPackage(app)]);

const runs = Array.from({ length: rounds }, () => ({ bare: measure(bare), app: measure(app) }));
const figure = (which: "bare" | "app", what: "ms" | "rss"): number => median(runs.map((run) => run[which][what]));
const least = (which: "bare" | "app", what: "ms" | "rss"): number => Math.min(...runs.map((run) => run[which][what]));
const line = (name: string, which: "bare" | "app"): string => {
  const ms = [least(which, "ms"), figure(which, "ms")].map((one) => one.toFixed(1).padStart(10));
  const mib = [least(which, "rss"), figure(which, "rss")].map((one) => (one / 2 ** 20).toFixed(1).padStart(12));
  return `${name.padEnd(41)}${ms.join("")}${mib.join("")}`;
};
const ratio = (what: "ms" | "rss"): string => {
  const value = figure("app", what) / figure("bare", what);
  return `${value.toFixed(2)}× (goal ${goals[what]}×${value <= goals[what] ? "" : ", missed"})`;
};
process.stdout.write(`Node ${process.version}, ${rounds} processes each, in turns

                                         ms, least and median   MiB, least and median
${line("one function, bare @azure/functions", "bare")}
${line(`fleetmend, ${runs[0]?.app.functions ?? 0} functions`, "app")}
Of the medians: registration ${ratio("ms")}, resident memory ${ratio("rss")}

`);
rmSync(folder, { recursive: true });

const care = await firstCare();
process.stdout.write(
  `From the start of a process of the local host: listening after ${care.listening.toFixed(0)} ms, the first cluster looked at and reported after ${care.reported.toFixed(0)} ms.\n`,
);
