// What the fault proxy records of a request and of its answer.
import type { IncomingMessage } from "node:http";

export interface ProxiedRequest {
  /** From 1, in the order of arrival since the last `restart`. */
  readonly number: number;
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly kind: "read" | "write" | "watch" | "upgrade";
  readonly contentType: string;
  /** The JSON of a write. It may hold a private key: not for printing. */
  readonly body: unknown;
  /** What came back, from the server or from us; absent while nothing did. */
  status?: number;
  /** `Status.message` of an answer above 399. */
  message?: string;
}

/**
 * Whether the authorizer refused the request: admission plugins (quota, Pod Security) also answer 403 and do not name the
 * user (k8s.io/apiserver/pkg/endpoints/handlers/responsewriters/errors.go).
 */
export const isRefusedByAuthorizer = ({ status, message = "" }: ProxiedRequest): boolean =>
  status === 403 && /\bforbidden: User ".*" cannot /.test(message);

/** A request as it arrived; `body` is empty where it has none. */
export function describeRequest(number: number, incoming: IncomingMessage, body: string): ProxiedRequest {
  const { method = "GET", url = "/", headers } = incoming;
  return {
    number,
    method,
    path: url,
    kind: kindOf(incoming),
    contentType: headers["content-type"] ?? "",
    body: body === "" ? undefined : jsonIn(body),
  };
}

function kindOf({ method, url = "/", headers }: IncomingMessage): ProxiedRequest["kind"] {
  if (headers.upgrade !== undefined) return "upgrade";
  if (method !== "GET") return "write";
  return new URL(url, "https://api").searchParams.get("watch") === "true" ? "watch" : "read";
}

/** `Status.message` of an answer, or its text. */
export function messageIn(text: string): string {
  const body = jsonIn(text);
  const message = typeof body === "object" && body !== null && "message" in body ? body.message : undefined;
  return typeof message === "string" ? message : text;
}

/** What is not JSON is left as the text that it is. */
function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
