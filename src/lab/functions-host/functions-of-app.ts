// The functions of a loaded app with their triggers resolved against settings and host.json, and the refusals of the
// host's indexing. Nothing listens yet.
import type { RegisteredFunction } from "./core-api.ts";
import type { Binding } from "./core-types.ts";
import type { HostJson } from "./host-json.ts";
import { AppRefused } from "./refusal.ts";
import { type AppSettings, withSettings } from "./settings-in-text.ts";
import { checkSchedule, comesWithinAMinute } from "./schedule.ts";

export type AuthLevel = "anonymous" | "function" | "admin";

export type Trigger =
  | {
      readonly kind: "http";
      readonly route: string;
      readonly methods: readonly string[];
      readonly authLevel: AuthLevel;
    }
  | {
      readonly kind: "timer";
      readonly schedule: string;
      readonly runOnStartup: boolean;
      /** Whether the host keeps, and tells, when it ran last. */
      readonly useMonitor: boolean;
      readonly retry?: TimerRetry;
    }
  | { readonly kind: "queue"; readonly queueName: string; readonly connection: string }
  | { readonly kind: "eventGrid" };

export interface TimerRetry {
  /** Tries beside the first; -1: no end. */
  readonly maxRetryCount: number;
  readonly delayMs: number;
}

export interface QueueOutput {
  readonly binding: string;
  readonly queueName: string;
  readonly connection: string;
}

export interface HostedFunction {
  readonly name: string;
  readonly trigger: Trigger;
  /** The name of the trigger's binding, by which the library finds it again. */
  readonly triggerBinding: string;
  readonly queueOutputs: readonly QueueOutput[];
  /** By the setting AzureWebJobs.<name>.Disabled: nothing triggers it, only a run by hand. */
  readonly isDisabled: boolean;
  readonly registered: RegisteredFunction;
}

/** Throws AppRefused at the first function that Azure, or this host, would not run as it stands. */
export function functionsOfApp(
  registered: readonly RegisteredFunction[],
  settings: AppSettings,
  hostJson: HostJson,
): readonly HostedFunction[] {
  const functions = registered.map((one) => hostedFunction(one, settings));
  checkRoutes(functions);
  if (hostJson.extensionBundle === undefined && functions.some(({ trigger }) => trigger.kind !== "http")) {
    throw new AppRefused("host.json has no extensionBundle: without it Azure knows HTTP triggers only.");
  }
  return functions;
}

/** ScriptHost.cs of github.com/Azure/azure-functions-host, ValidateFunction. */
function checkRoutes(functions: readonly HostedFunction[]): void {
  const taken: { readonly name: string; readonly route: string; readonly methods: readonly string[] }[] = [];
  for (const { name, trigger } of functions) {
    if (trigger.kind !== "http") continue;
    const route = trigger.route.replaceAll(/^\/+|\/+$/g, "").toLowerCase();
    // Whatever routePrefix is, and also `administration`.
    if (route.startsWith("admin")) {
      throw new AppRefused(`${name}: the route '${trigger.route}' conflicts with one or more built in routes.`);
    }
    const other = taken.find(
      (one) => one.route === route && one.methods.some((method) => trigger.methods.includes(method)),
    );
    if (other !== undefined) {
      throw new AppRefused(`${name}: the route '${trigger.route}' conflicts with that of function '${other.name}'.`);
    }
    taken.push({ name, route, methods: trigger.methods });
  }
}

function hostedFunction(registered: RegisteredFunction, settings: AppSettings): HostedFunction {
  const { name, bindings, retryOptions } = registered.metadata;
  // FunctionNameValidationRegex of the host.
  if (!/^[a-z][a-z0-9_-]{0,127}$/i.test(name)) throw new AppRefused(`'${name}' is not a valid function name.`);
  const found = Object.entries(bindings).find(([, binding]) => /trigger$/i.test(binding.type));
  if (found === undefined) throw new AppRefused(`${name}: no trigger.`);
  const [triggerBinding, binding] = found;
  const trigger = triggerOf(registered, binding, settings);
  if (retryOptions !== undefined && trigger.kind !== "timer") {
    throw new AppRefused(
      `${name}: a retry policy on a ${trigger.kind} trigger is never applied. Queues have maxDequeueCount and visibilityTimeout.`,
    );
  }
  const others = Object.entries(bindings).filter(([, other]) => other !== binding);
  const queueOutputs = others.flatMap(([key, other]) => outputOf({ key, binding: other }, settings, name));
  // learn.microsoft.com/azure/azure-functions/disable-function
  const isDisabled = /^(true|1)$/i.test(settings[`AzureWebJobs.${name}.Disabled`] ?? "");
  return { name, trigger, triggerBinding, queueOutputs, isDisabled, registered };
}

