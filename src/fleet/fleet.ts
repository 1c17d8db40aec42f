// What a trigger may ask of the fleet, and what it is told: the contract between src/functions and the use cases. Types only.
import type { Result } from "../result.ts";
import type { BudgetView } from "./budget-view.ts";
import type { ClusterReport, ClusterState } from "./cluster-report.ts";

/** One firing of a timer. */
export interface Tick {
  readonly at: Date;
  readonly isPastDue: boolean;
}

/** What the queue says of a message: how often it has been delivered, this time included. */
export interface Delivery {
  readonly dequeueCount: number;
}

/** An order by hand. */
export interface Order {
  /** A cluster's name, or `resource group:name` where the name alone is not unique. */
  readonly cluster: string;
  readonly what: "scan" | "repair" | "probe";
  /** For `repair`: only the plan. */
  readonly dryRun: boolean;
  /** How long to wait for the report, 0 to 200 s. 0: do not wait. */
  readonly waitSeconds: number;
  readonly caller: string;
}

/** Accepted: `report` where it came in time. */
export interface Ordered {
  /** `resource group:name`, fit for a URL. */
  readonly cluster: string;
  readonly run: string;
  readonly report?: ClusterReport;
}

export interface OrderFailure {
  readonly kind:
    | "unknown-cluster" // 404
    | "ambiguous" // 400: the name is there twice
    | "wrong-input" // 400
    | "busy" // 409: `message` says who cares for it and until when
    | "mode" // 409: the mode does not allow it
    | "unavailable"; // 503: ARM or the table
  readonly message: string;
  readonly todo: string;
  readonly retryAfterSeconds?: number;
}

export interface FleetOverview {
  /** RFC 3339. */
  readonly at: string;
  readonly subscription: string;
  readonly mode: string;
  readonly counts: Readonly<Record<ClusterState, number>>;
  readonly budget: BudgetView;
  /** The last report of each cluster, worst first, without what only the single report shows. */
  readonly clusters: readonly ClusterSummary[];
}

export type ClusterSummary = Pick<
  ClusterReport,
  "name" | "resourceGroup" | "state" | "since" | "headline" | "mode" | "endedAt" | "run"
> & { readonly findings: number; readonly repair?: string };

export interface ReportAnswer {
  /** Absent while the run has not ended. */
  readonly report?: ClusterReport;
  readonly running?: { readonly run: string; readonly since: string };
  /** Where there is neither report nor run: why, and what to do. */
  readonly note?: string;
  /** Earlier runs, newest first. */
  readonly history: readonly Pick<ClusterReport, "run" | "endedAt" | "state" | "reason" | "headline">[];
  readonly budget: BudgetView;
}

export interface Fleet {
  /** Lists the clusters and sends one care message for each. Throws where that could not be done: the timer tries again. */
  scan(tick: Tick): Promise<void>;
  /** Sends a sentinel message for each cluster that was well when it was last looked at. */
  probe(tick: Tick): Promise<void>;
  /** Cares for one cluster. Throws TryAgain where the queue should deliver the message once more. */
  care(message: unknown, delivery: Delivery): Promise<void>;
  /** A care message that has failed for good: its cluster is reported as not assessed. */
  poisoned(message: unknown): Promise<void>;
  /** An event of Event Grid, in either schema, single or in an array, pushed or from the storage queue. */
  changed(event: unknown): Promise<void>;
  order(order: Order): Promise<Result<Ordered, OrderFailure>>;
  overview(): Promise<Result<FleetOverview, OrderFailure>>;
  report(cluster: string, run?: string): Promise<Result<ReportAnswer, OrderFailure>>;
}
