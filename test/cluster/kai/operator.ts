// The kai-operator's reconcile of `kai-config` in the families D (NVIDIA/KAI-Scheduler, pkg/operator), on watches, with
// the rights of its ServiceAccount. Left out: what has to do with neither webhooks nor the Deployments behind them, and
// the race of a first installation that mints a second pair.
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { isFromServer, type Api } from "../api.ts";
import { holderCollection, holderPath } from "../holder.ts";
import type {
  Deployment,
  KubeObject,
  Secret,
  Service,
  WebhookConfiguration,
} from "../../../src/lab/kai/kube-object.ts";
import { keyOf } from "../../../src/lab/kai/kube-object.ts";
import type { Program } from "../kubelet.ts";
import { watch, type Watched } from "../watch.ts";
import { hasClusterPolicy } from "./crds.ts";
import type { Component, Family } from "../../../src/lab/kai/families.ts";
import { configsPath, deploymentsPath, servicesPath } from "./helm.ts";
import { configurationWebhooks, overlay, ownedBy, type KaiConfig } from "../../../src/lab/kai/operator-desired.ts";
import { mintPair, pairData, secretsPath } from "./pair.ts";
import { kaiNamespace, readRelease, type Release } from "../../../src/lab/kai/recorded.ts";

/** How the next operator pods behave. */
export interface OperatorControl {
  /** Ready, and does nothing. v0.20.1 becomes so by itself where the ClusterPolicy definition is missing. */
  isBlind: boolean;
}

/** The program of the operator's pods. */
export const operatorProgram =
  (api: Api, family: Family, control: OperatorControl): Program =>
  () => {
    const stopped = new AbortController();
    const running = control.isBlind && family.name !== "D1" ? undefined : run(api, family, stopped.signal);
    running?.catch((error: unknown) => {
      if (!stopped.signal.aborted) throw error;
    });
    return {
      stop: () => {
        stopped.abort();
      },
    };
  };

interface Caches {
  readonly configs: Watched<KaiConfig>;
  readonly shards: Watched<KubeObject>;
  readonly secrets: Watched<Secret>;
  readonly mutating: Watched<WebhookConfiguration>;
  readonly validating: Watched<WebhookConfiguration>;
  readonly deployments: Watched<Deployment>;
  readonly services: Watched<Service>;
}

interface Operator {
  readonly api: Api;
  readonly family: Family;
  readonly release: Release;
  readonly caches: Caches;
}

async function run(api: Api, family: Family, stopped: AbortSignal): Promise<void> {
  // Up to v0.10.x and in v0.20.1 the manager waits for this kind's cache before it starts any controller.
  if (family.name === "D1" && !(await hasClusterPolicy(api))) return;
  const changes = changeSignal();
  const caches = await openCaches(api, changes.notify);
  stopped.addEventListener("abort", () => {
    for (const cache of Object.values(caches)) (cache as Watched<KubeObject>).stop();
    changes.notify();
  });
  const operator: Operator = { api, family, release: readRelease(family.version), caches };
  let failures = 0;
  while (!isAborted(stopped)) {
    try {
      await reconcile(operator);
      failures = 0;
      await changes.next();
    } catch (error) {
      if (!isFromServer(error)) throw error;
      // controller-runtime's rate limiter: 5 ms, doubled with each failure; its limit is longer than ours.
      await sleep(Math.min(5 * 2 ** failures, 1000));
      failures += 1;
    }
  }
}

const isAborted = (signal: AbortSignal): boolean => signal.aborted;

/** Any number of notifications before `next` is asked for count as one. */
function changeSignal(): { notify: () => void; next: () => Promise<void> } {
  let pending = false;
  let wake = (): void => undefined;
  return {
    notify: () => {
      pending = true;
      wake();
    },
    next: async () => {
      if (!pending) await new Promise<void>((resolve) => (wake = resolve));
      pending = false;
    },
  };
}

async function openCaches(api: Api, notify: () => void): Promise<Caches> {
  const [configs, shards, secrets, mutating, validating, deployments, services] = await Promise.all([
    watch<KaiConfig>(api, configsPath, notify),
    watch<KubeObject>(api, "/apis/kai.scheduler/v1/schedulingshards", notify),
    watch<Secret>(api, secretsPath, notify),
    watch<WebhookConfiguration>(api, holderCollection("mutating"), notify),
    watch<WebhookConfiguration>(api, holderCollection("validating"), notify),
    watch<Deployment>(api, deploymentsPath, notify),
    watch<Service>(api, servicesPath, notify),
  ]);
  return { configs, shards, secrets, mutating, validating, deployments, services };
}

/** One pass. The operator ends it at the first error and begins again; which objects come first is left to chance. */
async function reconcile(operator: Operator): Promise<void> {
  const config = operator.caches.configs.objects.get("kai-config");
  if (config === undefined || config.metadata.deletionTimestamp !== undefined) return;
  const pairs = new Map<string, string>();
  for (const component of operator.family.components) {
    pairs.set(component.service, await ensureSecret(operator, config, component));
  }
  const work = [...ensureWorkloads(operator, config), ...ensureConfigurations(operator, config, pairs)];
  for (const step of shuffled(work)) await step();
  await removeUndesired(operator, config);
  await reportStatus(operator, config);
}

type Step = () => Promise<void>;

function shuffled(steps: readonly Step[]): readonly Step[] {
  return steps
    .map((step) => ({ step, order: Math.random() }))
    .sort((a, b) => a.order - b.order)
    .map(({ step }) => step);
}

/**
 * The Secret's `tls.crt` in base64. A Secret that has the key `tls.crt` is kept, whatever the key holds; otherwise a new
 * pair is made.
 */
