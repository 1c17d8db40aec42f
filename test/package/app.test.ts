// The Functions app as it is deployed: bundled, started in the local host, and looked at from outside.
import { mkdtempSync, readdirSync, readFileSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { appFunctions, differences, entriesOf, functionsIn } from "../../scripts/package/app-functions.ts";
import { writeAppPackage } from "../../scripts/package/bundle-app.ts";
import { refuseLazyCommonJs } from "../../scripts/package/lazy-imports.ts";
import type { HostFunction } from "../../src/lab/functions-host/start-functions-host.ts";

const folder = path.join(mkdtempSync(path.join(tmpdir(), "app-package-")), "app");
let functions: readonly HostFunction[];

beforeAll(async () => {
  await writeAppPackage(folder);
  functions = await functionsIn(folder);
});

const named = (name: string): HostFunction | undefined => functions.find((one) => one.name === name);

describe("the package", () => {
  it("registers exactly its functions", () => {
    expect(differences(functions)).toEqual([]);
    expect(functions.map(({ name }) => name)).toEqual(appFunctions.map(([name]) => name));
  });

  it("is what the README's table shows", () => {
    const readme = readFileSync(path.join(import.meta.dirname, "..", "..", "README.md"), "utf8");
    const [, table = ""] = /^\| function .*?\n((?:\|.*\n)+)/m.exec(readme) ?? [];
    const names = table.split("\n").flatMap((row) => [...(row.split("|")[1] ?? "").matchAll(/`(\w+)`/g)]);
    expect(names.map(([, name]) => name).sort()).toEqual(appFunctions.map(([name]) => name));
  });

  it("says what is missing and what is there too much", () => {
    const renamed = functions.map((one) => (one.name === "fleet" ? { ...one, name: "fleets" } : one));
    expect(differences(renamed)).toEqual([
      "The package does not register fleet (http).",
      "The package registers fleets (http), which is not expected.",
    ]);
  });

  it("is not made where an import() of CommonJS would lose its names", () => {
    const input = (format: "cjs" | "esm", imports: { path: string; kind: "dynamic-import" }[] = []) => ({
      bytes: 1,
      format,
      imports,
    });
    const lazy = [{ path: "node_modules/old/index.js", kind: "dynamic-import" as const }];
    const inputs = { "src/azure/a.ts": input("esm", lazy), "node_modules/old/index.js": input("cjs") };
    expect(() => {
      refuseLazyCommonJs({ inputs, outputs: {} });
    }).toThrow("src/azure/a.ts imports node_modules/old/index.js by import(), which is CommonJS");
  });

  it("asks a key for every HTTP function but health", () => {
    const levels = functions.flatMap(({ name, trigger }) =>
      trigger.kind === "http" ? [[name, trigger.authLevel] as const] : [],
    );
    expect(levels.length).toBeGreaterThan(5);
    expect(levels.filter(([, level]) => level !== "function")).toEqual([["health", "anonymous"]]);
  });

  it.each([
    ["careCluster", "queue", { queueName: "care", connection: "AzureWebJobsStorage" }],
    ["careClusterPoison", "queue", { queueName: "care-poison" }],
    ["clusterChangedQueue", "queue", { queueName: "events" }],
    ["scanNow", "http", { route: "clusters/{cluster}/scan", methods: ["POST"] }],
    ["repairNow", "http", { route: "clusters/{cluster}/repair", methods: ["POST"] }],
    ["probeNow", "http", { route: "clusters/{cluster}/probe", methods: ["POST"] }],
    ["clusterReport", "http", { route: "clusters/{cluster}", methods: ["GET"] }],
    ["forwardAlert", "http", { route: "alerts", methods: ["POST"] }],
  ])("%s has its %s", (name, kind, trigger) => {
    expect(named(name)?.trigger).toMatchObject({ kind, ...trigger });
  });

  it("leaves the schedules to the app settings", () => {
    const schedules = functions.flatMap(({ bindings }) => Object.values(bindings).map(({ schedule }) => schedule));
    expect(schedules.filter((one) => one !== undefined).sort()).toEqual(["%PROBE_SCHEDULE%", "%SCAN_SCHEDULE%"]);
  });

  it("brings host.json, a package.json without dependencies, and no SDK in what is parsed at the start", () => {
    const manifest = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8")) as object;
    expect(manifest).toMatchObject({ main: "dist/index.js", type: "commonjs" });
    expect(manifest).not.toHaveProperty("dependencies");
    expect(readdirSync(folder).sort()).toEqual(["LICENSE", "dist", "host.json", "package.json"]);
    const registration = path.join(folder, "dist", "index.js");
    expect(statSync(registration).size).toBeLessThan(160 * 1024);
    expect(readFileSync(registration, "utf8")).not.toMatch(/vault\.azure\.net|kube_config|storage\.azure\.com/i);
    expect(entriesOf(folder).some(({ name }) => name === "dist/fleetmend/compose-fleet.mjs")).toBe(true);
  });
});
