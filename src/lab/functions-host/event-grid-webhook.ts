// The endpoint that the Event Grid extension adds to a host: /runtime/webhooks/eventgrid?functionName=…. It answers both
// handshakes, and gives each event of a delivery to the function in an invocation of its own, in either schema.
// Source: learn.microsoft.com/azure/event-grid/end-point-validation-event-grid-events-schema and
// end-point-validation-cloud-events-schema; EventGridExtensionConfigProvider.cs of github.com/Azure/azure-sdk-for-net.
import type { IncomingMessage } from "node:http";
import type { HostedFunction } from "./functions-of-app.ts";
import { type Answer, headerOf } from "./http-front.ts";
import type { Invoke } from "./invoke.ts";

interface Delivery {
  readonly request: IncomingMessage;
  readonly url: URL;
  readonly body: Buffer;
}

/** The key has been checked. A failed invocation answers 500, so that Event Grid delivers again. */
export async function answerEventGrid(
  { request, url, body }: Delivery,
  functions: readonly HostedFunction[],
  invoke: Invoke,
): Promise<Answer> {
  const wanted = url.searchParams.get("functionName") ?? "";
  const hosted = functions.find(
    ({ name, trigger }) => trigger.kind === "eventGrid" && name.toLowerCase() === wanted.toLowerCase(),
  );
  if (hosted === undefined) return { status: 404, body: `cannot find function: '${wanted}'` };
  if (request.method === "OPTIONS") return cloudEventsHandshake(request);
  if (request.method !== "POST") return { status: 405 };
  const events = eventsOf(body);
  if (events === undefined) return { status: 400, body: "The body is not JSON." };
  switch (headerOf(request, "aeg-event-type")) {
    case "SubscriptionValidation":
      return validation(events[0]);
    case "Unsubscribe":
      return { status: 202 };
    default:
      return deliver(hosted, events, invoke);
  }
}

function cloudEventsHandshake(request: IncomingMessage): Answer {
  const origin = headerOf(request, "webhook-request-origin");
  if (origin === undefined) return { status: 400 };
  return { status: 200, headers: { "WebHook-Allowed-Origin": origin, "WebHook-Allowed-Rate": "*" } };
}

function eventsOf(body: Buffer): readonly unknown[] | undefined {
  try {
    const content: unknown = JSON.parse(body.toString("utf8"));
    return Array.isArray(content) ? (content as readonly unknown[]) : [content];
  } catch {
    return undefined;
  }
}

function validation(event: unknown): Answer {
  const code = (event as { data?: { validationCode?: unknown } } | undefined)?.data?.validationCode;
  if (typeof code !== "string") return { status: 400 };
  return {
    status: 200,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ validationResponse: code }),
  };
}

async function deliver(hosted: HostedFunction, events: readonly unknown[], invoke: Invoke): Promise<Answer> {
  const runs = await Promise.allSettled(
    events.map((event) => invoke(hosted, { data: { json: JSON.stringify(event) } })),
  );
  return { status: runs.some(({ status }) => status === "rejected") ? 500 : 202 };
}
