// ClusterDirectory over Azure Resource Manager: the managed clusters of one subscription. Not here: how to reach one.
import { createHash } from "node:crypto";
import type { ManagedCluster as ArmCluster } from "@azure/arm-containerservice";
import type { ClusterDirectory, ManagedCluster } from "../fleet/managed-cluster.ts";
import { success } from "../result.ts";
import { armClientOptions, askArm, type ArmCaller } from "./arm-call.ts";

export interface DirectoryOptions extends ArmCaller {
  readonly subscription: string;
}

/** Nothing is sent yet. Clusters come in ARM's order. */
export async function createDirectory(options: DirectoryOptions): Promise<ClusterDirectory> {
  const { ContainerServiceClient } = await import("@azure/arm-containerservice");
  const { credential, subscription } = options;
  const { managedClusters } = new ContainerServiceClient(credential.sdk, subscription, armClientOptions);
  return {
    list: () =>
      askArm(options, `the clusters of the subscription ${subscription}`, async (abortSignal) => {
        const clusters: ManagedCluster[] = [];
        for await (const cluster of managedClusters.list({ abortSignal })) clusters.push(managedCluster(cluster));
        return clusters;
      }),
    async get(id) {
      const { resourceGroup, name } = partsOf(id);
      const answer = await askArm(options, `the cluster ${name}`, (abortSignal) =>
        managedClusters.get(resourceGroup, name, { abortSignal }),
      );
      return answer.ok ? success(managedCluster(answer.value)) : answer;
    },
  };
}

/** The resource group and the name in a cluster's id, in whatever case. Throws where it is none. */
export function partsOf(id: string): { readonly resourceGroup: string; readonly name: string } {
  const match =
    /^\/subscriptions\/[^/]+\/resourcegroups\/([^/]+)\/providers\/microsoft\.containerservice\/managedclusters\/([^/]+)$/i;
  const [, resourceGroup, name] = match.exec(id) ?? [];
  if (resourceGroup === undefined || name === undefined) throw new Error(`not the id of a managed cluster: ${id}`);
  return { resourceGroup, name };
}

function managedCluster(cluster: ArmCluster): ManagedCluster {
  const { id = "", location, tags = {}, apiServerAccessProfile: access } = cluster;
  const { resourceGroup, name } = partsOf(id);
  const version = cluster.currentKubernetesVersion ?? cluster.kubernetesVersion;
  return {
    id: id.toLowerCase(),
    name: cluster.name ?? name,
    resourceGroup,
    location,
    tags,
    provisioningState: cluster.provisioningState ?? "Unknown",
    powerState: cluster.powerState?.code ?? "Unknown",
    ...(version !== undefined && { kubernetesVersion: version }),
    entra: cluster.aadProfile !== undefined,
    private: access?.enablePrivateCluster === true,
    authorizedIpRanges: (access?.authorizedIPRanges ?? []).length > 0,
    etag: cluster.eTag ?? fingerprint(cluster),
  };
}

/** Where ARM gives no ETag: of what decides how the cluster is reached. */
function fingerprint({ fqdn, privateFqdn, resourceUID, provisioningState, aadProfile }: ArmCluster): string {
  const parts = JSON.stringify([fqdn, privateFqdn, resourceUID, provisioningState, aadProfile]);
  return createHash("sha256").update(parts).digest("hex");
}
