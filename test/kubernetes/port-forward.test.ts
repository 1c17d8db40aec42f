import { createHash } from "node:crypto";
import net from "node:net";
import tls from "node:tls";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { connect } from "../../src/kubernetes/connect.ts";
import type { ClusterApi } from "../../src/admission/cluster-api.ts";
import { mintCertificate, mintKaiCertificate, type MintedCertificate, type MintOptions } from "../../src/trust/mint.ts";
import { forwardPorts, type KubeletOptions } from "./kubelet.ts";
import { listen, soon, startServer, writeKubeconfig, type Behaviour } from "./wire.ts";

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

const name = "binder.kai-scheduler.svc";
const target = { namespace: "kai-scheduler", pod: "binder-1", port: 8443, serverName: name };
const validity = { notBefore: new Date("2026-01-01T00:00:00Z"), notAfter: new Date("2036-01-01T00:00:00Z") };
const certificates = new Map<string, MintedCertificate>();

const certificate = (role: string): MintedCertificate => {
  const found = certificates.get(role);
  if (found === undefined) throw new Error(`no certificate ${role}`);
  return found;
};

beforeAll(async () => {
  const mint = async (role: string, options: Partial<MintOptions> & Pick<MintOptions, "subject">) =>
    certificates.set(role, await mintCertificate({ ...validity, ...options }));
  await mint("root", { subject: "root", ca: true });
  await mint("upper", { subject: "upper", ca: true, issuer: certificate("root") });
  await mint("lower", { subject: "lower", ca: true, issuer: certificate("upper") });
  await mint("leaf", { subject: name, dnsNames: [name], issuer: certificate("lower") });
  await mint("other", { subject: "other", ca: true });
  await mint("expired", { subject: name, dnsNames: [name], notAfter: new Date("2026-02-01T00:00:00Z") });
  certificates.set("kai", await mintKaiCertificate({ serverName: name, notBefore: validity.notBefore }));
  certificates.set("kai again", await mintKaiCertificate({ serverName: name, notBefore: validity.notBefore }));
});

/** A cluster whose pods are all forwarded to one local port. */
async function cluster(kubelet: KubeletOptions, options = {}): Promise<ClusterApi> {
  return clusterWith((server) => {
    server.onUpgrade(forwardPorts(kubelet));
  }, options);
}

async function clusterWith(
  prepare: (server: Awaited<ReturnType<typeof startServer>>) => void,
  options: object = {},
  behaviour: Behaviour = () => ({ status: 404 }),
): Promise<ClusterApi> {
  const server = await startServer(behaviour);
  prepare(server);
  const kubeconfig = writeKubeconfig({ ...server, server: server.url });
  const result = await connect({ kubeconfig, sleep: () => Promise.resolve(), ...options });
  if (!result.ok) throw new Error(result.error.message);
  stops.push(() => {
    result.value.close();
    return server.stop();
  });
  return result.value.cluster;
}

/** Serves the certificates of these roles, in this order, with the key of the first. */
async function serveTls(roles: readonly string[], options: tls.TlsOptions = {}): Promise<number> {
  const server = tls.createServer({
    cert: roles.map((role) => certificate(role).pem).join(""),
    key: certificate(roles[0] ?? "").keyPem,
    ...options,
  });
  server.on("tlsClientError", () => undefined);
  server.on("secureConnection", (socket) => socket.on("error", () => undefined));
  stops.push(() => server.close());
  return listen(server);
}

async function serveBytes(onConnection: (socket: net.Socket) => void): Promise<number> {
  const server = net.createServer((socket) => {
    socket.on("error", () => undefined);
    onConnection(socket);
  });
  stops.push(() => server.close());
  return listen(server);
}

function rolesOf(chain: readonly Uint8Array[]): readonly (string | undefined)[] {
  const roles = new Map([...certificates].map(([role, { der }]) => [hash(der), role]));
  return chain.map((der) => roles.get(hash(der)));
}

const hash = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

