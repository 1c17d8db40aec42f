// The faults by name, in any family that has what they break. Each does what life does and nothing else: a post hook that
// never ran, a hand on the Secret, a backup put back, an operator that is down. What a fault leads to is then up to the
// lab's API server, kubelet, operator and pods.
import { mintKaiCertificate, type MintedCertificate } from "../../trust/mint.ts";
import type { Cluster } from "../cluster.ts";
import { resources } from "../kubernetes/resources.ts";
import type { FamilyName } from "./families.ts";
import { leaveBehind, runPostHook, runPreHook } from "./hook-jobs.ts";
import { admissionOf, certificatesOf, mintPair, pairData, serverNameOf, setBundle, writePair } from "./installation.ts";
import { mergeConfig, scale, scaleOperator } from "./moves.ts";
import type { ServingPair } from "./webhook-server.ts";

const day = 24 * 60 * 60 * 1000;

// Field managers of hands: what kubectl calls itself in each of its commands.
const edit = "kubectl-edit";
const patch = "kubectl-patch";
const restore = "kubectl-replace";

/** Each resolves when the fault has come about: pods have loaded what they will, and old connections are gone or kept. */
const faults = {
  /** The pair changed and nobody told the bundle, and the old connections are gone: every pod create fails. */
  async drift(cluster: Cluster) {
    await changePairOnly(cluster);
    cluster.clients.close();
  },
  /** The same, and the API server still has connections from before: everything looks well until the next handshake. */
  async "latent-drift"(cluster: Cluster) {
    await cluster.createPod();
    await changePairOnly(cluster);
  },
  /** `drift`, by a helm that was killed after its pre hook: the hook's Job and ServiceAccount are left. */
  async "aborted-upgrade"(cluster: Cluster) {
    await faults.drift(cluster);
    leaveBehind(cluster, "pre", "Complete");
  },
  /** No bundle, so the API server asks its system roots: the post hook failed, or the operator copied an empty `tls.crt`. */
  async "empty-bundle"(cluster: Cluster) {
    if (cluster.operator !== undefined) return spoilSecret(cluster, "");
    for (const { holders } of cluster.family.components) {
      for (const holder of holders) setBundle(cluster, { holder, bundle: undefined, by: "helm" });
    }
    leaveBehind(cluster, "post", "Failed");
  },
  /** Somebody encoded the bundle twice by hand: there is no PEM in it. */
  async "garbage-bundle"(cluster: Cluster) {
    const twice = Buffer.from(certificatesOf(cluster)).toString("base64");
    if (cluster.operator !== undefined) return spoilSecret(cluster, twice);
    for (const holder of admissionOf(cluster).holders) setBundle(cluster, { holder, bundle: twice, by: edit });
  },
  /** A pair out of an old backup was put back, with its bundle: it has expired. */
  async expired(cluster: Cluster) {
    const now = cluster.now().getTime();
    await putBack(cluster, serverNameOf(admissionOf(cluster), cluster.namespace), {
      notBefore: new Date(now - 366 * day),
      notAfter: new Date(now - day),
    });
  },
  /** A pair of an installation in another namespace was put back, with its bundle. */
  async "wrong-name"(cluster: Cluster) {
    await putBack(cluster, serverNameOf(admissionOf(cluster), "kai-staging"), { notBefore: cluster.now() });
  },
  /** Somebody replaced `tls.crt` without `tls.key`: pods keep their old pair, until one restarts. */
  async "key-mismatch"(cluster: Cluster) {
    const other = await mintPair(cluster, admissionOf(cluster));
    writePair(cluster, { component: admissionOf(cluster), pair: { certificates: other.pem }, by: edit });
    await settled(cluster);
    if (cluster.operator !== undefined) cluster.clients.close();
  },
  /** A drift, and a hand that patched the mutating configuration only. */
  async "one-holder"(cluster: Cluster) {
    await faults.drift(cluster);
    const bundle = certificatesOf(cluster);
    const mutating = admissionOf(cluster).holders.filter(({ kind }) => kind === "mutating");
    for (const holder of mutating) setBundle(cluster, { holder, bundle, by: patch });
  },
  /** A complete change of the pair, and one pod whose files are never refreshed: it serves the old pair. */
  async "stale-pod"(cluster: Cluster) {
    freezeOne(cluster);
    await rotate(cluster);
  },
  /** Two replicas, of which one is stuck with the old pair: every other create fails. */
  async "replicas-differ"(cluster: Cluster) {
    const { operator } = cluster;
    if (operator === undefined) await scale(cluster, admissionOf(cluster).deployment, 2);
    else await mergeConfig(cluster, { global: { replicaCount: 2 } });
    freezeOne(cluster);
    await rotate(cluster);
    cluster.clients.close();
  },
  /** Scaled to none: nobody answers behind the Service. */
  async "no-endpoints"(cluster: Cluster) {
    if (cluster.operator === undefined) await scale(cluster, admissionOf(cluster).deployment, 0);
    else await mergeConfig(cluster, { global: { replicaCount: 0 } });
    cluster.clients.close();
  },
  /** The operator is scaled to none; nothing else is wrong, yet. */
  async "operator-down"(cluster: Cluster) {
    await scaleOperator(cluster, 0);
  },
  /** The operator's pod is ready and reconciles nothing, and then the pair changed. */
  async "operator-blind"(cluster: Cluster) {
    operatorOf(cluster).setBlind(true);
    await writeNewPair(cluster);
    cluster.clients.close();
  },
  /** The configurations have custom names, which the operator may create and not change; then the pair changed. */
  async "rbac-trap"(cluster: Cluster) {
    await mergeConfig(cluster, {
      admission: {
        mutatingWebhookConfigurationName: "robotics-mutating",
        validatingWebhookConfigurationName: "robotics-validating",
      },
    });
    await writeNewPair(cluster);
    cluster.clients.close();
  },
  /** A configuration that nobody maintains calls KAI's Service, with an old bundle. */
  async "unknown-owner"(cluster: Cluster) {
    const forgotten = await mintPair(cluster, admissionOf(cluster));
    const name = "robotics-pod-defaults";
    const resource = resources.mutatingWebhookConfigurations;
    const writer = { manager: "kubectl-create", at: cluster.now() };
    cluster.store.create({ resource, namespace: "", name }, forgottenHook(cluster, name, forgotten), writer);
  },
} as const satisfies Record<string, (cluster: Cluster) => Promise<void>>;

