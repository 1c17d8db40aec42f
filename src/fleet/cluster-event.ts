// What an event of Event Grid says about our clusters: Event Grid's own schema or CloudEvents, single or in an array, an
// object or its JSON. Pure. An event's `claims` hold names and addresses of people: nothing of a raw event leaves this file.
import * as v from "valibot";

export type ClusterChange = "written" | "started" | "stopped" | "deleted" | "certificates" | "node-pool";

export type ClusterEvent =
  | {
      readonly kind: "change";
      /** The resource id in lower case. */ readonly cluster: string;
      readonly change: ClusterChange;
    }
  /** `why` names at the most the event's type and operation. */
  | { readonly kind: "ignored"; readonly why: string };

const managedClusters = "microsoft.containerservice/managedclusters";
const [write, remove, action] = (["write", "delete", "action"] as const).map(
  (verb) => `microsoft.resources.resource${verb}success`,
);

/**
 * Operation and the type of its success, in lower case. Nothing else: our own listClusterUserCredential and runCommand are
 * operations that make such events too, and a scan must not set off the next one. Sources: Microsoft Learn, "Azure
 * subscription as an Event Grid source" and "Azure permissions for Containers" (Microsoft.ContainerService).
 */
const changes: ReadonlyMap<string, { readonly type: string | undefined; readonly change: ClusterChange }> = new Map([
  [`${managedClusters}/write`, { type: write, change: "written" }],
  [`${managedClusters}/agentpools/write`, { type: write, change: "node-pool" }],
  [`${managedClusters}/delete`, { type: remove, change: "deleted" }],
  [`${managedClusters}/start/action`, { type: action, change: "started" }],
  [`${managedClusters}/stop/action`, { type: action, change: "stopped" }],
  [`${managedClusters}/rotateclustercertificates/action`, { type: action, change: "certificates" }],
  [`${managedClusters}/rotateserviceaccountsigningkeys/action`, { type: action, change: "certificates" }],
]);

const text = v.optional(v.string(), "");
const eventShape = v.object({
  eventtype: text,
  type: text,
  subject: text,
  data: v.optional(v.object({ operationname: text, resourceuri: text }), {}),
});

/** Every event in what was delivered, in its order. `subscription` is the one that we look after. Never throws. */
export function readClusterEvents(delivered: unknown, subscription: string): readonly ClusterEvent[] {
  const value = parsedText(delivered);
  const events: readonly unknown[] = Array.isArray(value) ? value : [value];
  return events.map((event) => readClusterEvent(parsedText(event), subscription));
}

function readClusterEvent(value: unknown, subscription: string): ClusterEvent {
  const parsed = v.safeParse(eventShape, tidyKeys(value, 2));
  if (!parsed.success) return { kind: "ignored", why: "not an event of Event Grid" };
  const event = parsed.output;
  const type = (event.eventtype === "" ? event.type : event.eventtype).toLowerCase();
  const operation = event.data.operationname.trim().toLowerCase();
  const known = changes.get(operation);
  if (known?.type !== type) {
    return {
      kind: "ignored",
      why: `${plainWord(type, "an event without a type")} of ${plainWord(operation, "no operation")}`,
    };
  }
  const uri = event.data.resourceuri === "" ? event.subject : event.data.resourceuri;
  const [, cluster, owner] = clusterUri.exec(uri.trim().toLowerCase()) ?? [];
  if (cluster === undefined) return { kind: "ignored", why: `${operation} of something that is no cluster` };
  if (owner !== subscription.toLowerCase()) return { kind: "ignored", why: `${operation} in another subscription` };
  return { kind: "change", cluster, change: known.change };
}

/** A cluster's id, alone or with what is below it, such as a node pool. */
const clusterUri =
  /^(\/subscriptions\/([^/]+)\/resourcegroups\/[^/]+\/providers\/microsoft\.containerservice\/managedclusters\/[^/]+)(?:\/.*)?$/;

/** Types and operations are words and dots; anything else is not repeated. */
function plainWord(word: string, otherwise: string): string {
  if (word === "") return otherwise;
  return /^[a-z0-9./-]{1,120}$/.test(word) ? word : "something unreadable";
}

function parsedText(value: unknown): unknown {
  if (typeof value !== "string") return value;
  try {
    return JSON.parse(value);
  } catch {
    // Not JSON: an event it is not, and the parser of events says so.
    return undefined;
  }
}

/**
 * Keys in lower case and without spaces around: Microsoft's own samples write `specVersion` and `"ObjectName "`. Two levels
 * are all that is read.
 */
function tidyKeys(value: unknown, levels: number): unknown {
  if (levels === 0 || typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value).map(([key, inner]) => [
    key.trim().toLowerCase(),
    tidyKeys(key.trim().toLowerCase() === "data" ? parsedText(inner) : inner, levels - 1),
  ]);
  return Object.fromEntries(entries) as unknown;
}
