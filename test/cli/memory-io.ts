// Streams in memory and a fixed clock for `main`. The cluster is whatever the test connects.
import { PassThrough } from "node:stream";
import type { CliIo } from "../../src/cli/cli-io.ts";
import { main } from "../../src/cli/main.ts";
import { failure } from "../../src/result.ts";

export interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly now?: () => Date;
  readonly env?: Readonly<Record<string, string>>;
  /** What a person types; a terminal is there only where this is given. */
  readonly typed?: string;
  readonly terminal?: boolean;
  readonly columns?: number;
  readonly withCluster?: CliIo["withCluster"];
  /** Called for each wait, in milliseconds; the wait itself takes no time. */
  readonly onSleep?: (milliseconds: number) => void;
  /** Who holds the Lease. */
  readonly identity?: string;
  /** The signal of --timeout; never aborted where left out. */
  readonly deadline?: AbortSignal;
  readonly onInterrupt?: (listener: () => void) => () => void;
}

const noCluster: CliIo["withCluster"] = () =>
  Promise.resolve(
    failure({ kind: "kubeconfig-missing", message: "There is no kubeconfig.", todo: "Name one with --kubeconfig." }),
  );

/** Runs `fleetmend` with these arguments. */
export async function run(argv: readonly string[], options: RunOptions = {}): Promise<Run> {
  const written = { stdout: "", stderr: "" };
  const stream = (name: "stdout" | "stderr") => ({
    write: (text: string) => (written[name] += text),
    isTTY: options.terminal ?? false,
    columns: options.columns ?? 80,
  });
  const io: CliIo = {
    stdin: Object.assign(new PassThrough().end(options.typed ?? ""), { isTTY: options.typed !== undefined }),
    stdout: stream("stdout"),
    stderr: stream("stderr"),
    env: options.env ?? {},
    now: options.now ?? (() => new Date("2026-12-01T03:00:00Z")),
    sleep: (milliseconds) => {
      options.onSleep?.(milliseconds);
      return Promise.resolve();
    },
    timeout: () => options.deadline ?? new AbortController().signal,
    identity: options.identity ?? "cli/alice@laptop/1",
    onInterrupt: options.onInterrupt ?? (() => () => undefined),
    withCluster: options.withCluster ?? noCluster,
  };
  const code = await main(argv, io);
  return { code, ...written };
}
