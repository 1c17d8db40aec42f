// A helm installation of KAI's family A into the lab's store, in the order of the chart: pre hook, objects, pods, post hook.
import { resources, type Resource } from "../kubernetes/resources.ts";
import type { DeploymentController } from "../kubernetes/deployment-controller.ts";
import type { NewObject } from "../kubernetes/store.ts";
import * as familyA from "./family-a.ts";
import { runPostHook, runPreHook, type HookOptions } from "./hook-jobs.ts";

/** Resolves when the pods are ready and both holders carry the bundle. */
export async function installKai(
  options: HookOptions,
  controller: DeploymentController,
  replicas: number,
): Promise<void> {
  const { store, namespace, now } = options;
  const create = (resource: Resource, object: NewObject, manager = "helm") =>
    store.create({ resource, namespace: resource.namespaced ? namespace : "", name: object.metadata.name }, object, {
      manager,
      at: now(),
    });

  await runPreHook(options);
  create(resources.mutatingWebhookConfigurations, familyA.mutatingConfiguration(namespace));
  create(resources.validatingWebhookConfigurations, familyA.validatingConfiguration(namespace));
  const service = create(resources.services, familyA.service(namespace));
  create(resources.endpointSlices, familyA.endpointSlice(service.metadata.uid ?? ""), "kube-controller-manager");
  create(resources.deployments, familyA.deployment(namespace, replicas));
  await controller.rollOut(familyA.serviceName);
  runPostHook(options);
}
