// Reads what stands behind a hook: Services, EndpointSlices, pods, Deployments, hook Jobs. Only the fields that are used.
import * as v from "valibot";
import type { Result } from "../result.ts";
import { failure, success } from "../result.ts";
import { count, listOf, metadata, ownersOf, parseWith, stringMap, text, timeOf } from "./parse-object.ts";
import type { DeploymentState, Leftover } from "./snapshot.ts";

/** Where a serving pod of KAI has its pair: the default of controller-runtime's webhook server (pkg/webhook/server.go, CertDir). */
export const servingCertificatesPath = "/tmp/k8s-webhook-server/serving-certs";

const portNumberOrName = v.nullish(v.union([v.number(), v.string()]));

export interface ServiceState {
  readonly name: string;
  readonly type: "ClusterIP" | "Headless" | "ExternalName";
  /** Empty where the Service has none: its endpoints are then made by somebody else. */
  readonly selector: Readonly<Record<string, string>>;
  readonly ports: readonly { readonly name: string; readonly port: number; readonly targetPort: number | string }[];
}

const service = v.object({
  metadata,
  spec: v.nullish(
    v.object({
      type: v.nullish(v.string(), "ClusterIP"),
      clusterIP: text,
      selector: stringMap,
      ports: listOf(v.object({ name: text, port: v.number(), targetPort: portNumberOrName })),
    }),
    {},
  ),
});

export function parseService(object: unknown): Result<ServiceState, string> {
  const parsed = parseWith(service, object);
  if (!parsed.ok) return parsed;
  const { type, clusterIP, selector, ports } = parsed.value.spec;
  return success({
    name: parsed.value.metadata.name,
    type: type === "ExternalName" ? "ExternalName" : clusterIP === "None" ? "Headless" : "ClusterIP",
    selector,
    ports: ports.map(({ name, port, targetPort }) => ({ name, port, targetPort: targetPort ?? port })),
  });
}

export interface SliceState {
  readonly service: string;
  /** The numbers that the Service's target ports resolve to, for every endpoint of this slice. */
  readonly ports: readonly { readonly name: string; readonly port: number }[];
  readonly endpoints: readonly {
    readonly ready: boolean;
    readonly addresses: readonly string[];
    /** Absent where the endpoint is no pod. */
    readonly pod?: { readonly name: string; readonly uid: string };
  }[];
}

const slice = v.object({
  metadata,
  ports: listOf(v.object({ name: text, port: v.nullish(v.number()) })),
  endpoints: listOf(
    v.object({
      addresses: listOf(v.string()),
      conditions: v.nullish(v.object({ ready: v.nullish(v.boolean(), true) }), {}),
      targetRef: v.nullish(v.object({ kind: text, name: text, uid: text })),
    }),
  ),
});

/** A condition `ready` that is left out counts as true (https://kubernetes.io/docs/concepts/services-networking/endpoint-slices/#ready). */
export function parseSlice(object: unknown): Result<SliceState, string> {
  const parsed = parseWith(slice, object);
  if (!parsed.ok) return parsed;
  return success({
    service: parsed.value.metadata.labels["kubernetes.io/service-name"] ?? "",
    ports: parsed.value.ports.flatMap(({ name, port }) => (typeof port === "number" ? [{ name, port }] : [])),
    endpoints: parsed.value.endpoints.map(({ addresses, conditions, targetRef }) => ({
      ready: conditions.ready,
      addresses,
      ...(targetRef?.kind === "Pod" && { pod: { name: targetRef.name, uid: targetRef.uid } }),
    })),
  });
}

const podSpec = v.nullish(
  v.object({
    containers: listOf(
      v.object({
        image: text,
        ports: listOf(v.object({ name: text, containerPort: v.number() })),
        volumeMounts: listOf(v.object({ name: text, mountPath: text })),
        readinessProbe: v.nullish(v.looseObject({})),
      }),
    ),
    volumes: listOf(
      v.object({
        name: text,
        secret: v.nullish(v.object({ secretName: text })),
        projected: v.nullish(v.object({ sources: listOf(v.object({ secret: v.nullish(v.object({ name: text })) })) })),
      }),
    ),
  }),
  {},
);
type PodSpec = v.InferOutput<typeof podSpec>;

/** The Secret behind the mount at the serving-certs path; undefined where nothing is mounted there, or no Secret. */
function servingSecretNameOf({ containers, volumes }: PodSpec): string | undefined {
  const mounted = containers
    .flatMap(({ volumeMounts }) => volumeMounts)
    .find(({ mountPath }) => mountPath.replace(/\/+$/, "") === servingCertificatesPath);
  const volume = volumes.find(({ name }) => name === mounted?.name);
  const projected = volume?.projected?.sources.find((source) => source.secret)?.secret?.name;
  const name = volume?.secret?.secretName ?? projected ?? "";
  return name === "" ? undefined : name;
}

export interface PodState {
  readonly name: string;
  readonly uid: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly deleting: boolean;
  /** It has run to its end, or was evicted, and will never serve again. */
  readonly ended: boolean;
  readonly startedAt?: Date;
  readonly namedPorts: Readonly<Record<string, number>>;
  readonly secretName?: string;
}

