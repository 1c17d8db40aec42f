// The kai-operator of the families D (NVIDIA/KAI-Scheduler, pkg/operator): every change of what it owns makes it assert the
// pairs, workloads and complete webhook lists that `kai-config` asks for. Left out: what concerns neither webhooks nor the
// Deployments behind them. Its desired state is operator-desired.ts, as on the test's real API server.
import { isDeepStrictEqual } from "node:util";
import { isReady } from "../kubernetes/pod-objects.ts";
import { resources, type Resource } from "../kubernetes/resources.ts";
import type { NewObject } from "../kubernetes/store.ts";
import type { StoredObject } from "../kubernetes/stored-object.ts";
import type { Component } from "./families.ts";
import { mintPair, pairData, type KaiInstallation } from "./installation.ts";
import { configurationWebhooks, overlay, ownedBy, type KaiConfig } from "./operator-desired.ts";
import { readRelease, type Release } from "./recorded.ts";
import { newObject, newService } from "./release-objects.ts";
import type { KubeObject, WebhookConfiguration } from "./kube-object.ts";

export interface Operator {
  /** Ready, and does nothing: as v0.20.1 without the GPU Operator's kind, or with a cache that never fills. */
  setBlind(isBlind: boolean): void;
  /** Resolves when it has followed every change so far, or will not. */
  settled(): Promise<void>;
  stop(): void;
}

const manager = "operator";
export const operatorDeployment = "kai-operator";
const configName = "kai-config";

// What the chart lets it change and delete since v0.10 (templates/rbac/operator.yaml); it may create under any name.
const writable: readonly string[] = [
  "mutating-kai-admission",
  "validating-kai-admission",
  "kai-queue-validation-v2",
  "kai-podgroup-validation-v2alpha2",
];

/** Works as long as a pod of its Deployment is ready. `followMs` is from a change to its answer: 12 to 77 ms in life. */
export function startOperator(kai: KaiInstallation, followMs: number): Operator {
  const release = readRelease(kai.family.version);
  let isBlind = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  let isStopped = false;

  const isUp = (): boolean =>
    kai.store
      .list(resources.pods, kai.namespace)
      .some((pod) => pod.metadata.labels?.app === operatorDeployment && isReady(pod));
  const kick = (): void => {
    if (timer !== undefined || isStopped || isBlind) return;
    timer = setTimeout(() => {
      timer = undefined;
      running = running.then(() => (isUp() && !isBlind && !isStopped ? reconcile(kai, release) : undefined));
    }, followMs);
  };
  const watched: readonly Resource[] = [
    resources.secrets,
    resources.mutatingWebhookConfigurations,
    resources.validatingWebhookConfigurations,
    resources.deployments,
    resources.services,
    resources.configs,
  ];
  kai.store.watch(({ resource, namespace }, object) => {
    const isOperatorPod = resource === resources.pods && object?.metadata.labels?.app === operatorDeployment;
    if (isOperatorPod || (watched.includes(resource) && ["", kai.namespace].includes(namespace))) kick();
  });
  return {
    setBlind(blind) {
      isBlind = blind;
      kick();
    },
    async settled() {
      // A pass may change what makes for another one.
      while (timer !== undefined) {
        await new Promise((resolve) => setTimeout(resolve, followMs + 1));
        await running;
      }
      await running;
    },
    stop() {
      isStopped = true;
      clearTimeout(timer);
      timer = undefined;
    },
  };
}

/** One pass. What it may not change stays as it is; the real one ends its pass there, and in its next one again. */
async function reconcile(kai: KaiInstallation, release: Release): Promise<void> {
  const config = kai.store.get({ resource: resources.configs, namespace: "", name: configName }) as
    (StoredObject & KaiConfig) | undefined;
  if (config === undefined) return;
  const pairs = new Map<string, string>();
  for (const component of kai.family.components) {
    pairs.set(component.service, await ensureSecret(kai, config, component));
  }
  ensureWorkloads(kai, release, config);
  ensureConfigurations(kai, release, { config, pairs });
}

