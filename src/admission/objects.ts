// KAI's own objects by name: which hook of a cluster is KAI's, of which generation and role. Sources: the chart
// (deployments/kai-scheduler/templates) of v0.2.0 to v0.8.5, and pkg/operator/operands/{admission,queue_controller,
// pod_group_controller}/resources.go from v0.9.0 on. Families are told apart in family.ts.
import type { Hook, OwnerReference } from "./snapshot.ts";

/** `helm`: made by the chart, bundles written by hook Jobs. `operator`: made and written by kai-operator. */
export type Generation = "helm" | "operator";

/** What the hook is called for; `other` where only its owner says that it is KAI's. */
export type EntryRole = "pods" | "queues" | "podgroups" | "topologies" | "other";

/** What a hook of KAI is. `fits` is false where only its name or owner says KAI: then no family is claimed for it. */
export interface KaiEntry {
  readonly generation: Generation;
  readonly role: EntryRole;
  readonly fits: boolean;
}

const podPaths = ["/mutate--v1-pod", "/validate--v1-pod"];
const queuePath = "/validate-scheduling-run-ai-v2-queue";
const podgroupPath = "/validate-scheduling-run-ai-v2alpha2-podgroup";
const topologyPath = "/validate-kai-scheduler-v1alpha1-topology";

interface NamedEntry {
  readonly generation: Generation;
  readonly role: EntryRole;
  readonly service: string;
  readonly paths: readonly string[];
}

const namedEntries: Readonly<Record<string, NamedEntry>> = {
  "binder.run.ai": { generation: "helm", role: "pods", service: "binder", paths: podPaths },
  "admission.run.ai": { generation: "helm", role: "pods", service: "kai-admission", paths: podPaths },
  "queues.scheduling.run.ai": { generation: "helm", role: "queues", service: "queuecontroller", paths: [queuePath] },
  "queue-validation.kai.scheduler": {
    generation: "operator",
    role: "queues",
    service: "queue-controller",
    paths: [queuePath],
  },
  "podgroup-validation.kai.scheduler": {
    generation: "operator",
    role: "podgroups",
    service: "podgroup-controller",
    paths: [podgroupPath],
  },
};

/**
 * What the hook is to KAI; undefined where it is not KAI's. The name of the configuration is not asked: from v0.10 it may
 * be any. Entry name, Service and path must agree, else the entry does not fit.
 */
export function kaiEntryOf(hook: Hook): KaiEntry | undefined {
  const named = Object.hasOwn(namedEntries, hook.name) ? namedEntries[hook.name] : undefined;
  if (named !== undefined) {
    const { generation, role, service, paths } = named;
    return { generation, role, fits: hook.service?.name === service && paths.includes(hook.service.path) };
  }
  return operatorPodEntryOf(hook) ?? ownedEntryOf(hook);
}

/** The operator names the entries of its admission Service after the Service's own host (`admission.<namespace>.svc`). */
function operatorPodEntryOf({ name, service, serverName, holder }: Hook): KaiEntry | undefined {
  if (service === undefined) return undefined;
  // `spec.admission.serviceName` of later releases names the Service otherwise: then only the owner can vouch for it.
  if (service.name !== "admission" && !holder.ownerReferences.some(isKaiConfig)) return undefined;
  if (name === serverName && podPaths.includes(service.path)) {
    return { generation: "operator", role: "pods", fits: true };
  }
  if (name === `topology.${serverName}` && service.path === topologyPath) {
    return { generation: "operator", role: "topologies", fits: true };
  }
  return undefined;
}

function ownedEntryOf({ holder }: Hook): KaiEntry | undefined {
  if (!holder.ownerReferences.some(isKaiConfig)) return undefined;
  return { generation: "operator", role: "other", fits: false };
}

/** The cluster-wide object that owns what kai-operator makes; there is one, and it is always called so. */
export const kaiConfigName = "kai-config";

export function isKaiConfig({ apiVersion, kind, name }: OwnerReference): boolean {
  return apiVersion.startsWith("kai.scheduler/") && kind === "Config" && name === kaiConfigName;
}

export const operatorName = "kai-operator";

/** Where KAI is looked for when no hook says it: the namespace of its documentation, and of post-delete Jobs until v0.15. */
export const defaultNamespace = "kai-scheduler";

/** The ServiceAccount of the hook Jobs, itself a hook that is deleted when it succeeded. */
export const hookServiceAccountName = "webhookmanager";

/** Every name that a Job of KAI's helm hooks has had, v0.2.0 to v0.8.5. */
export const hookJobNames: readonly string[] = [
  "pre-install-hook",
  "post-install-hook",
  "binder-pre-install-job",
  "queuecontroller-pre-install-job",
  "kai-admission-pre-install-job",
  "binder-webhook-job",
  "admission-webhook-job",
  "queuecontroller-webhook-job",
];

/** The managers that write `f:caBundle` in each generation, as seen in managedFields. */
export const rightfulWriters: Readonly<Record<Generation, string>> = {
  helm: "webhookmanager",
  operator: "operator",
};
