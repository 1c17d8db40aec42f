// The alert rules: that their queries are Kusto over the tables that there are, read only what the code sends, and reach
// somebody when the app itself is what is broken.
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { telemetryItems } from "../../src/fleet/telemetry.ts";
import { alertCard } from "../../src/web/alert-card.ts";
import { commonAlert } from "../../src/lab/azure/common-alert.ts";
import { alertOf, linesOf } from "../../src/lab/card-text.ts";
import { queryOf, rules } from "./alert-rules.ts";
import { all, declarations, infra, keys, properties, textOf, tree } from "./bicep.ts";
import { kustoReader } from "./kusto.ts";
import { workspaceTables } from "./workspace-tables.ts";

const docs = (name: string) => readFileSync(path.join(infra, "../docs", name), "utf8");
const names = rules.map(({ name }) => name);
const bicep = tree("alerts/alerts.bicep");

const tableNames = Object.keys(workspaceTables).join("|");

/** Each place where a query begins to read a table: the item that it takes, and what it reads of it. */
function reads(query: string) {
  const parts = query.split(new RegExp(`(?=\\b(?:${tableNames})\\b)`)).filter((part) => part.startsWith("App"));
  return parts.map((part) => ({
    item: part.startsWith("AppAvailabilityResults") ? "availability" : /Name == "(\w+)"/.exec(part)?.[1],
    properties: [...part.matchAll(/Properties\.(\w+)/g)].map(([, one = ""]) => one),
  }));
}

describe.each(rules)("the rule $name", (rule) => {
  const query = queryOf(rule);
  let read: ReturnType<typeof kustoReader>;
  // Loads 5 MB of script, once; under load that alone can take many seconds.
  beforeAll(() => {
    read = kustoReader(workspaceTables);
  }, 120_000);

  it("has a query that Kusto understands, with a text column for each dimension and no other", () => {
    const { wrong, columns } = read(query);
    expect(wrong).toEqual([]);
    expect(columns).toEqual(["TimeGenerated: datetime", ...rule.dimensions.map((name) => `${name}: string`)]);
  }, 120_000);

  it("reads only items and properties that the code sends", () => {
    const items: Readonly<Record<string, readonly string[]>> = telemetryItems;
    for (const { item, properties: used } of reads(query)) {
      expect(Object.keys(items)).toContain(item);
      expect(used.filter((one) => !items[item ?? ""]?.includes(one))).toEqual([]);
    }
  });

  it("compares with values that docs/telemetry.md has", () => {
    const text = docs("telemetry.md");
    const compared = [...query.matchAll(/(?:==|!=) "([^"]+)"|!?in \(([^)]*"[^)]*)\)/g)].flatMap(([, one, many]) =>
      one === undefined ? [...(many ?? "").matchAll(/"([^"]+)"/g)].map(([, word = ""]) => word) : [one],
    );
    const ours = ["true", "gone"]; // a boolean as text; the marker that admission-broken sets itself
    expect(
      compared.filter((word) => !ours.includes(word) && !text.includes(`\`${word}\``) && !(word in telemetryItems)),
    ).toEqual([]);
  });

  it("is told to somebody outside the app", () => {
    expect(rule.receivers).toContain("email");
  });

  it("is explained in docs/alerts.md, with what to type", () => {
    const section = docs("alerts.md")
      .split(/^## /m)
      .find((one) => one.startsWith(`${rule.name}\n`));
    expect(section).toMatch(/^What it means/m);
    expect(section).toMatch(/^```/m);
    expect(section).toContain(rule.title);
  });

  it("makes a card that says what to do", () => {
    const row = Object.fromEntries(rule.dimensions.map((name) => [name, `the ${name}`]));
    const { title, todo, resolved } = rule;
    const alert = commonAlert({ rule: `fleetmend-${rule.name}`, properties: { title, todo, resolved }, rows: [row] });
    const lines = linesOf(alertCard(alertOf(alert)).attachments[0].content.body);
    expect(lines).toEqual(expect.arrayContaining([todo, ...rule.dimensions.map((name) => `the ${name}`)]));
  });
});

describe("the checks of the queries", () => {
  it("would notice a wrong column, table and function", () => {
    const read = kustoReader(workspaceTables);
    expect(read("AppEvents | where Nome == 'x'").wrong).toHaveLength(1);
    expect(read("AppTraces | count").wrong).toHaveLength(1);
    expect(read("AppEvents | summarize newest(TimeGenerated)").wrong[0]).toContain("newest");
    expect(reads('AppEvents | where Name == "finding" | project x = Properties.colour')).toEqual([
      { item: "finding", properties: ["colour"] },
    ]);
  }, 120_000);
});

describe("infra/alerts", () => {
  it("has a query for each rule, a rule for each query, and hands all of them to Bicep", () => {
    const files = globSync("*.kql", { cwd: path.join(infra, "alerts") }).map((name) => name.replace(/\.kql$/, ""));
    expect(files.toSorted()).toEqual(names.toSorted());
    const queries = declarations(bicep).find(({ name }) => name === "queries");
    const object = queries && all(queries.node, "object")[0];
    expect(keys(object)).toEqual(names);
    const paths = object ? all(object, "call_expression").map(({ text }) => text) : [];
    expect(paths).toEqual(names.map((name) => `loadTextContent('${name}.kql')`));
  });

  it("has the rules that issue 4 asks for, silence among them", () => {
    expect(names.toSorted()).toEqual([
      "admission-broken",
      "breaker-open",
      "card-failed",
      "certificate-due",
      "cluster-not-assessed",
      "nothing-reported",
      "repair-failed",
    ]);
  });

  // Both branches of the rule's action groups name the email group, and nothing makes that group conditional.
  it("sends every rule by email, whatever the parameters are", () => {
    const groups = properties(bicep, "actionGroups").flatMap((node) => all(node, "array").map(({ text }) => text));
    expect(groups).toHaveLength(2);
    expect(groups.filter((group) => !group.includes("byEmail.id"))).toEqual([]);
    const email = declarations(bicep).find(({ name }) => name === "byEmail");
    expect(email?.optional).toBe(false);
    expect(properties(bicep, "emailAddress").map(textOf)).toEqual(["email"]);
  });

  it("tells nobody by the app that a card of the app failed", () => {
    expect(rules.filter(({ receivers }) => !receivers.includes("forwardAlert")).map(({ name }) => name)).toEqual([
      "card-failed",
    ]);
  });
});
