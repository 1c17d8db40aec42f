// Starts the lab: one simulated cluster with KAI's family A, in this process and on the wire, and a kubeconfig for it.
// Nothing deployed imports this. Nothing is left behind once `stop` has resolved.
import { randomBytes } from "node:crypto";
import { mintCertificate } from "../trust/mint.ts";
import type { Verdict, VerifyInput } from "../trust/verdict.ts";
import { faults, type Fault, type FaultContext } from "./kai/faults.ts";
import { runPostHook, runPreHook } from "./kai/hook-jobs.ts";
import { installKai } from "./kai/install.ts";
import { writeKubeconfig } from "./kubeconfig.ts";
import { startApiServer } from "./kubernetes/api-server.ts";
import { createDeploymentController } from "./kubernetes/deployment-controller.ts";
import { createKubelet } from "./kubernetes/kubelet.ts";
import { createPod } from "./kubernetes/pod-create.ts";
import { resources } from "./kubernetes/resources.ts";
import type { Right } from "./kubernetes/rights.ts";
import { serviceRoutes } from "./kubernetes/service-routes.ts";
import { createStore, type Store } from "./kubernetes/store.ts";
import { createWebhookClients } from "./kubernetes/webhook-client.ts";

export type { Fault } from "./kai/faults.ts";

export interface LabOptions {
  /** The verdict that decides each handshake of the lab's API server. */
  readonly verify: (input: VerifyInput) => Verdict;
  /** KAI's namespace. Default `kai-scheduler`. */
  readonly namespace?: string;
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
  /** What the user of the kubeconfig may do. Default: everything. */
  readonly rights?: readonly Right[];
}

export interface Lab {
  /** The path of a kubeconfig whose current context, `lab`, is this cluster. */
  readonly kubeconfig: string;
  readonly url: string;
  readonly namespace: string;
  /** Makes a fault happen; resolves when it has come about. */
  inject(fault: Fault): Promise<void>;
  /** Runs a helm upgrade to its end and restarts what is stuck: the cluster is healthy again. */
  heal(): Promise<void>;
  /** Ends all connections that the API server keeps to webhooks, as its restart does. */
  restartApiServer(): void;
  stop(): Promise<void>;
}

// The release that the contract scenarios compare the lab with.
const version = {
  major: "1",
  minor: "37",
  gitVersion: "v1.37.2",
  gitTreeState: "clean",
  goVersion: "go1.26.8",
  compiler: "gc",
  platform: "linux/amd64",
};
const user = "fleetmend-lab";
const everything: readonly Right[] = [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }];
const tenYears = 10 * 365 * 24 * 60 * 60 * 1000;

/** Ready, and healthy, when it resolves. The caller stops it. */
export async function startLab(options: LabOptions): Promise<Lab> {
  const { namespace = "kai-scheduler", replicas = 1, mountRefreshMs = 0, idleMs = 90_000, podStartMs = 0 } = options;
  let past = options.installedAt;
  const now = (): Date => past ?? new Date();
  const store = createStore(now);
  const kubelet = createKubelet(store, { mountRefreshMs, idleMs });
  const controller = createDeploymentController(store, kubelet, namespace, { podStartMs, now });
  const route = serviceRoutes(store, kubelet);
  const clients = createWebhookClients({ verify: options.verify, go: "1.26", now, route, idleMs });
  const hooks = { store, namespace, now };

  createNamespaces(store, ["default", "kube-system", namespace, "osmo-workflows"], now);
  await installKai(hooks, controller, replicas);
  await kubelet.settled();
  past = undefined;

  const token = randomBytes(32).toString("base64url");
  const serving = await servingCertificate(now());
  const account = { name: user, token, rights: options.rights ?? everything };
  const server = await startApiServer({ store, clients, kubelet, now, serving, user: account, version });
  const url = `https://127.0.0.1:${String(server.port)}`;
  const kubeconfig = await writeKubeconfig({ url, caPem: serving.caPem, token, user });

  const context: FaultContext = {
    ...hooks,
    kubelet,
    clients,
    createSomePod: async () => {
      const target = { resource: resources.pods, namespace: "osmo-workflows", name: "", subresource: "" };
      const container = { name: "step", image: "registry.invalid/step:1" };
      const body = { metadata: { generateName: "workflow-" }, spec: { containers: [container] } };
      const writer = { manager: "osmo", at: now() };
      await createPod({ target, dryRun: true, body, user: "osmo", writer }, store, clients);
    },
  };
  return {
    kubeconfig: kubeconfig.file,
    url,
    namespace,
    inject: (fault) => faults[fault](context),
    async heal() {
      await runPreHook(hooks);
      runPostHook(hooks);
      await controller.rollOut("binder");
      clients.close();
    },
    restartApiServer: () => {
      clients.close();
    },
    async stop() {
      controller.stop();
      clients.close();
      await Promise.all([server.stop(), kubelet.stop(), kubeconfig.remove()]);
    },
  };
}

function createNamespaces(store: Store, names: readonly string[], now: () => Date): void {
  for (const name of names) {
    const metadata = { name, labels: { "kubernetes.io/metadata.name": name } };
    const object = { metadata, spec: { finalizers: ["kubernetes"] }, status: { phase: "Active" } };
    store.create({ resource: resources.namespaces, namespace: "", name }, object, { manager: "kubectl", at: now() });
  }
}

/** A CA of the lab's own, and a certificate of it for 127.0.0.1. */
async function servingCertificate(at: Date): Promise<{ cert: string; key: string; caPem: string }> {
  const validity = { notBefore: new Date(at.getTime() - 3_600_000), notAfter: new Date(at.getTime() + tenYears) };
  const ca = await mintCertificate({ subject: "fleetmend lab CA", ca: true, keyUsage: ["keyCertSign"], ...validity });
  const leaf = await mintCertificate({
    subject: "kube-apiserver",
    issuer: ca,
    ipAddresses: ["127.0.0.1"],
    extendedKeyUsage: ["serverAuth"],
    ...validity,
  });
  return { cert: leaf.pem, key: leaf.keyPem, caPem: ca.pem };
}
