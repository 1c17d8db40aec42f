// A cluster with KAI in memory: the objects that real KAI left behind (src/lab/kai/recorded), with minted pairs, and the moves
// that the world makes by itself: the kubelet refreshes mounts, certwatcher loads what fits, kai-operator reconciles,
// Deployments replace their pods. One clock, moved by hand. Whether a hook is accepted is asked of the verdict.
import { X509Certificate, createPrivateKey } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";
import { parse } from "yaml";
import { failure, success } from "../../src/result.ts";
import type { KeyPair, MintedCertificate } from "../../src/trust/mint.ts";
import { generateKeys, mintKaiCertificate } from "../../src/trust/mint.ts";
import { verifyServed } from "../../src/trust/verify.ts";
import { MemoryApi, type KubernetesObject } from "./memory-api.ts";

export type KaiVersion = "v0.5.5" | "v0.7.12" | "v0.8.5" | "v0.9.14" | "v0.17.0" | "v0.20.1";

export const startOfWorld = new Date("2026-12-01T03:00:00Z");

/** The key and the certificates of a Secret, as a pod would load them. */
export interface Pair {
  /** PEM, as it stands in `tls.crt`. */
  readonly pem: string;
  readonly keyPem: string;
}

interface Pod {
  readonly service: string;
  readonly name: string;
  ready: boolean;
  startedAt: Date;
  loaded: Pair | undefined;
  /** When the kubelet will show the Secret as it is now; undefined where it shows it already. */
  refreshAt: Date | undefined;
}

interface Workload {
  readonly service: string;
  readonly serverName: string;
  readonly secretPath: string;
  readonly deploymentPath: string;
  readonly slicePath: string;
  readonly slice: KubernetesObject;
  readonly label: string;
}

const admissionregistration = "/apis/admissionregistration.k8s.io/v1";
const namespace = "kai-scheduler";
const collections: Record<string, string> = {
  deployments: `/apis/apps/v1/namespaces/${namespace}/deployments`,
  endpointslices: `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`,
  services: `/api/v1/namespaces/${namespace}/services`,
  secrets: `/api/v1/namespaces/${namespace}/secrets`,
  mutatingwebhookconfigurations: `${admissionregistration}/mutatingwebhookconfigurations`,
  validatingwebhookconfigurations: `${admissionregistration}/validatingwebhookconfigurations`,
  "kai-config": "/apis/kai.scheduler/v1/configs",
};

let rsaKeys: Promise<readonly KeyPair[]> | undefined;

/** A few RSA pairs for all worlds: making one takes longer than most tests. */
function sharedKeys(): Promise<readonly KeyPair[]> {
  rsaKeys ??= Promise.all([1, 2, 3, 4].map(() => generateKeys("rsa-2048")));
  return rsaKeys;
}

const minted = new Map<string, Promise<MintedCertificate>>();

/** KAI's certificate of a generation: the same name and serial, another key. Made `daysAgo`, for ten years or until then. */
export function generation(
  serverName: string,
  number: 0 | 1 | 2 | 3,
  times: { readonly daysAgo?: number; readonly notAfter?: Date } = {},
): Promise<MintedCertificate> {
  const notBefore = new Date(startOfWorld.getTime() - (times.daysAgo ?? 10 - number) * 86_400_000);
  const word = `${serverName} ${number} ${notBefore.toISOString()} ${times.notAfter?.toISOString() ?? ""}`;
  const known = minted.get(word);
  if (known !== undefined) return known;
  const made = sharedKeys().then((keys) => {
    const pair = keys[number];
    if (pair === undefined) throw new Error("no such generation");
    return mintKaiCertificate({
      serverName,
      notBefore,
      keys: pair,
      ...(times.notAfter !== undefined && { notAfter: times.notAfter }),
    });
  });
  minted.set(word, made);
  return made;
}

export const pairOf = (certificate: MintedCertificate): Pair => ({
  pem: certificate.pem,
  keyPem: certificate.keyPem,
});

/** What may differ between worlds, and is decided when one is made. */
export interface WorldOptions {
  readonly version: KaiVersion;
  /** Ready pods behind each webhook Service. Default 1. */
  readonly replicas?: number;
  readonly operator?: "healthy" | "blind" | "down";
  /** Seconds from a write to a Secret until the kubelet shows it; `never` for a mount that is not refreshed. Default 60. */
  readonly refreshSeconds?: number | "never";
  /** What a restarted pod serves. `the old pair`: it does not mount the Secret as everybody thinks. Default the Secret's. */
  readonly restartLoads?: "the Secret's pair" | "the old pair";
}

