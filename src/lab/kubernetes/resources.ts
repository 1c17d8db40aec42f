// The resources that the lab's API server has, and how a path names one. What is not in this table is answered with
// "the lab does not have this", so that a gap is seen at once.
import type { GenericSchema } from "valibot";
import {
  deploymentSchema,
  leaseSchema,
  podSchema,
  secretSchema,
  storedObjectSchema,
  webhookConfigurationSchema,
} from "./stored-object.ts";

export interface ResourceName {
  /** Empty for the core group. */
  readonly group: string;
  readonly plural: string;
}

export type Verb = "get" | "list" | "create" | "update" | "patch";

export interface Resource extends ResourceName {
  readonly version: string;
  readonly kind: string;
  readonly namespaced: boolean;
  /** What fleetmend does with it. */
  readonly verbs: readonly Verb[];
  /** The field whose change counts `metadata.generation` up; absent where the kind has no generation. */
  readonly generationOf?: string;
  /** What a write must look like. */
  readonly schema: GenericSchema;
}

const holders = { group: "admissionregistration.k8s.io", version: "v1", namespaced: false, generationOf: "webhooks" };
const core = { group: "", version: "v1", namespaced: true, schema: storedObjectSchema };

export const resources = {
  mutatingWebhookConfigurations: {
    ...holders,
    plural: "mutatingwebhookconfigurations",
    kind: "MutatingWebhookConfiguration",
    verbs: ["get", "list", "patch"],
    schema: webhookConfigurationSchema,
  },
  validatingWebhookConfigurations: {
    ...holders,
    plural: "validatingwebhookconfigurations",
    kind: "ValidatingWebhookConfiguration",
    verbs: ["get", "list", "patch"],
    schema: webhookConfigurationSchema,
  },
  namespaces: { ...core, plural: "namespaces", kind: "Namespace", namespaced: false, verbs: ["get"] },
  services: { ...core, plural: "services", kind: "Service", verbs: ["get", "list"] },
  pods: { ...core, plural: "pods", kind: "Pod", verbs: ["get", "list", "create"], schema: podSchema },
  secrets: { ...core, plural: "secrets", kind: "Secret", verbs: ["get", "patch"], schema: secretSchema },
  // Never read back: for people with kubectl.
  events: { ...core, plural: "events", kind: "Event", verbs: ["list", "create"] },
  serviceAccounts: { ...core, plural: "serviceaccounts", kind: "ServiceAccount", verbs: ["get"] },
  endpointSlices: {
    ...core,
    group: "discovery.k8s.io",
    plural: "endpointslices",
    kind: "EndpointSlice",
    verbs: ["list"],
  },
  deployments: {
    ...core,
    group: "apps",
    plural: "deployments",
    kind: "Deployment",
    verbs: ["get", "list", "patch"],
    generationOf: "spec",
    schema: deploymentSchema,
  },
  jobs: { ...core, group: "batch", plural: "jobs", kind: "Job", verbs: ["list"] },
  /** KAI's `kai-config`, in the operator's families. */
  configs: {
    ...core,
    group: "kai.scheduler",
    plural: "configs",
    kind: "Config",
    namespaced: false,
    verbs: ["get"],
    generationOf: "spec",
  },
  leases: {
    ...core,
    group: "coordination.k8s.io",
    plural: "leases",
    kind: "Lease",
    verbs: ["get", "create", "update"],
    schema: leaseSchema,
  },
} as const satisfies Record<string, Resource>;

const table: readonly Resource[] = Object.values(resources);

/** `v1`, or `apps/v1`. */
export function apiVersionOf({ group, version }: Resource): string {
  return group === "" ? version : `${group}/${version}`;
}

export interface Target {
  readonly resource: Resource;
  readonly namespace: string;
  readonly name: string;
  readonly subresource: string;
}

/** The object or collection that an API path names; undefined where the lab has no such resource. */
export function parsePath(path: string): Target | undefined {
  const [root, ...rest] = path.split("/").slice(1).map(decodeURIComponent);
  if (root !== "api" && root !== "apis") return undefined;
  const [group = "", version, ...parts] = root === "api" ? ["", ...rest] : rest;
  // `/api/v1/namespaces/x` is an object, `/api/v1/namespaces/x/pods` a collection in it.
  const [namespace = "", ...names] = parts[0] === "namespaces" && parts.length > 2 ? parts.slice(1) : ["", ...parts];
  const [plural, name = "", subresource = "", ...more] = names;
  const resource = table.find((each) => each.group === group && each.version === version && each.plural === plural);
  if (resource === undefined || more.length > 0) return undefined;
  // A collection across all namespaces can be listed; one object needs its namespace.
  if (!resource.namespaced && namespace !== "") return undefined;
  if (resource.namespaced && namespace === "" && name !== "") return undefined;
  return { resource, namespace, name, subresource };
}
