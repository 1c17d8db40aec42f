// What kube-controller-manager and the scheduler do for the lab's Deployments: pods, endpoint slices and status. Strategy
// Recreate only, as KAI's webhook Deployments have it: the old pods end before the new ones begin, and nothing serves
// meanwhile. Not here: ReplicaSet objects, which nobody reads.
import { randomBytes } from "node:crypto";
import * as v from "valibot";
import type { Kubelet } from "./kubelet.ts";
import { secondsOf, type Writer } from "./managed-fields.ts";
import { resources, type Resource } from "./resources.ts";
import type { Store } from "./store.ts";
import type { StoredObject } from "./stored-object.ts";

export interface ControllerOptions {
  /** From the creation of a pod to its readiness. */
  readonly podStartMs: number;
  readonly now: () => Date;
}

export interface DeploymentController {
  /** Makes the pods of a Deployment that is in the store; resolves when they are ready, or have failed. */
  rollOut(name: string): Promise<void>;
  stop(): void;
}

const workloadSchema = v.looseObject({
  metadata: v.looseObject({ name: v.string(), uid: v.string(), generation: v.number() }),
  spec: v.looseObject({
    replicas: v.number(),
    template: v.looseObject({
      metadata: v.looseObject({ labels: v.record(v.string(), v.string()) }),
      spec: v.looseObject({
        containers: v.array(v.looseObject({ name: v.string(), image: v.string() })),
        volumes: v.array(v.looseObject({ secret: v.object({ secretName: v.string(), defaultMode: v.number() }) })),
      }),
    }),
  }),
});

type Workload = v.InferOutput<typeof workloadSchema>;

/** The controller of one namespace. It reacts to a changed pod template by itself. */
export function createDeploymentController(
  store: Store,
  kubelet: Kubelet,
  namespace: string,
  options: ControllerOptions,
): DeploymentController {
  const writer = (): Writer => ({ manager: "kube-controller-manager", at: options.now() });
  const key = (resource: Resource, name: string) => ({ resource, namespace, name });
  const stopped = new AbortController();
  const rolled = new Map<string, string>();

  const read = (name: string): Workload => v.parse(workloadSchema, store.get(key(resources.deployments, name)));
  const podsOf = (name: string): readonly StoredObject[] =>
    store.list(resources.pods, namespace).filter(({ metadata }) => metadata.labels?.app === name);

  const report = (name: string): void => {
    const pods = podsOf(name);
    const { metadata, spec } = read(name);
    const status = deploymentStatus(metadata.generation, spec.replicas, pods.filter(isReady).length);
    store.update(key(resources.deployments, name), (present) => ({ ...present, status }), writer());
    const endpoints = pods.map((pod) => endpointOf(pod));
    store.update(key(resources.endpointSlices, `${name}-274l2`), (present) => ({ ...present, endpoints }), writer());
  };

  const startPod = async (name: string, workload: Workload, index: number): Promise<void> => {
    const pod = newPod(name, workload, options.now());
    const spec = workload.spec.template.spec;
    const secretName = spec.volumes[0]?.secret.secretName ?? "";
    store.create(key(resources.pods, pod.metadata.name), pod, writer());
    const isRunning = await kubelet.run({ name: pod.metadata.name, namespace, secretName });
    await pause(options.podStartMs, stopped.signal);
    if (stopped.signal.aborted) return;
    const status = podStatus({ isReady: isRunning, ip: `10.244.1.${String(11 + index)}`, at: options.now(), spec });
    store.update(key(resources.pods, pod.metadata.name), (present) => ({ ...present, status }), writer());
    report(name);
  };

  const controller: DeploymentController = {
    async rollOut(name) {
      const workload = read(name);
      rolled.set(name, JSON.stringify(workload.spec.template));
      const old = podsOf(name);
      for (const { metadata } of old) store.remove(key(resources.pods, metadata.name));
      report(name);
      await Promise.all(old.map(({ metadata }) => kubelet.end(metadata.name)));
      await Promise.all(Array.from({ length: workload.spec.replicas }, (_, index) => startPod(name, workload, index)));
    },
    stop() {
      stopped.abort();
    },
  };
  store.watch((changed) => {
    if (changed.resource !== resources.deployments || !rolled.has(changed.name)) return;
    const template = JSON.stringify(read(changed.name).spec.template);
    if (template !== rolled.get(changed.name)) void controller.rollOut(changed.name);
  });
  return controller;
}

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

function newPod(name: string, { metadata, spec }: Workload, at: Date): StoredObject {
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

interface PodState {
  readonly isReady: boolean;
  readonly ip: string;
  readonly at: Date;
  readonly spec: Workload["spec"]["template"]["spec"];
}

/** A container whose pair cannot be used exits at its start and is started again and again. */
function podStatus({ isReady: ready, ip, at, spec }: PodState): unknown {
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

function deploymentStatus(generation: number, replicas: number, ready: number): unknown {
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

function endpointOf(pod: StoredObject): unknown {
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

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
