// What is known of the fleet and of one cluster, for who asks: read from the table, nothing is looked at.
import { failure, success, type Result } from "../result.ts";
import { budgetView } from "./budget.ts";
import { readClusterRow } from "./care-claim.ts";
import type { ClusterReport, ClusterState } from "./cluster-report.ts";
import { findCluster, referenceTo } from "./find-cluster.ts";
import type { ClusterSummary, FleetOverview, OrderFailure, ReportAnswer } from "./fleet.ts";
import type { FleetParts } from "./fleet-parts.ts";
import { decideMode } from "./decide-mode.ts";
import { knownClusters } from "./known-clusters.ts";
import type { ManagedCluster } from "./managed-cluster.ts";
import { latestReport, latestReports, runsOf } from "./reports.ts";
import { countsOf } from "./scan-fleet.ts";
import { StoreError } from "./table.ts";

const worstFirst: readonly ClusterState[] = [
  "broken",
  "not-assessed",
  "repairing",
  "attention",
  "healthy",
  "nothing-to-watch",
  "off",
];

/** All clusters that ARM told of, with their last reports. One that no run has ended on is `not-assessed`. */
export async function fleetOverview(parts: FleetParts): Promise<Result<FleetOverview, OrderFailure>> {
  return orUnavailable(async () => success(await overviewFrom(parts)));
}

/** What the table does not tell for the moment is the caller's to ask again. */
async function orUnavailable<T>(answer: () => Promise<Result<T, OrderFailure>>): Promise<Result<T, OrderFailure>> {
  try {
    return await answer();
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return failure({
      kind: "unavailable",
      message: `The table did not answer: ${error.message}`,
      todo: "Try again in a minute.",
      retryAfterSeconds: 60,
    });
  }
}

async function overviewFrom(parts: FleetParts): Promise<FleetOverview> {
  const { table, policy, now } = parts;
  const [known, stored, budget] = await Promise.all([knownClusters(table), latestReports(table), budgetView(parts)]);
  const reports = new Map(stored.map(({ report }) => [report.cluster, report]));
  const clusters = known.map(({ cluster }) => cluster);
  const summaries = clusters.map((cluster) => summaryOf(parts, cluster, reports.get(cluster.id)));
  const states = clusters.map(({ id }, index) => ({ cluster: id, state: summaries[index]?.state ?? "not-assessed" }));
  return {
    at: now().toISOString(),
    subscription: policy.subscription,
    mode: policy.mode,
    counts: countsOf(states, clusters),
    budget,
    clusters: summaries.toSorted((one, other) => rank(one) - rank(other) || (one.name < other.name ? -1 : 1)),
  };
}

const rank = ({ state }: ClusterSummary): number => worstFirst.indexOf(state);

function summaryOf(parts: FleetParts, cluster: ManagedCluster, report: ClusterReport | undefined): ClusterSummary {
  if (report === undefined) {
    const at = parts.now().toISOString();
    const { mode } = decideMode(parts.policy, cluster.tags);
    const { name, resourceGroup } = cluster;
    return {
      name,
      resourceGroup,
      mode,
      state: "not-assessed",
      since: at,
      endedAt: at,
      run: "",
      headline: "Not looked at yet.",
      findings: 0,
    };
  }
  const { name, resourceGroup, state, since, headline, mode, endedAt, run, findings, repair } = report;
  const outcome = repair && { repair: repair.outcome };
  return { name, resourceGroup, state, since, headline, mode, endedAt, run, findings: findings.length, ...outcome };
}

/** The last report of a cluster, or that of one run, and what else is known of it. */
export async function clusterReport(
  parts: FleetParts,
  name: string,
  run?: string,
): Promise<Result<ReportAnswer, OrderFailure>> {
  return orUnavailable(async () => {
    const found = await findCluster(parts, name);
    return found.ok ? answerFor(parts, found.value, run) : found;
  });
}

async function answerFor(
  parts: FleetParts,
  cluster: ManagedCluster,
  run: string | undefined,
): Promise<Result<ReportAnswer, OrderFailure>> {
  const { table } = parts;
  const { id, name } = cluster;
  const [latest, runs, row, budget] = await Promise.all([
    latestReport(table, id),
    runsOf(table, id),
    readClusterRow(table, id),
    budgetView(parts),
  ]);
  const wanted = run === undefined ? latest : [latest, ...runs].find((one) => one?.report.run === run);
  const running = runningIn(row, parts.now());
  const isRunning = running?.run === run || (run !== undefined && row?.last?.run !== run && row?.next?.run === run);
  const mayWait = run !== undefined && mayWaitInQueue(run, parts.now());
  if (run !== undefined && wanted === undefined && !isRunning && !mayWait) return failure(unknownRun(name, run));
  const report = run === undefined || wanted?.ended === true ? wanted?.report : undefined;
  return success({
    ...(report !== undefined && { report }),
    ...(running !== undefined && { running }),
    ...(report === undefined && running === undefined && { note: noteFor(cluster, run) }),
    history: runs
      .filter(({ report: { run: other } }) => other !== report?.run)
      .map(({ report: { run: other, endedAt, state, reason, headline } }) => ({
        run: other,
        endedAt,
        state,
        reason,
        headline,
      })),
    budget,
  });
}

const longestWaitMs = 24 * 60 * 60 * 1000;

/** An order that was accepted may still be in the queue: nothing but its name, with its time, is known of it (order.ts). */
function mayWaitInQueue(run: string, now: Date): boolean {
  const [, at] = /^order-([0-9a-z]{1,9})-[0-9a-z]+$/.exec(run) ?? [];
  return at !== undefined && now.getTime() - Number.parseInt(at, 36) < longestWaitMs;
}

function noteFor(cluster: ManagedCluster, run: string | undefined): string {
  if (run !== undefined) return "The run waits in the queue: ask again in some seconds.";
  return `Not looked at yet. The next scan does it, or: POST /api/clusters/${referenceTo(cluster)}/scan?wait=60`;
}

function runningIn(row: Awaited<ReturnType<typeof readClusterRow>>, now: Date): ReportAnswer["running"] {
  if (row?.held !== undefined && Date.parse(row.held.until) > now.getTime()) {
    return { run: row.held.run, since: row.held.since };
  }
  return row?.next && { run: row.next.run, since: row.next.at };
}

function unknownRun(name: string, run: string): OrderFailure {
  return {
    kind: "wrong-input",
    message: `${name} has no run ${run}, or it is too long ago: the last twenty are kept.`,
    todo: "Leave out run to see the last report and the history.",
  };
}
