// A TLS handshake over a given stream, to read the certificates that the other side serves. Nothing is verified.
import { isIP } from "node:net";
import type { Duplex } from "node:stream";
import tls from "node:tls";
import type { ServedChain } from "../admission/cluster-api.ts";
import { failure, success, type Result } from "../result.ts";

/** The handshake did not reach the end: by an error of the TLS layer (`tls`), or because the stream ended first. */
export interface ServedChainFailure {
  readonly kind: "tls" | "ended";
  readonly message: string;
}

/**
 * Completes a handshake as the API server would (k8s.io/apiserver/pkg/util/webhook/client.go: TLS 1.2 or later, ALPN
 * http/1.1, the server name as SNI) and gives the chain in DER, leaf first, as served: no reordering, duplicates and
 * unrelated certificates kept. Not bounded in time: the caller ends the stream.
 *
 * Limit: OpenSSL gives back what it parsed, re-encoded. A certificate whose outermost layer is BER and not DER, which
 * Go refuses, comes back as DER; one that OpenSSL cannot parse is a `tls` failure.
 */
export function readServedChain(stream: Duplex, serverName: string): Promise<Result<ServedChain, ServedChainFailure>> {
  return new Promise((resolve) => {
    const socket = tls.connect({
      socket: stream,
      // The verdict on these certificates is not OpenSSL's to give. Without verification it also takes keys and hashes
      // that it finds too weak, on which Go has rules of its own.
      rejectUnauthorized: false,
      minVersion: "TLSv1.2",
      ALPNProtocols: ["http/1.1"],
      // RFC 6066 §3 allows no IP address in SNI, and Go sends none.
      ...(isIP(serverName) === 0 && { servername: serverName }),
    });
    socket.on("secureConnect", () => {
      resolve(success({ chain: chainOf(socket) }));
    });
    socket.on("error", (error: Error) => {
      resolve(failure(failureOf(error)));
    });
    socket.on("close", () => {
      resolve(failure({ kind: "ended", message: "the connection ended before the TLS handshake did" }));
    });
  });
}

/**
 * `issuerCertificate` of Node's X509Certificate walks the list that OpenSSL received, in order. It is not what its name
 * says, and it is what is wanted; `getPeerCertificate(true)` looks for real issuers, and drops and reorders. Only the
 * first `getPeerX509Certificate` of a connection is sure to be complete (nodejs/node#65579).
 */
function chainOf(socket: tls.TLSSocket): readonly Uint8Array[] {
  const chain: Uint8Array[] = [];
  let certificate = socket.getPeerX509Certificate();
  while (certificate !== undefined) {
    chain.push(new Uint8Array(certificate.raw));
    certificate = certificate.issuerCertificate;
  }
  return chain;
}

/** OpenSSL's errors have a library and a reason; Node's own, for a stream that ended, have not. */
function failureOf(error: Error): ServedChainFailure {
  const isTls = "library" in error || ("code" in error && String(error.code).startsWith("ERR_SSL"));
  const reason = "reason" in error && typeof error.reason === "string" ? error.reason : error.message;
  return isTls ? { kind: "tls", message: reason } : { kind: "ended", message: error.message };
}
