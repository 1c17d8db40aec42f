// The process in a webhook's pod: a TLS server that answers AdmissionReviews and takes up a new pair as
// controller-runtime's certwatcher does. It does not listen anywhere: connections are handed to it by the pod network.
import https from "node:https";
import type { IncomingMessage, ServerResponse } from "node:http";
import { X509Certificate } from "node:crypto";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import tls from "node:tls";

/** What the mounted Secret holds. */
export interface PairFiles {
  readonly certificate: Uint8Array;
  readonly key: Uint8Array;
}

export interface AdmissionCall {
  /** `namespace/name` of the pod that was asked. */
  readonly pod: string;
  readonly path: string;
  readonly uid: string;
  readonly operation: string;
  readonly resource: string;
  readonly namespace: string;
  readonly dryRun: boolean;
  readonly at: Date;
  /** True on a connection that has carried a request before. Go may dial one ahead of need: see `presentedLeaf`. */
  readonly reusedConnection: boolean;
  /** SHA-256 of the leaf that was presented in this connection's handshake, as `X509Certificate.fingerprint256`. */
  readonly presentedLeaf: string;
}

/** How all backends of a world answer. Tests change it while they run; every request looks at it anew. */
export interface AdmissionBehaviour {
  /** A text refuses the call with it: `admission webhook "…" denied the request: <text>`. */
  deny?: ((call: AdmissionCall) => string | undefined) | undefined;
  /** Answers in the place of an AdmissionReview: for the texts of broken webhooks. */
  answer?: ((call: AdmissionCall) => RawAnswer | undefined) | undefined;
  /** After so many requests the connection is closed, so that the next one makes a handshake. 0: only when idle. */
  requestsPerConnection: number;
  /** Connections made while this holds carry one request; those that are open already go on as they are. */
  newConnectionsServeOnce: boolean;
  /** All calls so far, in order. */
  readonly calls: AdmissionCall[];
}

export interface RawAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

export const defaultBehaviour = (): AdmissionBehaviour => ({
  requestsPerConnection: 0,
  newConnectionsServeOnce: false,
  calls: [],
});

/** A certificate and key that no TLS server can be started with: not PEM, or the key belongs to another certificate. */
export class UnusablePair extends Error {}

export interface Backend {
  /** Serves TLS on a connection that the pod network made. */
  accept(connection: Duplex): void;
  /**
   * The mount has been refreshed. Takes the pair up if leaf or key changed and the two belong together; keeps the old one
   * otherwise: also when only the chain behind the leaf changed (controller-runtime pkg/certwatcher, ReadCertificate).
   */
  reload(files: PairFiles): "loaded" | "unchanged" | "unusable";
  /** Ends every connection. */
  readonly stop: () => void;
}

// net/http's IdleTimeout in controller-runtime's webhook server (pkg/internal/httpserver/server.go), and also how long
// the API server keeps an idle connection.
const idleTimeoutMs = 90_000;

/** Throws {@link UnusablePair} where the process in the pod would end at once. */
export function startBackend(pod: string, files: PairFiles, behaviour: AdmissionBehaviour): Backend {
  let loaded = loadPair(files);
  const served = new WeakMap<Socket, number>();
  const servesOnce = new WeakSet<Socket>();
  const server = https.createServer({ ...loaded.options, ALPNProtocols: ["http/1.1"] }, (request, response) => {
    const before = served.get(request.socket) ?? 0;
    served.set(request.socket, before + 1);
    answer(request, response, { pod, reusedConnection: before > 0, behaviour }).catch((error: unknown) => {
      response.writeHead(500, { "content-type": "text/plain" }).end(String(error));
    });
    // Go's `Connection: close`: the client makes a new connection, and loses no request over it.
    const isOver = behaviour.requestsPerConnection > 0 && before + 1 >= behaviour.requestsPerConnection;
    if (isOver || servesOnce.has(request.socket)) {
      response.setHeader("connection", "close");
    }
  });
  server.on("secureConnection", (socket) => {
    if (behaviour.newConnectionsServeOnce) servesOnce.add(socket);
  });
  server.keepAliveTimeout = idleTimeoutMs;
  const connections = new Set<Duplex>();
  // A client that refuses our certificate, or goes away: Go's server logs it and serves on.
  server.on("tlsClientError", () => undefined);
  server.on("clientError", (_error, socket: Duplex) => socket.destroy());
  return {
    accept: (connection) => {
      connections.add(connection);
      connection.once("close", () => connections.delete(connection));
      server.emit("connection", connection);
    },
    reload: (changed) => {
      const next = tryLoad(changed);
      if (next === undefined) return "unusable";
      if (next.identity === loaded.identity) return "unchanged";
      loaded = next;
      server.setSecureContext(next.options);
      return "loaded";
    },
    stop: () => {
      for (const connection of connections) connection.destroy();
    },
  };
}

