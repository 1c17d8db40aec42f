// The lab's cluster behind its API server: store, kubelet, controller, the API server's clients for webhooks, and KAI
// installed in it. Not here: the wire towards fleetmend, and faults.
import { generateKeys, type KeyPair } from "../trust/mint.ts";
import { verifyServed } from "../trust/verify.ts";
import { families, type FamilyName } from "./kai/families.ts";
import type { KaiInstallation } from "./kai/installation.ts";
import { installOperator, installWithHooks } from "./kai/install.ts";
import { upgrade } from "./kai/moves.ts";
import { startOperator, type Operator } from "./kai/operator.ts";
import { createDeploymentController, type DeploymentController } from "./kubernetes/deployment-controller.ts";
import { createKubelet, type Kubelet } from "./kubernetes/kubelet.ts";
import { createPod } from "./kubernetes/pod-create.ts";
import { resources } from "./kubernetes/resources.ts";
import { serviceRoutes } from "./kubernetes/service-routes.ts";
import { createStore, type Store } from "./kubernetes/store.ts";
import { createWebhookClients, type WebhookClients } from "./kubernetes/webhook-client.ts";

// The namespaces that the manifests of infra/kubernetes name.
const kaiNamespace = "kai-scheduler";
const probeNamespace = "osmo-workflows";

export interface ClusterOptions {
  /** Which KAI is installed. Default `A`; `none`: no KAI at all. */
  readonly family?: FamilyName | "none";
  /** Pods behind the webhook. Default 1, as the chart has it. */
  readonly replicas?: number;
  /** When KAI was installed: the time of its objects and of its first certificate. Default: now. */
  readonly installedAt?: Date;
  /** From a change of the Secret to the change of the files in the pods. Default 0; in life 30 to 100 s. */
  readonly mountRefreshMs?: number;
  /** How long unused connections from the API server to a webhook are kept. Default 90,000, as in life. */
  readonly idleMs?: number;
  /** From the creation of a pod to its readiness. Default 0. */
  readonly podStartMs?: number;
  /** From a change to kai-operator's answer. Default 20; in life 12 to 150. */
  readonly operatorFollowMs?: number;
  /** Key pairs for KAI's certificates. Default: a fresh RSA-2048 pair each, as KAI makes them. */
  readonly keys?: () => Promise<KeyPair>;
}

export interface PodAnswer {
  readonly admitted: boolean;
  /** The message of the API server's refusal; empty where the pod was admitted. */
  readonly message: string;
}

export interface Cluster extends KaiInstallation {
  readonly kubelet: Kubelet;
  readonly controller: DeploymentController;
  readonly clients: WebhookClients;
  /** In the operator's families. */
  readonly operator: Operator | undefined;
  /** A workflow's pod is created, as OSMO does it, and for the lab's sake only as a dry run: what the API server says. */
  readonly createPod: () => Promise<PodAnswer>;
  /** A helm upgrade to its end, with new pairs and pods, and no old connection left. */
  readonly upgradeKai: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** Ready, and healthy, when it resolves. */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const { family = "A", replicas = 1, mountRefreshMs = 0, idleMs = 90_000, podStartMs = 0 } = options;
  const { keys = () => generateKeys("rsa-2048") } = options;
  let past = options.installedAt;
  const now = (): Date => past ?? new Date();
  const store = createStore(now);
  const kubelet = createKubelet(store, { mountRefreshMs, idleMs });
  const controller = createDeploymentController(store, kubelet, kaiNamespace, { podStartMs, now });
  const route = serviceRoutes(store, kubelet);
  const clients = createWebhookClients({ verify: verifyServed, go: "1.26", now, route, idleMs });
  const kai = { store, namespace: kaiNamespace, family: families[family === "none" ? "A" : family], now, keys };
  const operator = kai.family.writer === "operator" ? startOperator(kai, options.operatorFollowMs ?? 20) : undefined;

  for (const name of ["default", "kube-system", kaiNamespace, probeNamespace]) createNamespace(store, name, now());
  if (operator !== undefined) await installOperator(kai, controller, operator);
  else if (family !== "none") await installWithHooks(kai, controller, replicas);
  await kubelet.settled();
  past = undefined;

  const cluster: Cluster = {
    ...kai,
    kubelet,
    controller,
    clients,
    operator,
    createPod: () => createWorkflowPod(store, clients, now()),
    upgradeKai: () => (family === "none" ? Promise.resolve() : upgrade(cluster, replicas)),
    async stop() {
      operator?.stop();
      controller.stop();
      clients.close();
      await kubelet.stop();
    },
  };
  return cluster;
}

function createNamespace(store: Store, name: string, at: Date): void {
  const metadata = { name, labels: { "kubernetes.io/metadata.name": name } };
  const object = { metadata, spec: { finalizers: ["kubernetes"] }, status: { phase: "Active" } };
  store.create({ resource: resources.namespaces, namespace: "", name }, object, { manager: "kubectl", at });
}

async function createWorkflowPod(store: Store, clients: WebhookClients, at: Date): Promise<PodAnswer> {
  const target = { resource: resources.pods, namespace: probeNamespace, name: "", subresource: "" };
  const container = { name: "step", image: "registry.invalid/step:1" };
  const spec = { schedulerName: "kai-scheduler", containers: [container] };
  const body = { metadata: { generateName: "workflow-" }, spec };
  const writer = { manager: "osmo", at };
  const answer = await createPod({ target, dryRun: true, body, user: "osmo", writer }, store, clients);
  const { message = "" } = answer.body as { readonly message?: string };
  return { admitted: answer.code === 201, message };
}
