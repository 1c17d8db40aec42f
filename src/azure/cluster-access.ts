// ClusterAccess for AKS: where a cluster's API is, learnt once from ARM and kept in the table, and who knocks. Not here: the
// connection itself, which `connect` makes, and what to make of a cluster that does not answer.
import * as v from "valibot";
import type { ClusterAccess, NotAssessed, OpenCluster } from "../fleet/cluster-access.ts";
import { clusterKey } from "../fleet/cluster-key.ts";
import type { DirectoryFailure, ManagedCluster } from "../fleet/managed-cluster.ts";
import { StoreError, type Row, type Table } from "../fleet/table.ts";
import { failure, success, type Result } from "../result.ts";
import { armClientOptions, askArm, type ArmCaller } from "./arm-call.ts";
import { partsOf } from "./cluster-directory.ts";
import type { CredentialFailure } from "./entra-credential.ts";
import { readUserKubeconfig, type ClientCertificate, type ClusterAddress } from "./user-kubeconfig.ts";

/** Who knocks: a token, asked for before each request, or the user certificate of a cluster without Entra. */
export type Login = { readonly token: () => Promise<Result<string, CredentialFailure>> } | ClientCertificate;

export type Connect = (
  to: ClusterAddress & { readonly login: Login },
) => Promise<Result<OpenCluster, { readonly message: string; readonly todo: string }>>;

export interface AccessOptions extends ArmCaller {
  readonly subscription: string;
  readonly table: Table;
  readonly connect: Connect;
  /** Whether clusters without Entra are opened, with the certificate of their user, who is cluster-admin. */
  readonly allowLocalAccounts: boolean;
}

/**
 * The AKS server application of every tenant (Microsoft Learn, "Use kubelogin to authenticate users in Azure Kubernetes
 * Service", `--server-id`).
 */
const aksScope = "6dae42f8-4368-4678-94ff-3960e28e3630/.default";

/** In the table: neither a token nor a key, and nothing that another person could use. */
const learnt = v.object({ etag: v.string(), server: v.string(), caPem: v.string() });

/** Nothing is sent yet. `open` throws StoreError where the table cannot be read; that it cannot be written is no failure. */
export async function createAccess(options: AccessOptions): Promise<ClusterAccess> {
  const askUser = await userCredentialOf(options);
  // Keys of clusters without Entra: in this process's memory only, and only where the setting allows them.
  const certificates = new Map<string, { readonly etag: string; readonly certificate: ClientCertificate }>();
  const keyOf = (id: string) => ({ partition: "access", row: clusterKey(id) });

  const addressOf = async (cluster: ManagedCluster): Promise<Result<ClusterAddress, NotAssessed>> => {
    const row = await options.table.get(keyOf(cluster.id));
    const known = v.safeParse(learnt, row?.value);
    const hasLogin = cluster.entra || certificates.get(cluster.id)?.etag === cluster.etag;
    if (known.success && known.output.etag === cluster.etag && hasLogin) return success(known.output);
    const told = await askUser(cluster);
    if (!told.ok) return told;
    const { address, certificate } = told.value;
    if (certificate !== undefined && !cluster.entra) {
      certificates.set(cluster.id, { etag: cluster.etag, certificate });
    }
    await keep(options.table, row ?? keyOf(cluster.id), { etag: cluster.etag, ...address });
    return success(address);
  };

  return {
    async open(cluster) {
      if (!cluster.entra && !options.allowLocalAccounts) return failure(localAccounts(cluster));
      const address = await addressOf(cluster);
      if (!address.ok) return address;
      const login = await loginFor(options, cluster, certificates.get(cluster.id)?.certificate);
      if (!login.ok) return login;
      const opened = await options.connect({ ...address.value, login: login.value });
      if (opened.ok) return opened;
      return failure({ kind: "unavailable", passing: false, message: opened.error.message, todo: opened.error.todo });
    },
    async forget(id) {
      certificates.delete(id);
      const row = await options.table.get(keyOf(id));
      if (row !== undefined) await options.table.remove(row);
    },
  };
}

/** Asks for the first token here, so that its lack is told as what it is and not as the cluster's refusal. */
async function loginFor(
  { credential }: AccessOptions,
  cluster: ManagedCluster,
  certificate: ClientCertificate | undefined,
): Promise<Result<Login, NotAssessed>> {
  if (!cluster.entra) {
    if (certificate !== undefined) return success(certificate);
    return failure(unreadable(cluster));
  }
  const first = await credential.token(aksScope);
  if (first.ok) return success({ token: () => credential.token(aksScope) });
  const { message, todo } = first.error;
  return failure({ kind: "unauthorized", passing: true, message, todo });
}

async function userCredentialOf(options: AccessOptions) {
  const { ContainerServiceClient } = await import("@azure/arm-containerservice");
  const { credential, subscription } = options;
  const { managedClusters } = new ContainerServiceClient(credential.sdk, subscription, armClientOptions);
  return async (cluster: ManagedCluster) => {
    const { resourceGroup, name } = partsOf(cluster.id);
    const answer = await askArm(options, `the user credential of ${name}`, (abortSignal) =>
      // As `exec` the kubeconfig of an Entra cluster names kubelogin, and holds no secret.
      managedClusters.listClusterUserCredentials(resourceGroup, name, { format: "exec", abortSignal }),
    );
    if (!answer.ok) return failure(notAssessed(answer.error));
    const told = readUserKubeconfig(answer.value.kubeconfigs?.[0]?.value ?? new Uint8Array());
    return told === undefined ? failure(unreadable(cluster)) : success(told);
  };
}

/** The next run asks ARM again where this fails, or where somebody else was faster. */
async function keep(
  table: Table,
  row: Row | { readonly partition: string; readonly row: string },
  value: Row["value"],
) {
  try {
    await ("etag" in row ? table.replace(row, value) : table.insert(row, value));
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
  }
}

function notAssessed(failed: DirectoryFailure): NotAssessed {
  const { message, todo, retryAfterSeconds } = failed;
  const rest = { message, todo, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) };
  switch (failed.kind) {
    case "forbidden":
      return { kind: "forbidden", passing: false, ...rest };
    case "not-found":
      return { kind: "removed", passing: false, ...rest };
    case "throttled":
      return { kind: "throttled", passing: true, ...rest };
    case "unavailable":
      return { kind: "unavailable", passing: true, ...rest };
    case "credentials":
      return { kind: "unauthorized", passing: true, ...rest };
  }
}

function localAccounts({ resourceGroup, name }: ManagedCluster): NotAssessed {
  return {
    kind: "local-accounts",
    passing: false,
    message: `${name} does not use Entra: the only credential that Azure gives out for it is a cluster-admin's.`,
    todo: `az aks update --resource-group ${resourceGroup} --name ${name} --enable-aad   # or set FLEETMEND_ALLOW_LOCAL_ACCOUNTS=true`,
  };
}

function unreadable({ resourceGroup, name }: ManagedCluster): NotAssessed {
  return {
    kind: "unavailable",
    passing: true,
    message: `The user credential of ${name} that Azure Resource Manager returned is no kubeconfig with a server, a CA and a login.`,
    todo: `az aks get-credentials --resource-group ${resourceGroup} --name ${name} --file -   # what does it show?`,
  };
}
