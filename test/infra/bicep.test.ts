// What can be checked of the Bicep files without a compiler; with one on the path, that as well.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { parse as parseYaml } from "yaml";
import { readClusterEvents } from "../../src/fleet/cluster-event.ts";
import { settingTable } from "../../src/settings.ts";
import {
  all,
  bicepFiles,
  boundNames,
  declarations,
  infra,
  keys,
  parse,
  properties,
  property,
  read,
  textOf,
  tree,
  usedNames,
  type Declaration,
} from "./bicep.ts";

const root = path.join(infra, "..");
const of = (name: string, kind: Declaration["kind"]) => declarations(tree(name)).filter((one) => one.kind === kind);
const namesOf = (name: string, kind: Declaration["kind"]) => of(name, kind).map((one) => one.name);
const json = (name: string): unknown => JSON.parse(read(name));

describe.each(bicepFiles)("infra/%s", (name) => {
  it("is Bicep", () => {
    expect(tree(name).hasError).toBe(false);
  });

  it("uses no name that is not declared, and declares none that is not used", () => {
    const node = tree(name);
    const declared = declarations(node).filter(({ kind }) => kind !== "output");
    const used = new Set(usedNames(node));
    const known = new Set([...declared.map((one) => one.name), ...boundNames(node)]);
    expect([...used].filter((one) => !known.has(one))).toEqual([]);
    const needsUse = declared.filter(({ kind }) => kind === "param" || kind === "var");
    expect(needsUse.map((one) => one.name).filter((one) => !used.has(one))).toEqual([]);
  });

  it("gives each module what it asks for, and reads only outputs that it has", () => {
    for (const module of of(name, "module")) {
      const file = path.posix.join(path.posix.dirname(name), module.source);
      expect(bicepFiles).toContain(file);
      const given = keys(property(module.node, "params"));
      const params = of(file, "param");
      expect(given.filter((one) => !params.some((param) => param.name === one))).toEqual([]);
      expect(params.filter((param) => !param.optional && !given.includes(param.name)).map((one) => one.name)).toEqual(
        [],
      );
      const read_ = [...read(name).matchAll(new RegExp(`\\b${module.name}\\.outputs\\.(\\w+)`, "g"))].map(
        ([, one]) => one,
      );
      expect(read_.filter((one) => !namesOf(file, "output").includes(one ?? ""))).toEqual([]);
    }
  });

  it("names an API version for each resource", () => {
    for (const { source } of of(name, "resource")) expect(source).toMatch(/^Microsoft\.\w+(\/\w+)+@\d{4}-\d\d-\d\d$/);
  });
});

describe("the reader of Bicep", () => {
  it("notices what is no Bicep, what is not declared, and what is not used", () => {
    expect(parse("resource a 'x@1' = {\n  name: 'y'\n").hasError).toBe(true);
    expect(usedNames(parse("var a = b.c\nvar d = map(a, e => { f: e })\n"))).toEqual(["b", "a", "e"]);
    expect(boundNames(parse("var d = map(a, e => { f: e })\nvar x = [for (g, h) in a: g]\n"))).toEqual(["g", "h", "e"]);
    expect(declarations(parse("param a string\nparam b bool = false\n")).map((one) => one.optional)).toEqual([
      false,
      true,
    ]);
  });
});

describe("infra/main.bicep", () => {
  it("has no default for what azd has to ask", () => {
    const asked = of("main.bicep", "param").filter(({ name }) => ["mode", "alertEmail"].includes(name));
    expect(asked.map(({ optional }) => optional)).toEqual([false, false]);
    const given = (json("main.parameters.json") as { parameters: object }).parameters;
    const params = namesOf("main.bicep", "param");
    expect(Object.keys(given).filter((one) => !params.includes(one))).toEqual([]);
    expect(Object.keys(given)).not.toContain("mode");
    expect(Object.keys(given)).not.toContain("alertEmail");
  });

  it("offers the modes that there are", () => {
    const modes = /@allowed\(\[([^\]]+)\]\)\s+@description\([^\n]+\)\s+param mode/.exec(read("main.bicep"))?.[1] ?? "";
    expect([...modes.matchAll(/'(\w+)'/g)].map(([, one]) => one)).toEqual(["observe", "repair", "off"]);
  });
});