/** The Secret's `tls.crt` in base64. A Secret that has the key is kept, whatever the key holds. */
async function ensureSecret(kai: KaiInstallation, config: KaiConfig, component: Component): Promise<string> {
  const key = { resource: resources.secrets, namespace: kai.namespace, name: component.secret };
  const live = kai.store.get(key);
  const kept = (live?.data as Readonly<Record<string, string>> | undefined)?.["tls.crt"];
  const metadata = {
    name: component.secret,
    labels: { app: component.secret },
    ownerReferences: [ownedBy(config, "Config")],
  };
  const minted = kept === undefined ? await mintPair(kai, component) : undefined;
  const data = minted === undefined ? undefined : pairData({ certificates: minted.pem, key: minted.keyPem });
  ensure(kai, resources.secrets, { metadata, type: live?.type ?? "Opaque", ...(data && { data }) });
  return kept ?? data?.["tls.crt"] ?? "";
}

function ensureWorkloads(kai: KaiInstallation, release: Release, config: KaiConfig): void {
  const replicas = config.spec?.global?.replicaCount ?? 1;
  const names = kai.family.components.map(({ deployment }) => deployment);
  const ownerReferences = [ownedBy(config, "Config")];
  const adopted = <T extends KubeObject>(object: T): T => ({
    ...object,
    metadata: { ...object.metadata, ownerReferences },
  });
  for (const service of release.services.filter(({ metadata }) => names.includes(metadata.name))) {
    ensure(kai, resources.services, newService(adopted(service), kai.family));
  }
  for (const deployment of release.deployments.filter(({ metadata }) => names.includes(metadata.name))) {
    const spec = { ...deployment.spec, replicas };
    ensure(kai, resources.deployments, { ...newObject(adopted(deployment)), spec });
  }
}

interface Desired {
  readonly config: KaiConfig;
  readonly pairs: ReadonlyMap<string, string>;
}

/** Every pass asserts the complete list of webhooks; a bundle patched by anyone else is taken back with it. */
function ensureConfigurations(kai: KaiInstallation, release: Release, { config, pairs }: Desired): void {
  const wanted = new Set<string>();
  for (const kind of ["mutating", "validating"] as const) {
    const resource =
      kind === "mutating" ? resources.mutatingWebhookConfigurations : resources.validatingWebhookConfigurations;
    for (const recorded of release[kind]) {
      const name = configurationName(kind, recorded, config);
      wanted.add(name);
      const live = kai.store.get({ resource, namespace: "", name });
      const webhooks = configurationWebhooks(recorded, pairs, {
        live: live as WebhookConfiguration | undefined,
        keepsInjectedTerms: kai.family.name === "D4",
      });
      const metadata = { ...recorded.metadata, name, ownerReferences: [ownedBy(config, "Config")] };
      if (live !== undefined && !writable.includes(name)) continue;
      ensure(kai, resource, { metadata, webhooks });
    }
    for (const { metadata } of kai.store.list(resource)) {
      const isOurs = isOwnedBy(metadata, config);
      const isLeft = isOurs && !wanted.has(metadata.name) && writable.includes(metadata.name);
      if (isLeft) kai.store.remove({ resource, namespace: "", name: metadata.name });
    }
  }
}

/** The names that Config.spec.admission gives since v0.10. */
function configurationName(kind: "mutating" | "validating", recorded: KubeObject, { spec }: KaiConfig): string {
  const { name } = recorded.metadata;
  if (name !== `${kind}-kai-admission`) return name;
  const given =
    kind === "mutating"
      ? spec?.admission?.mutatingWebhookConfigurationName
      : spec?.admission?.validatingWebhookConfigurationName;
  return given ?? name;
}

function isOwnedBy(metadata: StoredObject["metadata"], config: KaiConfig): boolean {
  const owners = (metadata as KubeObject["metadata"]).ownerReferences ?? [];
  return owners.some(({ uid }) => uid === config.metadata.uid);
}

/** Creates the object, or puts back the fields that it sets. Annotations and other fields of others stay. */
function ensure(kai: KaiInstallation, resource: Resource, desired: NewObject): void {
  const { store, now, namespace } = kai;
  const key = { resource, namespace: resource.namespaced ? namespace : "", name: desired.metadata.name };
  const writer = { manager, at: now() };
  const live = store.get(key);
  if (live === undefined) store.create(key, desired, writer);
  else {
    const merged = overlay(live, desired) as StoredObject;
    if (!isDeepStrictEqual(merged, live)) store.update(key, () => merged, writer);
  }
}
