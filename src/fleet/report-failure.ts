// Reports of messages that came to nothing: nothing disappears silently.
import type { CareMessage } from "./care-message.ts";
import type { NotAssessed } from "./cluster-access.ts";
import type { ClusterReport } from "./cluster-report.ts";
import { decideMode } from "./decide-mode.ts";
import type { FleetParts } from "./fleet-parts.ts";
import { knownCluster } from "./known-clusters.ts";
import { nameless } from "./nameless-cluster.ts";
import { sendReport } from "./report-telemetry.ts";
import { latestReport, putRun } from "./reports.ts";

const todo = "See the log of the Functions app for this run. The next scan tries again.";

/** A message that is none of ours, or of a newer version. No cluster can be relied on. */
export function reportUnread(parts: FleetParts, message: unknown): void {
  const named = typeof message === "object" && message !== null && "cluster" in message ? message.cluster : undefined;
  const cluster = typeof named === "string" ? named.slice(0, 300) : "unknown";
  const why =
    "A message in the care queue could not be read and was dropped: something else writes to the queue, or another version of fleetmend.";
  parts.log(`${why} It names: ${cluster}`);
  parts.telemetry.event("notAssessed", { cluster, kind: "gave-up", why, todo, passing: false });
}

/** The report of a run that was given up. */
export async function givenUpReport(parts: FleetParts, message: CareMessage, why: string): Promise<ClusterReport> {
  const cluster = (await knownCluster(parts.table, message.cluster)) ?? nameless(message.cluster);
  const previous = (await latestReport(parts.table, message.cluster))?.report;
  const now = parts.now().toISOString();
  const notAssessed: NotAssessed = { kind: "gave-up", message: why, todo, passing: true };
  return {
    version: 1,
    cluster: cluster.id,
    name: cluster.name,
    resourceGroup: cluster.resourceGroup,
    location: cluster.location,
    run: message.run,
    reason: message.reason,
    ...(message.caller !== undefined && { caller: message.caller }),
    ...(message.slot !== undefined && { slot: message.slot }),
    pass: "none",
    startedAt: now,
    endedAt: now,
    mode: decideMode(parts.policy, cluster.tags).mode,
    state: "not-assessed",
    since: previous?.state === "not-assessed" ? previous.since : now,
    headline: `Not assessed: ${why}`,
    notAssessed,
    findings: [],
    hooks: [],
    advice: [],
    notes: [],
    requests: 0,
  };
}

/** A message that was put off too often. The cluster's last report is that of whoever cares for it. */
export async function reportGivenUp(parts: FleetParts, message: CareMessage, why: string): Promise<void> {
  const report = await givenUpReport(parts, message, why);
  await putRun(parts.table, { report, ended: true, fence: 0 });
  sendReport(parts.telemetry, report, []);
  parts.log(`gave up ${message.cluster}, run ${message.run}: ${why}`);
}
