// One HTTP request and its whole answer, within a deadline. Nothing here knows Kubernetes; nothing is retried.
import http from "node:http";
import https from "node:https";
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import type { ApiFailure } from "../admission/cluster-api.ts";
import { failure, success, type Result } from "../result.ts";

export interface ExchangeRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
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
  /** How far it came, where it did not come to a request: see ApiFailure. */
  readonly cause?: ConnectCause;
}

type ConnectCause = NonNullable<ApiFailure["cause"]>;

/** Any HTTP status is an answer. Redirects are not followed: a credential must not travel to another host. */
export async function exchange(request: ExchangeRequest): Promise<Result<Answer, ExchangeFailure>> {
  const signal = AbortSignal.timeout(request.timeoutMs);
  const progress: Progress = { pending: "connect" };
  try {
    return success(await sendAndCollect(request, progress, signal));
  } catch (error) {
    const pending: ConnectCause | undefined = isUnknownName(error, request.url) ? "dns" : progress.pending;
    const cause = pending === undefined ? {} : { cause: pending };
    if (signal.aborted) {
      const message = `no answer from ${request.url.host} within ${request.timeoutMs / 1000} s`;
      return failure({ kind: "timeout", transient: true, message, ...cause });
    }
    return failure({ ...unreachable(request.url, error), ...cause });
  }
}

/** What a connection still waits for. */
interface Progress {
  pending: "connect" | "tls" | undefined;
}

function sendAndCollect(
  { method, url, options, body, timeoutMs }: ExchangeRequest,
  progress: Progress,
  signal: AbortSignal,
) {
  return new Promise<Answer>((resolve, reject) => {
    const client = url.protocol === "https:" ? https : http;
    // `timeout` is for the CONNECT request that a proxy agent makes by itself, which the signal does not reach.
    const outgoing = client.request(url, { ...options, method, signal, timeout: timeoutMs }, (incoming) => {
      collect(incoming).then((text) => {
        resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body: text });
      }, reject);
    });
    outgoing.on("socket", (socket) => {
      follow(socket, progress, outgoing.reusedSocket);
    });
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

/** Notes how far the connection has come. A tunnel's socket is handed over when the proxy has connected. */
function follow(socket: Socket, progress: Progress, reused: boolean): void {
  const connected = (): void => {
    progress.pending = socket instanceof TLSSocket ? "tls" : undefined;
  };
  if (reused) {
    progress.pending = undefined;
    return;
  }
  if (socket.connecting) socket.once("connect", connected);
  else connected();
  socket.once("secureConnect", () => {
    progress.pending = undefined;
  });
}

/** The server's own name; where it is the proxy's that is not known, no connection came about. */
function isUnknownName(error: unknown, url: URL): boolean {
  if (!(error instanceof Error) || !("syscall" in error) || !("hostname" in error)) return false;
  return error.syscall === "getaddrinfo" && error.hostname === url.hostname;
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