describe("handshake: the chain", () => {
  const chains: { readonly what: string; readonly served: readonly string[] }[] = [
    { what: "KAI's own, self-signed", served: ["kai"] },
    { what: "a leaf alone", served: ["leaf"] },
    { what: "a leaf and its CA", served: ["leaf", "lower"] },
    { what: "a chain of four", served: ["leaf", "lower", "upper", "root"] },
    { what: "a chain in the wrong order", served: ["leaf", "root", "upper", "lower"] },
    { what: "duplicates", served: ["leaf", "lower", "lower", "leaf"] },
    { what: "the leaf twice", served: ["leaf", "leaf"] },
    { what: "an unrelated one in between", served: ["leaf", "other", "lower"] },
    { what: "an unrelated one only", served: ["leaf", "other"] },
    { what: "two generations of the same name, as while widened", served: ["kai", "kai again"] },
    { what: "an expired leaf", served: ["expired"] },
  ];
  it.each(chains.flatMap((chain) => (["TLSv1.2", "TLSv1.3"] as const).map((version) => ({ ...chain, version }))))(
    "of $what comes as served, over $version",
    async ({ served, version }) => {
      const port = await serveTls(served, { minVersion: version, maxVersion: version });
      const api = await cluster({ behind: () => port });
      const result = await api.handshake(target);
      expect(result.ok && rolesOf(result.value.chain)).toEqual(served);
    },
  );

  it("comes where the tunnel cuts everything into single bytes", async () => {
    const port = await serveTls(["leaf", "lower"]);
    const api = await cluster({ behind: () => port, inPieces: true });
    const result = await api.handshake(target);
    expect(result.ok && rolesOf(result.value.chain)).toEqual(["leaf", "lower"]);
  });

  it("comes where OpenSSL finds the key and the hash too weak to trust", async () => {
    const rsa = { name: "RSASSA-PKCS1-v1_5", modulusLength: 1024, publicExponent: new Uint8Array([1, 0, 1]) };
    const keys = await crypto.subtle.generateKey({ ...rsa, hash: "SHA-256" }, true, ["sign", "verify"]);
    certificates.set("weak", await mintCertificate({ ...validity, subject: name, keys, hash: "SHA-1" }));
    const port = await serveTls(["weak"], { ciphers: "DEFAULT:@SECLEVEL=0" });
    const api = await cluster({ behind: () => port });
    const result = await api.handshake(target);
    expect(result.ok && rolesOf(result.value.chain)).toEqual(["weak"]);
  });

  it("is that of the pod that was asked for", async () => {
    const ports = new Map([
      ["binder-1", await serveTls(["kai"])],
      ["binder-2", await serveTls(["kai again"])],
    ]);
    const api = await cluster({ behind: (path) => ports.get(path.split("/")[6] ?? "") ?? 0 });
    const results = await Promise.all(["binder-1", "binder-2"].map((pod) => api.handshake({ ...target, pod })));
    expect(results.map((result) => result.ok && rolesOf(result.value.chain))).toEqual([["kai"], ["kai again"]]);
  });
});

