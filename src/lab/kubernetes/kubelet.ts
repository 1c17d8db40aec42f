// Runs the lab's pods: each has its own webhook server and its own copy of the mounted Secret, which follows the Secret
// only after a delay, as a kubelet's does. Not here: Pod objects and who creates them (the deployment controller).
import * as v from "valibot";
import { startWebhookServer, webhookPort, type ServingPair, type WebhookServer } from "../kai/webhook-server.ts";
import { resources } from "./resources.ts";
import { secretSchema, type StoredObject } from "./stored-object.ts";
import type { Store } from "./store.ts";

export interface KubeletOptions {
  /** From a change of the Secret to the change of the files in the pod. In life 30 to 100 s. */
  readonly mountRefreshMs: number;
  readonly idleMs: number;
}

export interface PodSpec {
  readonly name: string;
  readonly namespace: string;
  /** Absent: the pod serves no webhook, and is ready at once. */
  readonly secretName: string | undefined;
}

export interface Kubelet {
  /** Mounts the Secret and starts the process. False where there is no Secret or the pair is unusable. */
  run(pod: PodSpec): Promise<boolean>;
  end(name: string): Promise<void>;
  /** The loopback port behind a pod's own; absent where nothing listens. */
  portOf(name: string, containerPort: number): number | undefined;
  /** From now on this pod's files do not change: a kubelet that is stuck. */
  freeze(name: string): void;
  /** Resolves when every pod that is not frozen has the Secret's present files. */
  settled(): Promise<void>;
  stop(): Promise<void>;
}

interface RunningPod extends PodSpec {
  readonly server: WebhookServer;
  isFrozen: boolean;
}

export function createKubelet(store: Store, options: KubeletOptions): Kubelet {
  const running = new Map<string, RunningPod>();
  const pending = new Set<NodeJS.Timeout>();
  const waiting: (() => void)[] = [];

  const mounted = (pod: PodSpec): ServingPair | undefined => {
    if (pod.secretName === undefined) return undefined;
    const key = { resource: resources.secrets, namespace: pod.namespace, name: pod.secretName };
    const secret = store.get(key);
    return secret === undefined ? undefined : pairOf(secret);
  };
  const refresh = (): void => {
    for (const pod of running.values()) {
      const pair = mounted(pod);
      if (!pod.isFrozen && pair !== undefined) pod.server.load(pair);
    }
  };
  store.watch(({ resource }) => {
    if (resource !== resources.secrets) return;
    const due = setTimeout(() => {
      pending.delete(due);
      refresh();
      if (pending.size === 0) for (const tell of waiting.splice(0)) tell();
    }, options.mountRefreshMs);
    pending.add(due);
  });

  return {
    async run(pod) {
      if (pod.secretName === undefined) return true;
      const pair = mounted(pod);
      const server = pair === undefined ? undefined : await startWebhookServer(pair, options.idleMs);
      if (server === undefined) return false;
      running.set(pod.name, { ...pod, server, isFrozen: false });
      return true;
    },
    async end(name) {
      const pod = running.get(name);
      running.delete(name);
      await pod?.server.stop();
    },
    portOf: (name, containerPort) => (containerPort === webhookPort ? running.get(name)?.server.port : undefined),
    freeze(name) {
      const pod = running.get(name);
      if (pod !== undefined) pod.isFrozen = true;
    },
    settled: () =>
      new Promise((resolve) => {
        if (pending.size === 0) resolve();
        else waiting.push(resolve);
      }),
    async stop() {
      for (const timer of pending) clearTimeout(timer);
      await Promise.all([...running.values()].map(({ server }) => server.stop()));
      running.clear();
    },
  };
}

function pairOf(secret: StoredObject): ServingPair {
  const { data } = v.parse(secretSchema, secret);
  const textOf = (key: string): string => Buffer.from(data[key] ?? "", "base64").toString("utf8");
  return { certificates: textOf("tls.crt"), key: textOf("tls.key") };
}
