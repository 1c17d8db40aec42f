// Which capability fleetmend has on a cluster, and what is missing to the next: what collect has learnt of the rights, and
// a SelfSubjectAccessReview for each write that a repair of this cluster might need. Nothing is written.
import { holderPath } from "./assess-case.ts";
import type { ClusterApi } from "./cluster-api.ts";
import type { AccessNeeded } from "./mend-outcome.ts";
import { accessDenied } from "./mend-rights.ts";
import type { ClusterSnapshot } from "./snapshot.ts";

export interface CapabilityAnswer {
  readonly capability: "read" | "prove" | "repair";
  /** What the next capability, or both, would need and is not allowed. */
  readonly missing: readonly AccessNeeded[];
}

/**
 * Asks as many reviews as there are holders, Secrets and Deployments behind the hooks, three for the Lease and Events, and
 * none where there is no hook. `wanted`: what is not wanted is not asked, and is not missing.
 */
export async function askCapability(
  cluster: ClusterApi,
  snapshot: ClusterSnapshot,
  wanted: { readonly capability: "prove" | "repair"; readonly probeNamespace: string },
): Promise<CapabilityAnswer> {
  const toProve = missingToProve(snapshot, wanted.probeNamespace);
  if (snapshot.hooks.length === 0) return { capability: "read", missing: [] };
  const toRepair = wanted.capability === "repair" ? await accessDenied(cluster, accessNeededToRepair(snapshot)) : [];
  const missing = [...toProve, ...toRepair];
  if (toProve.length > 0) return { capability: "read", missing };
  return { capability: wanted.capability === "repair" && toRepair.length === 0 ? "repair" : "prove", missing };
}

/** As collect has asked: nothing is asked again. */
function missingToProve({ backends, capability }: ClusterSnapshot, probeNamespace: string): readonly AccessNeeded[] {
  const namespaces = distinct(backends.map(({ namespace }) => namespace));
  const forward = namespaces.flatMap((namespace) =>
    ["get", "create"].map((verb) => ({ group: "", resource: "pods/portforward", verb, namespace })),
  );
  const secrets = servingSecrets(backends)
    .filter(({ name }) => !capability.secrets.includes(name))
    .map((secret) => ({ group: "", resource: "secrets", verb: "get", ...secret }));
  const pods = { group: "", resource: "pods", verb: "create", namespace: probeNamespace };
  return [...(capability.portForward ? [] : forward), ...secrets, ...(capability.dryRunPods ? [] : [pods])];
}

/** Every write that a step might be, the Lease and the Events. */
function accessNeededToRepair({ hooks, backends }: ClusterSnapshot): readonly AccessNeeded[] {
  const holders = distinct(hooks.map(holderPath)).map((path) => {
    const [resource = "", name = ""] = path.split("/");
    return { group: "admissionregistration.k8s.io", resource, verb: "patch", name };
  });
  const secrets = servingSecrets(backends).map((secret) => ({
    group: "",
    resource: "secrets",
    verb: "patch",
    ...secret,
  }));
  const deployments = backends.flatMap(({ deployment }) =>
    deployment === undefined
      ? []
      : [
          {
            group: "apps",
            resource: "deployments",
            verb: "patch",
            namespace: deployment.namespace,
            name: deployment.name,
          },
        ],
  );
  const leases = distinct(backends.map(({ namespace }) => namespace)).flatMap((namespace) => [
    { group: "coordination.k8s.io", resource: "leases", verb: "create", namespace },
    { group: "coordination.k8s.io", resource: "leases", verb: "update", namespace, name: "fleetmend" },
    { group: "", resource: "events", verb: "create", namespace },
  ]);
  const inDefault = { group: "", resource: "events", verb: "create", namespace: "default" };
  return distinctBy([...holders, ...secrets, ...deployments, ...leases, inDefault]);
}

function servingSecrets(backends: ClusterSnapshot["backends"]): readonly { namespace: string; name: string }[] {
  return distinctBy(
    backends.flatMap(({ namespace, secretName }) =>
      secretName === undefined ? [] : [{ namespace, name: secretName }],
    ),
  );
}

const distinct = (values: readonly string[]): readonly string[] => [...new Set(values)];

function distinctBy<T>(values: readonly T[]): readonly T[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
}
