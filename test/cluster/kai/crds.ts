// Minimal CustomResourceDefinitions of our own: the names and scopes of KAI's and the GPU Operator's, without schemas.
import { createIfMissing, removeIfThere, type Api } from "../api.ts";
import type { KubeObject } from "../../../src/lab/kai/kube-object.ts";
import { until } from "../until.ts";

interface Definition {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly scope: "Cluster" | "Namespaced";
}

const kai: readonly Definition[] = [
  { group: "kai.scheduler", version: "v1", kind: "Config", plural: "configs", scope: "Cluster" },
  { group: "kai.scheduler", version: "v1", kind: "SchedulingShard", plural: "schedulingshards", scope: "Cluster" },
  { group: "kai.scheduler", version: "v1alpha1", kind: "Topology", plural: "topologies", scope: "Cluster" },
  { group: "scheduling.run.ai", version: "v2", kind: "Queue", plural: "queues", scope: "Cluster" },
  { group: "scheduling.run.ai", version: "v2alpha2", kind: "PodGroup", plural: "podgroups", scope: "Namespaced" },
];

const clusterPolicy: Definition = {
  group: "nvidia.com",
  version: "v1",
  kind: "ClusterPolicy",
  plural: "clusterpolicies",
  scope: "Cluster",
};

const collection = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const nameOf = ({ plural, group }: Definition): string => `${plural}.${group}`;

/** KAI's definitions. They stay for the life of the cluster: the garbage collector takes half a minute to learn new kinds. */
export async function installKaiDefinitions(admin: Api): Promise<void> {
  await Promise.all(kai.map((definition) => install(admin, definition)));
}

/** The GPU Operator's ClusterPolicy, which the operators of v0.9, v0.10 and v0.20.1 need. */
export const installClusterPolicy = (admin: Api): Promise<void> => install(admin, clusterPolicy);

export async function removeClusterPolicy(admin: Api): Promise<void> {
  const path = `${collection}/${nameOf(clusterPolicy)}`;
  await removeIfThere(admin, path);
  await until("the ClusterPolicy definition is gone", async () => (await admin.request("GET", path)).status === 404);
}

/** Whether there is a ClusterPolicy definition, as the asking user sees it. */
export async function hasClusterPolicy(api: Api): Promise<boolean> {
  return (await api.request("GET", `${collection}/${nameOf(clusterPolicy)}`)).status === 200;
}

async function install(admin: Api, definition: Definition): Promise<void> {
  const { group, version, kind, plural, scope } = definition;
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  await createIfMissing(admin, collection, {
    metadata: { name: nameOf(definition) },
    spec: {
      group,
      scope,
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [{ name: version, served: true, storage: true, subresources: { status: {} }, schema }],
    },
  });
  await until(`${nameOf(definition)} is served`, async () => {
    const { status } = await admin.get<Established>(`${collection}/${nameOf(definition)}`);
    return (status?.conditions ?? []).some(({ type, status: holds }) => type === "Established" && holds === "True");
  });
}

interface Established extends KubeObject {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}
