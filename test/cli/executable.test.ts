// The executable's own few lines, and what it loads: in a process of its own, as npm starts it.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";

const root = path.join(import.meta.dirname, "..", "..");

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

async function start(argv: readonly string[], reads = true): Promise<Ended> {
  const child = spawn(process.execPath, ["src/cli/main.ts", ...argv], { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  const written = { stdout: "", stderr: "" };
  if (reads) child.stdout.on("data", (data: Buffer) => (written.stdout += data.toString()));
  else child.stdout.destroy();
  child.stderr.on("data", (data: Buffer) => (written.stderr += data.toString()));
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  return { code, ...written };
}

/** What importing `file` loads at once: the packages, through all our files that it imports statically. */
function packagesOf(file: string, seen = new Set<string>()): readonly string[] {
  if (seen.has(file)) return [];
  seen.add(file);
  const imports = [...readFileSync(file, "utf8").matchAll(/^(?:import|export)(?! type )[^;]*?from "([^"]+)"/gm)];
  return imports.flatMap(([, specifier = ""]) =>
    specifier.startsWith(".") ? packagesOf(path.join(path.dirname(file), specifier), seen) : [specifier],
  );
}

describe("the executable", () => {
  it("prints its version", async () => {
    const { version } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")) as { version: string };
    expect(await start(["--version"])).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
  });

  it("ends with the exit code of main", async () => {
    expect(await start(["sacn"])).toMatchObject({ code: 64, stdout: "" });
  });

  it("has nothing to say where nobody reads its output", async () => {
    expect(await start(["--help"], false)).toMatchObject({ code: 0, stderr: "" });
  });

  it.each(["main.ts", "explain-files.ts", "process-io.ts", "session.ts"])(
    "does not load the Kubernetes SDK with %s: that takes half a second",
    (name) => {
      const packages = packagesOf(path.join(root, "src", "cli", name));
      expect(packages.filter((one) => !/^(node:|commander$)/.test(one))).toEqual([]);
    },
  );
});
