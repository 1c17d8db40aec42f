// The directions of design.md ("Where things live"), enforced on the import statements of the sources.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";

const source = path.join(import.meta.dirname, "..", "src");

function sourceFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => name.replaceAll("\\", "/"));
}

const files = sourceFiles(source).map((name) => ({
  name,
  text: readFileSync(path.join(source, name), "utf8"),
}));

/** Specifiers of static, type-only and dynamic imports. */
function importsOf(text: string): string[] {
  return [...text.matchAll(/(?:from\s+|import\s*\(\s*|^import\s+)"([^"]+)"/gm)].map((match) => match[1] ?? "");
}

/** The folder of src that a specifier of `from` leads to, or the package's name. */
function targetOf(from: string, specifier: string): string {
  if (!specifier.startsWith(".")) return specifier;
  return path.posix.normalize(path.posix.join(path.posix.dirname(from), specifier));
}

const areaOf = (name: string): string => (name.includes("/") ? (name.split("/")[0] ?? name) : name);

// What each area may import of ours. A file at the top of src is an area of its own.
const allowed: Record<string, readonly string[]> = {
  "result.ts": [],
  "version.ts": [],
  "settings.ts": ["fleet", "result.ts"],
  trust: ["trust"],
  admission: ["admission", "trust", "result.ts"],
  // A cluster is asked and a Lease is held as in admission: the interface and the Lease are not doubled.
  osmo: ["osmo", "admission", "trust", "result.ts"],
  fleet: ["fleet", "admission", "osmo", "trust", "result.ts"],
  kubernetes: ["kubernetes", "admission", "osmo", "fleet", "result.ts"],
  azure: ["azure", "admission", "osmo", "fleet", "result.ts"],
  web: ["web", "fleet", "admission", "osmo", "result.ts"],
  cli: ["cli", "compose.ts", "fleet", "admission", "osmo", "trust", "result.ts", "settings.ts", "version.ts"],
  functions: ["functions", "compose-fleet.ts", "fleet", "web", "result.ts", "version.ts"],
  "compose.ts": ["kubernetes", "admission", "result.ts"],
  "compose-fleet.ts": [
    "kubernetes",
    "azure",
    "fleet",
    "admission",
    "osmo",
    "web",
    "result.ts",
    "settings.ts",
    "version.ts",
  ],
};

const isPure = (name: string): boolean =>
  (name.startsWith("trust/") && name !== "trust/mint.ts") ||
  [
    "assess",
    "severity-order",
    "judgement",
    "hook-words",
    "bundle-histories",
    "probe-standing",
    "assess-backend",
    "assess-case",
    "assess-owner",
    "assess-secret",
    "assess-trust",
    "hook-verdicts",
    "served-pair",
    "plan",
    "plan-advice",
    "plan-bundles",
    "plan-case",
    "plan-certificates",
    "plan-findings",
    "plan-helm-hooks",
    "plan-operator",
    "plan-owner-advice",
    "plan-stale",
    "plan-steps",
    "bundle",
    "mend-patch",
    "served-pair",
    "owner",
    "family",
    "objects",
    "explain",
    "explain-backend",
    "explain-owner",
    "finding-words",
    "reach",
    "classify",
    "probe-pod",
    "served-trust",
    "fresh-connection",
    "refusing-hook",
    "hook-results",
    "probe-findings",
  ].some((part) => name === `admission/${part}.ts`) ||
  ["budget-row", "cluster-event", "cluster-row", "decide-mode"].some((part) => name === `fleet/${part}.ts`) ||
  ["plan-retirement", "plan-token", "rotation-step", "token-credential", "token-view"].some(
    (part) => name === `osmo/${part}.ts`,
  ) ||
  ["alert-card", "card-parts"].some((part) => name === `web/${part}.ts`);

describe("architecture", () => {
  it("finds the sources", () => {
    expect(files.length).toBeGreaterThan(5);
  });

  it.each(files.filter(({ name }) => areaOf(name) !== "lab"))(
    "$name imports only what its area may",
    ({ name, text }) => {
      const area = areaOf(name);
      const targets = importsOf(text)
        .filter((specifier) => specifier.startsWith("."))
        .map((specifier) => areaOf(targetOf(name, specifier)));
      expect(
        allowed[area],
        `src/${area} is not an area of design.md; add it to this test with its directions`,
      ).toBeDefined();
      expect(targets.filter((target) => !(allowed[area] ?? []).includes(target))).toEqual([]);
    },
  );

  it.each(files)("$name imports an SDK only where an adapter lives", ({ name, text }) => {
    const sdks = importsOf(text).filter((specifier) => /^(@azure|@kubernetes|applicationinsights)\b/.test(specifier));
    const isAdapter = ["kubernetes", "azure", "lab"].includes(areaOf(name));
    const isTrigger = areaOf(name) === "functions";
    expect(sdks.filter((sdk) => !isAdapter && !(isTrigger && sdk === "@azure/functions"))).toEqual([]);
  });

  it.each(files.filter(({ name }) => isPure(name)))(
    "$name has no clock, chance, environment, network or log",
    ({ name, text }) => {
      const packages = importsOf(text).filter((specifier) => !specifier.startsWith("."));
      // Signatures and hashes are node:crypto's, by design; names in IDNA and IP literals are node:net's parsers.
      const permitted = name.startsWith("trust/")
        ? ["node:crypto", "node:net"]
        : name.startsWith("fleet/")
          ? ["valibot"]
          : [];
      expect(packages.filter((specifier) => !permitted.includes(specifier))).toEqual([]);
      const code = text.replaceAll(/\/\*[^]*?\*\/|\/\/.*$/gm, "");
      expect(code).not.toMatch(/\bDate\.now\(|new Date\(\)|Math\.random|\bprocess\.|\bconsole\.|\bfetch\(/);
    },
  );

  it("has no barrel file", () => {
    expect(files.filter(({ name }) => /(^|\/)index\.ts$/.test(name))).toEqual([]);
  });

  it("gives files no name that could mean anything", () => {
    const vague = /(manager|service|helper|util|common|base|processor|wrapper|data|info|impl)s?\.ts$/;
    expect(files.filter(({ name }) => vague.test(name))).toEqual([]);
  });

  const triggers = files.filter(({ name, text }) => areaOf(name) === "functions" && /^import \{ app \}/m.test(text));

  it("keeps a trigger at 40 lines or fewer", () => {
    expect(triggers.filter(({ text }) => text.split("\n").length > 41)).toEqual([]);
  });

  it.each(triggers)("$name registers one function", ({ text }) => {
    expect(text.match(/^app\.\w+\(/gm)).toHaveLength(1);
  });
});
