// The local host with an app as a process of its own (main.ts): an app reads NODE_EXTRA_CA_CERTS and HTTPS_PROXY at its start,
// and can be killed like an instance in Azure.
import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { createInterface } from "node:readline";
import type { HostStarted } from "./main.ts";
import { AppRefused } from "./refusal.ts";

export interface HostProcessOptions {
  readonly appFolder: string;
  /** All of it: what the app shall not know is not inherited. */
  readonly environment: Readonly<Record<string, string>>;
  /** Default: any free one. */
  readonly port?: number;
  /** At the most so long between two looks into an empty queue. Default: as host.json says. */
  readonly pollingMs?: number;
  /** A line of the host's log. */
  readonly log?: (line: string) => void;
  /** The program that runs it. Default: this process's Node. */
  readonly node?: string;
}

export interface HostProcess extends HostStarted {
  readonly pid: number;
  /** Resolves with the exit code when it has ended, however; a signal gives 128 and more. */
  readonly ended: Promise<number>;
  /** Ends it at once, in the middle of what it does. */
  kill(): Promise<void>;
  /** Lets it end what it does, then ends it. */
  stop(): Promise<void>;
}

const main = path.join(import.meta.dirname, "main.ts");

/** Listens when it resolves. Ends with this process at the latest. Rejects with AppRefused and the host's words. */
export async function startHostProcess(options: HostProcessOptions): Promise<HostProcess> {
  const { appFolder, environment, port, pollingMs, log } = options;
  const argv = [
    main,
    appFolder,
    ...(port === undefined ? [] : ["--port", String(port)]),
    ...(pollingMs === undefined ? [] : ["--polling", String(pollingMs)]),
  ];
  // The channel is how it notices that this process has gone.
  const child = spawn(options.node ?? process.execPath, argv, {
    env: { ...environment },
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  const { pid, stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new Error("the host has no output to read");
  const words: string[] = [];
  createInterface(stderr).on("line", (line) => {
    log?.(line);
    words.push(line);
    if (words.length > 20) words.shift();
  });
  const ended = once(child, "close").then(([code, signal]) => (code as number | null) ?? (signal === null ? 1 : 128));
  const started = once(createInterface(stdout), "line").then(([line]) => JSON.parse(line as string) as HostStarted);
  const first = await Promise.race([started, ended]);
  if (typeof first === "number" || pid === undefined) {
    throw new AppRefused(`The host ended before it listened:\n${words.join("\n")}`);
  }
  return {
    ...first,
    pid,
    ended,
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
    async stop() {
      child.kill("SIGTERM");
      await ended;
    },
  };
}
