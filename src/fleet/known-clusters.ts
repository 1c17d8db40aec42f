// The clusters as Azure Resource Manager last told of them, so that caring for one costs no request to ARM. Written where ARM
// was asked: by the scan, and where one cluster is asked for anew.
import * as v from "valibot";
import { clusterKey } from "./cluster-key.ts";
import type { ManagedCluster } from "./managed-cluster.ts";
import { StoreError, type Json, type Row, type Table } from "./table.ts";

const managedCluster = v.object({
  id: v.string(),
  name: v.string(),
  resourceGroup: v.string(),
  location: v.string(),
  tags: v.record(v.string(), v.string()),
  provisioningState: v.string(),
  powerState: v.string(),
  kubernetesVersion: v.exactOptional(v.string()),
  entra: v.boolean(),
  private: v.boolean(),
  authorizedIpRanges: v.boolean(),
  etag: v.string(),
});

const partition = "cluster";

const keyOf = (id: string) => ({ partition, row: clusterKey(id) });

export interface KnownCluster {
  readonly cluster: ManagedCluster;
  readonly stored: Row;
}

/** All of them, in the order of their keys. Rows that this version cannot read are left out: the next scan writes them anew. */
export async function knownClusters(table: Table): Promise<readonly KnownCluster[]> {
  return (await table.list(partition)).flatMap((stored) => parse(stored) ?? []);
}

export async function knownCluster(table: Table, id: string): Promise<ManagedCluster | undefined> {
  const stored = await table.get(keyOf(id));
  return stored && parse(stored)?.cluster;
}

function parse(stored: Row): KnownCluster | undefined {
  const parsed = v.safeParse(managedCluster, stored.value);
  return parsed.success ? { cluster: parsed.output, stored } : undefined;
}

const tries = 3;

/** Keeps what ARM has just said. Costs no write where nothing has changed. Of two that write at once the later one wins. */
export async function rememberCluster(table: Table, cluster: ManagedCluster, known?: ManagedCluster): Promise<void> {
  if (known !== undefined && JSON.stringify(known) === JSON.stringify(inOrder(cluster))) return;
  for (let n = 0; n < tries; n += 1) {
    const stored = await table.get(keyOf(cluster.id));
    const value: Json = inOrder(cluster);
    const written = await (stored === undefined
      ? table.insert(keyOf(cluster.id), value)
      : table.replace(stored, value));
    if (written !== undefined) return;
  }
  throw new StoreError(`the row of ${cluster.name} changed under every write`);
}

/** What the row holds and nothing else, in one order. */
function inOrder(cluster: ManagedCluster): v.InferOutput<typeof managedCluster> {
  return v.parse(managedCluster, cluster);
}

/** Forgets a cluster that is no longer there. */
export async function forgetCluster(table: Table, id: string): Promise<void> {
  const stored = await table.get(keyOf(id));
  if (stored !== undefined) await table.remove(stored);
}
