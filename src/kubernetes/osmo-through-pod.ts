// OsmoTransport through the API server's tunnel to one port of one pod: one tunnel for each request, plain HTTP or TLS.
import { createHash } from "node:crypto";
import http from "node:http";
import type { Duplex } from "node:stream";
import tls from "node:tls";
import { failure, success, type Result } from "../result.ts";
import type { OsmoAnswer, OsmoRequest, OsmoTransport, TransportFailure } from "../osmo/osmo-transport.ts";
import { failureOf } from "./api-failure.ts";
import { collect } from "./exchange.ts";
import { openPodTunnel, type PodTunnel, type TunnelFailure } from "./pod-tunnel.ts";
import { portForwardUrl } from "./port-forward.ts";
import type { Session } from "./session.ts";

export interface OsmoPod {
  readonly namespace: string;
  readonly pod: string;
  readonly port: number;
  /**
   * OSMO 6.3 makes itself a certificate at each start, which no authority vouches for. It is pinned: to `leaf` (DER) where
   * the caller knows it, else to what the first connection of this transport finds. The tunnel itself ends in this pod by
   * the word of the API server and its kubelet.
   */
  readonly tls?: { readonly leaf?: Uint8Array };
}

/** Nothing is opened until the first request. Each request is sent once, within the session's time for requests. */
export function osmoThroughPod(session: Session, target: OsmoPod): OsmoTransport {
  const pin: Pin = { leaf: target.tls?.leaf === undefined ? undefined : fingerprintOf(target.tls.leaf) };
  return {
    where: `${target.namespace}/${target.pod} port ${target.port}`,
    request: (request) => requestOnce({ session, target, pin }, request),
  };
}

interface Way {
  readonly session: Session;
  readonly target: OsmoPod;
  readonly pin: Pin;
}

interface Pin {
  leaf: string | undefined;
}

async function requestOnce(way: Way, request: OsmoRequest): Promise<Result<OsmoAnswer, TransportFailure>> {
  const { session, target } = way;
  const options = await session.credentials.forRequest();
  if (!options.ok) return failure({ kind: "unreachable", message: options.error.message });
  session.countRequest();
  const deadline = AbortSignal.timeout(session.requestTimeoutMs);
  const headers = { ...options.value.headers, "User-Agent": "fleetmend" };
  const url = portForwardUrl(session.server, target);
  const opened = await openPodTunnel(url, { ...options.value, headers }, deadline);
  if (!opened.ok) return failure(deadline.aborted ? late(way) : notOpened(opened.error, session));
  const tunnel = opened.value;
  try {
    const refused = tunnel.refusal.then((text) => failure(broken(`${target.pod} port ${target.port}: ${text}`)));
    return await Promise.race([exchangeOver(tunnel, way, request, deadline), refused]);
  } catch (error) {
    return failure(deadline.aborted ? late(way) : broken(textOf(error)));
  } finally {
    tunnel.close();
  }
}

async function exchangeOver(
  tunnel: PodTunnel,
  way: Way,
  request: OsmoRequest,
  signal: AbortSignal,
): Promise<Result<OsmoAnswer, TransportFailure>> {
  if (way.target.tls === undefined) return success(await send(tunnel.stream, request, signal));
  const socket = await secured(tunnel.stream, signal);
  const leaf = fingerprintOf(socket.getPeerX509Certificate()?.raw ?? new Uint8Array());
  way.pin.leaf ??= leaf;
  // Nothing has been sent yet.
  if (way.pin.leaf !== leaf) return failure(broken(`${way.target.pod} serves another certificate than the pinned one`));
  return success(await send(socket, request, signal));
}

function secured(stream: Duplex, signal: AbortSignal): Promise<tls.TLSSocket> {
  return new Promise((resolve, reject) => {
    // Not verified here: the pin decides.
    const socket = tls.connect({ socket: stream, rejectUnauthorized: false, minVersion: "TLSv1.2" });
    socket.once("secureConnect", () => {
      resolve(socket);
    });
    socket.on("error", reject);
    socket.once("close", () => {
      reject(new Error("the connection ended before the TLS handshake did"));
    });
    signal.addEventListener("abort", () => socket.destroy(), { once: true });
  });
}

function send(stream: Duplex, request: OsmoRequest, signal: AbortSignal): Promise<OsmoAnswer> {
  const { method, path, headers, body } = request;
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { "content-length": Buffer.byteLength(body).toString() };
    const outgoing = http.request(
      {
        method,
        path,
        // The host is the tunnel's own: OSMO does not look at it.
        headers: { host: "localhost", "user-agent": "fleetmend", connection: "close", ...headers, ...length },
        createConnection: () => stream,
        signal,
      },
      (incoming) => {
        collect(incoming).then((text) => {
          resolve({ status: incoming.statusCode ?? 0, headers: headersOf(incoming), body: text });
        }, reject);
      },
    );
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

export function headersOf({ headers }: Pick<http.IncomingMessage, "headers">): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}

function notOpened(error: TunnelFailure, { credentials }: Session): TransportFailure {
  if (error.kind === "broken") return broken(credentials.withoutSecrets(error.failure.message));
  const { status } = error.answer;
  const message = credentials.withoutSecrets(failureOf(error.answer).message);
  if (status === 403) return { kind: "forbidden", message };
  return { kind: status === 404 ? "not-found" : "unreachable", message };
}

function late({ session, target }: Way): TransportFailure {
  const seconds = session.requestTimeoutMs / 1000;
  return { kind: "timeout", message: `no answer from ${target.pod} port ${target.port} within ${seconds} s` };
}

const broken = (message: string): TransportFailure => ({ kind: "unreachable", message });
// Node's texts for a connection that broke: codes and addresses, never what was sent.
const textOf = (error: unknown): string => (error instanceof Error ? error.message : "the tunnel broke");
const fingerprintOf = (der: Uint8Array): string => createHash("sha256").update(der).digest("hex");
