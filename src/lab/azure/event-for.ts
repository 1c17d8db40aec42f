// The events that Azure sends about a managed cluster of the lab, in both schemas of Event Grid, as its resource provider
// `Microsoft.Resources` words them. Pure but for the event's id. Not here: delivery.
import { randomUUID } from "node:crypto";
import { armIdOf, type ArmCluster } from "./arm-cluster.ts";

/** Operations on a cluster. The last is one of fleetmend's own, which must set off nothing. */
export type ClusterOperation =
  | "write"
  | "delete"
  | "agentPools/write"
  | "start/action"
  | "stop/action"
  | "rotateClusterCertificates/action"
  | "listClusterUserCredential/action";

export type EventSchema = "EventGridSchema" | "CloudEventSchemaV1_0";

/** Event Grid writes some parts of an id in lower case, and so it is here. */
export function eventFor(
  cluster: ArmCluster,
  operation: ClusterOperation,
  { schema, at }: { readonly schema: EventSchema; readonly at: Date },
): unknown {
  const resourceUri = armIdOf(cluster).replace("/resourceGroups/", "/resourcegroups/");
  const { subscription } = cluster;
  const operationName = `Microsoft.ContainerService/managedClusters/${operation}`;
  const type = `Microsoft.Resources.${typeOf(operation)}`;
  const id = randomUUID();
  const source = `/subscriptions/${subscription}`;
  const data = {
    authorization: { scope: resourceUri, action: operationName, evidence: { role: "Contributor" } },
    claims: { appid: "00000000-0000-4000-8000-0000000000aa" },
    correlationId: randomUUID(),
    resourceProvider: "Microsoft.ContainerService",
    resourceUri,
    operationName,
    status: "Succeeded",
    subscriptionId: subscription,
  };
  const common = { id, subject: resourceUri, data };
  if (schema === "CloudEventSchemaV1_0") return { ...common, source, type, time: at.toISOString(), specversion: "1.0" };
  return {
    ...common,
    topic: source,
    eventType: type,
    eventTime: at.toISOString(),
    dataVersion: "2",
    metadataVersion: "1",
  };
}

function typeOf(operation: ClusterOperation): string {
  if (operation === "delete") return "ResourceDeleteSuccess";
  return operation.endsWith("/action") ? "ResourceActionSuccess" : "ResourceWriteSuccess";
}
