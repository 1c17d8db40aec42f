// Which cluster a person means: by name, or by `resource group:name`.
import { failure, success, type Result } from "../result.ts";
import type { OrderFailure } from "./fleet.ts";
import type { FleetParts } from "./fleet-parts.ts";
import { knownClusters, rememberCluster } from "./known-clusters.ts";
import type { DirectoryFailure, ManagedCluster } from "./managed-cluster.ts";

/**
 * Among the clusters that are known; where it is not among them ARM is asked, since it may be new. Case does not matter, as
 * it does not to ARM. Throws StoreError.
 */
export async function findCluster(parts: FleetParts, text: string): Promise<Result<ManagedCluster, OrderFailure>> {
  const wanted = parseName(text);
  if (!wanted.ok) return wanted;
  const known = (await knownClusters(parts.table)).map(({ cluster }) => cluster);
  const found = known.filter((cluster) => isNamed(cluster, wanted.value));
  if (found.length > 0) return only(found, text);
  const listed = await parts.directory.list();
  if (!listed.ok) return failure(unavailable(listed.error));
  const fresh = listed.value.filter((cluster) => isNamed(cluster, wanted.value));
  for (const cluster of fresh) await rememberCluster(parts.table, cluster);
  return fresh.length > 0 ? only(fresh, text) : failure(unknownCluster(text));
}

interface Wanted {
  readonly name: string;
  readonly resourceGroup?: string;
}

// Microsoft Learn, "Naming rules and restrictions for Azure resources": managedClusters 1-63, resourceGroups 1-90.
const clusterName = /^[a-z0-9](?:[a-z0-9_-]{0,61}[a-z0-9])?$/;
const groupName = /^[\p{L}\p{N}_.()-]{1,90}$/u;

function parseName(text: string): Result<Wanted, OrderFailure> {
  const [first = "", second, ...more] = text.toLowerCase().split(":");
  const wanted = second === undefined ? { name: first } : { name: second, resourceGroup: first };
  const isGroup = wanted.resourceGroup === undefined || groupName.test(wanted.resourceGroup);
  if (more.length === 0 && clusterName.test(wanted.name) && isGroup) return success(wanted);
  return failure({
    kind: "wrong-input",
    message: "That is not the name of a cluster.",
    todo: "Give the cluster's name, or resource-group:name.",
  });
}

function isNamed(cluster: ManagedCluster, { name, resourceGroup }: Wanted): boolean {
  const isGroup = resourceGroup === undefined || cluster.resourceGroup.toLowerCase() === resourceGroup;
  return cluster.name.toLowerCase() === name && isGroup;
}

function only(found: readonly ManagedCluster[], text: string): Result<ManagedCluster, OrderFailure> {
  const [first, ...others] = found;
  if (first !== undefined && others.length === 0) return success(first);
  return failure({
    kind: "ambiguous",
    message: `${found.length} clusters are called ${text}.`,
    todo: `Give the resource group, too: ${found.map(referenceTo).join(" or ")}`,
  });
}

/** `resource group:name`, fit for a URL. */
export function referenceTo({ resourceGroup, name }: Pick<ManagedCluster, "resourceGroup" | "name">): string {
  return `${encodeURIComponent(resourceGroup)}:${encodeURIComponent(name)}`;
}

function unknownCluster(text: string): OrderFailure {
  return {
    kind: "unknown-cluster",
    message: `There is no cluster ${text} in the subscription, or fleetmend's identity may not see it.`,
    todo: "az aks list --query '[].{group:resourceGroup,name:name}' --output table",
  };
}

/** ARM gave no answer. */
export function unavailable({ message, todo, retryAfterSeconds }: DirectoryFailure): OrderFailure {
  return { kind: "unavailable", message, todo, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) };
}