/** KAI as it is after a good installation: every pod serves generation 0, every bundle holds it. */
export async function kaiWorld(options: WorldOptions): Promise<KaiWorld> {
  const world = new KaiWorld(options);
  for (const workload of world.workloads) {
    world.writeSecret(workload.service, pairOf(await generation(workload.serverName, 0)), "installer");
  }
  world.startPods();
  world.writeAllBundles("installer");
  world.pass(600);
  return world;
}

export class KaiWorld {
  readonly memory: MemoryApi;
  readonly workloads: readonly Workload[];
  operator: "healthy" | "blind" | "down";
  refreshSeconds: number | "never";
  /** Holders that the operator may create but not update, by path. */
  readonly #unmaintained = new Set<string>();
  readonly #isOperatorFamily: boolean;
  readonly #replicas: number;
  readonly #restartLoads: "the Secret's pair" | "the old pair";
  #pods: Pod[] = [];
  #at = startOfWorld;
  #podNumber = 0;

  constructor(options: WorldOptions) {
    this.memory = new MemoryApi(() => this.#at);
    this.refreshSeconds = options.refreshSeconds ?? 60;
    this.#replicas = options.replicas ?? 1;
    this.#restartLoads = options.restartLoads ?? "the Secret's pair";
    const recorded = loadRecorded(options.version);
    this.#isOperatorFamily = recorded.some(({ path: at }) => at.endsWith("/configs/kai-config"));
    for (const { path: at, object } of recorded) this.memory.put(at, object, "installer");
    this.workloads = this.#findWorkloads(recorded.map(({ object }) => object));
    this.operator = options.operator ?? "healthy";
    if (this.operator === "down") this.setOperator("down");
    this.memory.serve = ({ pod }) => this.#serve(pod);
    this.memory.afterWrite = () => {
      this.#react();
    };
  }

  now = (): Date => this.#at;

  /** Hooks of all holders: what is called, with which bundle. */
  hooks(): {
    readonly holder: string;
    readonly index: number;
    readonly service: string;
    readonly bundle: Uint8Array;
  }[] {
    return this.#holders().flatMap(({ path: at, object }) =>
      webhooksOf(object).map(({ clientConfig }, index) => ({
        holder: at,
        index,
        service: clientConfig.service.name,
        bundle: Buffer.from(clientConfig.caBundle ?? "", "base64"),
      })),
    );
  }

  pods(service: string): readonly Pod[] {
    return this.#pods.filter((pod) => pod.service === service);
  }

  /** For each hook and ready pod, by name, whether the API server accepts the handshake now. */
  trust(): Map<string, boolean> {
    const answers = new Map<string, boolean>();
    for (const hook of this.hooks()) {
      const { serverName } = this.workload(hook.service);
      for (const pod of this.pods(hook.service).filter(({ ready }) => ready)) {
        const accepted = isAccepted(hook.bundle, pod.loaded?.pem ?? "", serverName);
        answers.set(`${hook.holder}#${hook.index} ${pod.name}`, accepted);
      }
    }
    return answers;
  }

  workload(service: string): Workload {
    const found = this.workloads.find((workload) => workload.service === service);
    if (found === undefined) throw new Error(`no workload behind ${service}`);
    return found;
  }

  /** The Service behind the pod webhooks. */
  get podWebhookService(): string {
    const mutating = this.#holders().find(({ path: at }) => at.includes("/mutating"));
    return webhooksOf(mutating?.object ?? { metadata: {} })[0]?.clientConfig.service.name ?? "";
  }

  secretOf(service: string): Pair {
    const data = (this.memory.objects.get(this.workload(service).secretPath)?.data ?? {}) as Record<string, string>;
    const text = (key: string): string => Buffer.from(data[key] ?? "", "base64").toString();
    return { pem: text("tls.crt"), keyPem: text("tls.key") };
  }

