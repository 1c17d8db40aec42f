// Puts faults into an installed KAI family, by name, along the ways in which they arise in life. Each returns when the
// fault is in effect: pods serve what they will go on serving, and no old connection hides it (but for the latent drift).
import { mintKaiCertificate, type MintedCertificate } from "../../src/trust/mint.ts";
import { holderCollection, writeBundle } from "./holder.ts";
import { removeClusterPolicy } from "./kai/crds.ts";
import type { Component } from "../../src/lab/kai/families.ts";
import { configsPath, deploymentsPath, upgradeWithHooks } from "./kai/helm.ts";
import { probeNamespace, type Installed } from "./kai/install.ts";
import { endpointsOf, everyPodServesItsSecret, nameIn, operatorPods, podsNamed, podsOf } from "./kai/installed-pods.ts";
import { bundlesHold, replacePairEverywhere, rotate, spoilBundle, writeNewPair } from "./kai/pair-change.ts";
import { mintPair, pairData, secretsPath, writePair } from "./kai/pair.ts";
import { kaiNamespace } from "../../src/lab/kai/recorded.ts";
import { deploymentsAreReady } from "./kai/rollout.ts";
import type { Secret } from "../../src/lab/kai/kube-object.ts";
import { until } from "./until.ts";
import { warmConnections } from "./warm-connections.ts";

export const faultNames = [
  "healthy",
  "drift",
  "latent-drift",
  "empty-bundle",
  "garbage-bundle",
  "expired",
  "wrong-name",
  "key-mismatch",
  "stale-pod",
  "replicas-differ",
  "one-holder",
  "operator-down",
  "operator-blind",
  "rbac-trap",
  "unknown-owner",
  "no-endpoints",
] as const;

export type FaultName = (typeof faultNames)[number];

/** What a person is told, in one sentence. */
export const faultDescriptions: Readonly<Record<FaultName, string>> = {
  healthy: "nothing is wrong",
  drift: "the Secret and the pods have a new pair, the bundle holds the old one: every pod create is refused",
  "latent-drift": "the same drift, hidden by the API server's kept-alive connections: pod creates still work",
  "empty-bundle": "the bundle is empty, so that the API server's own roots are asked",
  "garbage-bundle": "the bundle holds bytes that are not PEM",
  expired: "the pair has expired; bundle, Secret and pods agree",
  "wrong-name": "the pair is for another namespace's Service; bundle, Secret and pods agree",
  "key-mismatch": "the Secret's key does not belong to its certificate; the pods keep their old pair",
  "stale-pod": "bundle and Secret are new, the pod's mount is not refreshed and it serves the old pair",
  "replicas-differ": "two replicas, of which one serves the old pair",
  "one-holder": "only the mutating configuration has the new bundle",
  "operator-down": "the operator is scaled to none; nothing else is wrong",
  "operator-blind": "the operator's pod is ready and reconciles nothing; nothing else is wrong",
  "rbac-trap":
    "the configurations have custom names, which the operator may create and not change; then the pair changed",
  "unknown-owner": "a configuration that nobody maintains calls KAI's Service, with an old bundle",
  "no-endpoints": "the webhook's Deployment is scaled to none",
};

/** Whether the family has what the fault breaks. */
export const hasFault = ({ family }: Pick<Installed, "family">, fault: FaultName): boolean =>
  family.writer === "operator" || !["operator-down", "operator-blind", "rbac-trap"].includes(fault);

export async function inject(installed: Installed, fault: FaultName): Promise<void> {
  if (!hasFault(installed, fault))
    throw new Error(`family ${installed.family.name} has no operator: ${fault} is for D1 and D4`);
  await injections[fault](installed);
}

const injections: Readonly<Record<FaultName, (installed: Installed) => Promise<void>>> = {
  healthy: () => Promise.resolve(),
  drift: async (installed) => {
    await drift(installed);
    installed.world.egress.closeConnections();
  },
  "latent-drift": async (installed) => {
    await warmConnections(installed);
    await drift(installed);
  },
  "empty-bundle": (installed) => spoilBundle(installed, ""),
  "garbage-bundle": (installed) => spoilBundle(installed, "this is not PEM\n"),
  expired: async (installed) => {
    await replacePairEverywhere(installed, await expiredPair(installed.admission));
  },
  "wrong-name": async (installed) => {
    await replacePairEverywhere(
      installed,
      await mintKaiCertificate({
        serverName: `${installed.admission.service}.another-namespace.svc`,
        notBefore: new Date(),
      }),
    );
  },
  "key-mismatch": keyMismatch,
  "stale-pod": async (installed) => {
    for (const pod of podsOf(installed)) installed.world.kubelet.freezeMounts(pod);
    await rotate(installed);
    installed.world.egress.closeConnections();
  },
  "replicas-differ": replicasDiffer,
  "one-holder": oneHolder,
  "operator-down": operatorDown,
  "operator-blind": operatorBlind,
  "rbac-trap": rbacTrap,
  "unknown-owner": unknownOwner,
  "no-endpoints": async ({ world, admission }) => {
    await scale({ world, deployment: admission.deployment, replicas: 0 });
    world.egress.closeConnections();
  },
};

/** The pair changes and nobody tells the bundle. */
async function drift(installed: Installed): Promise<void> {
  if (installed.family.writer === "helm-hooks") {
    // `helm upgrade --wait` ran out of time between the hooks.
    await upgradeWithHooks(installed.world, installed.family, "pre-hook");
    await everyPodServesItsSecret(installed);
    return;
  }
  if (installed.family.name === "D1") await operatorBlind(installed);
  else await operatorDown(installed);
  await writeNewPair(installed);
}

