// What is kept of one run on one cluster: the row in the table, the answer of /api/clusters/{cluster}. Plain JSON; sentences
// are made when it is written, so that a reader needs no fleetmend. Never a secret: fingerprints and references only.
import type { FixableBy, FindingKind, Severity } from "../admission/finding.ts";
import type { Mode } from "./mode.ts";
import type { NotAssessed } from "./cluster-access.ts";

/**
 * `healthy`; `attention`: works, with warnings or something not seen; `broken`; `repairing`: more steps follow by
 * themselves; `not-assessed`: nothing is known, which is never healthy; `nothing-to-watch`: neither KAI nor OSMO; `off`.
 */
export const clusterStates = [
  "healthy",
  "attention",
  "broken",
  "repairing",
  "not-assessed",
  "nothing-to-watch",
  "off",
] as const;
export type ClusterState = (typeof clusterStates)[number];

export interface ReportedFinding {
  readonly kind: FindingKind;
  readonly severity: Severity;
  readonly object: string;
  readonly fixableBy: FixableBy;
  readonly sentence: string;
  readonly todo: string;
}

export interface ReportedStep {
  /** RFC 3339. */
  readonly at: string;
  readonly summary: string;
  readonly object: string;
  /** `written`, or the failure's message. */
  readonly outcome: string;
}

export interface ReportedHook {
  readonly hook: string;
  readonly result: string;
  /** Go's text, where the API server could not call it. */
  readonly goText?: string;
}

export const repairOutcomes = [
  "proven", // written, and the probe says that it holds
  "not-proven", // written, and the probe does not
  "waiting", // goes on by itself
  "planned", // only planned: asked for so, or the mode is `observe`
  "no-budget", // put off: the fleet's budget is spent or the breaker is open
  "rights-missing",
  "refused",
  "fight",
  "timeout",
] as const;

/** How the part of the run that changes something ended; absent where nothing was to be changed. */
export interface ReportedRepair {
  readonly outcome: (typeof repairOutcomes)[number];
  readonly why: string;
  readonly planned: readonly { readonly summary: string; readonly undo: string }[];
  readonly done: readonly ReportedStep[];
}

export interface ClusterReport {
  readonly version: 1;
  readonly cluster: string;
  readonly name: string;
  readonly resourceGroup: string;
  readonly location: string;
  readonly run: string;
  readonly reason: string;
  readonly caller?: string;
  readonly pass: "sentinel" | "full" | "none";
  readonly slot?: string;
  /** RFC 3339, UTC. */
  readonly startedAt: string;
  readonly endedAt: string;
  readonly mode: Mode;
  readonly state: ClusterState;
  /** Since when the cluster is in this state. */
  readonly since: string;
  /** The verdict in one sentence. */
  readonly headline: string;
  readonly notAssessed?: NotAssessed;
  readonly capability?: "none" | "read" | "prove" | "repair";
  /** What `repair` or `prove` would need and is not allowed, with the manifest that grants it. */
  readonly missingRights?: { readonly rights: readonly string[]; readonly manifest: string };
  readonly findings: readonly ReportedFinding[];
  readonly repair?: ReportedRepair;
  readonly hooks: readonly ReportedHook[];
  /** What only a person can do, as commands. */
  readonly advice: readonly string[];
  readonly notes: readonly string[];
  readonly apiServer?: string;
  readonly kubernetesVersion?: string;
  /** The earliest end of a certificate that something serves, RFC 3339. */
  readonly certificateEnds?: string;
  /** Requests that this run sent to the cluster. */
  readonly requests: number;
}