interface LoadedPair {
  readonly options: { readonly cert: Buffer; readonly key: Buffer };
  /** What certwatcher compares: the leaf's DER and the key, not the rest of the chain. */
  readonly identity: string;
}

function loadPair(files: PairFiles): LoadedPair {
  const options = { cert: Buffer.from(files.certificate), key: Buffer.from(files.key) };
  // OpenSSL takes an empty pair for "no certificate" and would start without one; Go does not.
  if (options.cert.length === 0 || options.key.length === 0) throw new UnusablePair("the pair is empty");
  try {
    tls.createSecureContext(options);
    return {
      options,
      identity: `${new X509Certificate(options.cert).fingerprint256} ${options.key.toString("base64")}`,
    };
  } catch (error) {
    throw new UnusablePair("the pair cannot be used", { cause: error });
  }
}

function tryLoad(files: PairFiles): LoadedPair | undefined {
  try {
    return loadPair(files);
  } catch (error) {
    if (error instanceof UnusablePair) return undefined;
    throw error;
  }
}

interface Review {
  readonly request: {
    readonly uid: string;
    readonly operation: string;
    readonly namespace?: string;
    readonly dryRun?: boolean;
    readonly resource: { readonly resource: string };
  };
}

interface Asked {
  readonly pod: string;
  readonly reusedConnection: boolean;
  readonly behaviour: AdmissionBehaviour;
}

async function answer(request: IncomingMessage, response: ServerResponse, asked: Asked): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const { request: review } = JSON.parse(Buffer.concat(chunks).toString("utf8")) as Review;
  const call: AdmissionCall = {
    pod: asked.pod,
    path: new URL(request.url ?? "/", "https://pod").pathname,
    uid: review.uid,
    operation: review.operation,
    resource: review.resource.resource,
    namespace: review.namespace ?? "",
    dryRun: review.dryRun ?? false,
    at: new Date(),
    reusedConnection: asked.reusedConnection,
    presentedLeaf: presentedLeaf(request.socket),
  };
  asked.behaviour.calls.push(call);
  const raw = asked.behaviour.answer?.(call) ?? reviewOf(call, asked.behaviour.deny?.(call));
  response.writeHead(raw.status, { "content-type": raw.contentType }).end(raw.body);
}

function presentedLeaf(socket: Socket): string {
  const certificate = socket instanceof tls.TLSSocket ? socket.getX509Certificate() : undefined;
  return certificate?.fingerprint256 ?? "";
}

// controller-runtime's admission.Allowed and admission.Denied (pkg/webhook/admission/response.go).
function reviewOf(call: AdmissionCall, denial: string | undefined): RawAnswer {
  const verdict =
    denial === undefined
      ? { allowed: true, status: { metadata: {}, code: 200 } }
      : { allowed: false, status: { metadata: {}, message: denial, reason: "Forbidden", code: 403 } };
  const body = { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response: { uid: call.uid, ...verdict } };
  return { status: 200, contentType: "application/json", body: JSON.stringify(body) };
}
