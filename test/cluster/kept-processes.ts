// The parent's side of keeper.ts: processes that end when this one does.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import type { ProcessEnded, ProcessToStart } from "./keeper.ts";

export interface KeptProcesses {
  start(wanted: ProcessToStart): void;
  readonly stop: () => Promise<void>;
  /** Rejects as soon as one of the processes ends, with the end of its log. */
  readonly ended: Promise<never>;
}

/** `folder` is removed at the end, whether `stop` was called or this process died. */
export function keepProcesses(folder: string): KeptProcesses {
  const script = path.join(import.meta.dirname, "keeper.ts");
  // A process group of its own: Ctrl-C in a terminal must not reach the control plane before we have decided.
  const child = spawn(process.execPath, [script, folder], { stdio: ["pipe", "pipe", "inherit"], detached: true });
  const gone = new Promise<void>((resolve) =>
    child.once("exit", () => {
      resolve();
    }),
  );
  const logs = new Map<string, string>();
  const ended = new Promise<never>((_, reject) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      const { name, how } = JSON.parse(line) as ProcessEnded;
      reject(new Error(`${name} ended (${how}):\n${endOf(logs.get(name))}`));
    });
  });
  // Whoever waits for readiness hears of it; afterwards the next request fails by itself.
  ended.catch(() => undefined);
  return {
    start: (wanted) => {
      logs.set(wanted.name, wanted.log);
      child.stdin.write(`${JSON.stringify(wanted)}\n`);
    },
    stop: async () => {
      child.stdin.end();
      await gone;
    },
    ended,
  };
}

/** The last lines of a log. */
export function endOf(log: string | undefined): string {
  if (log === undefined) return "";
  return readFileSync(log, "utf8").split("\n").slice(-15).join("\n");
}