export type Fault = keyof typeof faults;

export const faultNames = Object.keys(faults) as readonly Fault[];

const hooksOnly: readonly Fault[] = ["aborted-upgrade"];
const operatorOnly: readonly Fault[] = ["operator-down", "operator-blind", "rbac-trap"];

/** Whether the family has what the fault breaks. */
export function hasFault(family: FamilyName, fault: Fault): boolean {
  const hasOperator = family === "D1" || family === "D4";
  return hasOperator ? !hooksOnly.includes(fault) : !operatorOnly.includes(fault);
}

/** Puts a fault in; throws where the family has nothing of the kind. */
export async function inject(cluster: Cluster, fault: Fault): Promise<void> {
  const { name } = cluster.family;
  if (!hasFault(name, fault)) throw new Error(`family ${name} cannot have the fault ${fault}`);
  await faults[fault](cluster);
}

/** All changes have reached all that they will reach. */
async function settled({ operator, kubelet }: Cluster): Promise<void> {
  await operator?.settled();
  await kubelet.settled();
}

function operatorOf({ operator, family }: Cluster) {
  if (operator === undefined) throw new Error(`family ${family.name} has no operator`);
  return operator;
}

/** The pair changes and the bundle does not: between helm's hooks, or while the operator is away. */
async function changePairOnly(cluster: Cluster): Promise<void> {
  if (cluster.operator === undefined) {
    await runPreHook(cluster);
    await settled(cluster);
    return;
  }
  // v0.20.1 goes blind by itself, without the GPU Operator's kind; else somebody has scaled it down.
  if (cluster.family.name === "D1") cluster.operator.setBlind(true);
  else await scaleOperator(cluster, 0);
  await writeNewPair(cluster);
}

async function writeNewPair(cluster: Cluster): Promise<void> {
  const component = admissionOf(cluster);
  const { pem, keyPem } = await mintPair(cluster, component);
  writePair(cluster, { component, pair: { certificates: pem, key: keyPem }, by: patch });
  await settled(cluster);
}

/** The pair changes as it should, whoever's task it is, and the bundle follows. */
async function rotate(cluster: Cluster): Promise<void> {
  if (cluster.operator !== undefined) {
    await writeNewPair(cluster);
    return;
  }
  await runPreHook(cluster);
  runPostHook(cluster);
  await settled(cluster);
}

/** The operator copies whatever `tls.crt` holds. */
async function spoilSecret(cluster: Cluster, certificates: string): Promise<void> {
  writePair(cluster, { component: admissionOf(cluster), pair: { certificates }, by: edit });
  await settled(cluster);
  cluster.clients.close();
}

function freezeOne(cluster: Cluster): void {
  const app = admissionOf(cluster).deployment;
  const pods = cluster.store.list(resources.pods, cluster.namespace);
  const pod = pods.find(({ metadata }) => metadata.labels?.app === app);
  if (pod !== undefined) cluster.kubelet.freeze(pod.metadata.name);
}

async function putBack(
  cluster: Cluster,
  serverName: string,
  validity: { readonly notBefore: Date; readonly notAfter?: Date },
): Promise<void> {
  const component = admissionOf(cluster);
  const old = await mintKaiCertificate({ serverName, ...validity, keys: await cluster.keys() });
  const pair: ServingPair = { certificates: old.pem, key: old.keyPem };
  writePair(cluster, { component, pair, by: restore });
  for (const holder of component.holders) setBundle(cluster, { holder, bundle: old.pem, by: restore });
  await settled(cluster);
}

function forgottenHook(cluster: Cluster, name: string, { pem }: MintedCertificate) {
  const service = {
    namespace: cluster.namespace,
    name: admissionOf(cluster).service,
    path: "/mutate--v1-pod",
    port: 443,
  };
  return {
    metadata: { name },
    webhooks: [
      {
        name: "pod-defaults.robotics.example",
        admissionReviewVersions: ["v1"],
        sideEffects: "None",
        clientConfig: { caBundle: pairData({ certificates: pem })["tls.crt"], service },
        failurePolicy: "Fail",
        matchPolicy: "Equivalent",
        namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "osmo-workflows" } },
        objectSelector: {},
        reinvocationPolicy: "Never",
        rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"], scope: "*" }],
        timeoutSeconds: 10,
      },
    ],
  };
}
