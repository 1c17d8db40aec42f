// Telemetry over applicationinsights, beside what the Functions host sends by itself: events, availability and metrics only,
// with providers of its own, so that no request, log line or dependency is sent twice. Not here: names and properties.
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { context, ROOT_CONTEXT, trace, TraceFlags, type SpanContext } from "@opentelemetry/api";
import type { TokenCredential } from "@azure/identity";
import type { Telemetry } from "../fleet/telemetry.ts";

export interface FleetTelemetry extends Telemetry {
  /** Runs `use` so that what it reports belongs to the operation of this invocation (W3C traceparent). */
  within<T>(traceParent: string | undefined, use: () => Promise<T>): Promise<T>;
  /** Sends what is waiting: an instance may freeze when an invocation ends. Bounded in time, and never throws. */
  flush(): Promise<void>;
}

export interface TelemetryOptions {
  readonly connectionString?: string | undefined;
  /** Needs Monitoring Metrics Publisher on the component. */
  readonly credential: TokenCredential;
  /** `cloud_RoleName`, and its instance. */
  readonly role: string;
  readonly instance: string;
  readonly log: (line: string) => void;
  /** How long a flush may take. Default 5,000. */
  readonly flushDeadlineMs?: number;
}

/** Without a connection string nothing is sent, and one log line says so. */
export async function createTelemetry(options: TelemetryOptions): Promise<FleetTelemetry> {
  const { connectionString, log } = options;
  if (connectionString === undefined) {
    log("APPLICATIONINSIGHTS_CONNECTION_STRING is not set: nothing is reported to Application Insights.");
    return silent;
  }
  // Read by the exporter (1.0.0-beta.47, export/base and platform/nodejs/baseSender): its usage statistics go elsewhere.
  process.env.APPLICATION_INSIGHTS_NO_STATSBEAT ??= "1";
  process.env.APPLICATIONINSIGHTS_SDKSTATS_DISABLED ??= "1";
  const { isolatedClient } = await import("./telemetry-client.ts");
  const client = isolatedClient(connectionString, options);
  // Does nothing where the host has one already.
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const flushed = oneAfterAnother(() => client.flush());
  return {
    availability({ name, success, durationMs, message, properties }) {
      client.trackAvailability({
        ...{ id: "", name, success, duration: durationMs, message, runLocation: options.instance },
        properties: asText(properties),
      });
    },
    event(name, properties) {
      client.trackEvent({ name, properties: asText(properties) });
    },
    metric(name, value, properties) {
      client.trackMetric({ name, value, properties: asText(properties) });
    },
    within: (traceParent, use) => context.with(contextOf(traceParent), use),
    flush: () => inTime(flushed(), options.flushDeadlineMs ?? 5000),
  };
}

const silent: FleetTelemetry = {
  availability: () => undefined,
  event: () => undefined,
  metric: () => undefined,
  within: (_traceParent, use) => use(),
  flush: () => Promise.resolve(),
};

function asText(properties: Readonly<Record<string, string | number | boolean | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  );
}

/** https://www.w3.org/TR/trace-context/#traceparent-header. The root context where it is none. */
function contextOf(traceParent: string | undefined) {
  const [, traceId, spanId] = /^[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-[\da-f]{2}/.exec(traceParent ?? "") ?? [];
  if (traceId === undefined || spanId === undefined) return ROOT_CONTEXT;
  const span: SpanContext = { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true };
  return trace.setSpanContext(ROOT_CONTEXT, span);
}

async function inTime(flushed: Promise<void>, deadlineMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, deadlineMs);
  });
  try {
    await Promise.race([flushed.catch(() => undefined), late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * A flush that is asked for while another runs waits for it and flushes again: of two at a time the SDK lets the second
 * return at once, with its items unsent (@opentelemetry/sdk-logs 0.221, BatchLogRecordProcessorBase, `_flushAll`).
 */
function oneAfterAnother(flush: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  const start = (): Promise<void> => {
    running = flush().finally(() => {
      running = undefined;
    });
    return running;
  };
  return () => {
    if (next !== undefined) return next;
    if (running === undefined) return start();
    next = running
      .catch(() => undefined)
      .then(() => {
        next = undefined;
        return start();
      });
    return next;
  };
}