  /** The Secret gets another pair; the kubelet and the operator take it from there. */
  writeSecret(service: string, pair: Pair, manager: string): void {
    const { secretPath } = this.workload(service);
    const object = this.memory.objects.get(secretPath) ?? { metadata: {} };
    const base64 = (text: string): string => Buffer.from(text).toString("base64");
    const data = { "tls.crt": base64(pair.pem), "tls.key": base64(pair.keyPem) };
    this.memory.put(secretPath, { ...object, data }, manager);
    this.#react();
  }

  /** Writes one bundle as somebody else. Undefined takes the field away. */
  writeBundle(holder: string, index: number, bundle: Uint8Array | undefined, manager: string): void {
    const object = structuredClone(this.memory.objects.get(holder)) ?? { metadata: {} };
    const entry = webhooksOf(object)[index];
    if (entry === undefined) throw new Error(`no entry ${index} in ${holder}`);
    delete entry.clientConfig.caBundle;
    if (bundle !== undefined) entry.clientConfig.caBundle = Buffer.from(bundle).toString("base64");
    this.memory.put(holder, object, manager);
    this.#react();
  }

  /** What the post hook of the helm families and the operator do: tls.crt, byte for byte, into every entry. */
  writeAllBundles(manager: string): void {
    for (const { path: at, object: live } of this.#holders()) {
      if (manager === "operator" && this.#unmaintained.has(at)) continue;
      const object = structuredClone(live);
      for (const { clientConfig } of webhooksOf(object)) {
        clientConfig.caBundle = Buffer.from(this.secretOf(clientConfig.service.name).pem).toString("base64");
      }
      this.memory.put(at, object, manager);
    }
  }

  /** A copy of a holder under a name that the operator's rights do not cover: made once, never written again. */
  addUnmaintained(holder: string, name: string): string {
    const at = `${holder.slice(0, holder.lastIndexOf("/"))}/${name}`;
    const metadata: Record<string, unknown> = { ...this.memory.objects.get(holder)?.metadata };
    delete metadata.uid;
    this.#unmaintained.add(at);
    this.memory.put(
      at,
      { ...structuredClone(this.memory.objects.get(holder)), metadata: { ...metadata, name } },
      "operator",
    );
    return at;
  }

  setOperator(state: "healthy" | "blind" | "down"): void {
    this.operator = state;
    const at = `${collections.deployments ?? ""}/kai-operator`;
    const object = this.memory.objects.get(at);
    if (object === undefined) return;
    const status = { ...(object.status as object), readyReplicas: state === "down" ? 0 : 1 };
    this.memory.put(at, { ...object, status }, "installer");
    this.#react();
  }

  /** Edits the Deployment without a rollout: a change outside the pod template makes no new pods. */
  setStrategy(service: string, type: "Recreate" | "RollingUpdate"): void {
    const { deploymentPath } = this.workload(service);
    const object = this.memory.objects.get(deploymentPath) ?? { metadata: {} };
    const spec = { ...(object.spec as object), strategy: { type } };
    const { metadata } = this.memory.put(deploymentPath, { ...object, spec }, "installer");
    const status = { ...(object.status as object), observedGeneration: metadata.generation };
    this.memory.put(deploymentPath, { ...object, metadata, spec, status }, "deployment-controller");
  }

  startPods(): void {
    for (const { service } of this.workloads) {
      for (let n = 0; n < this.#replicas; n += 1) this.#startPod(service);
    }
    this.#publish();
  }

  setReady(name: string, ready: boolean): void {
    for (const pod of this.#pods.filter((one) => one.name === name)) pod.ready = ready;
    this.#publish();
  }

  /** Time goes on; mounts that are due are refreshed on the way. */
  pass(seconds: number): void {
    this.#at = new Date(this.#at.getTime() + seconds * 1000);
    for (const pod of this.#pods) {
      if (pod.refreshAt === undefined || pod.refreshAt > this.#at) continue;
      pod.refreshAt = undefined;
      this.#load(pod);
    }
  }

  /** The kubelet shows one pod the Secret as it is. */
  refreshNow(name: string): void {
    for (const pod of this.#pods.filter((one) => one.name === name)) {
      pod.refreshAt = undefined;
      this.#load(pod);
    }
  }

  /** The pods of a Service have served this pair for long, whatever the Secret holds. */
  setLoaded(service: string, pair: Pair): void {
    for (const pod of this.#pods.filter((one) => one.service === service)) pod.loaded = pair;
  }

  #startPod(service: string): Pod {
    this.#podNumber += 1;
    const pod: Pod = {
      service,
      name: `${service}-${this.#podNumber}`,
      ready: false,
      startedAt: this.#at,
      loaded: undefined,
      refreshAt: undefined,
    };
    this.#load(pod);
    // A pod whose pair does not fit does not start (tls.X509KeyPair fails): it crash-loops, never ready.
    pod.ready = pod.loaded !== undefined;
    this.#pods.push(pod);
    return pod;
  }

  /** certwatcher: takes the pair where it fits and its leaf or key is another than before (controller-runtime). */
  #load(pod: Pod): void {
    const pair = this.secretOf(pod.service);
    if (!fits(pair)) return;
    const isSame = pod.loaded?.keyPem === pair.keyPem && sameLeaf(pod.loaded.pem, pair.pem);
    if (!isSame) pod.loaded = pair;
  }

  /** What happens at once after any write: the operator copies, Deployments roll, kubelets take notice. */
  #react(): void {
    if (this.#isOperatorFamily && this.operator === "healthy") this.writeAllBundles("operator");
    for (const workload of this.workloads) {
      this.#replacePods(workload);
      const pair = this.secretOf(workload.service);
      for (const pod of this.pods(workload.service)) {
        const isShown = pod.loaded?.pem === pair.pem && pod.loaded.keyPem === pair.keyPem;
        if (isShown || this.refreshSeconds === "never") continue;
        pod.refreshAt ??= new Date(this.#at.getTime() + this.refreshSeconds * 1000);
      }
    }
  }

  /** A restart, done within the moment: new pods load the Secret as it is. */
  #replacePods({ service, deploymentPath }: Workload): void {
    const object = this.memory.objects.get(deploymentPath) as unknown as
      { metadata: { generation: number }; status: { observedGeneration: number } } | undefined;
    if (object === undefined || object.status.observedGeneration >= object.metadata.generation) return;
    const old = this.pods(service)[0]?.loaded;
    this.#pods = this.#pods.filter((pod) => pod.service !== service);
    for (let n = 0; n < this.#replicas; n += 1) {
      const pod = this.#startPod(service);
      if (this.#restartLoads === "the old pair") pod.loaded = old;
    }
    const status = { ...object.status, observedGeneration: object.metadata.generation };
    this.memory.put(deploymentPath, { ...object, status }, "deployment-controller");
    this.#publish();
  }

  #serve(name: string): ReturnType<MemoryApi["serve"]> {
    const pod = this.#pods.find((one) => one.name === name);
    if (pod?.loaded === undefined) return failure({ kind: "refused", message: "connection refused" });
    return success({ chain: derOf(pod.loaded.pem) });
  }

  #holders(): { readonly path: string; readonly object: KubernetesObject }[] {
    return [...this.memory.objects]
      .filter(([at]) => at.startsWith(admissionregistration))
      .map(([at, object]) => ({ path: at, object }));
  }

  /** Pods and EndpointSlices as they are now. */
  #publish(): void {
    const pods = `/api/v1/namespaces/${namespace}/pods`;
    for (const at of this.memory.objects.keys()) if (at.startsWith(`${pods}/`)) this.memory.objects.delete(at);
    for (const workload of this.workloads) {
      for (const pod of this.pods(workload.service)) {
        this.memory.put(`${pods}/${pod.name}`, this.#podObject(workload, pod), "kubelet");
      }
      const endpoints = this.pods(workload.service).map(({ name, ready }) => ({
        addresses: ["10.244.1.1"],
        conditions: { ready, serving: ready, terminating: false },
        targetRef: { kind: "Pod", name, namespace, uid: `uid-${name}` },
      }));
      this.memory.put(workload.slicePath, { ...workload.slice, endpoints }, "endpointslice-controller");
    }
  }

  #podObject(workload: Workload, pod: Pod): Record<string, unknown> {
    const deployment = this.memory.objects.get(workload.deploymentPath) as unknown as {
      spec: { template: { metadata: { labels: object }; spec: object } };
    };
    const { template } = deployment.spec;
    return {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: pod.name, namespace, uid: `uid-${pod.name}`, labels: template.metadata.labels },
      spec: template.spec,
      status: {
        phase: "Running",
        startTime: pod.startedAt.toISOString().replace(/\.\d+Z$/, "Z"),
        podIP: "10.244.1.1",
        conditions: [{ type: "Ready", status: pod.ready ? "True" : "False" }],
      },
    };
  }

