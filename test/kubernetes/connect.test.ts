import { readFileSync } from "node:fs";
import http from "node:http";
import net from "node:net";
import type { TLSSocket } from "node:tls";
import { afterEach, describe, expect, it } from "vitest";
import { connect, type ConnectOptions } from "../../src/kubernetes/connect.ts";
import { mintCertificate } from "../../src/trust/mint.ts";
import { base64, listen, soon, startServer, status, writeFile, writeKubeconfig, type Behaviour } from "./wire.ts";

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

async function serve(behaviour: Behaviour = () => ({ body: {} }), options = {}) {
  const server = await startServer(behaviour, options);
  stops.push(() => server.stop());
  return server;
}

async function connection(options: ConnectOptions) {
  const result = await connect({ environment: {}, ...options });
  if (!result.ok) throw new Error(result.error.message);
  stops.push(() => {
    result.value.close();
  });
  return result.value;
}

async function failureOf(options: ConnectOptions) {
  const result = await connect({ environment: {}, ...options });
  if (result.ok) throw new Error("connected");
  return result.error;
}

/** A program that stands for a credential plugin: it runs this line of JavaScript. */
const plugin = (script: string) => ({
  exec: { apiVersion: "client.authentication.k8s.io/v1", command: process.execPath, args: ["-e", script] },
});

const credential = (status: object) =>
  `console.log(${JSON.stringify(JSON.stringify({ apiVersion: "client.authentication.k8s.io/v1", kind: "ExecCredential", status }))})`;

describe("connect: the kubeconfig", () => {
  it("names the context and the server", async () => {
    const server = await serve();
    const { context, cluster } = await connection({ kubeconfig: writeKubeconfig({ server: server.url }) });
    expect([context, cluster.server, cluster.requestCount()]).toEqual(["test", server.url, 0]);
  });

  it("takes another context than the current one", async () => {
    const file = twoContexts();
    expect((await connection({ kubeconfig: file })).cluster.server).toBe("https://one.example");
    const { context, cluster } = await connection({ kubeconfig: file, context: "two" });
    expect([context, cluster.server]).toEqual(["two", "https://two.example"]);
  });

  it("merges the files of KUBECONFIG as kubectl does: first wins, missing ones are skipped", async () => {
    const first = twoContexts("https://first.example");
    const second = twoContexts("https://second.example", "two");
    const environment = { KUBECONFIG: ["/nowhere/config", first, second].join(":") };
    const { context, cluster } = await connection({ environment });
    expect([context, cluster.server]).toEqual(["one", "https://first.example"]);
  });

  it("says which file is missing and how to get one", async () => {
    expect(await failureOf({ kubeconfig: "/nowhere/config" })).toEqual({
      kind: "kubeconfig-missing",
      message: "There is no kubeconfig at /nowhere/config.",
      todo: "az aks get-credentials --resource-group GROUP --name CLUSTER   # or name a file: --kubeconfig FILE",
    });
    expect((await failureOf({ environment: { KUBECONFIG: "/a:/b" } })).message).toBe(
      "There is no kubeconfig at /a and /b.",
    );
  });

  it("says which contexts there are where the named one is missing", async () => {
    expect(await failureOf({ kubeconfig: twoContexts(), context: "three" })).toEqual({
      kind: "context-missing",
      message: 'The kubeconfig has no context "three".',
      todo: "kubectl config get-contexts   # then: --context NAME (one, two)",
    });
  });

  it.each([
    ["has no current context", { contexts: [] }, "context-missing", "The kubeconfig has no current context."],
    [
      "has a context of a cluster that is not there",
      { "current-context": "a", contexts: [{ name: "a", context: { cluster: "c", user: "u" } }] },
      "context-incomplete",
      'The context "a" names the cluster "c", which the kubeconfig does not have.',
    ],
    [
      "has a context of a user that is not there",
      {
        "current-context": "a",
        contexts: [{ name: "a", context: { cluster: "c", user: "u" } }],
        clusters: [{ name: "c", cluster: { server: "https://x.example" } }],
      },
      "context-incomplete",
      'The context "a" names the user "u", which the kubeconfig does not have.',
    ],
  ])("says where it %s", async (_what, content, kind, message) => {
    const error = await failureOf({ kubeconfig: writeFile("config", JSON.stringify(content)) });
    expect([error.kind, error.message]).toEqual([kind, message]);
  });

  it("says the line where it is not YAML, and quotes nothing of it", async () => {
    const file = writeFile("config", "users:\n- name: u\n  user: {token: sekret-token\nclusters: [\n");
    const error = await failureOf({ kubeconfig: file });
    expect(error).toEqual({
      kind: "kubeconfig-unreadable",
      message: `${file} cannot be read as a kubeconfig (YAML, line 4).`,
      todo: `kubectl config view --kubeconfig ${file}   # kubectl says what it does not understand`,
    });
  });

  it.each(["", "just a text", "- 1\n- 2\n"])("says where it is something else: %j", async (content) => {
    const file = writeFile("config", content);
    expect(["kubeconfig-unreadable", "context-missing"]).toContain((await failureOf({ kubeconfig: file })).kind);
  });

  it.each(["http://10.0.0.1:8080", "not a url"])("refuses the server %s", async (server) => {
    expect((await failureOf({ kubeconfig: writeKubeconfig({ server }) })).kind).toBe("server-unusable");
  });
});

