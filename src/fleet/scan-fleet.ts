// The timer's work: the clusters as ARM lists them now, a message for each, and a word about those that are gone. Looks at
// no cluster: the queue spreads that over as many instances as it takes.
import { clusterStates, type ClusterState } from "./cluster-report.ts";
import type { Tick } from "./fleet.ts";
import type { FleetParts } from "./fleet-parts.ts";
import { knownClusters, rememberCluster, type KnownCluster } from "./known-clusters.ts";
import type { ManagedCluster } from "./managed-cluster.ts";
import { removeCluster } from "./remove-cluster.ts";
import { latestReports } from "./reports.ts";
import { eachOf, sendAll } from "./send-all.ts";
import { slotOf, timerMessage } from "./timer-slot.ts";

/** Throws where ARM gave no list, or the table or the queue did not answer: fired again, it does no harm. */
export async function scanFleet(parts: FleetParts, { at }: Tick): Promise<void> {
  const { telemetry, directory, log } = parts;
  const listed = await directory.list();
  if (!listed.ok) {
    const why = `${listed.error.message} ${listed.error.todo}`;
    telemetry.event("fleetScanned", { outcome: "failed", why });
    throw new Error(`The clusters could not be listed: ${why}`);
  }
  const clusters = listed.value;
  const known = await knownClusters(parts.table);
  await rememberAll(parts, clusters, known);
  const slot = slotOf(at);
  await sendAll(
    parts.queue,
    clusters.map(({ id }) => timerMessage("scan", slot, id)),
  );
  await countStates(parts, clusters);
  const removed = await removeGone(parts, clusters, known);
  const why = `${clusters.length} clusters listed, ${removed} no longer there.`;
  telemetry.event("fleetScanned", { outcome: "sent", why, clusters: clusters.length, sent: clusters.length, removed });
  log(`Scan ${slot}: ${why}`);
}

async function rememberAll(
  { table }: FleetParts,
  clusters: readonly ManagedCluster[],
  known: readonly KnownCluster[],
): Promise<void> {
  const byId = new Map(known.map(({ cluster }) => [cluster.id, cluster]));
  await eachOf(clusters, (cluster) => rememberCluster(table, cluster, byId.get(cluster.id)));
}

async function countStates({ table, telemetry }: FleetParts, clusters: readonly ManagedCluster[]): Promise<void> {
  const counts = countsOf(
    (await latestReports(table)).map(({ report }) => report),
    clusters,
  );
  for (const state of clusterStates) telemetry.metric("clusters", counts[state], { state });
}

/** Of the clusters that are there: those of each state, by their last reports. */
export function countsOf(
  reports: readonly { readonly cluster: string; readonly state: ClusterState }[],
  clusters: readonly { readonly id: string }[],
): Record<ClusterState, number> {
  const ids = new Set(clusters.map(({ id }) => id));
  const there = reports.filter(({ cluster }) => ids.has(cluster));
  const entries = clusterStates.map(
    (state) => [state, there.filter((report) => report.state === state).length] as const,
  );
  return Object.fromEntries(entries) as Record<ClusterState, number>;
}

async function removeGone(
  parts: FleetParts,
  clusters: readonly ManagedCluster[],
  known: readonly KnownCluster[],
): Promise<number> {
  const ids = new Set(clusters.map(({ id }) => id));
  const gone = known.filter(({ cluster }) => !ids.has(cluster.id));
  let removed = 0;
  await eachOf(gone, async ({ cluster }) => {
    if (await removeCluster(parts, cluster)) removed += 1;
  });
  return removed;
}
