// A cluster that ARM no longer lists: it is reported once, and its rows end.
import { claimCluster, readClusterRow } from "./care-claim.ts";
import type { FleetParts } from "./fleet-parts.ts";
import { forgetCluster } from "./known-clusters.ts";
import type { ManagedCluster } from "./managed-cluster.ts";
import { removeReports } from "./reports.ts";
import { forgetTrouble } from "./trouble.ts";

const why =
  "Azure Resource Manager no longer lists the cluster: it was deleted, or fleetmend's identity may no longer see it.";
const todo = "If it was not deleted, give the identity the Reader role on its resource group again.";

/**
 * False where somebody cares for it just now: the next scan finds it again. Its row among the known ones goes last, so
 * that a process that dies on the way leaves it to the next scan, which then tells of it once more.
 */
export async function removeCluster(parts: FleetParts, cluster: ManagedCluster): Promise<boolean> {
  const { table, telemetry, now } = parts;
  const { id, name, resourceGroup } = cluster;
  const at = now().getTime();
  const run = `removed-${at.toString(36)}`;
  if ((await readClusterRow(table, id)) !== undefined) {
    const owner = `${parts.instance}/${run}/${Math.floor(parts.random() * 2 ** 32).toString(36)}`;
    const claim = await claimCluster(table, { cluster: id, run, attempt: 0, owner, seconds: 60 }, now);
    if (claim.claim !== "held") return false;
    telemetry.event("notAssessed", {
      cluster: name,
      resourceGroup,
      run,
      kind: "removed",
      why,
      todo,
      passing: false,
      reason: "timer",
    });
    await removeReports(table, id);
    await forgetTrouble(table, id);
    await parts.access.forget(id);
    await table.remove(claim.held.stored);
  }
  await forgetCluster(table, id);
  parts.log(`${resourceGroup}/${name}: ${why}`);
  return true;
}
