// From a Service to a pod that answers for it, as kube-proxy and the API server's dialler do it with cluster-IP routing
// (`--enable-aggregator-routing` off, the default). The words of each failure are those that Go's dialler gives.
import * as v from "valibot";
import { failure, success } from "../../result.ts";
import { isReady } from "./pod-objects.ts";
import type { Kubelet } from "./kubelet.ts";
import { resources } from "./resources.ts";
import { selects } from "./selector.ts";
import type { Store } from "./store.ts";
import { serviceSchema } from "./stored-object.ts";
import type { Route } from "./webhook-client.ts";

/** Ready pods take turns, so that replicas that differ show themselves. */
export function serviceRoutes(store: Store, kubelet: Kubelet): Route {
  let turn = 0;
  return ({ namespace, name, port }) => {
    const object = store.get({ resource: resources.services, namespace, name });
    if (object === undefined) return failure(`service "${name}" not found`);
    const { spec } = v.parse(serviceSchema, object);
    const target = spec.ports.find((each) => each.port === port);
    if (target === undefined) return failure(`no service port ${String(port)} found for service "${name}"`);
    const ports = store
      .list(resources.pods, namespace)
      .filter((pod) => isReady(pod) && selects({ matchLabels: spec.selector }, pod.metadata.labels ?? {}))
      .flatMap((pod) => kubelet.portOf(pod.metadata.name, target.targetPort) ?? []);
    const chosen = ports[turn++ % ports.length];
    // kube-proxy rejects what has no endpoint.
    if (chosen === undefined) return failure(`dial tcp ${spec.clusterIP}:${String(port)}: connect: connection refused`);
    return success({ port: chosen });
  };
}