function textOf(binding: Binding, option: string, settings: AppSettings, name: string): string {
  const value = binding[option];
  if (typeof value !== "string" || value === "") throw new AppRefused(`${name}: ${binding.type} has no ${option}.`);
  return withSettings(value, settings, `${name}, ${option}`);
}

function triggerOf({ metadata }: RegisteredFunction, binding: Binding, settings: AppSettings): Trigger {
  const { name, retryOptions } = metadata;
  switch (binding.type) {
    case "httpTrigger": {
      const route = typeof binding.route === "string" ? withSettings(binding.route, settings, `${name}, route`) : name;
      const methods = (binding.methods as readonly string[]).map((method) => method.toUpperCase());
      return { kind: "http", route, methods, authLevel: authLevelOf(binding, name) };
    }
    case "timerTrigger": {
      const schedule = textOf(binding, "schedule", settings, name);
      checkSchedule(schedule, name);
      return {
        kind: "timer",
        schedule,
        runOnStartup: binding.runOnStartup === true,
        // TimerSchedule.cs of github.com/Azure/azure-webjobs-sdk-extensions.
        useMonitor: binding.useMonitor !== false && !comesWithinAMinute(schedule),
        ...(retryOptions !== undefined && { retry: retryOf(retryOptions, name) }),
      };
    }
    case "queueTrigger":
      return { kind: "queue", ...queueOf(binding, settings, name) };
    case "eventGridTrigger":
      return { kind: "eventGrid" };
    default:
      throw new AppRefused(`${name}: this local host does not run a ${binding.type}.`);
  }
}

/** As the library hands it over (toCoreFunctionMetadata.ts of github.com/Azure/azure-functions-nodejs-library). */
function retryOf(options: unknown, name: string): TimerRetry {
  const { retryStrategy, maxRetryCount, delayInterval } = options as {
    readonly retryStrategy?: unknown;
    readonly maxRetryCount?: unknown;
    readonly delayInterval?: { readonly seconds?: unknown };
  };
  const seconds = delayInterval?.seconds;
  if (retryStrategy !== "fixedDelay") throw new AppRefused(`${name}: this local host retries with a fixed delay only.`);
  if (!Number.isInteger(maxRetryCount) || !Number.isInteger(seconds)) {
    throw new AppRefused(`${name}: its retry policy needs maxRetryCount and delayInterval.`);
  }
  return { maxRetryCount: Number(maxRetryCount), delayMs: Number(seconds) * 1000 };
}

function authLevelOf(binding: Binding, name: string): AuthLevel {
  const level = String(binding.authLevel).toLowerCase();
  if (level === "anonymous" || level === "function" || level === "admin") return level;
  throw new AppRefused(`${name}: authLevel ${level} is none of anonymous, function, admin.`);
}

function queueOf(binding: Binding, settings: AppSettings, name: string): { queueName: string; connection: string } {
  const queueName = textOf(binding, "queueName", settings, name);
  // learn.microsoft.com/rest/api/storageservices/naming-queues-and-metadata
  if (!/^(?=.{3,63}$)[a-z0-9]+(?:-[a-z0-9]+)*$/.test(queueName)) {
    throw new AppRefused(`${name}: '${queueName}' is not a valid queue name.`);
  }
  const connection = typeof binding.connection === "string" ? binding.connection : "AzureWebJobsStorage";
  return { queueName, connection };
}

function outputOf(
  output: { readonly key: string; readonly binding: Binding },
  settings: AppSettings,
  name: string,
): readonly QueueOutput[] {
  const { key, binding } = output;
  if (binding.direction === "out" && binding.type === "http") return [];
  if (binding.direction === "out" && binding.type === "queue") {
    return [{ binding: key, ...queueOf(binding, settings, name) }];
  }
  throw new AppRefused(`${name}: this local host has no ${binding.type} ${binding.direction}put.`);
}
