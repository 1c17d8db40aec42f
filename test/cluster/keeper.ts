// A process of its own that starts the control plane's processes and outlives none of its parent's deaths: when its
// standard input ends, because the parent stopped, crashed or was killed, it kills all that it started, removes the
// temporary folder and ends. Input: one JSON line per process to start. Output: one JSON line per process that ended.
import { spawn, type ChildProcess } from "node:child_process";
import { openSync, rmSync } from "node:fs";
import { createInterface } from "node:readline";
import process from "node:process";

export interface ProcessToStart {
  readonly name: string;
  readonly command: string;
  readonly arguments: readonly string[];
  /** Both outputs are written to this file. */
  readonly log: string;
}

export interface ProcessEnded {
  readonly name: string;
  readonly how: string;
}

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error("usage: keeper.ts <temporary folder>");

const running = new Set<ChildProcess>();

function start(line: string): void {
  const wanted = JSON.parse(line) as ProcessToStart;
  const log = openSync(wanted.log, "a");
  const child = spawn(wanted.command, wanted.arguments, { stdio: ["ignore", log, log] });
  running.add(child);
  const report = (how: string): void => {
    running.delete(child);
    const ended: ProcessEnded = { name: wanted.name, how };
    process.stdout.write(`${JSON.stringify(ended)}\n`);
  };
  child.on("error", (error) => {
    report(error.message);
  });
  child.on("exit", (code, signal) => {
    report(signal ?? `exit code ${code ?? "unknown"}`);
  });
}

// Ctrl-C reaches the whole foreground group; the parent decides what it means, and then closes our input.
process.on("SIGINT", () => undefined);
process.on("SIGTERM", () => undefined);
process.stdout.on("error", () => undefined);

const input = createInterface({ input: process.stdin });
input.on("line", start);
input.on("close", () => {
  // Nothing here is worth a graceful end: the store is thrown away with the folder.
  for (const child of running) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  process.exit(0);
});
