// The lab's internet: an HTTP CONNECT proxy on 127.0.0.1 behind which the lab's hosts answer, each with a TLS server in this
// process. The real SDKs come here by HTTPS_PROXY alone. Not here: what a host answers.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer as createProxy, type IncomingMessage, type RequestListener } from "node:http";
import { createServer, type Server } from "node:https";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Duplex } from "node:stream";
import { createAuthority } from "../authority.ts";
import { listen } from "../listen.ts";

export interface Wire {
  /** For HTTPS_PROXY. */
  readonly proxyUrl: string;
  /** The lab's CA, on disk: for NODE_EXTRA_CA_CERTS. Removed by `stop`. */
  readonly caFile: string;
  readonly caPem: string;
  /** From now on `https://<host>` is this server, certificate and all. It need not listen. */
  route(host: string, server: Server): void;
  /** From now on `https://<host>` answers so, with a certificate of the lab's CA. */
  serve(host: string, answer: RequestListener): Promise<void>;
  /** From now on connections to the host come about and nothing ever answers in them. */
  silence(host: string): void;
  /** The host is unknown again. */
  remove(host: string): void;
  readonly stop: () => Promise<void>;
}

/** Takes over a connection that the proxy has established. */
type Host = (socket: Duplex) => void;

/** Listens on a free port of 127.0.0.1 when it resolves; every host is unknown until it is given. */
export async function startWire(now: () => Date = () => new Date()): Promise<Wire> {
  const hosts = new Map<string, Host>();
  const authority = await createAuthority("fleetmend lab CA", now());
  const folder = await mkdtemp(path.join(tmpdir(), "fleetmend-wire-"));
  const caFile = path.join(folder, "ca.pem");
  await writeFile(caFile, authority.caPem);

  const proxy = createProxy((_request, response) => {
    // Plain http through the proxy: nothing of fleetmend's asks for it.
    response.writeHead(405).end();
  });
  proxy.on("connect", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    connect(socket, head, hosts.get(hostOf(request.url ?? "")));
  });
  const { port, stop } = await listen(proxy);

  const route: Wire["route"] = (host, server) => {
    hosts.set(host, (socket) => {
      // A server takes any connection that it is told of; it has no port of its own (Node docs, net, 'connection').
      server.emit("connection", socket);
    });
  };
  return {
    proxyUrl: `http://127.0.0.1:${port}`,
    caFile,
    caPem: authority.caPem,
    route,
    async serve(host, answer) {
      const certificate = await authority.certify({ dnsNames: [host] });
      route(host, createServer({ ...certificate, ALPNProtocols: ["http/1.1"] }, answer));
    },
    silence(host) {
      hosts.set(host, () => undefined);
    },
    remove(host) {
      hosts.delete(host);
    },
    async stop() {
      await Promise.all([stop(), rm(folder, { recursive: true, force: true })]);
    },
  };
}

/** The authority of a CONNECT is `host:port`; the lab's hosts have port 443 only. */
function hostOf(authority: string): string {
  const [, host = ""] = /^([^:]+):443$/.exec(authority) ?? [];
  return host.toLowerCase();
}

/** A name that nobody has, as a forward proxy reports it: 502, and no tunnel. */
function connect(socket: Duplex, head: Buffer, host: Host | undefined): void {
  // A client may leave at any time, and nobody else listens for it yet.
  socket.on("error", () => socket.destroy());
  if (host === undefined) {
    socket.end("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    return;
  }
  socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
  if (head.length > 0) socket.unshift(head);
  host(socket);
}