  #findWorkloads(objects: readonly KubernetesObject[]): Workload[] {
    const services = new Set(this.hooks().map(({ service }) => service));
    return [...services].map((service) => {
      const slice = objects.find(
        ({ kind, metadata }) =>
          kind === "EndpointSlice" &&
          (metadata.labels as Record<string, string>)["kubernetes.io/service-name"] === service,
      );
      const selector = objects.find(({ kind, metadata }) => kind === "Service" && metadata.name === service)?.spec as
        { selector: { app: string } } | undefined;
      const label = selector?.selector.app ?? service;
      const deployment = objects.find(({ kind, metadata }) => kind === "Deployment" && metadata.name === label);
      if (slice === undefined || deployment === undefined) throw new Error(`${service} was not recorded whole`);
      const spec = deployment.spec as {
        template: { spec: { volumes: { secret?: { secretName: string } }[] } };
      };
      const secretName = spec.template.spec.volumes.find(({ secret }) => secret !== undefined)?.secret?.secretName;
      return {
        service,
        serverName: `${service}.${namespace}.svc`,
        secretPath: `${collections.secrets ?? ""}/${secretName ?? ""}`,
        deploymentPath: `${collections.deployments ?? ""}/${label}`,
        slicePath: `${collections.endpointslices ?? ""}/${String(slice.metadata.name)}`,
        slice,
        label,
      };
    });
  }
}