describe("connect: credentials", () => {
  it("sends a client certificate", async () => {
    const client = await mintCertificate({
      subject: "jane",
      notBefore: new Date("2020-01-01T00:00:00Z"),
      notAfter: new Date("2099-01-01T00:00:00Z"),
    });
    const subjects: unknown[] = [];
    const server = await startServer(() => ({ body: {} }), { requestCert: true, rejectUnauthorized: false });
    stops.push(() => server.stop());
    const user = {
      "client-certificate-data": base64(client.pem),
      "client-key-data": base64(client.keyPem),
    };
    server.onSecure((socket: TLSSocket) => subjects.push(socket.getPeerX509Certificate()?.subject));
    const { cluster } = await connection({ kubeconfig: writeKubeconfig({ ...server, server: server.url, user }) });
    expect((await cluster.get("/x")).ok).toBe(true);
    expect(subjects).toEqual(["CN=jane"]);
  });

  it("sends a user name and a password", async () => {
    const server = await serve();
    const user = { username: "jane", password: "sekret" };
    const { cluster } = await connection({ kubeconfig: writeKubeconfig({ ...server, server: server.url, user }) });
    await cluster.get("/x");
    expect(server.seen[0]?.headers.authorization).toBe(`Basic ${base64("jane:sekret")}`);
  });

  it("runs a plugin once and sends its token with every request", async () => {
    const server = await serve();
    const runs = writeFile("runs", "");
    const count = `require("fs").appendFileSync(${JSON.stringify(runs)}, "x");`;
    const user = plugin(count + credential({ token: "sekret-of-the-plugin" }));
    const { cluster } = await connection({ kubeconfig: writeKubeconfig({ ...server, server: server.url, user }) });
    await Promise.all([cluster.get("/x"), cluster.get("/y"), cluster.get("/z")]);
    expect(server.seen.map(({ headers }) => headers.authorization)).toEqual(
      Array.from({ length: 3 }, () => "Bearer sekret-of-the-plugin"),
    );
    expect(readFileSync(runs, "utf8")).toBe("x");
  });

  it("runs the plugin again where its token has expired, once for requests that start together", async () => {
    const server = await serve();
    const runs = writeFile("runs", "");
    const count = `require("fs").appendFileSync(${JSON.stringify(runs)}, "x");`;
    const user = plugin(count + credential({ token: "short-lived", expirationTimestamp: "2020-01-01T00:00:00Z" }));
    const { cluster } = await connection({ kubeconfig: writeKubeconfig({ ...server, server: server.url, user }) });
    await Promise.all([cluster.get("/x"), cluster.get("/y"), cluster.get("/z")]);
    expect(server.seen.map(({ headers }) => headers.authorization)).toEqual(
      Array.from({ length: 3 }, () => "Bearer short-lived"),
    );
    expect(readFileSync(runs, "utf8")).toBe("xx");
  });

  it("says which plugin is not installed", async () => {
    const user = { exec: { apiVersion: "client.authentication.k8s.io/v1", command: "kubelogin-not-there" } };
    expect(await failureOf({ kubeconfig: writeKubeconfig({ server: "https://x.example", user }) })).toEqual({
      kind: "credentials",
      message: 'The credential plugin "kubelogin-not-there" of the user "u" could not be started (ENOENT).',
      todo: "kubelogin-not-there --version   # install it or put it on PATH; for Azure: az aks install-cli",
    });
  });

  it.each([
    ["fails", 'console.error("sekret on stderr"); process.exit(1)'],
    ["prints something else than JSON", 'console.log("sekret on stdout")'],
  ])("says that a plugin failed where it %s, and nothing that it printed", async (_what, script) => {
    const error = await failureOf({
      kubeconfig: writeKubeconfig({ server: "https://x.example", user: plugin(script) }),
    });
    expect(error).toEqual({
      kind: "credentials",
      message: `The credential plugin "${process.execPath}" of the user "u" failed.`,
      todo: "kubectl --context test get --raw /version   # it shows what the plugin says, and lets you sign in",
    });
  });

  it("says which file cannot be read", async () => {
    const user = { "client-certificate": "/nowhere/jane.crt", "client-key": "/nowhere/jane.key" };
    const error = await failureOf({ kubeconfig: writeKubeconfig({ server: "https://x.example", user }) });
    expect(error.message).toBe(
      'The credentials of the user "u" name a file that cannot be read: /nowhere/jane.crt (ENOENT).',
    );
  });

  it("says where a key is not PEM", async () => {
    const user = { "client-certificate-data": base64("sekret"), "client-key-data": base64("sekret") };
    const error = await failureOf({ kubeconfig: writeKubeconfig({ server: "https://x.example", user }) });
    expect(error.kind).toBe("credentials");
    expect(JSON.stringify(error)).not.toContain("sekret");
  });
});

