// What hands and helm do to a whole installation in the lab: scale, change kai-config, upgrade. Each resolves when pods and
// operator have followed.
import type { Cluster } from "../cluster.ts";
import { resources } from "../kubernetes/resources.ts";
import { runPostHook, runPreHook } from "./hook-jobs.ts";
import { operatorDeployment } from "./operator.ts";

/** `kubectl scale deployment`. */
export async function scale(cluster: Cluster, name: string, replicas: number): Promise<void> {
  const { store, namespace, now, controller } = cluster;
  const key = { resource: resources.deployments, namespace, name };
  const writer = { manager: "kubectl-scale", at: now() };
  store.update(key, (present) => ({ ...present, spec: { ...Object(present.spec), replicas } }), writer);
  await controller.settled();
}

export async function scaleOperator(cluster: Cluster, replicas: number): Promise<void> {
  if (cluster.operator === undefined) throw new Error(`family ${cluster.family.name} has no operator`);
  await scale(cluster, operatorDeployment, replicas);
}

const configKey = { resource: resources.configs, namespace: "", name: "kai-config" };

/** `kubectl patch` of kai-config's spec, one level deep. */
export async function mergeConfig(
  cluster: Cluster,
  change: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
): Promise<void> {
  const writer = { manager: "kubectl-patch", at: cluster.now() };
  const merge = (spec: object) => ({
    ...spec,
    ...Object.fromEntries(
      Object.entries(change).map(([part, fields]) => [part, { ...Object(Reflect.get(spec, part)), ...fields }]),
    ),
  });
  cluster.store.update(configKey, (present) => ({ ...present, spec: merge(present.spec as object) }), writer);
  await followed(cluster);
}

async function followed({ operator, controller }: Cluster): Promise<void> {
  await controller.settled();
  await operator?.settled();
  await controller.settled();
}

/** A complete new start, with new pairs and pods and no old connection: whatever was wrong is not any more. */
export async function upgrade(cluster: Cluster, replicas: number): Promise<void> {
  const { store, family, clients, controller, operator } = cluster;
  for (const name of ["robotics-pod-defaults", "robotics-mutating"]) {
    store.remove({ resource: resources.mutatingWebhookConfigurations, namespace: "", name });
  }
  const validating = {
    resource: resources.validatingWebhookConfigurations,
    namespace: "",
    name: "robotics-validating",
  };
  store.remove(validating);
  if (operator === undefined) {
    await runPreHook(cluster);
    runPostHook(cluster);
    for (const { deployment } of family.components) await scale(cluster, deployment, replicas);
  } else {
    await renewThroughOperator(cluster, replicas);
  }
  for (const { deployment } of family.components) await controller.rollOut(deployment);
  clients.close();
}

/** Without its Secrets the operator makes new pairs, and bundles of them. */
async function renewThroughOperator(cluster: Cluster, replicas: number): Promise<void> {
  const { store, namespace, family, operator } = cluster;
  for (const { secret } of family.components) {
    store.remove({ resource: resources.secrets, namespace, name: secret });
  }
  const admission = {
    mutatingWebhookConfigurationName: undefined,
    validatingWebhookConfigurationName: undefined,
  };
  operator?.setBlind(false);
  await scaleOperator(cluster, 1);
  await mergeConfig(cluster, { admission, global: { replicaCount: replicas } });
}
