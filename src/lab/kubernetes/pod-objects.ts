// How the objects look that controllers make of a Deployment: pods, their status, the Deployment's own, and the endpoints
// of its Service. Pure, but for the random part of a pod's name.
import { randomBytes } from "node:crypto";
import * as v from "valibot";
import { secondsOf } from "./managed-fields.ts";
import type { NewObject } from "./store.ts";
import type { StoredObject } from "./stored-object.ts";

/** A Deployment, as far as its pods depend on it. */
export const workloadSchema = v.looseObject({
  metadata: v.looseObject({ name: v.string(), uid: v.string(), generation: v.number() }),
  spec: v.looseObject({
    replicas: v.number(),
    strategy: v.optional(v.looseObject({ type: v.string() })),
    template: v.looseObject({
      metadata: v.looseObject({ labels: v.record(v.string(), v.string()) }),
      spec: v.looseObject({
        containers: v.array(v.looseObject({ name: v.string(), image: v.string() })),
        volumes: v.optional(
          v.array(v.looseObject({ secret: v.optional(v.looseObject({ secretName: v.string() })) })),
          [],
        ),
      }),
    }),
  }),
});

export type Workload = v.InferOutput<typeof workloadSchema>;

/** The Ready condition. */
export function isReady({ status }: StoredObject): boolean {
  const conditions = v.safeParse(
    v.object({ conditions: v.array(v.object({ type: v.string(), status: v.string() })) }),
    status,
  );
  return (
    conditions.success && conditions.output.conditions.some((each) => each.type === "Ready" && each.status === "True")
  );
}

/** A pod that has just been created, and scheduled. */
export function newPod(name: string, { metadata, spec }: Workload, at: Date): StoredObject {
  const hash = randomBytes(5).toString("hex");
  const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: `${name}-${hash}`, controller: true };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: `${name}-${hash}-${randomBytes(3).toString("hex").slice(1)}`,
      generateName: `${name}-${hash}-`,
      labels: { ...spec.template.metadata.labels, "pod-template-hash": hash },
      ownerReferences: [{ ...owner, uid: metadata.uid, blockOwnerDeletion: true }],
    },
    spec: { ...spec.template.spec, nodeName: "node1" },
    status: { phase: "Pending", qosClass: "Burstable", startTime: secondsOf(at) },
  };
}

export interface PodState {
  readonly isReady: boolean;
  readonly ip: string;
  readonly at: Date;
  readonly spec: Workload["spec"]["template"]["spec"];
}

/** A container whose pair cannot be used exits at its start and is started again and again. */
export function podStatus({ isReady: ready, ip, at, spec }: PodState): unknown {
  const time = secondsOf(at);
  const condition = (type: string, isTrue: boolean): unknown => ({
    type,
    status: isTrue ? "True" : "False",
    lastProbeTime: null,
    lastTransitionTime: time,
  });
  const state = ready
    ? { running: { startedAt: time } }
    : { waiting: { reason: "CrashLoopBackOff", message: "back-off 10s restarting failed container" } };
  return {
    phase: "Running",
    conditions: [
      condition("PodScheduled", true),
      condition("Initialized", true),
      condition("ContainersReady", ready),
      condition("Ready", ready),
    ],
    hostIP: "10.240.0.4",
    podIP: ip,
    podIPs: [{ ip }],
    startTime: time,
    containerStatuses: spec.containers.map(({ name, image }) => ({
      name,
      image,
      imageID: "",
      ready,
      started: ready,
      restartCount: ready ? 0 : 1,
      state,
      lastState: {},
    })),
    qosClass: "Burstable",
  };
}

export function deploymentStatus(generation: number, replicas: number, ready: number): unknown {
  const available = ready === replicas ? "True" : "False";
  return {
    observedGeneration: generation,
    replicas,
    updatedReplicas: replicas,
    ...(ready === 0 ? {} : { readyReplicas: ready, availableReplicas: ready }),
    ...(ready === replicas ? {} : { unavailableReplicas: replicas - ready }),
    conditions: [{ type: "Available", status: available }],
  };
}

/** One of the `endpoints` of an EndpointSlice. */
export function endpointOf(pod: StoredObject): unknown {
  const { podIP } = (pod.status ?? {}) as { readonly podIP?: string };
  const ready = isReady(pod);
  const { name, namespace, uid } = pod.metadata;
  return {
    addresses: [podIP ?? "10.244.1.250"],
    conditions: { ready, serving: ready, terminating: false },
    nodeName: "node1",
    targetRef: { kind: "Pod", name, namespace, uid },
  };
}

/** The slice of a Service of KAI's, whose ports are numbers; its endpoints are filled in later. */
export function endpointSlice({ metadata, spec }: StoredObject): NewObject {
  const { ports } = spec as { readonly ports: readonly { readonly name?: string; readonly targetPort: number }[] };
  const { name, uid, labels } = metadata;
  return {
    metadata: {
      name: `${name}-274l2`,
      generateName: `${name}-`,
      labels: {
        ...labels,
        "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
        "kubernetes.io/service-name": name,
      },
      ownerReferences: [{ apiVersion: "v1", blockOwnerDeletion: true, controller: true, kind: "Service", name, uid }],
    },
    addressType: "IPv4",
    endpoints: [],
    ports: ports
      .map(({ name: port, targetPort }) => ({ ...(port && { name: port }), port: targetPort, protocol: "TCP" }))
      .toSorted((one, other) => one.port - other.port),
  };
}