async function ensureSecret({ api, caches }: Operator, config: KaiConfig, component: Component): Promise<string> {
  const live = caches.secrets.objects.get(`${kaiNamespace}/${component.secret}`);
  const metadata = {
    name: component.secret,
    namespace: kaiNamespace,
    labels: { app: component.secret },
    ownerReferences: [ownedBy(config, "Config")],
  };
  const kept = live?.data?.["tls.crt"];
  const data = kept === undefined ? pairData(await mintPair(component.service)) : undefined;
  await ensure(api, secretsPath, live, { metadata, type: live?.type ?? "Opaque", ...(data && { data }) });
  return kept ?? data?.["tls.crt"] ?? "";
}

function ensureWorkloads({ api, caches, release }: Operator, config: KaiConfig): Step[] {
  const replicas = config.spec?.global?.replicaCount ?? 1;
  const adopt = (object: KubeObject): KubeObject["metadata"] | undefined => {
    const kind = object.metadata.ownerReferences?.[0]?.kind;
    const owner =
      kind === "Config" ? config : kind === "SchedulingShard" ? caches.shards.objects.get("default") : undefined;
    return owner && kind ? { ...object.metadata, ownerReferences: [ownedBy(owner, kind)] } : undefined;
  };
  const deployments = release.deployments.map((deployment) => async () => {
    const metadata = adopt(deployment);
    const spec = { ...deployment.spec, replicas };
    const live = caches.deployments.objects.get(keyOf(deployment));
    if (metadata) await ensure(api, deploymentsPath, live, { metadata, spec });
  });
  const services = release.services.map((service) => async () => {
    const metadata = adopt(service);
    const live = caches.services.objects.get(keyOf(service));
    if (metadata) await ensure(api, servicesPath, live, { metadata, spec: service.spec });
  });
  return [...deployments, ...services];
}

/** Every pass asserts the complete list of webhooks; a bundle patched by anyone else is taken back with it. */
function ensureConfigurations(operator: Operator, config: KaiConfig, pairs: ReadonlyMap<string, string>): Step[] {
  return desiredConfigurations(operator, config, pairs).map(({ kind, desired }) => async () => {
    const live = operator.caches[kind].objects.get(desired.metadata.name);
    await ensure(operator.api, holderCollection(kind), live, desired);
  });
}

interface DesiredConfiguration {
  readonly kind: "mutating" | "validating";
  readonly desired: WebhookConfiguration;
}

function desiredConfigurations(
  { release, caches, family }: Operator,
  config: KaiConfig,
  pairs: ReadonlyMap<string, string>,
): DesiredConfiguration[] {
  const names = {
    mutating: config.spec?.admission?.mutatingWebhookConfigurationName,
    validating: config.spec?.admission?.validatingWebhookConfigurationName,
  };
  return (["mutating", "validating"] as const).flatMap((kind) =>
    release[kind].map((recorded) => {
      const isAdmission = recorded.metadata.name === `${kind}-kai-admission`;
      const name = (isAdmission ? names[kind] : undefined) ?? recorded.metadata.name;
      const metadata = { ...recorded.metadata, name, ownerReferences: [ownedBy(config, "Config")] };
      const webhooks = configurationWebhooks(recorded, pairs, {
        live: caches[kind].objects.get(name),
        keepsInjectedTerms: family.name === "D4",
      });
      return { kind, desired: { metadata, webhooks } };
    }),
  );
}

/** Configurations of ours that are no longer wanted, as after a change of name. */
async function removeUndesired(operator: Operator, config: KaiConfig): Promise<void> {
  const wanted = new Set(
    desiredConfigurations(operator, config, new Map()).map(({ kind, desired }) => `${kind} ${desired.metadata.name}`),
  );
  for (const kind of ["mutating", "validating"] as const) {
    for (const { metadata } of operator.caches[kind].objects.values()) {
      const isOurs = metadata.ownerReferences?.some(({ uid }) => uid === config.metadata.uid) ?? false;
      if (isOurs && !wanted.has(`${kind} ${metadata.name}`))
        await operator.api.remove(holderPath({ kind, name: metadata.name }));
    }
  }
}

/** Creates the object, or puts back the fields that we set. Annotations and other fields of others stay. */
async function ensure(
  ...[api, collection, live, desired]: [Api, string, KubeObject | undefined, object]
): Promise<void> {
  if (live === undefined) {
    await api.create(collection, desired);
    return;
  }
  const merged = overlay(live, desired);
  if (!isDeepStrictEqual(merged, live)) await api.replace(`${collection}/${live.metadata.name}`, merged);
}

// The conditions of a recorded kai-config. They stay True whatever becomes of the webhooks: they are no evidence.
const conditions = [
  { type: "Reconciling", reason: "reconciled", message: "Reconciliation completed successfully" },
  { type: "Deployed", reason: "deployed", message: "Resources deployed" },
  { type: "Available", reason: "available", message: "System available" },
  { type: "DependenciesFulfilled", reason: "dependencies_fulfilled", message: "Dependencies are fulfilled" },
];

async function reportStatus({ api }: Operator, config: KaiConfig): Promise<void> {
  const observedGeneration = config.metadata.generation;
  if (config.status?.conditions?.[0]?.observedGeneration === observedGeneration) return;
  const lastTransitionTime = new Date().toISOString().replace(/\.\d+Z$/, "Z");
  const reported = conditions.map((condition) => ({
    ...condition,
    status: "True",
    observedGeneration,
    lastTransitionTime,
  }));
  await api.merge(`${configsPath}/kai-config/status`, { status: { conditions: reported } });
}
