// `npm start`, and the README's curl lines against it: each must give what the README shows.
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";

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
  const script = `${assignments.replaceAll(" ", "; ")}; ${line}`;
  try {
    return (await run("sh", ["-c", script])).stdout;
  } catch (error) {
    // 127: there is no curl, as on a slim image; ENOENT: no shell either.
    if (![127, "ENOENT"].includes((error as { code: number | string }).code)) throw error;
    return await fetched(line, new Map(assignments.split(" ").map((one) => one.split("=", 2) as [string, string])));
  }
}

/** What curl would do with a line of the README's form. */
async function fetched(line: string, variables: ReadonlyMap<string, string>): Promise<string> {
  const tokens = [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, doubled, single, bare]) =>
      doubled?.replaceAll(/\$(\w+)/g, (_all, name: string) => variables.get(name) ?? "") ?? single ?? bare ?? "",
  );
  const after = (option: string): string[] =>
    tokens.flatMap((token, index) => (token === option ? [tokens[index + 1] ?? ""] : []));
  const body = after("-d")[0];
  const headers = after("-H").map((header) => header.split(": ", 2) as [string, string]);
  const method = after("-X")[0] ?? (body === undefined ? "GET" : "POST");
  const url = tokens.find((token) => token.startsWith("http://")) ?? "";
  return (await fetch(url, { method, headers, ...(body !== undefined && { body }) })).text();
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

  it("prints each line that the README has for the cluster of its examples, and no others", () => {
    const lines = [...words.matchAll(/^ {2}(curl .*)$/gm)].map(([, line]) => line);
    const shown = examples.map(({ line }) => line.replace("aks-sort-05", "aks-paint-02"));
    expect(lines.toSorted()).toEqual([...new Set(shown)].toSorted());
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

  it("leaves nothing behind either where Ctrl-C comes while it starts", async () => {
    const starting = spawn(process.execPath, ["scripts/start.ts", "--port", "0"], {
      cwd: root,
      env: { ...process.env, TMPDIR: temporary },
      stdio: "ignore",
    });
    await vi.waitFor(
      () => {
        expect(readdirSync(temporary)).not.toEqual([]);
      },
      { timeout: 20_000 },
    );
    starting.kill("SIGINT");
    expect(await once(starting, "close")).toEqual([0, null]);
    expect(readdirSync(temporary)).toEqual([]);
  });

  it("looks after the subscription of a settings file, on another port where 7071 is taken", async () => {
    const other = createServer();
    // Taken by somebody else: as good.
    other.on("error", () => undefined).listen(7071, "127.0.0.1");
    const file = path.join(temporary, "local.settings.json");
    const Values = {
      FLEETMEND_SUBSCRIPTION_ID: "5d7291f8-6572-46eb-9934-333844138d9b",
      AzureWebJobsStorage: "UseDevelopmentStorage=true",
    };
    writeFileSync(file, JSON.stringify({ IsEncrypted: false, Values }));
    const own = spawn(process.execPath, ["scripts/start.ts", "--settings", file, "--quiet"], {
      cwd: root,
      // Where nobody has signed in, should there be an az: nobody's subscription is asked.
      env: { TMPDIR: temporary, HOME: temporary },
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(() => {
      other.close();
      own.kill("SIGKILL");
    });
    let said = "";
    own.stdout.on("data", (chunk: Buffer) => (said += chunk.toString()));
    const isUp = (): void => {
      expect(said).toContain("Ctrl-C ends it.");
    };
    await vi.waitFor(isUp, { timeout: 50_000 });
    expect(said).toContain("Subscription 5d7291f8-6572-46eb-9934-333844138d9b, mode observe.");
    const [, url = "", key = ""] = /url=(\S+) key=(\S+)/.exec(said) ?? [];
    expect(new URL(url).port).not.toBe("7071");
    const answer = await fetch(`${url}/api/clusters/aks-1/scan`, {
      method: "POST",
      headers: { "x-functions-key": key },
    });
    expect([answer.status, await answer.json()]).toMatchObject([
      503,
      { todo: expect.stringMatching(/^az login/) as string },
    ]);
    own.kill("SIGINT");
    expect(await once(own, "close")).toEqual([0, null]);
  });

  it("names every mistake in the settings, never a value, and what to copy where there are none", async () => {
    const file = path.join(temporary, "local.settings.json");
    writeFileSync(file, JSON.stringify({ Values: { FLEETMEND_SUBSCRIPTION_ID: "sekret", FLEETMEND_MODES: "x" } }));
    const starting = run(process.execPath, ["scripts/start.ts", "--settings", file], { cwd: root });
    const mistakes = /FLEETMEND_SUBSCRIPTION_ID must be a UUID[^]*FLEETMEND_MODES is not a setting/;
    await expect(starting).rejects.toMatchObject({ code: 1, stderr: expect.stringMatching(mistakes) as string });
    await expect(starting).rejects.not.toMatchObject({ stderr: expect.stringContaining("sekret") as string });
    writeFileSync(file, JSON.stringify({ Values: { FLEETMEND_SUBSCRIPTION_ID: 5 } }));
    await expect(run(process.execPath, ["scripts/start.ts", "--settings", file], { cwd: root })).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining("FLEETMEND_SUBSCRIPTION_ID must be text") as string,
    });
    const absent = run(process.execPath, ["scripts/start.ts", "--settings", path.join(temporary, "no.json")], {
      cwd: root,
    });
    await expect(absent).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining("local.settings.example.json") as string,
    });
  });

  it("refuses the example's settings as they are", async () => {
    const argv = ["scripts/start.ts", "--settings", "local.settings.example.json"];
    await expect(run(process.execPath, argv, { cwd: root })).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining("FLEETMEND_SUBSCRIPTION_ID is still the example's") as string,
    });
  });

  it.each([
    ["--port", "seven"],
    ["--port", "99999"],
    ["--mode", "on"],
    ["--nothing", "x"],
  ])("refuses %s %s", async (option, value) => {
    const starting = run(process.execPath, ["scripts/start.ts", option, value], { cwd: root });
    await expect(starting).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining(option) as string });
  });
});
