// One care of one cluster while it is held: what is known at its start, and what it comes to. Types, and what follows from
// them alone.
import type { ApiFailure } from "../admission/cluster-api.ts";
import type { Claim } from "./care-claim.ts";
import type { CareMessage } from "./care-message.ts";
import type { NotAssessed } from "./cluster-access.ts";
import type { ClusterReport } from "./cluster-report.ts";
import type { ModeDecision } from "./decide-mode.ts";
import type { FleetParts } from "./fleet-parts.ts";
import type { ManagedCluster } from "./managed-cluster.ts";
import { isAtRest } from "./not-assessed.ts";
import { noHistories, type ClusterMemory, type RunSoFar } from "./run-memory.ts";

export interface Care {
  readonly parts: FleetParts;
  readonly message: CareMessage;
  readonly claim: Claim;
  readonly cluster: ManagedCluster;
  /** Why ARM does not tell of the cluster; `cluster` is then what was known, or only its name. */
  readonly unknown?: NotAssessed;
  readonly mode: ModeDecision;
  readonly memory: ClusterMemory;
  readonly run: RunSoFar;
  /** The cluster's last report, of whatever run. */
  readonly previous?: ClusterReport;
}

export interface CareResult {
  /** Absent where there is nothing new to say: the last report stays. */
  readonly report?: ClusterReport;
  readonly memory: ClusterMemory;
  /** The run goes on with a continuation in so many seconds. Absent: it has ended. */
  readonly next?: { readonly seconds: number };
  /** Whether the message is better delivered again soon than left to the next timer. */
  readonly again?: boolean;
}

/** The cluster could not be looked at at all. */
export interface Blind {
  readonly blind: ApiFailure;
}

/** Then a run is ended, whatever it still waits for. */
export const runMinutes = 30;

/** What one invocation may spend on a cluster; well under the host's functionTimeout of ten minutes. */
export const careSeconds = 240;

export const endOfRun = ({ startedAt }: RunSoFar): Date => new Date(Date.parse(startedAt) + runMinutes * 60_000);

/**
 * Whether a run that the row does not know was begun before: its message was delivered before, or goes on with it. What was
 * remembered of it is lost with a process; it may have reserved, and written.
 */
export function isBegun(message: CareMessage, memory: ClusterMemory, dequeueCount: number): boolean {
  return memory.run?.run !== message.run && (dequeueCount > 1 || message.attempt > 0);
}

/** The run that the message goes on with, or a new one. `reserved`: what the budget says of a run that the row does not know. */
export function runOf(message: CareMessage, memory: ClusterMemory, at: { now: Date; reserved: boolean }): RunSoFar {
  if (memory.run?.run === message.run) return memory.run;
  return {
    run: message.run,
    startedAt: at.now.toISOString(),
    reason: message.reason,
    ...(message.caller !== undefined && { caller: message.caller }),
    planned: [],
    done: [],
    notes: [],
    histories: noHistories,
    reserved: at.reserved,
    hasWritten: false,
    isPutOff: false,
  };
}

/** Whether this care may write to the cluster at all: the mode, the kind of pass, and what ARM is doing with it. */
export function mayRepair({ mode, message, cluster }: Care): boolean {
  return mode.mode === "repair" && message.pass !== "plan" && message.pass !== "probe" && isAtRest(cluster);
}

/** Why it may not, in a sentence. */
export function whyOnlyPlanned({ mode, message, cluster }: Care): string {
  if (message.pass === "plan" || message.pass === "probe")
    return "Only planned, as it was asked for; nothing was written.";
  if (mode.mode !== "repair") return `Only planned: the mode is ${mode.mode}.`;
  return `Only planned: Azure is busy with the cluster (${cluster.provisioningState}).`;
}
