// host.json, read as strictly as this project can use it: a key that Azure's host does not know is refused, since Azure
// would pass over it and the number somebody believes in would never be used.
// Reference: learn.microsoft.com/azure/azure-functions/functions-host-json and HostJsonFileConfigurationSource.cs of
// github.com/Azure/azure-functions-host (WellKnownHostJsonProperties).
import { readFileSync } from "node:fs";
import path from "node:path";
import * as v from "valibot";
import { AppRefused } from "./refusal.ts";

/** `hh:mm:ss` as milliseconds. */
const timeSpan = v.pipe(
  v.string(),
  v.regex(/^\d\d:[0-5]\d:[0-5]\d$/, "must be hh:mm:ss"),
  v.transform((text) => {
    const [hours = 0, minutes = 0, seconds = 0] = text.split(":").map(Number);
    return ((hours * 60 + minutes) * 60 + seconds) * 1000;
  }),
);
const whole = (least: number, most: number) => v.pipe(v.number(), v.integer(), v.minValue(least), v.maxValue(most));

// Defaults: functions-bindings-storage-queue, "host.json settings". newBatchThreshold's own is batchSize / 2.
const queues = v.strictObject({
  batchSize: v.optional(whole(1, 32), 16),
  newBatchThreshold: v.optional(whole(0, 1000), 8),
  maxDequeueCount: v.optional(whole(1, 1000), 5),
  visibilityTimeout: v.optional(timeSpan, "00:00:00"),
  maxPollingInterval: v.optional(timeSpan, "00:01:00"),
  messageEncoding: v.optional(v.picklist(["base64", "none"]), "base64"),
});

const http = v.strictObject({
  routePrefix: v.optional(v.string(), "api"),
  maxOutstandingRequests: v.optional(v.number()),
  maxConcurrentRequests: v.optional(v.number()),
  dynamicThrottlesEnabled: v.optional(v.boolean()),
  hsts: v.optional(v.looseObject({})),
  customHeaders: v.optional(v.record(v.string(), v.string())),
});

/** Sections that this host does not act on: only their keys are checked. */
const keysOnly = (...names: readonly string[]) =>
  v.strictObject(Object.fromEntries(names.map((name) => [name, v.optional(v.unknown())])));

const logging = v.strictObject({
  fileLoggingMode: v.optional(v.picklist(["debugOnly", "always", "never"])),
  logLevel: v.optional(
    v.record(v.string(), v.picklist(["Trace", "Debug", "Information", "Warning", "Error", "Critical", "None"])),
  ),
  console: v.optional(keysOnly("isEnabled", "DisableColors")),
  applicationInsights: v.optional(
    v.strictObject({
      ...keysOnly(
        "enableLiveMetrics",
        "enableLiveMetricsFilters",
        "enableDependencyTracking",
        "enablePerformanceCountersCollection",
        "liveMetricsInitializationDelay",
        "httpAutoCollectionOptions",
        "snapshotConfiguration",
        "dependencyTrackingOptions",
      ).entries,
      samplingSettings: v.optional(
        keysOnly(
          "isEnabled",
          "maxTelemetryItemsPerSecond",
          "evaluationInterval",
          "initialSamplingPercentage",
          "samplingPercentageIncreaseTimeout",
          "samplingPercentageDecreaseTimeout",
          "minSamplingPercentage",
          "maxSamplingPercentage",
          "movingAverageRatio",
          "excludedTypes",
          "includedTypes",
        ),
      ),
    }),
  ),
});

const hostJson = v.strictObject({
  version: v.literal("2.0"),
  // 5 minutes is the default of the consumption plan; Flex takes 30.
  functionTimeout: v.optional(timeSpan, "00:05:00"),
  telemetryMode: v.optional(v.picklist(["ApplicationInsights", "OpenTelemetry"])),
  logging: v.optional(logging),
  aggregator: v.optional(keysOnly("batchSize", "flushTimeout")),
  healthMonitor: v.optional(
    keysOnly("enabled", "healthCheckInterval", "healthCheckWindow", "healthCheckThreshold", "counterThreshold"),
  ),
  singleton: v.optional(
    keysOnly(
      "lockPeriod",
      "listenerLockPeriod",
      "listenerLockRecoveryPollingInterval",
      "lockAcquisitionTimeout",
      "lockAcquisitionPollingInterval",
    ),
  ),
  // It sets batchSize and newBatchThreshold aside, which this host would go on using (functions-concurrency).
  concurrency: v.optional(
    v.strictObject({
      dynamicConcurrencyEnabled: v.optional(v.literal(false)),
      snapshotPersistenceEnabled: v.optional(v.boolean()),
    }),
  ),
  watchDirectories: v.optional(v.array(v.string())),
  watchFiles: v.optional(v.array(v.string())),
  extensions: v.optional(v.strictObject({ queues: v.optional(queues, {}), http: v.optional(http, {}) }), {}),
  extensionBundle: v.optional(
    v.strictObject({
      id: v.picklist([
        "Microsoft.Azure.Functions.ExtensionBundle",
        "Microsoft.Azure.Functions.ExtensionBundle.Preview",
      ]),
      version: v.pipe(v.string(), v.regex(/^[[(][\d.*]+, ?[\d.*]+[\])]$/, "must be a range such as [4.*, 5.0.0)")),
    }),
  ),
});

export type HostJson = v.InferOutput<typeof hostJson>;
export type QueueOptions = HostJson["extensions"]["queues"];

/** host.json of the app folder, with Azure's defaults. Times are in milliseconds. Throws AppRefused. */
export function readHostJson(appFolder: string): HostJson {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(path.join(appFolder, "host.json"), "utf8"));
  } catch (error) {
    throw new AppRefused(`host.json of ${appFolder} cannot be read: ${String(error)}`);
  }
  const parsed = v.safeParse(hostJson, content);
  if (parsed.success) return parsed.output;
  const mistakes = parsed.issues.map((issue) => `${v.getDotPath(issue) ?? "host.json"}: ${issue.message}`);
  throw new AppRefused(`host.json is not what Azure's host reads:\n${mistakes.join("\n")}`);
}
