// The settings of the Functions app: one table of names, meanings and defaults, and the one place that reads them. Nothing
// is read at import: an entry file that throws before it has registered looks like an empty app.
import * as v from "valibot";
import { modes } from "./fleet/mode.ts";
import { failure, success, type Result } from "./result.ts";

type Environment = Readonly<Record<string, string | undefined>>;

const ncrontab = v.pipe(
  v.string(),
  // Six fields, of which the first is seconds. `* …` there would fire every second of the minute.
  v.regex(/^[0-9,/-]+(?: [0-9*,/-]+| [0-9A-Za-z*,/-]+){5}$/, "six fields, the first (seconds) a number"),
);
const bool = v.pipe(
  v.picklist(["true", "false"], "true or false"),
  v.transform((text) => text === "true"),
);
const uuid = v.pipe(v.string(), v.uuid("a UUID"));
const whole = (least: number, most: number) =>
  v.pipe(
    v.string(),
    v.regex(/^\d{1,6}$/, "a whole number"),
    v.transform(Number),
    v.minValue(least, `${least} or more`),
    v.maxValue(most, `${most} or less`),
  );
const dnsLabel = v.pipe(v.string(), v.regex(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/, "a Kubernetes namespace"));
const secretId = v.pipe(
  v.string(),
  v.regex(
    /^https:\/\/[a-z0-9-]{3,24}\.vault\.[a-z.]+\/secrets\/[0-9A-Za-z-]{1,127}$/,
    "a Key Vault secret's id, without a version",
  ),
);

interface Setting<S extends v.GenericSchema<string, unknown>> {
  readonly schema: S;
  /** Absent: required. */
  readonly preset?: string;
  readonly optional?: true;
  readonly example: string;
  readonly meaning: string;
}

const setting = <S extends v.GenericSchema<string, unknown>, const R extends Omit<Setting<S>, "schema">>(
  schema: S,
  rest: R,
) => ({
  schema,
  ...rest,
});

/** Every setting that fleetmend itself reads. README, local.settings.example.json and the Bicep files are checked against it. */
export const settingTable = {
  FLEETMEND_SUBSCRIPTION_ID: setting(uuid, {
    example: "00000000-0000-0000-0000-000000000000",
    meaning: "The Azure subscription whose clusters are looked after.",
  }),
  SCAN_SCHEDULE: setting(ncrontab, {
    preset: "0 */15 * * * *",
    example: "0 */15 * * * *",
    meaning: "When the fleet is scanned: NCRONTAB, six fields, UTC. The host reads it too, so it must be set.",
  }),
  PROBE_SCHEDULE: setting(ncrontab, {
    preset: "0 7/15 * * * *",
    example: "0 7/15 * * * *",
    meaning: "When sentinel passes are sent: NCRONTAB, six fields, UTC. The host reads it too, so it must be set.",
  }),
  FLEETMEND_MODE: setting(v.picklist(modes, modes.join(", ")), {
    preset: "observe",
    example: "observe",
    meaning: "What may be done on a cluster: off, observe, repair. A cluster's tag `fleetmend-mode` may lower it.",
  }),
  FLEETMEND_TAG_MAY_RAISE: setting(bool, {
    preset: "false",
    example: "false",
    meaning: "Whether a cluster's tag may also raise the mode.",
  }),
  FLEETMEND_ALLOW_LOCAL_ACCOUNTS: setting(bool, {
    preset: "false",
    example: "false",
    meaning: "Whether clusters without Entra are looked after. Their user credential is cluster-admin.",
  }),
  FLEETMEND_PROBE_NAMESPACE: setting(dnsLabel, {
    preset: "osmo-workflows",
    example: "osmo-workflows",
    meaning: "The namespace of the dry-run pods.",
  }),
  FLEETMEND_MAX_CONCURRENT_REPAIRS: setting(whole(1, 100), {
    preset: "4",
    example: "4",
    meaning: "How many clusters are repaired at the same time, at the most.",
  }),
  FLEETMEND_MAX_REPAIRS_PER_HOUR: setting(whole(1, 1000), {
    preset: "20",
    example: "20",
    meaning: "How many repairs are begun within 60 minutes, at the most.",
  }),
  FLEETMEND_BREAKER_AFTER: setting(whole(1, 100), {
    preset: "3",
    example: "3",
    meaning: "After how many repairs in a row that could not be proven nothing more is repaired.",
  }),
  FLEETMEND_BREAKER_MINUTES: setting(whole(1, 10_080), {
    preset: "60",
    example: "60",
    meaning: "For how long the breaker stays open.",
  }),
  FLEETMEND_TEAMS_SECRET_ID: setting(secretId, {
    optional: true,
    example: "https://kv-fleetmend.vault.azure.net/secrets/teams-workflow-url",
    meaning: "The Key Vault secret that holds the URL of the Teams workflow. Without it forwardAlert answers 503.",
  }),
  AZURE_CLIENT_ID: setting(uuid, {
    optional: true,
    example: "00000000-0000-0000-0000-000000000000",
    meaning: "The client id of the user-assigned identity. Without it and outside Azure: the Azure CLI's sign-in.",
  }),
  AzureWebJobsStorage: setting(v.string(), {
    optional: true,
    example: "UseDevelopmentStorage=true",
    meaning: "A connection string, for Azurite. In Azure AzureWebJobsStorage__accountName stands instead.",
  }),
  AzureWebJobsStorage__accountName: setting(
    v.pipe(v.string(), v.regex(/^[a-z0-9]{3,24}$/, "a storage account's name")),
    {
      optional: true,
      example: "stfleetmend",
      meaning: "The storage account of queues and tables, reached with the identity.",
    },
  ),
  APPLICATIONINSIGHTS_CONNECTION_STRING: setting(
    v.pipe(v.string(), v.regex(/InstrumentationKey=[0-9a-f-]{36}/i, "a connection string with InstrumentationKey=")),
    {
      optional: true,
      example: "InstrumentationKey=00000000-0000-0000-0000-000000000000;IngestionEndpoint=https://…/",
      meaning: "Where telemetry goes. Without it nothing is sent, and the log says so.",
    },
  ),
} as const;

