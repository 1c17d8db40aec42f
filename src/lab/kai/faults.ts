// The faults of family A by name. Each does what life does and nothing else: a post hook that never ran, a hand on the
// Secret, a backup put back. What a fault leads to is then up to the lab's API server, kubelet and pods.
import { mintKaiCertificate } from "../../trust/mint.ts";
import type { Cluster } from "../cluster.ts";
import { resources } from "../kubernetes/resources.ts";
import * as familyA from "./family-a.ts";
import { certificatesOf, holders, leaveBehind, runPostHook, runPreHook, setBundle, writePair } from "./hook-jobs.ts";

const day = 24 * 60 * 60 * 1000;

// Field managers of hands: what kubectl calls itself in each of its commands.
const edit = "kubectl-edit";
const patch = "kubectl-patch";
const restore = "kubectl-replace";

/** Each resolves when the fault has come about: pods have loaded what they will, and old connections are gone or kept. */
export const faults = {
  /** `helm upgrade --wait` gave up before its post hook, and the old connections are gone: every pod create fails. */
  async drift(cluster: Cluster) {
    await runPreHook(cluster);
    await cluster.kubelet.settled();
    cluster.clients.close();
  },
  /** The same, and the API server still has connections from before: everything looks well until the next handshake. */
  async "latent-drift"(cluster: Cluster) {
    await cluster.createPod();
    await runPreHook(cluster);
    await cluster.kubelet.settled();
  },
  /** The same, by a helm that was killed after its pre hook: the hook's Job and ServiceAccount are left. */
  async "aborted-upgrade"(cluster: Cluster) {
    await faults.drift(cluster);
    leaveBehind(cluster, "pre-install-hook", "Complete");
  },
  /** The post hook failed at the first installation: no bundle, so the API server asks its system roots. */
  "empty-bundle"(cluster: Cluster) {
    for (const resource of holders) setBundle(cluster, resource, undefined, "helm");
    leaveBehind(cluster, "post-install-hook", "Failed");
    return Promise.resolve();
  },
  /** Somebody encoded the bundle twice by hand: there is no PEM in it. */
  "garbage-bundle"(cluster: Cluster) {
    const twice = Buffer.from(certificatesOf(cluster)).toString("base64");
    for (const resource of holders) setBundle(cluster, resource, twice, edit);
    return Promise.resolve();
  },
  /** A pair out of an old backup was put back, with its bundle: it has expired. */
  async expired(cluster: Cluster) {
    const now = cluster.now().getTime();
    await putBack(cluster, familyA.serverNameIn(cluster.namespace), {
      notBefore: new Date(now - 366 * day),
      notAfter: new Date(now - day),
    });
  },
  /** A pair of an installation in another namespace was put back, with its bundle. */
  async "wrong-name"(cluster: Cluster) {
    await putBack(cluster, familyA.serverNameIn("kai-staging"), { notBefore: cluster.now() });
  },
  /** Somebody replaced `tls.crt` without `tls.key`: pods keep their old pair, until one restarts. */
  async "key-mismatch"(cluster: Cluster) {
    const serverName = familyA.serverNameIn(cluster.namespace);
    const other = await mintKaiCertificate({ serverName, notBefore: cluster.now(), keys: await cluster.keys() });
    writePair(cluster, { certificates: other.pem }, edit);
    await cluster.kubelet.settled();
  },
  /** A drift, and a hand that patched the mutating configuration only. */
  async "one-holder"(cluster: Cluster) {
    await faults.drift(cluster);
    setBundle(cluster, resources.mutatingWebhookConfigurations, certificatesOf(cluster), patch);
  },
  /** A complete helm upgrade, and one pod whose files are never refreshed: it serves the old pair. */
  async "stale-pod"(cluster: Cluster) {
    const [pod] = cluster.store.list(resources.pods, cluster.namespace);
    if (pod !== undefined) cluster.kubelet.freeze(pod.metadata.name);
    await runPreHook(cluster);
    runPostHook(cluster);
    await cluster.kubelet.settled();
  },
} as const satisfies Record<string, (cluster: Cluster) => Promise<void>>;

export type Fault = keyof typeof faults;

async function putBack(
  cluster: Cluster,
  serverName: string,
  validity: { readonly notBefore: Date; readonly notAfter?: Date },
): Promise<void> {
  const old = await mintKaiCertificate({ serverName, ...validity, keys: await cluster.keys() });
  writePair(cluster, { certificates: old.pem, key: old.keyPem }, restore);
  for (const resource of holders) setBundle(cluster, resource, old.pem, restore);
  await cluster.kubelet.settled();
}
