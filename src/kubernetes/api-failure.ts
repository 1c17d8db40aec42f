// From an API server's refusal to an ApiFailure. The kind comes from the HTTP status alone; the text is only passed on.
import type { ApiFailure } from "../admission/cluster-api.ts";
import type { Answer } from "./exchange.ts";

/**
 * What an answer outside 2xx means. `message` and `reason` are those of the Kubernetes Status object where the answer
 * is one (Kubernetes API conventions, "Response Status Kind"); an answer from something in between, such as a load
 * balancer, gives the start of its text. 410 (a list's continue token has expired) counts as `server-error`: it passes
 * with time, and `status` tells.
 */
export function failureOf(answer: Answer): ApiFailure {
  const status = statusObject(answer.body);
  const retryAfterSeconds = seconds(answer.headers["retry-after"]) ?? status.retryAfterSeconds;
  return {
    kind: kindOf(answer.status),
    status: answer.status,
    ...(status.reason !== undefined && { reason: status.reason }),
    message: status.message ?? plainMessage(answer),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  };
}

function kindOf(status: number): ApiFailure["kind"] {
  switch (status) {
    case 401:
      return "unauthorized";
    case 403:
      return "forbidden";
    case 404:
      return "not-found";
    case 409:
      return "conflict";
    case 410:
      return "server-error";
    case 429:
      return "throttled";
    default:
      if (status >= 500) return "server-error";
      // Below 400 something that is no API server answered, such as a sign-in page.
      return status >= 400 ? "invalid" : "unreachable";
  }
}

function statusObject(body: string): {
  readonly reason?: string;
  readonly message?: string;
  readonly retryAfterSeconds?: number;
} {
  const parsed = parseJson(body);
  if (typeof parsed !== "object" || parsed === null) return {};
  const { reason, message, details } = parsed as Record<string, unknown>;
  const after = typeof details === "object" && details !== null && "retryAfterSeconds" in details ? details : undefined;
  return {
    ...(typeof reason === "string" && reason !== "" && { reason }),
    ...(typeof message === "string" && message !== "" && { message }),
    ...(typeof after?.retryAfterSeconds === "number" && { retryAfterSeconds: after.retryAfterSeconds }),
  };
}

/** The value, or undefined where the text is not JSON (JSON itself has no undefined). */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function plainMessage({ status, headers, body }: Answer): string {
  const isText = headers["content-type"]?.startsWith("text/plain") ?? false;
  const text = isText ? body.trim().replaceAll(/\s+/g, " ").slice(0, 200) : "";
  return text === "" ? `HTTP ${status} without a Kubernetes Status` : text;
}

/** Retry-After in seconds. Its other form, a date, is not used by Kubernetes. */
function seconds(header: string | undefined): number | undefined {
  return header !== undefined && /^\d+$/.test(header.trim()) ? Number(header) : undefined;
}
