// One webhook pod of KAI: a TLS server that allows every review, and takes a new pair as controller-runtime's certwatcher
// does (pkg/certwatcher/certwatcher.go). Not here: when the pair reaches the pod; that is the kubelet's.
import { X509Certificate, createPrivateKey } from "node:crypto";
import { createServer } from "node:https";
import type { IncomingMessage, ServerResponse } from "node:http";
import { listen } from "../listen.ts";

/** The container's port, the same in all families. */
export const webhookPort = 9443;

/** The two files of the mounted Secret: `tls.crt` and `tls.key`, PEM. */
export interface ServingPair {
  readonly certificates: string;
  readonly key: string;
}

export interface WebhookServer {
  /** On 127.0.0.1. */
  readonly port: number;
  /** The files have changed. A pair that does not parse or match is left lying, and the old one goes on being served. */
  load(pair: ServingPair): void;
  readonly stop: () => Promise<void>;
}

/** Starts serving `pair`; undefined where it cannot be used: controller-runtime then exits, and the pod crash-loops. */
export async function startWebhookServer(pair: ServingPair, idleMs: number): Promise<WebhookServer | undefined> {
  if (!isUsable(pair)) return undefined;
  let loaded = pair;
  const server = createServer({ cert: pair.certificates, key: pair.key, ALPNProtocols: ["http/1.1"] }, respond);
  // controller-runtime's server keeps idle connections for 90 s; 0 here would mean for ever.
  server.keepAliveTimeout = idleMs;
  const { port, stop } = await listen(server);
  return {
    port,
    load(next) {
      if (!isUsable(next) || isSame(loaded, next)) return;
      loaded = next;
      server.setSecureContext({ cert: next.certificates, key: next.key });
    },
    stop,
  };
}

/** tls.X509KeyPair: both parse, and the key belongs to the first certificate. */
function isUsable({ certificates, key }: ServingPair): boolean {
  try {
    return new X509Certificate(certificates).checkPrivateKey(createPrivateKey(key));
  } catch {
    // Either file does not parse; certwatcher logs it and keeps what it has.
    return false;
  }
}

/** certwatcher compares the leaf and the key only: a change of the chain behind the leaf alone is never loaded. */
function isSame(one: ServingPair, other: ServingPair): boolean {
  const leaf = ({ certificates }: ServingPair): string => new X509Certificate(certificates).fingerprint256;
  return leaf(one) === leaf(other) && one.key === other.key;
}

function respond(request: IncomingMessage, response: ServerResponse): void {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const review = JSON.parse(Buffer.concat(chunks).toString("utf8")) as { readonly request: { readonly uid: string } };
    response.setHeader("content-type", "application/json");
    // Said outright, or Node adds `Keep-Alive: timeout=…`, which Go's server does not send and Node's client obeys.
    response.setHeader("connection", "keep-alive");
    response.end(
      JSON.stringify({
        kind: "AdmissionReview",
        apiVersion: "admission.k8s.io/v1",
        response: { uid: review.request.uid, allowed: true, status: { metadata: {}, code: 200 } },
      }),
    );
  });
}
