// Application Insights' ingestion endpoint, which keeps what it was sent for tests to read. It takes what the SDK for Node
// sends (a JSON array) and what the Functions host sends (one JSON per line), gzip or not. Not here: queries, sampling.
import type { IncomingMessage, RequestListener } from "node:http";
import { gunzipSync } from "node:zlib";
import * as v from "valibot";
import { answering, bytesOf, urlOf, type JsonAnswer } from "./json-exchange.ts";
import type { Identity } from "./identity.ts";

const envelopeSchema = v.looseObject({
  name: v.string(),
  time: v.string(),
  iKey: v.string(),
  tags: v.optional(v.record(v.string(), v.string()), {}),
  data: v.looseObject({ baseType: v.string(), baseData: v.looseObject({}) }),
});

/** One telemetry item. `data.baseType` is such as `AvailabilityData` or `EventData`. */
export type Envelope = v.InferOutput<typeof envelopeSchema>;

export interface Ingestion {
  readonly host: RequestListener;
  /** Everything received so far, in the order in which it came. */
  readonly envelopes: readonly Envelope[];
}

/** Only a token for Azure Monitor is let in (component with `DisableLocalAuth`). */
export function createIngestion(instrumentationKey: string, identity: Identity): Ingestion {
  const envelopes: Envelope[] = [];
  const respond = async (request: IncomingMessage): Promise<JsonAnswer> => {
    const bytes = await bytesOf(request);
    if (!/^\/v2(\.1)?\/track$/.test(urlOf(request).pathname) || request.method !== "POST") return { status: 404 };
    if (!identity.accepts(request.headers.authorization, "monitor")) return { status: 401, body: unauthorized };
    const items = itemsOf(request.headers["content-encoding"] === "gzip" ? gunzipSync(bytes) : bytes);
    const errors = items.flatMap((item, index) => {
      const parsed = v.safeParse(envelopeSchema, item);
      if (parsed.success && parsed.output.iKey === instrumentationKey) {
        envelopes.push(parsed.output);
        return [];
      }
      const message = parsed.success ? "Invalid instrumentation key" : "The lab cannot read this envelope";
      return [{ index, statusCode: 400, message }];
    });
    const itemsAccepted = items.length - errors.length;
    const status = errors.length === 0 ? 200 : itemsAccepted > 0 ? 206 : 400;
    return { status, body: { itemsReceived: items.length, itemsAccepted, errors } };
  };
  return { host: answering(respond), envelopes };
}

const unauthorized = {
  itemsReceived: 0,
  itemsAccepted: 0,
  errors: [{ index: 0, statusCode: 401, message: "Authentication required" }],
};

function itemsOf(bytes: Buffer): readonly unknown[] {
  const text = bytes.toString("utf8");
  if (text.trimStart().startsWith("[")) return JSON.parse(text) as readonly unknown[];
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return lines.map((line) => JSON.parse(line) as unknown);
}
