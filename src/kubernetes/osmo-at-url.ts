// OsmoTransport over a configured URL. It lives beside the tunnel because it uses the same one request with a deadline;
// no cluster is asked. Not here: a proxy on the way, which OSMO's inner addresses do not have.
import { X509Certificate } from "node:crypto";
import type { RequestOptions } from "node:https";
import { failure, success } from "../result.ts";
import type { OsmoTransport } from "../osmo/osmo-transport.ts";
import { exchange } from "./exchange.ts";
import { headersOf } from "./osmo-through-pod.ts";

export interface OsmoUrl {
  /** `http:` or `https:`, with a path where OSMO is served below one. */
  readonly url: URL;
  /**
   * The one certificate (PEM) that is accepted, as for 6.3's self-signed ones, whatever name it is for. Absent: Node's own
   * authorities and the name decide.
   */
  readonly certificate?: string;
  readonly timeoutMs: number;
}

/** Each request is sent once. Redirects are not followed. */
export function osmoAtUrl({ url, certificate, timeoutMs }: OsmoUrl): OsmoTransport {
  const options: RequestOptions = certificate === undefined ? {} : pinnedTo(certificate);
  const base = url.pathname.replace(/\/+$/, "");
  return {
    where: `${url.protocol}//${url.host}${base}`,
    async request({ method, path, headers, body }) {
      const sent = {
        "user-agent": "fleetmend",
        ...headers,
        ...(body !== undefined && { "content-length": Buffer.byteLength(body).toString() }),
      };
      const answer = await exchange({
        method,
        url: new URL(base + path, url),
        options: { ...options, headers: sent },
        timeoutMs,
        ...(body !== undefined && { body }),
      });
      if (!answer.ok) return failure({ kind: answer.error.kind, message: answer.error.message });
      const { status, headers: given, body: text } = answer.value;
      return success({ status, headers: headersOf({ headers: given }), body: text });
    },
  };
}

function pinnedTo(certificate: string): RequestOptions {
  const { fingerprint256 } = new X509Certificate(certificate);
  return {
    ca: certificate,
    checkServerIdentity: (_host, served) =>
      served.fingerprint256 === fingerprint256 ? undefined : new Error("the certificate is not the pinned one"),
  };
}