interface Webhook {
  name: string;
  clientConfig: { caBundle?: string; service: { name: string } };
}

function webhooksOf(object: Record<string, unknown>): Webhook[] {
  return (object.webhooks ?? []) as Webhook[];
}

interface Recorded {
  readonly path: string;
  readonly object: KubernetesObject;
}

const recordings = new Map<KaiVersion, readonly Recorded[]>();

/** Parsed once: reading the YAML takes longer than most repairs. */
function loadRecorded(version: KaiVersion): readonly Recorded[] {
  const known = recordings.get(version) ?? parseRecorded(version);
  recordings.set(version, known);
  return structuredClone(known);
}

function parseRecorded(version: KaiVersion): readonly Recorded[] {
  const folder = path.join(import.meta.dirname, "..", "..", "src", "lab", "kai", "recorded", version);
  return Object.entries(collections).flatMap(([file, collection]) => {
    const text = readIfThere(path.join(folder, `${file}.yaml`));
    if (text === undefined) return [];
    const { items } = parse(text) as { items: KubernetesObject[] };
    return items.map((object) => ({ path: `${collection}/${String(object.metadata.name)}`, object }));
  });
}

/** Helm-hook families have no kai-config. */
function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

/** The blocks of a PEM that we wrote ourselves. */
export function derOf(pem: string): Uint8Array[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return blocks.map((block) => Buffer.from(block.replaceAll(/-----[^-]+-----|\s/g, ""), "base64"));
}

function sameLeaf(left: string, right: string): boolean {
  const [first, second] = [derOf(left)[0], derOf(right)[0]];
  return first !== undefined && second !== undefined && Buffer.compare(first, second) === 0;
}

const accepted = new Map<string, boolean>();

/** The verdict, once for each case: no certificate here begins or ends while a world lasts. */
function isAccepted(bundle: Uint8Array, pem: string, serverName: string): boolean {
  const caBundle = Buffer.from(bundle);
  const word = `${serverName}\n${caBundle.toString("latin1")}\n\n${pem}`;
  const known = accepted.get(word);
  if (known !== undefined) return known;
  const verdict = verifyServed({ caBundle, chain: derOf(pem), serverName, at: startOfWorld, go: "1.26", patch: 8 });
  accepted.set(word, verdict.outcome === "trusted");
  return verdict.outcome === "trusted";
}

const fitting = new Map<string, boolean>();

/** Whether Go's tls.X509KeyPair would take it: the key is that of the first certificate. */
function fits({ pem, keyPem }: Pair): boolean {
  const word = `${pem}\n${keyPem}`;
  const known = fitting.get(word);
  if (known !== undefined) return known;
  const leaf = derOf(pem)[0];
  const answer = leaf !== undefined && new X509Certificate(leaf).checkPrivateKey(createPrivateKey(keyPem));
  fitting.set(word, answer);
  return answer;
}
