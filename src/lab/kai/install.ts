// Puts a KAI family into the lab's store, in the order of its chart: for A to C pre hook, objects, pods, post hook; for D
// the operator and `kai-config`, and the operator makes the rest.
import { resources, type Resource } from "../kubernetes/resources.ts";
import type { DeploymentController } from "../kubernetes/deployment-controller.ts";
import { runPostHook, runPreHook } from "./hook-jobs.ts";
import type { NewObject } from "../kubernetes/store.ts";
import type { KaiInstallation } from "./installation.ts";
import { operatorDeployment, type Operator } from "./operator.ts";
import { readRelease } from "./recorded.ts";
import type { KubeObject } from "./kube-object.ts";
import { newObject, newService } from "./release-objects.ts";

/** Resolves when the pods are ready and the holders carry the bundle. Deployments that serve no webhook are left out. */
export async function installWithHooks(
  kai: KaiInstallation,
  controller: DeploymentController,
  replicas: number,
): Promise<void> {
  const release = readRelease(kai.family.version);
  const names = kai.family.components.map(({ service }) => service);
  const isServing = ({ metadata }: KubeObject): boolean => names.includes(metadata.name);
  const create = creator(kai);

  await runPreHook(kai);
  for (const holder of release.mutating) create(resources.mutatingWebhookConfigurations, newObject(holder));
  for (const holder of release.validating) create(resources.validatingWebhookConfigurations, newObject(holder));
  for (const service of release.services.filter(isServing)) {
    create(resources.services, newService(service, kai.family));
  }
  for (const deployment of release.deployments.filter(isServing)) {
    create(resources.deployments, { ...newObject(deployment), spec: { ...deployment.spec, replicas } });
  }
  await controller.settled();
  runPostHook(kai);
}

/** Resolves when the operator has made everything and its pods are ready. */
export async function installOperator(
  kai: KaiInstallation,
  controller: DeploymentController,
  operator: Operator,
): Promise<void> {
  const { deployments, config } = readRelease(kai.family.version);
  if (config === undefined) throw new Error(`${kai.family.version} has no kai-config`);
  const create = creator(kai);
  // v0.20.1 creates kai-config as a hook of helm; v0.17.0 applies it from a Job of its own.
  create(resources.configs, newObject(config), kai.family.name === "D4" ? "kai-config-deployer" : "helm");
  for (const deployment of deployments.filter(({ metadata }) => metadata.name === operatorDeployment)) {
    create(resources.deployments, newObject(deployment));
  }
  await controller.settled();
  await operator.settled();
  await controller.settled();
}

function creator({ store, namespace, now }: KaiInstallation) {
  return (resource: Resource, object: NewObject, manager = "helm"): void => {
    const key = { resource, namespace: resource.namespaced ? namespace : "", name: object.metadata.name };
    store.create(key, object, { manager, at: now() });
  };
}
