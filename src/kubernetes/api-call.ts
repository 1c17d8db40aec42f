// One call to the API server: address, credentials, JSON in and out, and the failure's translation. Whether to try again
// is the caller's decision.
import type { ApiFailure } from "../admission/cluster-api.ts";
import { failure, success, type Result } from "../result.ts";
import { failureOf, parseJson } from "./api-failure.ts";
import { exchange, type Answer, type ExchangeFailure, type ExchangeRequest } from "./exchange.ts";
import type { Attempt } from "./retry.ts";
import type { Session } from "./session.ts";

export interface ApiCall {
  readonly method: ExchangeRequest["method"];
  /** An API path such as `/api/v1/namespaces/x/pods`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly contentType?: string;
}

/**
 * Sends the call once. The value is the parsed JSON of a 2xx answer. No failure's text holds a credential, the whole of a
 * stored object, or, where the call is about a Secret, any value of it.
 */
export async function callOnce(session: Session, call: ApiCall): Promise<Result<unknown, Attempt<ApiFailure>>> {
  const { credentials } = session;
  const options = await credentials.forRequest();
  if (!options.ok) {
    const message = `${options.error.message} ${options.error.todo}`;
    return failure({ failure: { kind: "unauthorized", message }, transient: false });
  }
  session.countRequest();
  const body = call.body === undefined ? undefined : JSON.stringify(call.body);
  const answer = await exchange({
    method: call.method,
    url: addressOf(session.server, call),
    options: { ...options.value, headers: { ...options.value.headers, ...headersOf(call, body) } },
    ...(body !== undefined && { body }),
    timeoutMs: session.requestTimeoutMs,
  });
  const result = answer.ok ? valueOf(answer.value) : failure(attemptOf(answer.error));
  if (result.ok) return result;
  const message = withoutQuotedObjects(call, credentials.withoutSecrets(result.error.failure.message));
  return failure({ ...result.error, failure: { ...result.error.failure, message } });
}

function addressOf(server: string, { path, query }: ApiCall): URL {
  const url = new URL(server + path);
  for (const [name, value] of Object.entries(query ?? {})) url.searchParams.set(name, value);
  return url;
}

function headersOf(call: ApiCall, body: string | undefined): Record<string, string> {
  const accept = { Accept: "application/json", "User-Agent": "fleetmend" };
  if (body === undefined) return accept;
  return {
    ...accept,
    "Content-Type": call.contentType ?? "application/json",
    "Content-Length": Buffer.byteLength(body).toString(),
  };
}

function valueOf(answer: Answer): Result<unknown, Attempt<ApiFailure>> {
  if (answer.status < 200 || answer.status > 299) {
    const failed = failureOf(answer);
    const { retryAfterSeconds } = failed;
    const transient = failed.kind === "throttled" || answer.status >= 500;
    return failure({ failure: failed, transient, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) });
  }
  const value = parseJson(answer.body);
  if (value !== undefined) return success(value);
  const message = `HTTP ${answer.status} with something that is not JSON: is this the URL of an API server?`;
  return failure({ failure: { kind: "unreachable", status: answer.status, message }, transient: false });
}

function attemptOf({ transient, ...failed }: ExchangeFailure): Attempt<ApiFailure> {
  return { failure: failed, transient };
}

/**
 * Of a patched object that it cannot decode, such as one with a bundle that is not base64, the API server quotes the whole
 * in its 422: the parts that were not sent, too, and so the key of a Secret (k8s.io/apiserver pkg/endpoints/handlers/
 * patch.go, "patch: Invalid value"). Of a Secret no value is passed on at all. Other objects' single values stay, because
 * the names in a text are what explains it.
 */
function withoutQuotedObjects(call: ApiCall, message: string): string {
  if (!/\/secrets(\/|$)/.test(call.path)) {
    return message.replaceAll(/\bpatch: Invalid value: "(?:[^"\\]|\\.)*"/g, "patch: Invalid value: [removed]");
  }
  const cut = message.replace(/\b((?:Invalid|Unsupported|Duplicate) value: ).*$/s, "$1[removed]");
  return longTexts(call.body).reduce((left, value) => left.replaceAll(value, "[removed]"), cut);
}

function longTexts(value: unknown): string[] {
  if (typeof value === "string") return value.length >= 8 ? [value] : [];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(longTexts);
}
