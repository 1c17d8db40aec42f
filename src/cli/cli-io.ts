// Everything that a command touches of the world: streams, clock, environment, waiting, Ctrl-C and the cluster. `main`
// takes it as a parameter, so that tests pass their own.
import type { withCluster } from "../compose.ts";

export interface OutputStream {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

export interface CliIo {
  /** Lines are read from here to answer a question; only asked where it is a terminal. */
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  /** The result, and nothing else. */
  readonly stdout: OutputStream;
  /** Progress, questions, failures. */
  readonly stderr: OutputStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly now: () => Date;
  /** Waits, or returns early where `signal` is aborted. Never throws. */
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** Aborted after that time. Does not keep the process alive. */
  readonly timeout: (milliseconds: number) => AbortSignal;
  /** Calls `listener` at Ctrl-C, instead of ending the process, until the returned function is called. */
  readonly onInterrupt: (listener: () => void) => () => void;
  /** Who holds the Lease of a repair, such as `cli/alice@laptop/4711`. */
  readonly identity: string;
  /** Loads the SDK when it is called, not before. */
  readonly withCluster: typeof withCluster;
}
