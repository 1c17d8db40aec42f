// Runs commands against the lab: the real adapter, on the wire.
import { withCluster } from "../../src/compose.ts";
import { type Lab, type LabOptions, startLab } from "../../src/lab/start.ts";
import { type Run, type RunOptions, run } from "./memory-io.ts";

export interface OnLab extends AsyncDisposable {
  readonly lab: Lab;
  /** One command on the lab's cluster. */
  readonly fleetmend: (argv: readonly string[], options?: RunOptions) => Promise<Run & { readonly text: string }>;
}

/** To be used with `await using`, which stops it. KAI was installed on 3 May 2026, so that sentences are known. */
export async function onLab(options: LabOptions = {}): Promise<OnLab> {
  const lab = await startLab({ installedAt: new Date("2026-05-03T10:00:00Z"), ...options });
  return {
    lab,
    fleetmend: async (argv, more = {}) => {
      // The lab lives now, and so do its certificates; a wait takes no time and moves the command's clock.
      let sleptMs = 0;
      const time: RunOptions = {
        now: () => new Date(Date.now() + sleptMs),
        onSleep: (milliseconds) => (sleptMs += milliseconds),
      };
      const ran = await run([...argv, "--kubeconfig", lab.kubeconfig], { ...time, withCluster, ...more });
      return { ...ran, text: ran.stdout.replaceAll(/\s+/g, " ") };
    },
    [Symbol.asyncDispose]: () => lab.stop(),
  };
}