describe("the app's settings", () => {
  const list = declarations(tree("app/function-app.bicep")).find(({ name }) => name === "settings");
  if (!list) throw new Error("function-app.bicep has no settings");
  const names = properties(list.node, "name").map(textOf);
  // Read by the Functions host and the platform, not by fleetmend:
  // https://learn.microsoft.com/azure/azure-functions/functions-app-settings and functions-identity-based-connections-tutorial.
  const platform = [
    "AzureWebJobsStorage__credential",
    "AzureWebJobsStorage__clientId",
    "APPLICATIONINSIGHTS_AUTHENTICATION_STRING",
  ];

  it("are settings of fleetmend or of the platform", () => {
    expect(names.filter((name) => !(name in settingTable) && !platform.includes(name))).toEqual([]);
    expect(platform.filter((name) => !names.includes(name))).toEqual([]);
  });

  it("hold each one that is required, and those that the host reads itself", () => {
    const required = Object.entries<{ preset?: string; optional?: true; meaning: string }>(settingTable)
      .filter(([, row]) => (row.preset === undefined && !row.optional) || row.meaning.includes("The host reads it too"))
      .map(([name]) => name);
    expect(required).toEqual(["FLEETMEND_SUBSCRIPTION_ID", "SCAN_SCHEDULE", "PROBE_SCHEDULE"]);
    expect(required.filter((name) => !names.includes(name))).toEqual([]);
  });

  it("have the schedules that the settings' table has", () => {
    const values = Object.fromEntries(names.map((name, at) => [name, textOf(properties(list.node, "value")[at])]));
    expect(values.SCAN_SCHEDULE).toBe(settingTable.SCAN_SCHEDULE.preset);
    expect(values.PROBE_SCHEDULE).toBe(settingTable.PROBE_SCHEDULE.preset);
  });

  // https://learn.microsoft.com/azure/azure-functions/flex-consumption-plan#deprecated-properties-and-settings
  it("hold none that the Flex Consumption plan refuses", () => {
    const text = bicepFiles.map(read).join("\n");
    const refused =
      /FUNCTIONS_WORKER_RUNTIME|FUNCTIONS_EXTENSION_VERSION|WEBSITE_RUN_FROM_PACKAGE|WEBSITE_CONTENT|SCM_DO_BUILD|ENABLE_ORYX|WEBSITE_NODE_DEFAULT|WEBSITE_TIME_ZONE|linuxFxVersion/;
    expect(text).not.toMatch(refused);
  });
});

// Until src/functions is there, there is nothing to compare with.
const hasFunctions = existsSync(path.join(root, "src/functions"));