describe("connect: a proxy", () => {
  async function startProxy(answerTo: (path: string) => boolean = () => true) {
    const asked: unknown[] = [];
    const sockets = new Set<net.Socket>();
    const proxy = http.createServer();
    proxy.on("connect", (request, socket: net.Socket) => {
      asked.push([request.url, request.headers["proxy-authorization"]]);
      sockets.add(socket);
      socket.on("error", () => undefined);
      if (!answerTo(request.url ?? "")) {
        socket.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
        return;
      }
      const { hostname, port } = new URL(`http://${request.url ?? ""}`);
      const onward = net.connect(Number(port), hostname, () => {
        socket.write("HTTP/1.1 200 OK\r\n\r\n");
        socket.pipe(onward).pipe(socket);
      });
      onward.on("error", () => socket.destroy());
    });
    const port = await listen(proxy);
    stops.push(() => {
      for (const socket of sockets) socket.destroy();
      proxy.close();
    });
    return { url: `http://jane:sekret-of-the-proxy@127.0.0.1:${port}`, asked };
  }

  it("of the cluster's proxy-url carries all requests over one connection", async () => {
    const server = await serve();
    const proxy = await startProxy();
    const cluster = { "proxy-url": proxy.url };
    const made = await connection({ kubeconfig: writeKubeconfig({ ...server, server: server.url, cluster }) });
    for (let request = 0; request < 3; request += 1) expect((await made.cluster.get("/x")).ok).toBe(true);
    expect(proxy.asked).toEqual([[new URL(server.url).host, `Basic ${base64("jane:sekret-of-the-proxy")}`]]);
    made.close();
    await expect.poll(() => server.open(), soon).toBe(0);
  });

  it("carries a port-forward, too", async () => {
    const server = await serve();
    server.onUpgrade((_request, socket) => socket.end("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"));
    const proxy = await startProxy();
    const cluster = { "proxy-url": proxy.url };
    const made = await connection({ kubeconfig: writeKubeconfig({ ...server, server: server.url, cluster }) });
    const target = { namespace: "kai", pod: "binder-1", port: 9443, serverName: "binder.kai.svc" };
    expect(await made.cluster.handshake(target)).toMatchObject({ ok: false, error: { kind: "not-found" } });
    expect(proxy.asked.length).toBe(1);
  });

  it("of the environment is used where the cluster names none", async () => {
    const proxy = await startProxy(() => false);
    const kubeconfig = writeKubeconfig({ server: "https://kai.invalid" });
    const made = await connection({ kubeconfig, environment: { HTTPS_PROXY: proxy.url } });
    const answer = await made.cluster.get("/x");
    expect(answer).toEqual({
      ok: false,
      error: {
        kind: "unreachable",
        cause: "connect",
        message: "kai.invalid could not be reached: Bad response: 407",
      },
    });
    expect(proxy.asked.length).toBe(1);
  });

  it("that is silent does not hold a request longer than its deadline", async () => {
    const silent = net.createServer((socket) => socket.resume().on("error", () => undefined));
    const port = await listen(silent);
    stops.push(() => silent.close());
    const cluster = { "proxy-url": `http://127.0.0.1:${port}` };
    const made = await connection({
      kubeconfig: writeKubeconfig({ server: "https://kai.invalid", cluster }),
      requestTimeoutMs: 100,
    });
    expect(await made.cluster.create("/x", {})).toMatchObject({
      ok: false,
      error: { kind: "timeout", cause: "connect" },
    });
    await expect.poll(() => connectionsOf(silent), soon).toBe(0);
  });
});