async function expiredPair({ service }: Component): Promise<MintedCertificate> {
  const day = 86_400_000;
  const notBefore = new Date(Date.now() - 3660 * day);
  return mintKaiCertificate({
    serverName: `${service}.${kaiNamespace}.svc`,
    notBefore,
    notAfter: new Date(Date.now() - day),
  });
}

async function keyMismatch(installed: Installed): Promise<void> {
  const { world, admission } = installed;
  const [certificate, key] = await Promise.all([mintPair(admission.service), mintPair(admission.service)]);
  const data = { ...pairData(certificate), "tls.key": pairData(key)["tls.key"] };
  await writePair(world.as("admin", "kubectl-patch"), admission.secret, data);
  if (installed.family.writer === "operator") {
    await until("the operator has copied tls.crt into the bundles", () => bundlesHold(installed, certificate.pem));
  }
  world.egress.closeConnections();
}

async function replicasDiffer(installed: Installed): Promise<void> {
  const { world, family, admission } = installed;
  if (family.writer === "operator") {
    await world
      .as("admin", "kubectl-patch")
      .merge(`${configsPath}/kai-config`, { spec: { global: { replicaCount: 2 } } });
    await until("there are two pods", () => podsOf(installed).length === 2);
    await deploymentsAreReady(world);
  } else {
    await scale({ world, deployment: admission.deployment, replicas: 2 });
  }
  await until("both are endpoints", () => endpointsOf(installed) === 2);
  const [frozen = ""] = podsOf(installed);
  world.kubelet.freezeMounts(frozen);
  await rotate(installed);
  await everyPodServesItsSecret(installed, [frozen]);
  world.egress.closeConnections();
}

async function oneHolder(installed: Installed): Promise<void> {
  const { world, admission } = installed;
  await drift(installed);
  const secret = await world.admin.get<Secret>(`${secretsPath}/${admission.secret}`);
  const bundle = Buffer.from(secret.data?.["tls.crt"] ?? "", "base64").toString("utf8");
  const mutating = admission.holders.filter(({ kind }) => kind === "mutating");
  const writer =
    installed.family.writer === "helm-hooks" ? world.as("admin", "webhookmanager") : world.as("admin", "kubectl-patch");
  for (const holder of mutating) await writeBundle(writer, holder, bundle);
  world.egress.closeConnections();
}

async function operatorDown({ world }: Installed): Promise<void> {
  await scale({ world, deployment: "kai-operator", replicas: 0 });
}

async function operatorBlind(installed: Installed): Promise<void> {
  const { world, operator } = installed;
  if (operator.isBlind) return;
  operator.isBlind = true;
  // v0.20.1 waits for the GPU Operator's kind; in v0.17.0 the cause is left open and only its effect is played.
  if (installed.family.name === "D1") await removeClusterPolicy(world.admin);
  const before = operatorPods(installed);
  for (const pod of before) await world.admin.remove(`/api/v1/namespaces/${kaiNamespace}/pods/${nameIn(pod)}`);
  await until("the operator has a new pod", () => operatorPods(installed).every((pod) => !before.includes(pod)));
  await deploymentsAreReady(world);
}

/** The names that Config.spec.admission gives since v0.10; the operator's rights name only the default ones. */
async function rbacTrap(installed: Installed): Promise<void> {
  const { world } = installed;
  const admission = {
    mutatingWebhookConfigurationName: "robotics-mutating",
    validatingWebhookConfigurationName: "robotics-validating",
  };
  await world.as("admin", "kubectl-patch").merge(`${configsPath}/kai-config`, { spec: { admission } });
  const created = ["mutating/robotics-mutating", "validating/robotics-validating"].map((holder) => {
    const [kind, name] = holder.split("/");
    return `${holderCollection(kind === "mutating" ? "mutating" : "validating")}/${name ?? ""}`;
  });
  await until("the operator has created the custom configurations", async () => {
    const answers = await Promise.all(created.map((path) => world.admin.request("GET", path)));
    return answers.every(({ status }) => status === 200);
  });
  await writeNewPair(installed);
  world.egress.closeConnections();
}

async function unknownOwner({ world, admission }: Installed): Promise<void> {
  const forgotten = await mintPair(admission.service);
  await world.as("admin", "kubectl-create").create(holderCollection("mutating"), {
    metadata: { name: "robotics-pod-defaults" },
    webhooks: [
      {
        name: "pod-defaults.robotics.example",
        admissionReviewVersions: ["v1"],
        sideEffects: "None",
        clientConfig: {
          caBundle: pairData(forgotten)["tls.crt"],
          service: { namespace: kaiNamespace, name: admission.service, path: "/mutate--v1-pod", port: 443 },
        },
        rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] }],
        namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": probeNamespace } },
      },
    ],
  });
}

interface Scaling extends Pick<Installed, "world"> {
  readonly deployment: string;
  readonly replicas: number;
}

async function scale({ world, deployment, replicas }: Scaling): Promise<void> {
  await world.as("admin", "kubectl-scale").merge(`${deploymentsPath}/${deployment}/scale`, { spec: { replicas } });
  await deploymentsAreReady(world);
  await until(`${deployment} has ${replicas} pods`, () => podsNamed({ world }, deployment).length === replicas);
}
