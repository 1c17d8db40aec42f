// Puts a KAI family into the test cluster, healthy, and takes everything of it out again.
import { removeIfThere } from "../api.ts";
import { createNamespace, type World } from "../world.ts";
import { holderCollection, holderPath } from "../holder.ts";
import { until } from "../until.ts";
import { installClusterPolicy, installKaiDefinitions } from "./crds.ts";
import { families, type Component, type Family, type FamilyName } from "../../../src/lab/kai/families.ts";
import { configsPath, deploymentsPath, installOperator, installWithHooks } from "./helm.ts";
import { operatorProgram, type OperatorControl } from "./operator.ts";
import { grantOperatorRights } from "./operator-rights.ts";
import { kaiNamespace } from "../../../src/lab/kai/recorded.ts";
import { deploymentsAreReady } from "./rollout.ts";

/** Where the probes of the tests create their pods: the default of `--probe-namespace`. */
export const probeNamespace = "osmo-workflows";

export interface Installed {
  readonly world: World;
  readonly family: Family;
  /** The component that is asked for pods. */
  readonly admission: Component;
  /** How operator pods behave that start from now on; without meaning in the helm hooks' families. */
  readonly operator: OperatorControl;
}

const shardsPath = "/apis/kai.scheduler/v1/schedulingshards";

/** Once per control plane: namespaces and definitions. Does no harm a second time. */
export async function prepareCluster(world: World): Promise<void> {
  await createNamespace(world.admin, kaiNamespace);
  await createNamespace(world.admin, probeNamespace);
  await installKaiDefinitions(world.admin);
}

/** Installs a family into a cluster that has none, and returns when its hooks answer: one to two seconds. */
export async function installFamily(world: World, name: FamilyName): Promise<Installed> {
  const family = families[name];
  const operator: OperatorControl = { isBlind: false };
  if (family.writer === "helm-hooks") {
    await installWithHooks(world, family);
  } else {
    const api = world.as("kaiOperator", "operator");
    world.addProgram((pod) => pod.metadata.labels?.app === "kai-operator", operatorProgram(api, family, operator));
    await installClusterPolicy(world.admin);
    await grantOperatorRights(world.as("admin", "helm"));
    await world
      .as("admin", "helm")
      .create(shardsPath, { apiVersion: "kai.scheduler/v1", kind: "SchedulingShard", metadata: { name: "default" } });
    await installOperator(world, family);
    await until("the operator has made the configurations", () => holdersExist(world, family));
  }
  await deploymentsAreReady(
    world,
    family.components.map(({ service }) => service),
  );
  return { world, family, admission: family.components[0], operator };
}

async function holdersExist(world: World, { components }: Family): Promise<boolean> {
  const holders = components.flatMap((component) => component.holders);
  const answers = await Promise.all(holders.map((holder) => world.admin.request("GET", holderPath(holder))));
  return answers.every(({ status }) => status === 200);
}

const collections = [
  holderCollection("mutating"),
  holderCollection("validating"),
  configsPath,
  shardsPath,
  `/apis/batch/v1/namespaces/${kaiNamespace}/jobs`,
  deploymentsPath,
  `/apis/apps/v1/namespaces/${kaiNamespace}/replicasets`,
  `/api/v1/namespaces/${kaiNamespace}/pods`,
  `/api/v1/namespaces/${probeNamespace}/pods`,
  `/api/v1/namespaces/${kaiNamespace}/services`,
  `/api/v1/namespaces/${kaiNamespace}/secrets`,
  `/apis/coordination.k8s.io/v1/namespaces/${kaiNamespace}/leases`,
];

/** Removes all webhook configurations, and everything in KAI's namespace, whoever made it; and undoes the world's faults. */
export async function uninstall(world: World): Promise<void> {
  const remove = { gracePeriodSeconds: 0, propagationPolicy: "Background" };
  for (const collection of collections) await world.admin.remove(collection, remove);
  await until("the pods are gone", async () => {
    // A controller that had not yet seen the deletion may have made another one.
    for (const collection of collections) await world.admin.remove(collection, remove);
    return world.kubelet.pods.size === 0;
  });
  const rbac = "/apis/rbac.authorization.k8s.io/v1";
  await removeIfThere(world.admin, `${rbac}/clusterrolebindings/kai-webhookmanager`);
  await removeIfThere(world.admin, `${rbac}/clusterroles/kai-webhookmanager`);
  await removeIfThere(world.admin, `/api/v1/namespaces/${kaiNamespace}/serviceaccounts/webhookmanager`);
  world.reset();
}