describe("no secret is in a failure", () => {
  const sent = "c2VrcmV0IGtleSBpbiB0aGUgYm9keQ==";

  it.each(["create", "replace", "patch"] as const)("where the server quotes token and body of a %s", async (call) => {
    const server = await serve(({ headers, body }) =>
      status(422, "Invalid", `I was sent ${headers.authorization ?? ""} and ${body}`),
    );
    const { cluster } = await connection({ kubeconfig: writeKubeconfig({ ...server, server: server.url }) });
    const path = "/api/v1/namespaces/kai/secrets/binder-webhook-tls-secret";
    const result =
      call === "patch"
        ? await cluster.patch(path, [{ op: "replace", path: "/data/tls.key", value: sent }])
        : await cluster[call](path, { data: { "tls.key": sent } });
    expect(result.ok).toBe(false);
    const text = JSON.stringify(result);
    expect(text).toContain("I was sent Bearer [removed] and ");
    expect(text).not.toContain("sekret-token-of-the-test");
    expect(text).not.toContain(sent);
  });

  // As kube-apiserver 1.37.2 answers a patch that leaves an object that it cannot decode.
  const quoted = String.raw`" is invalid: patch: Invalid value: "{\"data\":{\"tls.key\":\"c3RvcmVk\"}}": illegal base64 data at input byte 0`;

  it.each([
    [
      "a Secret's stored values",
      "/api/v1/namespaces/kai/secrets/binder-webhook-tls-secret",
      '" is invalid: patch: Invalid value: [removed]',
    ],
    [
      "any other stored object",
      "/apis/apps/v1/namespaces/kai/deployments/binder",
      '" is invalid: patch: Invalid value: [removed]: illegal base64 data at input byte 0',
    ],
  ])("where the server quotes %s", async (_what, path, message) => {
    const server = await serve(() => status(422, "Invalid", quoted));
    const { cluster } = await connection({ kubeconfig: writeKubeconfig({ ...server, server: server.url }) });
    const result = await cluster.patch(path, [{ op: "replace", path: "/data/tls.crt", value: "!" }]);
    expect(result).toMatchObject({ ok: false, error: { kind: "invalid", message } });
  });

  it("and no cause is kept in it", async () => {
    const server = await serve(() => "reset");
    const { cluster } = await connection({ kubeconfig: writeKubeconfig({ ...server, server: server.url }) });
    const result = await cluster.patch("/x", []);
    expect(Object.keys(result.ok ? {} : result.error)).toEqual(["kind", "message"]);
  });
});

async function connectionsOf(server: net.Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.getConnections((error, count) => {
      if (error) reject(error);
      else resolve(count);
    });
  });
}

/** Contexts `one` (current) and `two`, each of its own cluster. */
function twoContexts(firstServer = "https://one.example", current = "one"): string {
  return writeFile(
    "config",
    JSON.stringify({
      "current-context": current,
      clusters: [
        { name: "one", cluster: { server: firstServer } },
        { name: "two", cluster: { server: "https://two.example" } },
      ],
      users: [{ name: "u", user: { token: "sekret" } }],
      contexts: ["one", "two"].map((name) => ({ name, context: { cluster: name, user: "u" } })),
    }),
  );
}
