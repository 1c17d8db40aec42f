// What the HTTP functions answer: JSON, never cached, and every refusal with what to do.
import type { HttpResponseInit } from "@azure/functions";
import type { OrderFailure } from "../fleet/fleet.ts";
import type { ForwardFailure } from "../web/forward-alert.ts";

/** A refusal, as the body of the answer. */
export interface Refusal {
  readonly kind: OrderFailure["kind"] | ForwardFailure["kind"] | "unusable-settings";
  readonly message: string;
  readonly todo: string;
  readonly retryAfterSeconds?: number;
}

export function json(status: number, body: unknown, headers: Record<string, string> = {}): HttpResponseInit {
  return { status, jsonBody: body, headers: { "cache-control": "no-store", ...headers } };
}

// 503 has an action group try again, 502 does not (learn.microsoft.com/azure/azure-monitor/alerts/action-groups, "Webhook").
const statusOf: Readonly<Record<Refusal["kind"], number>> = {
  "wrong-input": 400,
  ambiguous: 400,
  "unknown-cluster": 404,
  busy: 409,
  mode: 409,
  refused: 502,
  unavailable: 503,
  "not-configured": 503,
  "unusable-settings": 500,
};

export function refuse({ kind, message, todo, retryAfterSeconds }: Refusal): HttpResponseInit {
  const headers = retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) };
  return json(statusOf[kind], { error: kind, message, todo }, headers);
}

export const wrongInput = (message: string, todo: string): HttpResponseInit =>
  refuse({ kind: "wrong-input", message, todo });

/**
 * Runs an HTTP function. An app that cannot use its settings says which ones, to whoever has a key: a bare 500 would send
 * them searching. Everything else that is thrown fails the invocation.
 */
export async function answering(answer: () => Promise<HttpResponseInit>): Promise<HttpResponseInit> {
  try {
    return await answer();
  } catch (error) {
    // By its name: the class is in another file of the package, and loaded only with it.
    if (!(error instanceof Error) || error.name !== "UnusableSettings") throw error;
    const todo = "Correct the app settings: the README has a table of them.";
    return refuse({ kind: "unusable-settings", message: error.message, todo });
  }
}
