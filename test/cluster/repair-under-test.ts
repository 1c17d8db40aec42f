// Runs repairs through the fault proxy, call by call as the command line does, on a clock that a wait moves forward. A
// killed process is a run whose connections are all cut: nothing of it lives on but what the cluster holds.
import { mend, type MendOptions } from "../../src/admission/mend.ts";
import type { MendOutcome } from "../../src/admission/mend-outcome.ts";
import { connect } from "../../src/kubernetes/connect.ts";
import type { FaultProxy } from "./fault-proxy.ts";
import type { Installed } from "./kai/install.ts";
import { probeNamespace } from "./kai/install.ts";
import { AdmissionWatch } from "./admission-watch.ts";

/** A clock that runs with the real one and can be moved ahead, so that a wait of two minutes takes none. */
export interface TestClock {
  readonly now: () => Date;
  readonly advance: (seconds: number) => void;
  /** Back to the real time: a new fault is as young as the API server says. */
  readonly reset: () => void;
}

export function startClock(): TestClock {
  let aheadMs = 0;
  return {
    now: () => new Date(Date.now() + aheadMs),
    advance: (seconds) => {
      aheadMs += seconds * 1000;
    },
    reset: () => {
      aheadMs = 0;
    },
  };
}

export interface RepairRun {
  readonly ended: "done" | "cut" | "too-long";
  readonly calls: number;
  readonly steps: readonly string[];
  readonly last: MendOutcome;
}

export interface RepairSetting {
  readonly installed: Installed;
  readonly proxy: FaultProxy;
  /** Of the user fleetmend-repair, through the proxy. */
  readonly kubeconfig: string;
  readonly clock: TestClock;
  readonly watch: AdmissionWatch;
}

// A repair has a handful of steps; each fault costs a few more looks.
const mostCalls = 40;

// Long enough for the slowest answer of the test cluster, short enough to sit through many of them.
const requestTimeoutMs = 600;

/** One process that repairs: a connection of its own, and mend until it is done or its connections were cut. */
export async function runRepair(setting: RepairSetting, holder: string): Promise<RepairRun> {
  const { proxy, kubeconfig, clock, watch } = setting;
  const connection = await connect({
    kubeconfig,
    requestTimeoutMs,
    handshakeTimeoutMs: requestTimeoutMs,
    sleep: () => Promise.resolve(),
  });
  if (!connection.ok) throw new Error(connection.error.message);
  const options: MendOptions = { now: clock.now, probeNamespace, allowOutage: false, holder };
  const steps: string[] = [];
  try {
    for (let calls = 1; ; calls += 1) {
      const last = await mend(connection.value.cluster, options);
      if (last.outcome === "wait" && last.did !== undefined) steps.push(last.did.summary);
      await watch.look();
      if (proxy.isCut()) return { ended: "cut", calls, steps, last };
      if (last.outcome === "done") return { ended: "done", calls, steps, last };
      if (calls === mostCalls) return { ended: "too-long", calls, steps, last };
      clock.advance(last.seconds ?? 5);
    }
  } finally {
    connection.value.close();
  }
}
