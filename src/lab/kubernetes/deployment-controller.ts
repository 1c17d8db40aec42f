// What kube-controller-manager and the scheduler do for the lab's Deployments: pods, endpoint slices and status. With
// strategy Recreate the old pods end before the new ones begin, and nothing serves meanwhile; else the new ones come first.
// Not here: ReplicaSet objects, which nobody reads, and how the pods' objects look (pod-objects.ts).
import * as v from "valibot";
import type { Kubelet } from "./kubelet.ts";
import type { Writer } from "./managed-fields.ts";
import {
  deploymentStatus,
  endpointOf,
  endpointSlice,
  isReady,
  newPod,
  podStatus,
  workloadSchema,
} from "./pod-objects.ts";
import type { Workload } from "./pod-objects.ts";
import { resources, type Resource } from "./resources.ts";
import type { Store } from "./store.ts";
import type { StoredObject } from "./stored-object.ts";

export interface ControllerOptions {
  /** From the creation of a pod to its readiness. */
  readonly podStartMs: number;
  readonly now: () => Date;
}

export interface DeploymentController {
  /** Replaces the pods of a Deployment that is in the store; resolves when the new ones are ready, or have failed. */
  rollOut(name: string): Promise<void>;
  /** Resolves when every Deployment has the pods that it asks for, ready or failed. */
  settled(): Promise<void>;
  stop(): void;
}

/** The controller of one namespace. It reacts to a new Deployment, a changed pod template and a changed number by itself. */
export function createDeploymentController(
  store: Store,
  kubelet: Kubelet,
  namespace: string,
  options: ControllerOptions,
): DeploymentController {
  const writer = (): Writer => ({ manager: "kube-controller-manager", at: options.now() });
  const key = (resource: Resource, name: string) => ({ resource, namespace, name });
  const stopped = new AbortController();
  /** What the pods of a Deployment were made from. */
  const rolled = new Map<string, string>();
  /** One piece of work after another for each Deployment. */
  const work = new Map<string, Promise<void>>();

  const read = (name: string): Workload => v.parse(workloadSchema, store.get(key(resources.deployments, name)));
  const podsOf = (name: string): readonly StoredObject[] =>
    store.list(resources.pods, namespace).filter(({ metadata }) => metadata.labels?.app === name);

  const report = (name: string): void => {
    const pods = podsOf(name);
    const { metadata, spec } = read(name);
    const status = deploymentStatus(metadata.generation, spec.replicas, pods.filter(isReady).length);
    store.update(key(resources.deployments, name), (present) => ({ ...present, status }), writer());
    const service = store.get(key(resources.services, name));
    if (service === undefined) return;
    const slice = endpointSlice(service);
    const sliceKey = key(resources.endpointSlices, slice.metadata.name);
    if (store.get(sliceKey) === undefined) store.create(sliceKey, slice, writer());
    const endpoints = pods.map((pod) => endpointOf(pod));
    store.update(sliceKey, (present) => ({ ...present, endpoints }), writer());
  };

  const startPod = async (name: string, workload: Workload, index: number): Promise<boolean> => {
    const pod = newPod(name, workload, options.now());
    const { spec } = workload.spec.template;
    store.create(key(resources.pods, pod.metadata.name), pod, writer());
    const [secretName] = spec.volumes.flatMap(({ secret }) => secret?.secretName ?? []);
    const isRunning = await kubelet.run({ name: pod.metadata.name, namespace, secretName });
    await pause(options.podStartMs, stopped.signal);
    if (stopped.signal.aborted) return false;
    const status = podStatus({ isReady: isRunning, ip: `10.244.1.${11 + index}`, at: options.now(), spec });
    store.update(key(resources.pods, pod.metadata.name), (present) => ({ ...present, status }), writer());
    report(name);
    return isRunning;
  };
  const startPods = async (name: string, workload: Workload, from: number): Promise<boolean> => {
    const count = Math.max(0, workload.spec.replicas - from);
    const started = Array.from({ length: count }, (_, index) => startPod(name, workload, from + index));
    return (await Promise.all(started)).every((isRunning) => isRunning);
  };
  const endPods = async (name: string, pods: readonly StoredObject[]): Promise<void> => {
    for (const { metadata } of pods) store.remove(key(resources.pods, metadata.name));
    report(name);
    await Promise.all(pods.map(({ metadata }) => kubelet.end(metadata.name)));
  };

  const replacePods = async (name: string): Promise<void> => {
    const workload = read(name);
    rolled.set(name, JSON.stringify(workload.spec.template));
    const old = podsOf(name);
    const isRecreate = workload.spec.strategy?.type === "Recreate";
    if (isRecreate) await endPods(name, old);
    // maxUnavailable 25 % of a single pod is none: an old one stays until a new one is ready.
    const areRunning = await startPods(name, workload, 0);
    if (!isRecreate && areRunning) await endPods(name, old);
  };
  const reconcile = async (name: string): Promise<void> => {
    if (stopped.signal.aborted) return;
    const workload = read(name);
    if (JSON.stringify(workload.spec.template) !== rolled.get(name)) return replacePods(name);
    const present = podsOf(name);
    const surplus = present.slice(workload.spec.replicas);
    if (surplus.length > 0) await endPods(name, surplus);
    else await startPods(name, workload, present.length);
  };
  const enqueue = (name: string, task: (name: string) => Promise<void>): Promise<void> => {
    const next = (work.get(name) ?? Promise.resolve()).then(() => task(name));
    work.set(name, next);
    return next;
  };

  store.watch((changed) => {
    if (changed.resource === resources.deployments && changed.namespace === namespace) {
      void enqueue(changed.name, reconcile);
    }
  });
  return {
    rollOut: (name) => enqueue(name, replacePods),
    async settled() {
      // Work may add work; settled is what has none left to add.
      let known: readonly Promise<void>[] = [];
      for (;;) {
        const present = [...work.values()];
        if (present.length === known.length && present.every((one, index) => one === known[index])) return;
        await Promise.all(present);
        known = present;
      }
    },
    stop() {
      stopped.abort();
    },
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
