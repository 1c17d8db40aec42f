// A small HTTPS server that answers as a test tells it to, on the wire, and a kubeconfig that leads to it. It stands for
// the API server's manners, not for Kubernetes.
import { mkdtempSync, writeFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import https, { type ServerOptions } from "node:https";
import type { AddressInfo, Server, Socket } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Duplex } from "node:stream";
import type { TLSSocket } from "node:tls";
import { mintCertificate, type MintedCertificate } from "../../src/trust/mint.ts";

export interface Seen {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

export interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** What to do with a request: answer it, break the connection, or keep silent. */
export type Behaviour = (request: Seen) => Reply | "reset" | "silent";

export interface TestServer {
  readonly url: string;
  readonly certificatePem: string;
  readonly seen: readonly Seen[];
  /** Connections accepted so far. */
  readonly connections: () => number;
  /** Connections open now. */
  readonly open: () => number;
  readonly onUpgrade: (listener: (request: IncomingMessage, socket: Duplex, head: Buffer) => void) => void;
  readonly onSecure: (listener: (socket: TLSSocket) => void) => void;
  readonly stop: () => Promise<void>;
}

let serving: Promise<MintedCertificate> | undefined;

function servingCertificate(): Promise<MintedCertificate> {
  serving ??= mintCertificate({
    subject: "kube-apiserver",
    notBefore: new Date("2020-01-01T00:00:00Z"),
    notAfter: new Date("2099-01-01T00:00:00Z"),
    ipAddresses: ["127.0.0.1"],
    dnsNames: ["kubernetes.default.svc"],
    ca: true,
  });
  return serving;
}

export async function startServer(behaviour: Behaviour, options: ServerOptions = {}): Promise<TestServer> {
  const { pem, keyPem } = await servingCertificate();
  const seen: Seen[] = [];
  const sockets = new Set<Socket>();
  let accepted = 0;
  const server = https.createServer({ cert: pem, key: keyPem, ...options }, (request, response) => {
    void receive(request).then((received) => {
      seen.push(received);
      answer(behaviour(received), response);
    });
  });
  server.on("secureConnection", () => (accepted += 1));
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  const port = await listen(server);
  return {
    url: `https://127.0.0.1:${port}`,
    certificatePem: pem,
    seen,
    connections: () => accepted,
    open: () => sockets.size,
    onUpgrade: (listener) => server.on("upgrade", listener),
    onSecure: (listener) => server.on("secureConnection", listener),
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

async function receive(request: IncomingMessage): Promise<Seen> {
  let body = "";
  for await (const chunk of request) body += String(chunk);
  const url = new URL(request.url ?? "/", "https://127.0.0.1");
  return { method: request.method ?? "", url, headers: request.headers, body };
}

function answer(reply: Reply | "reset" | "silent", response: ServerResponse): void {
  if (reply === "silent") return;
  if (reply === "reset") {
    response.socket?.destroy();
    return;
  }
  const text = typeof reply.body === "string" ? reply.body : JSON.stringify(reply.body ?? {});
  response.writeHead(reply.status ?? 200, { "Content-Type": "application/json", ...reply.headers });
  response.end(text);
}

/** A Kubernetes Status, as the API server answers a refusal. */
export function status(code: number, reason: string, message: string): Reply {
  return { status: code, body: { kind: "Status", apiVersion: "v1", status: "Failure", message, reason, code } };
}

export interface KubeconfigParts {
  readonly server: string;
  readonly certificatePem?: string;
  readonly cluster?: Readonly<Record<string, unknown>>;
  readonly user?: Readonly<Record<string, unknown>>;
}

/** Writes a kubeconfig with one context, `test`, and gives its path. JSON is YAML. */
export function writeKubeconfig({ server, certificatePem, cluster, user }: KubeconfigParts): string {
  const ca = certificatePem === undefined ? {} : { "certificate-authority-data": base64(certificatePem) };
  return writeFile(
    "config",
    JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      "current-context": "test",
      clusters: [{ name: "c", cluster: { server, ...ca, ...cluster } }],
      users: [{ name: "u", user: user ?? { token: "sekret-token-of-the-test" } }],
      contexts: [{ name: "test", context: { cluster: "c", user: "u" } }],
    }),
  );
}

/** Writes a file into a fresh folder under the system's temporary one. */
export function writeFile(name: string, content: string): string {
  const file = path.join(mkdtempSync(path.join(tmpdir(), "fleetmend-test-")), name);
  writeFileSync(file, content, { mode: 0o700 });
  return file;
}

export function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}

/** For `expect.poll`: a busy machine takes its time to close a connection. */
export const soon = { timeout: 10_000 };
