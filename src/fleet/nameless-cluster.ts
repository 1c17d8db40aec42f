// A cluster of which only the id is known, so that a report about it can be written all the same.
import { namesIn } from "./cluster-key.ts";
import type { ManagedCluster } from "./managed-cluster.ts";

export function nameless(id: string): ManagedCluster {
  const { name, resourceGroup } = namesIn(id);
  return {
    id,
    name,
    resourceGroup,
    location: "",
    tags: {},
    provisioningState: "",
    powerState: "",
    entra: false,
    private: false,
    authorizedIpRanges: false,
    etag: "",
  };
}
