// Everything that a kubelet does but port-forward: binds pods to the one node (there is no scheduler), mounts their
// Secrets and refreshes the mounts with a delay, starts their processes, reports their status, ends them. Containers are
// functions of this process; pods that no program is known for just run.
import { setTimeout as sleep } from "node:timers/promises";
import { ApiError, isFromServer, type Api } from "./api.ts";
import type { PodAddress, PodServer } from "./egress.ts";
import { keyOf, type Pod, type Secret } from "../../src/lab/kai/kube-object.ts";
import { now, statusOf, type Reported } from "./pod-status.ts";
import { watch } from "./watch.ts";

/** The data of the mounted Secrets by the Secret's name, as at the last refresh. */
export type Mounts = ReadonlyMap<string, ReadonlyMap<string, Uint8Array>>;

/** A container's process. */
export interface Process {
  /** By container port. */
  readonly servers?: ReadonlyMap<number, PodServer>;
  /** The kubelet has refreshed the mounts. */
  refreshed?(mounts: Mounts): void;
  /** Resolves when the process ends by itself, with success. */
  readonly done?: Promise<void>;
  stop?(): void;
}

/** Starts the process of a pod. A throw is a crash: the pod loops, not ready, until a refreshed mount lets it start. */
export type Program = (pod: Pod, mounts: Mounts) => Process;

export interface KubeletSettings {
  /** From a Secret's change to the changed files in the pod. In life 30 to 100 seconds (kubelet's sync period and cache). */
  readonly mountRefreshMs: number;
  /** From the process's start to Ready. In life some seconds: readiness probes have a delay and a period. */
  readonly readyDelayMs: number;
}

export interface Kubelet {
  readonly listener: (address: PodAddress) => PodServer | undefined;
  readonly podOfIp: (ip: string) => { namespace: string; pod: string } | undefined;
  readonly pods: ReadonlyMap<string, Pod>;
  /** Holds a pod (`namespace/name`) at not ready, or lets it be ready again. */
  setReady(pod: string, ready: boolean): Promise<void>;
  /** Stops refreshing the mounts of a pod: it goes on serving what it has, whatever becomes of the Secret. */
  freezeMounts(pod: string): void;
  stop(): void;
}

export const nodeName = "node1";

/** Creates the Node object, through which the API server finds the port-forward server, and follows the pods. */
export async function startKubelet(
  api: Api,
  port: number,
  { settings, program }: { readonly settings: KubeletSettings; readonly program: (pod: Pod) => Program },
): Promise<Kubelet> {
  await registerNode(api, port);
  const sandboxes = new Map<string, Sandbox>();
  const context: Context = { api, settings, program, sandboxes, nextIp: 1, stopped: false };
  const secrets = await watch<Secret>(api, "/api/v1/secrets", (secret) => {
    onSecret(context, secret);
  });
  const pods = await watch<Pod>(api, "/api/v1/pods", (pod, change) => {
    onPod(context, pod, change);
  });
  return {
    pods: pods.objects,
    listener: ({ namespace, pod, port: podPort }) =>
      sandboxes.get(`${namespace}/${pod}`)?.process?.servers?.get(podPort),
    podOfIp: (ip) => {
      const sandbox = [...sandboxes.values()].find((candidate) => candidate.ip === ip);
      return sandbox && { namespace: sandbox.pod.metadata.namespace ?? "", pod: sandbox.pod.metadata.name };
    },
    setReady: async (key, ready) => {
      const sandbox = sandboxOf(sandboxes, key);
      sandbox.heldNotReady = !ready;
      await reportStatus(context, sandbox);
    },
    freezeMounts: (key) => {
      sandboxOf(sandboxes, key).mountsFrozen = true;
    },
    stop: () => {
      context.stopped = true;
      pods.stop();
      secrets.stop();
      for (const sandbox of sandboxes.values()) end(sandbox);
      sandboxes.clear();
    },
  };
}

interface Context {
  readonly api: Api;
  readonly settings: KubeletSettings;
  readonly program: (pod: Pod) => Program;
  readonly sandboxes: Map<string, Sandbox>;
  nextIp: number;
  stopped: boolean;
}

/** What the node knows of one pod. */
interface Sandbox extends Reported {
  process: Process | undefined;
  mountsFrozen: boolean;
}

function sandboxOf(sandboxes: ReadonlyMap<string, Sandbox>, key: string): Sandbox {
  const sandbox = sandboxes.get(key);
  if (sandbox === undefined) throw new Error(`no pod ${key} on this node: ${[...sandboxes.keys()].join(", ")}`);
  return sandbox;
}

async function registerNode(api: Api, port: number): Promise<void> {
  const known = await api.request("GET", `/api/v1/nodes/${nodeName}`);
  if (known.status === 404) await api.create("/api/v1/nodes", { metadata: { name: nodeName } });
  await api.merge(`/api/v1/nodes/${nodeName}/status`, {
    status: {
      addresses: [{ type: "InternalIP", address: "127.0.0.1" }],
      conditions: [{ type: "Ready", status: "True", reason: "KubeletReady" }],
      daemonEndpoints: { kubeletEndpoint: { Port: port } },
    },
  });
}

