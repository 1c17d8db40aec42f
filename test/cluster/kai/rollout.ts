// Waiting until what was written has become pods that serve.
import type { Deployment } from "../../../src/lab/kai/kube-object.ts";
import { until } from "../until.ts";
import type { World } from "../world.ts";
import { kaiNamespace } from "../../../src/lab/kai/recorded.ts";

/** All Deployments of KAI's namespace are rolled out, and the pod network knows the endpoints of `services`. */
export async function deploymentsAreReady(world: World, services: readonly string[] = []): Promise<void> {
  await until("the Deployments are ready", async () => {
    const { items } = await world.admin.list<Deployment>(`/apis/apps/v1/namespaces/${kaiNamespace}/deployments`);
    return items.every(isRolledOut);
  });
  await until(`${services.join(", ")} have endpoints`, () =>
    services.every((service) => world.egress.readyEndpoints(`${kaiNamespace}/${service}`).length > 0),
  );
}

function isRolledOut({ metadata, spec, status }: Deployment): boolean {
  const wanted = spec.replicas ?? 1;
  return (
    status?.observedGeneration === metadata.generation &&
    (status?.updatedReplicas ?? 0) === wanted &&
    (status?.replicas ?? 0) === wanted &&
    (status?.readyReplicas ?? 0) === wanted
  );
}