export type SettingName = keyof typeof settingTable;

type Output<N extends SettingName> = v.InferOutput<(typeof settingTable)[N]["schema"]>;

/** Optional settings are undefined where they are not set. */
export type Settings = {
  readonly [N in SettingName]: (typeof settingTable)[N] extends { readonly optional: true }
    ? Output<N> | undefined
    : Output<N>;
};

export interface SettingMistake {
  readonly name: string;
  /** What is wrong and what would be right. Never the value: it may be a secret in the wrong place. */
  readonly message: string;
}

/** Thrown by who must have settings and cannot use those that there are. The message lists every mistake, never a value. */
export class UnusableSettings extends Error {
  override readonly name = "UnusableSettings";
  readonly mistakes: readonly SettingMistake[];

  constructor(mistakes: readonly SettingMistake[]) {
    const lines = mistakes.map(({ name, message }) => `${name} ${message}`);
    super(`fleetmend cannot use its app settings:\n${lines.join("\n")}`);
    this.mistakes = mistakes;
  }
}

/** All settings, or every mistake in them. An empty value is as good as none. */
export function readSettings(environment: Environment): Result<Settings, readonly SettingMistake[]> {
  const entries: [string, unknown][] = [];
  const mistakes: SettingMistake[] = [];
  for (const [name, row] of Object.entries<Setting<v.GenericSchema<string, unknown>>>(settingTable)) {
    const text = (environment[name] === "" ? undefined : environment[name]) ?? row.preset;
    if (text === undefined) {
      if (row.optional !== true) mistakes.push({ name, message: `is not set. Example: ${row.example}` });
      entries.push([name, undefined]);
      continue;
    }
    const parsed = v.safeParse(row.schema, text);
    if (parsed.success) entries.push([name, parsed.output]);
    else mistakes.push({ name, message: `must be ${parsed.issues[0].message}. Example: ${row.example}` });
  }
  const unknown = Object.keys(environment).filter((name) => name.startsWith("FLEETMEND_") && !(name in settingTable));
  mistakes.push(
    ...unknown.map((name) => ({ name, message: "is not a setting of fleetmend: look for a typing error" })),
  );
  if (!environment.AzureWebJobsStorage && !environment.AzureWebJobsStorage__accountName) {
    mistakes.push({
      name: "AzureWebJobsStorage__accountName",
      message: `is not set, and neither is AzureWebJobsStorage. Example: ${settingTable.AzureWebJobsStorage__accountName.example}`,
    });
  }
  if (mistakes.length > 0) return failure(mistakes);
  // Each entry was parsed by its own schema.
  return success(Object.fromEntries(entries) as Settings);
}