function onPod(context: Context, pod: Pod, change: "set" | "deleted"): void {
  const key = keyOf(pod);
  const known = context.sandboxes.get(key);
  const isOurs = known?.pod.metadata.uid === pod.metadata.uid;
  if (change === "deleted") {
    if (known && isOurs) forget(context, known);
    return;
  }
  if (pod.metadata.deletionTimestamp !== undefined) {
    if (known && isOurs) forget(context, known);
    inBackground(context, () => removePod(context.api, pod));
    return;
  }
  if (pod.spec.nodeName === undefined) {
    inBackground(context, () => bind(context.api, pod));
    return;
  }
  if (isOurs || pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed") return;
  if (known) forget(context, known);
  const sandbox = newSandbox(context, pod);
  context.sandboxes.set(key, sandbox);
  inBackground(context, () => start(context, sandbox));
}

function newSandbox(context: Context, pod: Pod): Sandbox {
  const number = context.nextIp++;
  return {
    pod,
    ip: `10.244.${1 + (number >> 8)}.${number & 255}`,
    startedAt: now(),
    process: undefined,
    phase: "waiting",
    ready: false,
    restarts: 0,
    heldNotReady: false,
    mountsFrozen: false,
  };
}

function forget(context: Context, sandbox: Sandbox): void {
  end(sandbox);
  context.sandboxes.delete(keyOf(sandbox.pod));
}

function end(sandbox: Sandbox): void {
  sandbox.phase = "ended";
  sandbox.process?.stop?.();
  sandbox.process = undefined;
}

const isEnded = ({ phase }: Sandbox): boolean => phase === "ended";

const podPath = ({ metadata }: Pod): string => `/api/v1/namespaces/${metadata.namespace ?? ""}/pods/${metadata.name}`;

async function bind(api: Api, pod: Pod): Promise<void> {
  await api.create(`${podPath(pod)}/binding`, {
    apiVersion: "v1",
    kind: "Binding",
    metadata: { name: pod.metadata.name },
    target: { apiVersion: "v1", kind: "Node", name: nodeName },
  });
}

async function removePod(api: Api, pod: Pod): Promise<void> {
  await api.remove(podPath(pod), { gracePeriodSeconds: 0, preconditions: { uid: pod.metadata.uid } });
}

/** The Secrets of the pod's volumes as they are now, or undefined where one that must be there is missing. */
async function readMounts(context: Context, pod: Pod): Promise<Mounts | undefined> {
  const mounts = new Map<string, ReadonlyMap<string, Uint8Array>>();
  for (const { secret: volume } of pod.spec.volumes ?? []) {
    if (volume === undefined) continue;
    const path = `/api/v1/namespaces/${pod.metadata.namespace ?? ""}/secrets/${volume.secretName}`;
    const answer = await context.api.request("GET", path);
    if (answer.status !== 200 && volume.optional !== true) return undefined;
    const files = Object.entries((answer.body as Partial<Secret>).data ?? {}).map(
      ([name, text]) => [name, Buffer.from(text, "base64")] as const,
    );
    mounts.set(volume.secretName, new Map(files));
  }
  return mounts;
}

async function start(context: Context, sandbox: Sandbox): Promise<void> {
  const mounts = await readMounts(context, sandbox.pod);
  if (sandbox.phase === "ended" || sandbox.process !== undefined) return;
  if (mounts === undefined) {
    await reportStatus(context, sandbox);
    return;
  }
  try {
    sandbox.process = context.program(sandbox.pod)(sandbox.pod, mounts);
    sandbox.phase = "running";
  } catch {
    sandbox.phase = "crashing";
    sandbox.restarts += 1;
    await reportStatus(context, sandbox);
    return;
  }
  if (sandbox.process.done !== undefined) {
    await sandbox.process.done;
    sandbox.phase = "succeeded";
  } else if (context.settings.readyDelayMs > 0) {
    await reportStatus(context, sandbox);
    await sleep(context.settings.readyDelayMs);
  }
  sandbox.ready = sandbox.phase === "running";
  await reportStatus(context, sandbox);
}

/** A pod that waits for the Secret starts now; one that runs, or crashes over what it holds, sees it after the delay. */
function onSecret(context: Context, secret: Secret): void {
  for (const sandbox of context.sandboxes.values()) {
    const mountsIt = sandbox.pod.spec.volumes?.some((volume) => volume.secret?.secretName === secret.metadata.name);
    if (!mountsIt || sandbox.pod.metadata.namespace !== secret.metadata.namespace) continue;
    if (sandbox.phase === "waiting") inBackground(context, () => start(context, sandbox));
    else
      setTimeout(() => {
        inBackground(context, () => refresh(context, sandbox));
      }, context.settings.mountRefreshMs).unref();
  }
}

async function refresh(context: Context, sandbox: Sandbox): Promise<void> {
  if (context.stopped || sandbox.mountsFrozen) return;
  const mounts = await readMounts(context, sandbox.pod);
  // The files of a deleted Secret stay as they are.
  if (mounts === undefined || isEnded(sandbox)) return;
  if (sandbox.phase === "crashing") await start(context, sandbox);
  else sandbox.process?.refreshed?.(mounts);
}

async function reportStatus(context: Context, sandbox: Sandbox): Promise<void> {
  if (sandbox.phase === "ended") return;
  await context.api.request("PATCH", `${podPath(sandbox.pod)}/status`, { body: { status: statusOf(sandbox) } });
}

const retryMs = 200;

/**
 * Work that an event has brought. Where somebody was faster (404, 409) the next event says so; other errors of the server,
 * such as a webhook that blocks the kubelet too, are met by trying again; anything else is a defect and ends the test run.
 */
function inBackground(context: Context, work: () => Promise<void>): void {
  work().catch(async (error: unknown) => {
    if (context.stopped || (error instanceof ApiError && (error.status === 404 || error.status === 409))) return;
    if (!isFromServer(error)) throw error;
    await sleep(retryMs);
    inBackground(context, work);
  });
}