describe.skipIf(!hasFunctions)("infra and the functions", () => {
  const sources = globSync("src/functions/*.ts", { cwd: root }).map((name) =>
    readFileSync(path.join(root, name), "utf8"),
  );
  const code = sources.join("\n");
  const found = (pattern: RegExp) => [...code.matchAll(pattern)].map(([, one]) => one);
  const text = bicepFiles.map(read).join("\n");

  it("names only functions that there are", () => {
    const functions = found(/\bapp\.\w+(?:<[^(]*>)?\(\s*"(\w+)"/g);
    const named = [...text.matchAll(/\/functions\/(\w+)|functionName: '(\w+)'/g)].map(([, one, two]) => one ?? two);
    expect(named.toSorted()).toEqual(["clusterChanged", "forwardAlert"]);
    expect(named.filter((one) => !functions.includes(one))).toEqual([]);
  });

  it("posts alerts to forwardAlert's route", () => {
    expect(text).toContain("/api/alerts?code=");
    expect(found(/route: "([^"]+)"/g)).toContain("alerts");
  });

  it("makes each queue that a function listens to", () => {
    const queues = of("app/storage.bicep", "resource")
      .filter(({ source }) => source.includes("/queues@"))
      .map(({ node }) => textOf(property(node, "name")));
    expect(queues.toSorted()).toEqual(found(/queueName: "([^"]+)"/g).toSorted());
    expect(textOf(property(tree("app/events.bicep"), "queueName"))).toBe("events");
  });
});

describe("the events that Event Grid is asked for", () => {
  const subscription = "00000000-0000-0000-0000-000000000000";
  const id = `/subscriptions/${subscription}/resourceGroups/rg/providers/Microsoft.ContainerService/managedClusters/c`;
  const events = tree("app/events.bicep");
  const list = declarations(events).find(({ name }) => name === "operations");
  const operations = list ? all(list.node, "string").map(textOf) : [];
  const types = all(property(events, "includedEventTypes") ?? events, "string").map(textOf);

  it.each(operations)("%s means something to the app", (operationName) => {
    const data = { operationName, resourceUri: id };
    const read = types.flatMap((type) => readClusterEvents({ type, subject: id, data }, subscription));
    expect(read.filter(({ kind }) => kind === "change")).toHaveLength(1);
  });

  it("are all that the app acts on", () => {
    const source = readFileSync(path.join(root, "src/fleet/cluster-event.ts"), "utf8");
    const known = [...source.matchAll(/\[`\$\{managedClusters\}(\/[\w/]+)`,/g)].map(([, one = ""]) => one);
    const asked = operations.map((one) => one.toLowerCase().replace("microsoft.containerservice/managedclusters", ""));
    expect(asked.toSorted()).toEqual(known.toSorted());
  });
});

describe("role ids", () => {
  const roles = json("app/roles.json") as Record<string, string>;
  const guid = /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/g;

  it("stand in one file only, and each in docs/roles.md with its source", () => {
    expect(bicepFiles.filter((name) => guid.test(read(name)))).toEqual([]);
    const rows = readFileSync(path.join(root, "docs/roles.md"), "utf8")
      .split("\n")
      .filter((line) => line.includes("https://") && line.match(guid));
    const documented = rows.map((line) => [/`(\w+)`/.exec(line)?.[1], line.match(guid)?.[0]]);
    expect(Object.fromEntries(documented)).toEqual(roles);
  });

  it("are each used", () => {
    const text = bicepFiles.map(read).join("\n");
    expect(Object.keys(roles).filter((name) => !text.includes(`roles.${name}`))).toEqual([]);
  });

  it("give nothing at the subscription but finding clusters", () => {
    const rights = tree("app/cluster-rights.bicep");
    expect(all(property(rights, "actions") ?? rights, "string").map(textOf)).toEqual([
      "Microsoft.ContainerService/managedClusters/read",
      "Microsoft.ContainerService/managedClusters/listClusterUserCredential/action",
    ]);
    expect(property(rights, "dataActions")?.text).toBe("[]");
  });
});

describe("what must not be weakened", () => {
  it.each([
    ["app/storage.bicep", "allowSharedKeyAccess", "false"],
    ["app/storage.bicep", "allowBlobPublicAccess", "false"],
    ["app/observability.bicep", "DisableLocalAuth", "true"],
    ["app/vault.bicep", "enableRbacAuthorization", "true"],
    ["app/function-app.bicep", "httpsOnly", "true"],
    ["app/function-app.bicep", "allow", "false"],
  ])("%s: %s is %s", (file, name, value) => {
    expect(properties(tree(file), name).map((one) => one.text)).toEqual([value]);
  });
});

describe("azure.yaml", () => {
  const azure = parseYaml(readFileSync(path.join(root, "azure.yaml"), "utf8")) as {
    services: Record<string, { host: string }>;
    hooks: { prepackage: Record<string, { run: string }> };
  };

  it("deploys to the app that has its tag", () => {
    expect(Object.keys(azure.services)).toEqual(["app"]);
    expect(read("app/function-app.bicep")).toContain("'azd-service-name': 'app'");
  });

  it.skipIf(!hasFunctions)("packages by a script that there is", () => {
    const { scripts } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")) as { scripts: object };
    for (const { run } of Object.values(azure.hooks.prepackage)) expect(run).toBe("npm run package");
    expect(scripts).toHaveProperty("package");
  });
});

const hasBicep = spawnSync("bicep", ["--version"]).status === 0;

describe("the Bicep compiler", () => {
  it.skipIf(!hasBicep)(
    "builds and lints main.bicep without a warning (skipped where `bicep` is not on the path)",
    () => {
      const main = path.join(infra, "main.bicep");
      const out = path.join(tmpdir(), `fleetmend-${process.pid}.json`);
      const built = spawnSync("bicep", ["build", main, "--outfile", out], { encoding: "utf8" });
      expect([built.status, built.stderr]).toEqual([0, ""]);
      expect(execFileSync("bicep", ["lint", main], { encoding: "utf8" })).toBe("");
    },
  );
});
