// `npm start`, and the README's curl lines against it: each must give what the README shows.
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";

const root = path.join(import.meta.dirname, "..", "..");
const readme = readFileSync(path.join(root, "README.md"), "utf8");
const temporary = mkdtempSync(path.join(tmpdir(), "start-test-"));
const run = promisify(execFile);

let child: ChildProcess;
let words = "";

beforeAll(async () => {
  child = spawn(process.execPath, ["scripts/start.ts", "--port", "0", "--quiet"], {
    cwd: root,
    env: { ...process.env, TMPDIR: temporary },
    stdio: ["ignore", "pipe", "inherit"],
  });
  child.stdout?.on("data", (chunk: Buffer) => (words += chunk.toString()));
  const isUp = (): void => {
    expect(words).toContain("Ctrl-C ends it.");
  };
  await vi.waitFor(isUp, { timeout: 50_000 });
});
afterAll(async () => {
  if (child.exitCode !== null) return;
  child.kill("SIGINT");
  await once(child, "close");
});

/** The commands of the section, each with what it shows. */
const [, section = ""] = /^## Run it on this machine$(.*?)^## /ms.exec(readme) ?? [];
const examples = [...section.matchAll(/^```\n\$ (curl .*)\n([^`]*)```$/gm)].map(([, line = "", shown = ""]) => ({
  line,
  shown: shown.trim(),
}));

async function curl(line: string): Promise<string> {
  const assignments = /url=\S+ key=\S+ master=\S+/.exec(words)?.[0] ?? "";
  const { stdout } = await run("sh", ["-c", `${assignments.replaceAll(" ", "; ")}; ${line}`]);
  return stdout;
}

/** What the README shows is part of what came: `…` stands for anything, at the end of an array for the rest. */
function expectShown(shown: unknown, came: unknown, where = "$"): void {
  if (shown === "…") return;
  if (typeof shown === "string" && shown.includes("…")) {
    const parts = shown.split("…").map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    expect(came, where).toMatch(new RegExp(`^${parts.join(".*")}$`, "s"));
  } else if (Array.isArray(shown)) {
    const list = shown as unknown[];
    const isOpen = list.at(-1) === "…";
    const wanted = isOpen ? list.slice(0, -1) : list;
    if (!isOpen) expect(came, where).toHaveLength(wanted.length);
    wanted.forEach((one, index) => {
      expectShown(one, (came as unknown[])[index], `${where}[${index}]`);
    });
  } else if (typeof shown === "object" && shown !== null) {
    for (const [name, one] of Object.entries(shown)) {
      expectShown(one, (came as Record<string, unknown> | undefined)?.[name], `${where}.${name}`);
    }
  } else expect(came, where).toEqual(shown);
}

describe("npm start", () => {
  it("the README has its lines", () => {
    expect(examples.length).toBeGreaterThan(4);
  });

  it.each(examples)("$line", { timeout: 60_000 }, async ({ line, shown }) => {
    await vi.waitFor(
      async () => {
        const came = await curl(line);
        if (shown === "") expect(came).toBe("");
        else expectShown(JSON.parse(shown), JSON.parse(came));
      },
      { timeout: 40_000, interval: 500 },
    );
  });

  it("ends with 0 at Ctrl-C and leaves nothing behind", async () => {
    child.kill("SIGINT");
    expect(await once(child, "close")).toEqual([0, null]);
    expect(readdirSync(temporary)).toEqual([]);
  });

  it("names every mistake in the settings, never a value, and what to copy where there are none", async () => {
    const file = path.join(temporary, "local.settings.json");
    writeFileSync(file, JSON.stringify({ Values: { FLEETMEND_SUBSCRIPTION_ID: "sekret", FLEETMEND_MODES: "x" } }));
    const starting = run(process.execPath, ["scripts/start.ts", "--settings", file], { cwd: root });
    const mistakes = /FLEETMEND_SUBSCRIPTION_ID must be a UUID[^]*FLEETMEND_MODES is not a setting/;
    await expect(starting).rejects.toMatchObject({ code: 1, stderr: expect.stringMatching(mistakes) as string });
    await expect(starting).rejects.not.toMatchObject({ stderr: expect.stringContaining("sekret") as string });
    const absent = run(process.execPath, ["scripts/start.ts", "--settings", path.join(temporary, "no.json")], {
      cwd: root,
    });
    await expect(absent).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining("local.settings.example.json") as string,
    });
  });

  it.each([
    ["--port", "seven"],
    ["--mode", "on"],
    ["--nothing", "x"],
  ])("refuses %s %s", async (option, value) => {
    const starting = run(process.execPath, ["scripts/start.ts", option, value], { cwd: root });
    await expect(starting).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining(option) as string });
  });
});