describe("handshake: the wire", () => {
  it("asks for the pod's port in the path and offers kubelet's protocol", async () => {
    const port = await serveTls(["leaf"]);
    const asked: unknown[] = [];
    const api = await clusterWith((server) => {
      server.onUpgrade((request, socket, head) => {
        asked.push([request.url, request.headers["sec-websocket-protocol"], request.headers.authorization]);
        forwardPorts({ behind: () => port })(request, socket, head);
      });
    });
    await api.handshake(target);
    expect(asked).toEqual([
      [
        "/api/v1/namespaces/kai-scheduler/pods/binder-1/portforward?ports=8443",
        "v4.channel.k8s.io",
        "Bearer sekret-token-of-the-test",
      ],
    ]);
    expect(api.requestCount()).toBe(1);
  });

  it.each([
    ["the server name", name, name],
    ["no name for an IP address", "10.0.0.7", false],
  ])("sends %s as SNI, and ALPN http/1.1", async (_what, serverName, sni) => {
    const seen = Promise.withResolvers<unknown[]>();
    const port = await serveTls(["leaf"], { ALPNProtocols: ["h2", "http/1.1"] });
    const spy = tls.createServer(
      { cert: certificate("leaf").pem, key: certificate("leaf").keyPem, ALPNProtocols: ["h2", "http/1.1"] },
      (socket) => {
        seen.resolve([(socket as tls.TLSSocket & { servername?: unknown }).servername, socket.alpnProtocol]);
      },
    );
    stops.push(() => spy.close());
    const spyPort = await listen(spy);
    const api = await cluster({ behind: (path) => (path.includes("binder-1") ? spyPort : port) });
    await api.handshake({ ...target, serverName });
    expect(await seen.promise).toEqual([sni, "http/1.1"]);
  });

  it("leaves no connection to the pod or the API server open", async () => {
    const sockets = new Set<net.Socket>();
    const backend = await serveTls(["leaf"]);
    const relay = await serveBytes((socket) => {
      sockets.add(socket);
      socket.on("close", () => sockets.delete(socket));
      const onward = net.connect(backend, "127.0.0.1");
      onward.on("error", () => socket.destroy());
      socket.pipe(onward).pipe(socket);
    });
    let openToServer = (): number => -1;
    const api = await clusterWith((server) => {
      openToServer = server.open;
      server.onUpgrade(forwardPorts({ behind: () => relay }));
    });
    expect((await api.handshake(target)).ok).toBe(true);
    await expect.poll(() => sockets.size + openToServer(), soon).toBe(0);
  });
});

