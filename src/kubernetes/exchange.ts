// One HTTP request and its whole answer, within a deadline. Nothing here knows Kubernetes; nothing is retried.
import http from "node:http";
import https from "node:https";
import { failure, success, type Result } from "../result.ts";

export interface ExchangeRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH";
  readonly url: URL;
  /** TLS options, agent and headers. */
  readonly options: https.RequestOptions;
  readonly body?: string;
  /** From the call to the last byte of the answer, connecting included. */
  readonly timeoutMs: number;
}

export interface Answer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
}

/** No answer, or only part of one. Whether the server acted on the request is unknown. */
export interface ExchangeFailure {
  readonly kind: "timeout" | "unreachable";
  /** Another attempt may well get through: a reset or a refused connection, not a name or a certificate. */
  readonly transient: boolean;
  readonly message: string;
}

/** Any HTTP status is an answer. Redirects are not followed: a credential must not travel to another host. */
export async function exchange(request: ExchangeRequest): Promise<Result<Answer, ExchangeFailure>> {
  const signal = AbortSignal.timeout(request.timeoutMs);
  try {
    return success(await sendAndCollect(request, signal));
  } catch (error) {
    if (signal.aborted) {
      const message = `no answer from ${request.url.host} within ${request.timeoutMs / 1000} s`;
      return failure({ kind: "timeout", transient: true, message });
    }
    return failure(unreachable(request.url, error));
  }
}

function sendAndCollect({ method, url, options, body, timeoutMs }: ExchangeRequest, signal: AbortSignal) {
  return new Promise<Answer>((resolve, reject) => {
    const client = url.protocol === "https:" ? https : http;
    // `timeout` is for the CONNECT request that a proxy agent makes by itself, which the signal does not reach.
    const outgoing = client.request(url, { ...options, method, signal, timeout: timeoutMs }, (incoming) => {
      collect(incoming).then((text) => {
        resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body: text });
      }, reject);
    });
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

/** The whole body of an answer as text. Rejects where the connection breaks before its end. */
export async function collect(incoming: http.IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

// Node's names for a connection that broke, or that nobody took: what an API server's restart looks like.
const transientCodes = new Set(["ECONNRESET", "ECONNREFUSED", "ECONNABORTED", "EPIPE", "ETIMEDOUT", "EAI_AGAIN"]);

/** Names what Node's connecting, TLS or HTTP layer said. Its texts hold hosts and ports, never headers or bodies. */
export function unreachable(url: URL, error: unknown): ExchangeFailure {
  // With several addresses Node reports them all in one error that has no text of its own.
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  const text = first instanceof Error ? first.message : "unknown error";
  const code = first instanceof Error && "code" in first && typeof first.code === "string" ? first.code : undefined;
  const coded = code === undefined || text.includes(code) ? text : `${text} (${code})`;
  return {
    kind: "unreachable",
    transient: code !== undefined && transientCodes.has(code),
    message: `${url.host} could not be reached: ${coded}`,
  };
}
