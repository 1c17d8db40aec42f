// A managed cluster as Azure Resource Manager tells it: the JSON of GET and LIST, and the user's kubeconfig. Pure. The names
// are those of the wire, which the SDK renames (`privateFQDN`, `enableRBAC`).
import { stringify } from "yaml";
import type { ServingCertificate } from "../authority.ts";
import { audiences } from "./identity.ts";

export interface ArmCluster {
  readonly subscription: string;
  readonly resourceGroup: string;
  readonly name: string;
  readonly location: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly kubernetesVersion: string;
  readonly provisioningState: string;
  readonly powerState: "Running" | "Stopped";
  readonly entra: boolean;
  readonly private: boolean;
  readonly authorizedIpRanges: readonly string[];
  /** Changes with the resource. */
  readonly etag: string;
  /** The API server's name in the resource. Default: the host that the kubeconfig names. */
  readonly fqdn?: string;
  /** What the kubeconfig names: a host, its port where that is not 443, and the CA. */
  readonly server: { readonly host: string; readonly port?: number; readonly caPem: string };
  /** What a cluster without Entra gives away: a certificate of a cluster-admin. */
  readonly clientCertificate?: ServingCertificate;
}

const provider = "providers/Microsoft.ContainerService/managedClusters";

/** ARM's own spelling; it compares without regard to case. */
export function armIdOf({ subscription, resourceGroup, name }: ArmCluster): string {
  return `/subscriptions/${subscription}/resourceGroups/${resourceGroup}/${provider}/${name}`;
}

/** One item of a LIST, and the answer to a GET. A stopped cluster has lost its private name. */
export function armDocument(cluster: ArmCluster): unknown {
  const { name, location, tags, etag, kubernetesVersion, provisioningState, powerState, server } = cluster;
  const privateName = powerState === "Stopped" ? null : server.host;
  return {
    id: armIdOf(cluster),
    name,
    type: "Microsoft.ContainerService/ManagedClusters",
    location,
    tags,
    eTag: etag,
    sku: { name: "Base", tier: "Standard" },
    identity: { type: "SystemAssigned" },
    properties: {
      provisioningState,
      powerState: { code: powerState },
      kubernetesVersion,
      currentKubernetesVersion: kubernetesVersion,
      dnsPrefix: name,
      ...(cluster.private ? { privateFQDN: privateName } : { fqdn: cluster.fqdn ?? server.host }),
      enableRBAC: true,
      disableLocalAccounts: cluster.entra,
      ...(cluster.entra ? { aadProfile: { managed: true, enableAzureRBAC: false, tenantID: tenant } } : {}),
      apiServerAccessProfile: {
        enablePrivateCluster: cluster.private,
        ...(cluster.authorizedIpRanges.length > 0 ? { authorizedIPRanges: cluster.authorizedIpRanges } : {}),
      },
      nodeResourceGroup: `MC_${cluster.resourceGroup}_${name}_${location}`,
    },
  };
}

const tenant = "72f988bf-0000-4000-8000-2d7cd011db47";

/** The kubeconfig of listClusterUserCredential, YAML: no secret in it where Entra decides, else a client certificate. */
export function userKubeconfig(cluster: ArmCluster): string {
  const { name, resourceGroup, server } = cluster;
  const user = `clusterUser_${resourceGroup}_${name}`;
  return stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [
      {
        name,
        cluster: {
          "certificate-authority-data": base64(server.caPem),
          server: `https://${server.host}:${server.port ?? 443}`,
        },
      },
    ],
    contexts: [{ name, context: { cluster: name, user } }],
    "current-context": name,
    preferences: {},
    users: [{ name: user, user: credentialsOf(cluster) }],
  });
}

const base64 = (text: string): string => Buffer.from(text).toString("base64");

// The client application of AKS for people who sign in (Azure/kubelogin, README).
const clientApplication = "80faf920-1908-4b52-b5ef-a8e7bedfc67a";

function credentialsOf({ clientCertificate }: ArmCluster): unknown {
  if (clientCertificate !== undefined) {
    return {
      "client-certificate-data": base64(clientCertificate.cert),
      "client-key-data": base64(clientCertificate.key),
    };
  }
  const login = ["--login", "devicecode", "--server-id", audiences.aks, "--client-id", clientApplication];
  return {
    exec: {
      apiVersion: "client.authentication.k8s.io/v1beta1",
      command: "kubelogin",
      args: ["get-token", "--environment", "AzurePublicCloud", "--tenant-id", tenant, ...login],
      env: null,
      provideClusterInfo: false,
    },
  };
}