describe("handshake: no chain", () => {
  const failureFrom = async (api: ClusterApi) => {
    const result = await api.handshake(target);
    if (result.ok) throw new Error("a chain came");
    return result.error;
  };

  it("where nothing listens is refused, with the node's own text", async () => {
    const port = await serveBytes(() => undefined);
    await stops.pop()?.();
    const error = await failureFrom(await cluster({ behind: () => port }));
    expect(error).toEqual({
      kind: "refused",
      message:
        'error forwarding port 8443 to pod p, uid : failed to connect to localhost:8443 inside namespace "x": dial tcp4: connect: connection refused',
    });
  });

  // As containerd, CRI-O and kubelet write them.
  it.each([
    ['failed to find sandbox "1f" in store: not found', "not-found"],
    ["could not find pod sandbox: no such file or directory", "not-found"],
    ['sandbox container "1f" is not running', "not-found"],
    [
      "dial tcp4 127.0.0.1:8443: connect: connection refused IPv6 dial tcp6 [::1]:8443: connect: connection refused",
      "refused",
    ],
    ["dial tcp4 127.0.0.1:8443: i/o timeout", "timeout"],
    ["failed to open network namespace: permission denied", "unreachable"],
  ])("where the node says %s", async (refusal, kind) => {
    expect(await failureFrom(await cluster({ behind: () => 0, refusal }))).toEqual({
      kind,
      message: `error forwarding port 8443 to pod p, uid : ${refusal}`,
    });
  });

  it("where something else listens is not TLS", async () => {
    const http = (socket: net.Socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n");
    const port = await serveBytes((socket) => socket.once("data", () => http(socket)));
    const error = await failureFrom(await cluster({ behind: () => port }));
    expect(error).toEqual({ kind: "not-tls", message: "what listens on the port does not speak TLS" });
  });

  it("where a protocol greets first is not TLS either", async () => {
    const port = await serveBytes((socket) => socket.write("SSH-2.0-OpenSSH_9.9\r\n"));
    expect((await failureFrom(await cluster({ behind: () => port }))).kind).toBe("not-tls");
  });

  it("where the server ends TLS with an alert is a TLS failure", async () => {
    const port = await serveTls(["leaf"], { ALPNProtocols: ["h2"] });
    const error = await failureFrom(await cluster({ behind: () => port }));
    expect(error).toEqual({ kind: "tls", message: "tlsv1 alert no application protocol" });
  });

  it("where OpenSSL cannot parse a certificate is a TLS failure with its reason", async () => {
    const port = await serveBytes((socket) => socket.once("data", () => socket.write(helloWithCertificate("garbage"))));
    const error = await failureFrom(await cluster({ behind: () => port }));
    expect(error.kind).toBe("tls");
    expect(error.message).not.toBe("");
  });

  it("where the pod says nothing is a timeout", async () => {
    const port = await serveBytes(() => undefined);
    const api = await cluster({ behind: () => port }, { handshakeTimeoutMs: 200 });
    expect(await failureFrom(api)).toEqual({
      kind: "timeout",
      message: "no TLS handshake with binder-1:8443 within 0.2 s",
    });
    expect(api.requestCount()).toBe(1);
  });

  it("where the upgrade is not answered is a timeout", async () => {
    const api = await clusterWith(
      (server) => {
        server.onUpgrade(() => undefined);
      },
      { handshakeTimeoutMs: 200 },
    );
    expect((await failureFrom(api)).kind).toBe("timeout");
  });

  it("where the pod hangs up is unreachable, after three attempts", async () => {
    const port = await serveBytes((socket) => socket.once("data", () => socket.destroy()));
    const api = await cluster({ behind: () => port });
    expect((await failureFrom(api)).kind).toBe("unreachable");
    expect(api.requestCount()).toBe(3);
  });

  const refused = (line: string, message: string) => {
    const body = JSON.stringify({ kind: "Status", message });
    return `HTTP/1.1 ${line}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`;
  };

  it.each([
    ["403 Forbidden", "forbidden", 1],
    ["404 Not Found", "not-found", 1],
    ["400 Bad Request", "unreachable", 1],
    ["429 Too Many Requests", "unreachable", 3],
    ["500 Internal Server Error", "unreachable", 3],
  ])("where the upgrade is answered with %s is %s", async (line, kind, requests) => {
    const api = await clusterWith((server) => {
      server.onUpgrade((_request, socket) => socket.end(refused(line, "pods is what the server says")));
    });
    const error = await failureFrom(api);
    expect(error.kind).toBe(kind);
    expect(error.message).toMatch(/^pods is what the server says/);
    expect(api.requestCount()).toBe(requests);
  });

  it("says which rights are needed where the server's text ends before it does", async () => {
    const api = await clusterWith((server) => {
      server.onUpgrade((_request, socket) => socket.end(refused("403 Forbidden", 'pods "binder-1" is forbidden: ')));
    });
    expect((await failureFrom(api)).message).toBe(
      'pods "binder-1" is forbidden (get and create on pods/portforward in kai-scheduler are needed)',
    );
  });

  it("gets through where the API server was busy once", async () => {
    const port = await serveTls(["leaf"]);
    let busy = true;
    const api = await clusterWith((server) => {
      server.onUpgrade((request, socket, head) => {
        if (busy) socket.end(refused("429 Too Many Requests", "busy"));
        else forwardPorts({ behind: () => port })(request, socket, head);
        busy = false;
      });
    });
    expect((await api.handshake(target)).ok).toBe(true);
    expect(api.requestCount()).toBe(2);
  });
});

/** ServerHello and Certificate of TLS 1.2 (RFC 5246 §7.4), in the clear, with one certificate of these bytes. */
function helloWithCertificate(bytes: string): Buffer {
  const message = (type: number, body: Buffer) => Buffer.concat([Buffer.of(type), length(body.length, 3), body]);
  const length = (value: number, size: number) => {
    const field = Buffer.alloc(size);
    field.writeUIntBE(value, 0, size);
    return field;
  };
  // Version 1.2, a random, no session, ECDHE-RSA-AES128-GCM-SHA256, no compression, an empty renegotiation_info.
  const extensions = Buffer.from("ff01000100", "hex");
  const hello = Buffer.concat([
    Buffer.from("0303", "hex"),
    Buffer.alloc(32, 7),
    Buffer.from("00c02f00", "hex"),
    length(extensions.length, 2),
    extensions,
  ]);
  const der = Buffer.from(bytes);
  const list = Buffer.concat([length(der.length, 3), der]);
  const handshake = Buffer.concat([message(2, hello), message(11, Buffer.concat([length(list.length, 3), list]))]);
  return Buffer.concat([Buffer.from("160303", "hex"), length(handshake.length, 2), handshake]);
}
