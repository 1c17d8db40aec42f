// Reads the recorded objects of real KAI releases (recorded/) and turns them into what was once written: without
// what the API server, a controller or a webhook hook added. Nothing here talks to a cluster.
import { readFileSync } from "node:fs";
import path from "node:path";
import { parse } from "yaml";
import type { Deployment, KubeObject, Service, WebhookConfiguration } from "./kube-object.ts";

const folder = path.join(import.meta.dirname, "recorded");

/** KAI's own namespace in all recordings, and in every test. */
export const kaiNamespace = "kai-scheduler";

export interface Release {
  readonly deployments: readonly Deployment[];
  readonly services: readonly Service[];
  readonly mutating: readonly WebhookConfiguration[];
  readonly validating: readonly WebhookConfiguration[];
  /** `kai-config`, in the operator's families. */
  readonly config: KubeObject | undefined;
}

/**
 * The objects of a release, such as `v0.5.5`, without bundles. Those that the operator made still name their owner, with
 * the recording's UID: the operator puts its own in.
 */
export function readRelease(version: string): Release {
  const release = releases.get(version) ?? parseRelease(version);
  releases.set(version, release);
  return release;
}

// The files never change, and a subscription of clusters asks for the same few again and again.
const releases = new Map<string, Release>();

function parseRelease(version: string): Release {
  return {
    deployments: readItems<Deployment>(version, "deployments").items.map(asWritten),
    services: readItems<Service>(version, "services").items.map(asWritten).map(withoutClusterIp),
    mutating: readItems<WebhookConfiguration>(version, "mutatingwebhookconfigurations")
      .items.map(asWritten)
      .map(withoutBundles),
    validating: readItems<WebhookConfiguration>(version, "validatingwebhookconfigurations")
      .items.map(asWritten)
      .map(withoutBundles),
    config: hasConfig(version) ? readItems(version, "kai-config").items.map(asWritten)[0] : undefined,
  };
}

interface Items<T> {
  readonly items: readonly T[];
}

function readItems<T extends KubeObject>(version: string, kind: string): Items<T> {
  return parse(readFileSync(path.join(folder, version, `${kind}.yaml`), "utf8")) as Items<T>;
}

const hasConfig = (version: string): boolean => Number(/^v0\.(\d+)/.exec(version)?.[1]) >= 9;

function asWritten<T extends KubeObject>(object: T): T {
  const { name, namespace, labels, annotations, ownerReferences } = object.metadata;
  const written = Object.entries(annotations ?? {}).filter(([key]) => !key.startsWith("deployment.kubernetes.io/"));
  const metadata = {
    name,
    ...(namespace !== undefined && { namespace }),
    ...(labels && { labels }),
    ...(written.length > 0 && { annotations: Object.fromEntries(written) }),
    ...(ownerReferences && { ownerReferences }),
  };
  return { ...without(object, ["status"]), metadata };
}

function withoutClusterIp(service: Service): Service {
  // "None" was chosen, an address was assigned.
  if (service.spec.clusterIP === "None") return service;
  return { ...service, spec: without(service.spec, ["clusterIP", "clusterIPs"]) };
}

function withoutBundles(configuration: WebhookConfiguration): WebhookConfiguration {
  return {
    ...configuration,
    webhooks: (configuration.webhooks ?? []).map((webhook) => ({
      ...webhook,
      clientConfig: without(webhook.clientConfig, ["caBundle"]),
    })),
  };
}

/** A copy that lacks some optional fields. */
function without<T extends object>(object: T, names: readonly string[]): T {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name))) as T;
}
