// The objects of a recorded KAI release as the lab's store takes them. Not here: reading the recordings (recorded.ts).
import type { NewObject } from "../kubernetes/store.ts";
import type { Family } from "./families.ts";
import type { KubeObject } from "./kube-object.ts";

/** As it is, in the store's more open type. */
export function newObject(object: KubeObject): NewObject {
  return { ...object, metadata: { ...object.metadata } };
}

/** Adds what the API server assigns to a Service: an address, the same for the same family and name. */
export function newService(service: KubeObject & { readonly spec: object }, { components }: Family): NewObject {
  const place = components.findIndex((component) => component.service === service.metadata.name);
  const clusterIP = `10.96.26.${224 + place}`;
  const spec = { ...service.spec, clusterIP, clusterIPs: [clusterIP] };
  return { ...newObject(service), spec, status: { loadBalancer: {} } };
}
