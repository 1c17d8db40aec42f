// The one place where the functions meet the adapters. It wires and does nothing else. Settings are read at the first
// invocation, and each SDK is loaded by whoever needs it.
import { hostname } from "node:os";
import { setTimeout } from "node:timers/promises";
import type { FleetTelemetry } from "./azure/application-insights.ts";
import type { EntraCredential } from "./azure/entra-credential.ts";
import type { StorageAccount } from "./azure/storage-account.ts";
import type { Fleet } from "./fleet/fleet.ts";
import type { FleetParts, FleetPolicy } from "./fleet/fleet-parts.ts";
import { failure, type Result } from "./result.ts";
import { readSettings, UnusableSettings, type Settings } from "./settings.ts";
import { version } from "./version.ts";
import type { Alerts, WorkflowUrlFailure } from "./web/forward-alert.ts";

/** What a use case may know of the invocation that it runs in. */
export interface Invocation {
  /** W3C traceparent: what is reported belongs to its operation. */
  readonly traceParent?: string;
  readonly log: (line: string) => void;
}

/**
 * Runs one use case of the fleet. What it reports is sent before this resolves. Throws UnusableSettings, and what `use`
 * throws.
 */
export async function withFleet<T>(invocation: Invocation, use: (fleet: Fleet) => Promise<T>): Promise<T> {
  const ground = await groundOf(invocation);
  const parts = await partsOf(ground);
  const { createFleet } = await import("./fleet/create-fleet.ts");
  return reporting(ground, invocation, () => use(createFleet({ ...parts, log: invocation.log })));
}

/** Runs forwardAlert's use case, which needs neither ARM nor the storage account. As withFleet otherwise. */
export async function withAlerts<T>(invocation: Invocation, use: (alerts: Alerts) => Promise<T>): Promise<T> {
  const ground = await groundOf(invocation);
  const { createAlerts } = await import("./web/forward-alert.ts");
  const { postToTeams } = await import("./azure/teams-workflow.ts");
  const app = process.env.WEBSITE_HOSTNAME;
  const alerts = createAlerts({
    readWorkflowUrl: () => readWorkflowUrl(ground),
    post: (url, message) => postToTeams(url, message),
    telemetry: ground.telemetry,
    links: app === undefined ? {} : { app: `https://${app}` },
  });
  return reporting(ground, invocation, () => use(alerts));
}

async function reporting<T>({ telemetry }: Ground, { traceParent }: Invocation, use: () => Promise<T>): Promise<T> {
  try {
    return await telemetry.within(traceParent, use);
  } finally {
    await telemetry.flush();
  }
}

/** What every use case stands on. */
interface Ground {
  readonly settings: Settings;
  readonly credential: EntraCredential;
  readonly telemetry: FleetTelemetry;
  readonly instance: string;
}

// Made once per process and kept, with the connections that they hold; what could not be made is tried again.
const groundOf = kept(async ({ log }: Invocation): Promise<Ground> => {
  const read = readSettings(process.env);
  if (!read.ok) throw new UnusableSettings(read.error);
  const settings = read.value;
  const [{ entraCredential }, { createTelemetry }] = await Promise.all([
    import("./azure/entra-credential.ts"),
    import("./azure/application-insights.ts"),
  ]);
  const credential = await entraCredential({ clientId: settings.AZURE_CLIENT_ID, environment: process.env });
  const instance = `${process.env.WEBSITE_INSTANCE_ID ?? hostname()}/${process.pid}`;
  const telemetry = await createTelemetry({
    connectionString: settings.APPLICATIONINSIGHTS_CONNECTION_STRING,
    credential: credential.sdk,
    role: process.env.WEBSITE_SITE_NAME ?? "fleetmend",
    instance,
    log,
  });
  return { settings, credential, telemetry, instance };
});

const partsOf = kept(
  async ({ settings, credential, telemetry, instance }: Ground): Promise<Omit<FleetParts, "log">> => {
    const [{ openTable }, { openCareQueue }, { createDirectory }, { createAccess }] = await Promise.all([
      import("./azure/storage-table.ts"),
      import("./azure/care-queue.ts"),
      import("./azure/cluster-directory.ts"),
      import("./azure/cluster-access.ts"),
    ]);
    const { connectServer } = await import("./kubernetes/connect-server.ts");
    const account = storageOf(settings, credential);
    const table = await openTable(account, "fleetmend");
    const sleep = async (milliseconds: number): Promise<void> => setTimeout(milliseconds);
    const subscription = settings.FLEETMEND_SUBSCRIPTION_ID.toLowerCase();
    const arm = { credential, sleep, subscription };
    const allowLocalAccounts = settings.FLEETMEND_ALLOW_LOCAL_ACCOUNTS;
    return {
      directory: await createDirectory(arm),
      access: await createAccess({ ...arm, table, connect: connectServer, allowLocalAccounts }),
      table,
      queue: await openCareQueue(account),
      telemetry,
      policy: policyOf(settings),
      now: () => new Date(),
      random: Math.random,
      sleep,
      instance,
      version,
    };
  },
);

function kept<From, T>(make: (from: From) => Promise<T>): (from: From) => Promise<T> {
  let made: Promise<T> | undefined;
  return (from) =>
    (made ??= make(from).catch((error: unknown) => {
      made = undefined;
      throw error;
    }));
}

/** The name stands before the connection string: the platform may add one by itself (azure-functions-host#11796). */
function storageOf(settings: Settings, credential: EntraCredential): StorageAccount {
  const { AzureWebJobsStorage__accountName: accountName, AzureWebJobsStorage: connectionString } = settings;
  if (accountName !== undefined) return { accountName, credential: credential.sdk };
  // readSettings refuses an environment with neither.
  return { connectionString: connectionString ?? "" };
}

function policyOf(settings: Settings): FleetPolicy {
  return {
    subscription: settings.FLEETMEND_SUBSCRIPTION_ID.toLowerCase(),
    mode: settings.FLEETMEND_MODE,
    tagMayRaise: settings.FLEETMEND_TAG_MAY_RAISE,
    probeNamespace: settings.FLEETMEND_PROBE_NAMESPACE,
    maxConcurrentRepairs: settings.FLEETMEND_MAX_CONCURRENT_REPAIRS,
    maxRepairsPerHour: settings.FLEETMEND_MAX_REPAIRS_PER_HOUR,
    breakerAfter: settings.FLEETMEND_BREAKER_AFTER,
    breakerMinutes: settings.FLEETMEND_BREAKER_MINUTES,
  };
}

async function readWorkflowUrl({ settings, credential }: Ground): Promise<Result<string, WorkflowUrlFailure>> {
  const id = settings.FLEETMEND_TEAMS_SECRET_ID;
  if (id === undefined) return failure({ kind: "not-configured", message: "FLEETMEND_TEAMS_SECRET_ID is not set." });
  const { readVaultSecret } = await import("./azure/vault-secret.ts");
  return readVaultSecret(credential, id);
}
