// Starts the lab: one simulated cluster with one of KAI's families, in this process and on the wire, and a kubeconfig for it.
// Nothing deployed imports this. Nothing is left behind once `stop` has resolved.
import { randomBytes } from "node:crypto";
import { createAuthority } from "./authority.ts";
import { startCluster, type ClusterOptions, type PodAnswer } from "./cluster.ts";
import { inject, type Fault } from "./kai/faults.ts";
import { writeKubeconfig } from "./kubeconfig.ts";
import { startApiServer } from "./kubernetes/api-server.ts";
import { version } from "./kubernetes/version.ts";
import { rightsOf, type Capability } from "./kubernetes/capability-rights.ts";

export type { Fault } from "./kai/faults.ts";

export interface LabOptions extends ClusterOptions {
  /** Whose context is the kubeconfig's current one. Default `repair`. */
  readonly capability?: Capability;
}

export interface Lab {
  /**
   * The path of a kubeconfig with the contexts `lab` (a user who may repair), `lab-prove` and `lab-read`. Their rights
   * are those of the manifests in infra/kubernetes.
   */
  readonly kubeconfig: string;
  readonly url: string;
  /** Makes a fault happen; resolves when it has come about. */
  readonly inject: (fault: Fault) => Promise<void>;
  /** Runs a helm upgrade to its end, which restarts what is stuck: the cluster is healthy again. */
  readonly heal: () => Promise<void>;
  /** A workflow's pod is created, as OSMO does it, and for the lab's sake only as a dry run: what the API server says. */
  readonly createPod: () => Promise<PodAnswer>;
  /** Ends all connections that the API server keeps to webhooks, as its restart does. */
  readonly restartApiServer: () => void;
  readonly stop: () => Promise<void>;
}

/** Ready, and healthy, when it resolves. The caller stops it. */
export async function startLab(options: LabOptions = {}): Promise<Lab> {
  const cluster = await startCluster(options);
  const { store, clients, kubelet, now, createPod } = cluster;
  const users = await Promise.all(Object.keys(contexts).map((capability) => userFor(capability as Capability)));
  const authority = await createAuthority("fleetmend lab CA", now());
  const serving = await authority.certify({ ipAddresses: ["127.0.0.1"] });
  const server = await startApiServer({
    store,
    clients,
    kubelet,
    now,
    serving,
    version,
    authenticate: ({ authorization }) => users.find(({ token }) => authorization === `Bearer ${token}`),
  });
  const url = `https://127.0.0.1:${String(server.port)}`;
  const kubeconfig = await writeKubeconfig({
    url,
    caPem: authority.caPem,
    users,
    currentContext: contexts[options.capability ?? "repair"],
  });
  return {
    kubeconfig: kubeconfig.file,
    url,
    inject: (fault) => inject(cluster, fault),
    heal: cluster.upgradeKai,
    createPod,
    restartApiServer: () => {
      clients.close();
    },
    async stop() {
      await Promise.all([server.stop(), cluster.stop(), kubeconfig.remove()]);
    },
  };
}

const contexts: Readonly<Record<Capability, string>> = { repair: "lab", prove: "lab-prove", read: "lab-read" };

async function userFor(capability: Capability) {
  const token = randomBytes(32).toString("base64url");
  const rights = await rightsOf(capability);
  return { name: `fleetmend-${capability}`, context: contexts[capability], token, rights };
}
