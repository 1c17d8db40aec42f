// Why a cluster was not looked at, from what ARM says of it or how a connection failed. Pure.
import type { ApiFailure } from "../admission/cluster-api.ts";
import type { NotAssessed, NotAssessedKind } from "./cluster-access.ts";
import type { DirectoryFailure, ManagedCluster } from "./managed-cluster.ts";

/**
 * By ARM's own words: a cluster that is stopped, on its way there, not there yet or going has no API server to ask.
 * Undefined: it may be asked. (Microsoft Learn, "Stop and start an AKS cluster": `powerState.code`.)
 */
export function notAssessable({
  name,
  resourceGroup,
  provisioningState,
  powerState,
}: ManagedCluster): NotAssessed | undefined {
  switch (provisioningState) {
    case "Creating":
      return { kind: "creating", message: "The cluster is being created.", todo: nothing, passing: true };
    case "Deleting":
      return { kind: "deleting", message: "The cluster is being deleted.", todo: nothing, passing: false };
    case "Starting":
      return { kind: "stopped", message: "The cluster is being started.", todo: nothing, passing: true };
  }
  if (powerState !== "Stopped" && provisioningState !== "Stopping") return undefined;
  const todo = `Nothing, if that is meant; else: az aks start --resource-group ${resourceGroup} --name ${name}`;
  return { kind: "stopped", message: "The cluster is stopped.", todo, passing: false };
}

const nothing = "Nothing: the next scan looks at it.";

/** While ARM works on a cluster it is looked at and not written to. */
export function isAtRest({ provisioningState }: ManagedCluster): boolean {
  return ["Succeeded", "Failed", "Canceled"].includes(provisioningState);
}

/** By the failure of the first thing that was asked. */
export function notAssessedFor(failure: ApiFailure, cluster: ManagedCluster): NotAssessed {
  const kind = kindOf(failure, cluster);
  const { retryAfterSeconds } = failure;
  return {
    kind,
    // Of itself the API server says no more than "Unauthorized".
    message: kind === "unauthorized" ? `The API server refuses fleetmend's token: ${failure.message}` : failure.message,
    todo: todoOf(kind, cluster),
    passing: isPassing(kind, failure),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  };
}

/**
 * Whether to have the message delivered again, a minute later: what passes by itself is over soon, but for what Azure is
 * doing with the cluster, which takes longer than all deliveries together. The next scan looks at it then.
 */
export const isWorthTryingSoon = ({ kind, passing }: NotAssessed): boolean =>
  passing && kind !== "creating" && kind !== "stopped";

type Kind = Extract<
  NotAssessedKind,
  | "no-dns"
  | "no-route"
  | "authorized-ip-ranges"
  | "tls-failed"
  | "unauthorized"
  | "forbidden"
  | "throttled"
  | "unavailable"
>;

function kindOf(failure: ApiFailure, cluster: ManagedCluster): Kind {
  // Something takes the connection and says nothing in it: the way there, as where nobody takes it.
  const cause = failure.cause === "tls" && failure.kind === "timeout" ? "connect" : failure.cause;
  switch (cause) {
    case "dns":
      return "no-dns";
    case "tls":
      return "tls-failed";
    case "connect":
      return cluster.authorizedIpRanges ? "authorized-ip-ranges" : "no-route";
    case undefined:
      break;
  }
  switch (failure.kind) {
    case "unauthorized":
    case "forbidden":
    case "throttled":
      return failure.kind;
    // A request got through, and the answer is not one to rely on: a gateway, a sign-in page, a server that is starting.
    case "not-found":
    case "conflict":
    case "invalid":
    case "server-error":
    case "timeout":
    case "unreachable":
      return "unavailable";
  }
}

/** Names, routes, certificates and rights are changed by people, and last; the rest is over with time. */
function isPassing(kind: Kind, failure: ApiFailure): boolean {
  if (kind === "throttled") return true;
  return kind === "unavailable" && ["server-error", "timeout", "unreachable", "conflict"].includes(failure.kind);
}

function todoOf(kind: Kind, { name, resourceGroup, private: isPrivate }: ManagedCluster): string {
  const ofCluster = `--resource-group ${resourceGroup} --name ${name}`;
  switch (kind) {
    case "no-dns":
      return isPrivate
        ? "Link the cluster's private DNS zone to the virtual network of the Functions app (docs/deploy.md)."
        : `See whether the cluster is still there: az aks show ${ofCluster} --query fqdn`;
    case "no-route":
      return isPrivate
        ? "Peer the virtual network of the Functions app with the cluster's (docs/deploy.md)."
        : `See whether the API server answers at all: az aks get-credentials ${ofCluster} --file - | kubectl --kubeconfig /dev/stdin get --raw /readyz`;
    case "authorized-ip-ranges":
      return `Let the app's outgoing address in: az aks update ${ofCluster} --api-server-authorized-ip-ranges …, with the addresses that are there now and that of its NAT gateway.`;
    case "tls-failed":
      return `See whether something on the way ends TLS. The CA that Azure tells: az aks get-credentials ${ofCluster} --file -`;
    case "unauthorized":
      return "The API server does not know fleetmend's identity: is the cluster of another Microsoft Entra tenant?";
    case "forbidden":
      return "Apply infra/kubernetes/read.yaml, prove.yaml or repair.yaml to the cluster, for fleetmend's identity (docs/rights.md).";
    case "throttled":
    case "unavailable":
      return "Nothing at first: it is tried again. If it lasts, see the cluster's health: az aks show " + ofCluster;
  }
}

/** Where ARM itself gave no answer about one cluster. */
export function notAssessedByArm(failure: DirectoryFailure): NotAssessed {
  const { message, todo, retryAfterSeconds } = failure;
  const rest = { message, todo, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) };
  switch (failure.kind) {
    case "not-found":
      return { kind: "removed", passing: false, ...rest };
    case "forbidden":
      return { kind: "forbidden", passing: false, ...rest };
    case "throttled":
      return { kind: "throttled", passing: true, ...rest };
    case "credentials":
    case "unavailable":
      return { kind: "unavailable", passing: true, ...rest };
  }
}
