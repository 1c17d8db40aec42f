// The real world for `main`: this process's streams, clock, environment, signals and user.
import { hostname, userInfo } from "node:os";
import { setTimeout } from "node:timers/promises";
import { withCluster } from "../compose.ts";
import type { CliIo } from "./cli-io.ts";

/** To be called once, by the executable. A reader of stdout that leaves early (`| head`) is no error of ours. */
export function processIo(): CliIo {
  const { stdin, stdout, stderr, env } = process;
  for (const stream of [stdout, stderr]) stream.on("error", ignoreClosedPipe);
  return {
    stdin,
    stdout,
    stderr,
    env,
    now: () => new Date(),
    sleep: async (milliseconds, signal) => {
      // An aborted wait is a wait that is over.
      await setTimeout(milliseconds, undefined, { signal }).catch(() => undefined);
    },
    timeout: (milliseconds) => AbortSignal.timeout(milliseconds),
    onInterrupt: (listener) => {
      process.on("SIGINT", listener);
      return () => process.off("SIGINT", listener);
    },
    identity: `cli/${userName()}@${hostname()}/${process.pid}`,
    withCluster,
  };
}

function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== "EPIPE") throw error;
}

/** A container may run as a user without a name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return "unknown";
  }
}
