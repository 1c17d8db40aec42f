// Starts the lab as an Azure subscription: clusters with KAI, ARM, managed identity, Key Vault, Application Insights and
// Teams, in this process and on the wire, and the environment that leads fleetmend to them. Not here: queues and tables,
// which are Azurite's (azurite.ts), and the Functions host.
import { randomUUID } from "node:crypto";
import { createArm, type Arm, type ArmOptions } from "./azure/arm.ts";
import { eventFor, type ClusterOperation, type EventSchema } from "./azure/event-for.ts";
import { startIdentity, type Identity } from "./azure/identity.ts";
import { createIngestion, type Ingestion } from "./azure/ingestion.ts";
import { pick, seededRandom } from "./azure/random.ts";
import { assign, everySituation, type Situation } from "./azure/situations.ts";
import {
  startSubscriptionCluster,
  unresolvable,
  type SubscriptionCluster,
  type SubscriptionClusterOptions,
} from "./azure/subscription-cluster.ts";
import { createTeams, type Teams } from "./azure/teams.ts";
import { createVault } from "./azure/vault.ts";
import { startWire } from "./azure/wire.ts";
import type { ClusterOptions } from "./cluster.ts";
import { keyPool } from "./key-pool.ts";
import type { Capability } from "./kubernetes/capability-rights.ts";

export type { SubscriptionCluster } from "./azure/subscription-cluster.ts";
export type { Situation } from "./azure/situations.ts";

export interface SubscriptionOptions
  extends
    Pick<ClusterOptions, "mountRefreshMs" | "idleMs" | "podStartMs" | "operatorFollowMs">,
    Pick<ArmOptions, "throttle"> {
  readonly clusters: number;
  /** Names, places, families and who gets which situation. Default 1. */
  readonly seed?: number;
  /** What is the matter somewhere; each entry is one cluster. Default: each situation once. What is left over is healthy. */
  readonly situations?: readonly Situation[];
  /** From a request to its answer, at ARM and at the API servers. Default 0. */
  readonly latencyMs?: number;
  /** What the identity may do in the clusters. Default `repair`. */
  readonly capability?: Capability;
}

export interface Subscription {
  readonly id: string;
  /** For the process of the app, at its start: NODE_EXTRA_CA_CERTS is read only then. Storage is not in it. */
  readonly environment: Readonly<Record<string, string>>;
  readonly clusters: readonly SubscriptionCluster[];
  readonly arm: Pick<Arm, "requests" | "storm">;
  readonly identity: Pick<Identity, "issued" | "revoke">;
  readonly telemetry: Pick<Ingestion, "envelopes">;
  readonly teams: Pick<Teams, "posts" | "fail">;
  /** What Event Grid delivers when this has been done to a cluster. */
  readonly eventFor: (cluster: SubscriptionCluster, operation: ClusterOperation, schema: EventSchema) => unknown;
  readonly stop: () => Promise<void>;
}

const hosts = {
  arm: "management.azure.com",
  vault: "kv-fleetmend-lab.vault.azure.net",
  ingestion: "westeurope-5.in.applicationinsights.azure.com",
  teams: "prod-07.westeurope.logic.azure.com",
};
const teamsSecret = "teams-workflow-url";

/** Everything answers when it resolves, and every situation has come about. The caller stops it. */
export async function startSubscription(options: SubscriptionOptions): Promise<Subscription> {
  const now = (): Date => new Date();
  const id = randomUUID();
  const instrumentationKey = randomUUID();
  const [wire, identity] = await Promise.all([startWire(), startIdentity()]);
  const clusters: SubscriptionCluster[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all([...clusters.map((cluster) => cluster.stop()), wire.stop(), identity.stop()]);
  };
  const arm = createArm({
    subscription: id,
    clusters: () => clusters.map((cluster) => cluster.arm()),
    identity,
    now,
    throttle: options.throttle ?? "as-azure",
    latencyMs: options.latencyMs ?? 0,
  });
  const ingestion = createIngestion(instrumentationKey, identity);
  const teams = createTeams(hosts.teams);
  try {
    await wire.serve(hosts.arm, arm.host);
    const vault = createVault({ host: hosts.vault, identity, secrets: { [teamsSecret]: teams.url } });
    await wire.serve(hosts.vault, vault.host);
    await wire.serve(hosts.ingestion, ingestion.host);
    await wire.serve(hosts.teams, teams.host);
    clusters.push(...(await startClusters(id, { ...options, wire, identity })));
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    id,
    environment: {
      HTTPS_PROXY: wire.proxyUrl,
      NO_PROXY: `127.0.0.1,localhost,${unresolvable}`,
      NODE_EXTRA_CA_CERTS: wire.caFile,
      IDENTITY_ENDPOINT: identity.endpoint,
      IDENTITY_HEADER: identity.header,
      AZURE_CLIENT_ID: identity.clientId,
      FLEETMEND_SUBSCRIPTION_ID: id,
      FLEETMEND_TEAMS_SECRET_ID: `https://${hosts.vault}/secrets/${teamsSecret}`,
      APPLICATIONINSIGHTS_CONNECTION_STRING: `InstrumentationKey=${instrumentationKey};IngestionEndpoint=https://${hosts.ingestion}/`,
    },
    clusters,
    arm,
    identity,
    telemetry: ingestion,
    teams,
    eventFor: (cluster, operation, schema) => eventFor(cluster.arm(), operation, { schema, at: now() }),
    stop,
  };
}

type Surroundings = SubscriptionOptions & Pick<SubscriptionClusterOptions, "wire" | "identity">;

/** All at once: most of their time they wait for a key or a timer. */
async function startClusters(subscription: string, options: Surroundings): Promise<readonly SubscriptionCluster[]> {
  const random = seededRandom(options.seed ?? 1);
  const assignments = assign(options.clusters, options.situations ?? everySituation, random);
  const drawn = assignments.map((assignment, index) => ({
    ...assignment,
    resource: resourceOf(subscription, index, random),
    installedAt: new Date(Date.now() - (20 + Math.floor(random() * 380)) * 86_400_000),
  }));
  return Promise.all(
    drawn.map(async ({ situation, family, resource, installedAt }) => {
      const cluster = await startSubscriptionCluster({
        ...options,
        family,
        resource,
        installedAt,
        keys: keyPool(),
        capability: options.capability ?? "repair",
        latencyMs: options.latencyMs ?? 0,
      });
      await cluster.inject(situation);
      return cluster;
    }),
  );
}

const plants = ["weld", "paint", "press", "pack", "sort", "lift", "mill", "cast", "drill", "test"] as const;
const locations = ["westeurope", "northeurope", "eastus2"] as const;

function resourceOf(subscription: string, index: number, random: () => number): SubscriptionClusterOptions["resource"] {
  const location = pick(locations, random);
  const name = `aks-${pick(plants, random)}-${String(index + 1).padStart(2, "0")}`;
  const dnsPrefix = `${name}-${Math.floor(random() * 2 ** 32)
    .toString(16)
    .padStart(8, "0")}`;
  return {
    subscription,
    resourceGroup: `rg-robotics-${location}`,
    name,
    location,
    tags: { team: "robotics" },
    kubernetesVersion: "1.37.2",
    provisioningState: "Succeeded",
    powerState: "Running",
    entra: true,
    private: false,
    authorizedIpRanges: [],
    fqdn: `${dnsPrefix}.hcp.${location}.azmk8s.io`,
  };
}
