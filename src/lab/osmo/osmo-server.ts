// An OSMO process on the wire: plain HTTP, or HTTPS with a self-signed certificate as 6.3's services have it.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { mintCertificate } from "../../trust/mint.ts";
import { listen } from "../listen.ts";
import type { OsmoApi } from "./osmo-api.ts";

export interface OsmoServerOptions {
  readonly api: OsmoApi;
  /** 6.3: `--ssl_self_signed`, with the chart's default `gateway.tls.enabled`. */
  readonly tls?: boolean;
}

export interface OsmoServer {
  readonly url: string;
  readonly port: number;
  /** The certificate that is served, in PEM; absent without TLS. */
  readonly certificate?: string;
  /** Lines as uvicorn writes them for each request, with the whole path: on 6.0 the token is in it. */
  readonly accessLog: readonly string[];
  readonly stop: () => Promise<void>;
}

export async function startOsmoServer({ api, tls = false }: OsmoServerOptions): Promise<OsmoServer> {
  const accessLog: string[] = [];
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    void answer(request, response, api).then((status) => {
      accessLog.push(`"${request.method ?? ""} ${request.url ?? ""} HTTP/1.1" ${status}`);
    });
  };
  const pair = tls ? await selfSigned(api.world.now()) : undefined;
  const server = pair === undefined ? createServer(onRequest) : createTlsServer(pair, onRequest);
  const { port, stop } = await listen(server);
  const url = `${tls ? "https" : "http"}://127.0.0.1:${port}`;
  return { url, port, accessLog, stop, ...(pair !== undefined && { certificate: pair.cert }) };
}

async function answer(request: IncomingMessage, response: ServerResponse, { handle }: OsmoApi): Promise<number> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
  const { method = "", url: path = "" } = request;
  const given = await handle({ method, path, headers, body: Buffer.concat(chunks).toString("utf8") });
  response.writeHead(given.status, { server: "uvicorn", "content-type": given.contentType }).end(given.body);
  return given.status;
}

/** As OSMO makes it at each start: for its own host name, `localhost` and 127.0.0.1. */
async function selfSigned(at: Date): Promise<{ readonly cert: string; readonly key: string }> {
  const { pem, keyPem } = await mintCertificate({
    subject: "osmo-service-7d4b9c",
    dnsNames: ["osmo-service-7d4b9c", "localhost"],
    ipAddresses: ["127.0.0.1"],
    notBefore: new Date(at.getTime() - 60_000),
    notAfter: new Date(at.getTime() + 365 * 86_400_000),
  });
  return { cert: pem, key: keyPem };
}