const pod = v.object({ metadata, spec: podSpec, status: v.nullish(v.object({ startTime: text, phase: text }), {}) });

export function parsePod(object: unknown): Result<PodState, string> {
  const parsed = parseWith(pod, object);
  if (!parsed.ok) return parsed;
  const { metadata: meta, spec, status } = parsed.value;
  const startedAt = timeOf(status.startTime);
  const secretName = servingSecretNameOf(spec);
  const ports = spec.containers.flatMap((container) => container.ports).filter(({ name }) => name !== "");
  return success({
    name: meta.name,
    uid: meta.uid,
    labels: meta.labels,
    deleting: meta.deletionTimestamp !== "",
    ended: status.phase === "Failed" || status.phase === "Succeeded",
    namedPorts: Object.fromEntries(ports.map(({ name, containerPort }) => [name, containerPort])),
    ...(startedAt && { startedAt }),
    ...(secretName !== undefined && { secretName }),
  });
}

/** A Deployment, and the labels that its pods get: they say which Services select them. */
export interface ParsedDeployment {
  readonly state: DeploymentState;
  readonly podLabels: Readonly<Record<string, string>>;
}

const share = v.nullish(v.union([v.number(), v.string()]), "25%");

const deployment = v.object({
  metadata,
  spec: v.nullish(
    v.object({
      replicas: v.nullish(v.number(), 1),
      strategy: v.nullish(
        v.object({
          type: v.nullish(v.string(), "RollingUpdate"),
          rollingUpdate: v.nullish(v.object({ maxUnavailable: share, maxSurge: share }), {}),
        }),
        {},
      ),
      template: v.nullish(
        v.object({ metadata: v.nullish(v.object({ labels: stringMap, annotations: stringMap }), {}), spec: podSpec }),
        {},
      ),
    }),
    {},
  ),
  status: v.nullish(
    v.object({
      readyReplicas: count,
      updatedReplicas: count,
      observedGeneration: count,
      conditions: listOf(v.object({ type: text, status: text, lastTransitionTime: text })),
    }),
    {},
  ),
});

export function parseDeployment(object: unknown): Result<ParsedDeployment, string> {
  const parsed = parseWith(deployment, object);
  if (!parsed.ok) return parsed;
  const { metadata: meta, spec, status } = parsed.value;
  const { metadata: podMetadata, spec: podTemplate } = spec.template;
  const restartedAt = podMetadata.annotations["kubectl.kubernetes.io/restartedAt"];
  const servingSecretName = servingSecretNameOf(podTemplate);
  const available = status.conditions.find(({ type, status: is }) => type === "Available" && is === "True");
  const availableSince = timeOf(available?.lastTransitionTime ?? "");
  const state: DeploymentState = {
    namespace: meta.namespace,
    name: meta.name,
    uid: meta.uid,
    strategy: spec.strategy.type === "Recreate" ? "Recreate" : "RollingUpdate",
    keepsServing: keepsServing(spec),
    replicas: spec.replicas,
    readyReplicas: status.readyReplicas,
    updatedReplicas: status.updatedReplicas,
    observedGeneration: status.observedGeneration,
    generation: meta.generation,
    images: podTemplate.containers.map(({ image }) => image),
    labels: meta.labels,
    annotations: meta.annotations,
    ownerReferences: ownersOf(meta),
    ...(restartedAt !== undefined && { restartedAt }),
    ...(availableSince && { availableSince }),
    ...(servingSecretName !== undefined && { servingSecretName }),
  };
  return success({ state, podLabels: podMetadata.labels });
}

/**
 * Whether a rollout leaves a pod serving at every moment. Shares are resolved as the deployment controller does: percentages
 * of what may be missing are rounded down, and one pod may always be missing where none may be added
 * (pkg/controller/deployment/util/deployment_util.go, ResolveFenceposts).
 */
function keepsServing({ replicas, strategy, template }: v.InferOutput<typeof deployment>["spec"]): boolean {
  const { maxUnavailable, maxSurge } = strategy.rollingUpdate;
  const mayBeMissing =
    typeof maxUnavailable === "number"
      ? maxUnavailable
      : Math.floor((replicas * Number.parseInt(maxUnavailable, 10)) / 100);
  const mayBeAdded = typeof maxSurge === "number" ? maxSurge : Number.parseInt(maxSurge, 10);
  const unavailable = Math.max(mayBeMissing, mayBeAdded > 0 ? 0 : 1);
  const isProbed = template.spec.containers.every(({ readinessProbe }) => isObject(readinessProbe));
  return strategy.type !== "Recreate" && unavailable < replicas && isProbed;
}

const isObject = (value: unknown): boolean => typeof value === "object" && value !== null;

const job = v.object({
  metadata,
  status: v.nullish(v.object({ conditions: listOf(v.object({ type: text, status: text })) }), {}),
});

export function parseJob(object: unknown): Result<Leftover, string> {
  const parsed = parseWith(job, object);
  if (!parsed.ok) return failure(parsed.error);
  const { metadata: meta, status } = parsed.value;
  const has = (type: string) => status.conditions.some((one) => one.type === type && one.status === "True");
  const state = has("Failed") ? "failed" : has("Complete") ? "complete" : "running";
  return success({ kind: "Job", namespace: meta.namespace, name: meta.name, state });
}
