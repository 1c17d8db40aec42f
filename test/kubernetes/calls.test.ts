import net, { type AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { connect, type Connection, type ConnectOptions } from "../../src/kubernetes/connect.ts";
import { soon, startServer, status, writeKubeconfig, type Behaviour, type TestServer } from "./wire.ts";

const open: { server: TestServer; connection: Connection }[] = [];

async function connected(behaviour: Behaviour, options: ConnectOptions = {}) {
  const server = await startServer(behaviour);
  const pauses: number[] = [];
  const sleep = (milliseconds: number): Promise<void> => {
    pauses.push(milliseconds);
    return Promise.resolve();
  };
  const result = await connect({ kubeconfig: writeKubeconfig({ ...server, server: server.url }), sleep, ...options });
  if (!result.ok) throw new Error(result.error.message);
  open.push({ server, connection: result.value });
  return { server, pauses, connection: result.value, cluster: result.value.cluster };
}

/** Answers the requests in turn, and the last one for ever. */
function inTurn(...replies: ReturnType<Behaviour>[]): Behaviour {
  let next = 0;
  return () => replies[Math.min(next++, replies.length - 1)] ?? "reset";
}

afterEach(async () => {
  for (const { server, connection } of open.splice(0)) {
    connection.close();
    await server.stop();
  }
});

describe("get", () => {
  it("gives the parsed object and sends the token and the media type", async () => {
    const { server, cluster } = await connected(() => ({ body: { kind: "Service", spec: { port: 443 } } }));
    expect(await cluster.get("/api/v1/namespaces/kai/services/binder")).toEqual({
      ok: true,
      value: { kind: "Service", spec: { port: 443 } },
    });
    expect(server.seen.map(({ method, url, headers }) => [method, url.pathname, headers.accept])).toEqual([
      ["GET", "/api/v1/namespaces/kai/services/binder", "application/json"],
    ]);
    expect(server.seen[0]?.headers.authorization).toBe("Bearer sekret-token-of-the-test");
    expect(server.seen[0]?.headers["user-agent"]).toBe("fleetmend");
  });

  it("keeps a path of the server's own, as Rancher has one", async () => {
    const server = await startServer(() => ({ body: {} }));
    const kubeconfig = writeKubeconfig({ ...server, server: `${server.url}/k8s/clusters/c-1/` });
    const result = await connect({ kubeconfig });
    if (!result.ok) throw new Error(result.error.message);
    open.push({ server, connection: result.value });
    await result.value.cluster.get("/version");
    expect(server.seen.map(({ url }) => url.pathname)).toEqual(["/k8s/clusters/c-1/version"]);
  });

  it.each([
    [401, "Unauthorized", "unauthorized"],
    [403, "Forbidden", "forbidden"],
    [404, "NotFound", "not-found"],
    [409, "Conflict", "conflict"],
    [400, "BadRequest", "invalid"],
    [405, "MethodNotAllowed", "invalid"],
    [415, "UnsupportedMediaType", "invalid"],
    [422, "Invalid", "invalid"],
  ])("answers HTTP %i %s with the kind %s, at the first attempt", async (code, reason, kind) => {
    const { cluster } = await connected(() => status(code, reason, "the server's own text"));
    expect(await cluster.get("/x")).toEqual({
      ok: false,
      error: { kind, status: code, reason, message: "the server's own text" },
    });
    expect(cluster.requestCount()).toBe(1);
  });

  it.each<[string, ReturnType<Behaviour>]>([
    ["429", status(429, "TooManyRequests", "slow down")],
    ["500", status(500, "InternalError", "etcdserver: leader changed")],
    ["503 without a Status", { status: 503, headers: { "Content-Type": "text/html" }, body: "<h1>503</h1>" }],
    ["a reset", "reset"],
    ["silence", "silent"],
  ])("tries again after %s and gives the answer", async (_name, fault) => {
    // Long enough for the second attempt on a busy machine.
    const options = fault === "silent" ? { requestTimeoutMs: 1500 } : {};
    const { cluster, pauses } = await connected(inTurn(fault, { body: { ok: 1 } }), options);
    expect(await cluster.get("/x")).toEqual({ ok: true, value: { ok: 1 } });
    expect(cluster.requestCount()).toBe(2);
    expect(pauses).toEqual([250]);
  });

  it("gives up after three attempts", async () => {
    const { cluster, pauses } = await connected(() => status(500, "InternalError", "still broken"));
    expect(await cluster.get("/x")).toMatchObject({ ok: false, error: { kind: "server-error", status: 500 } });
    expect(cluster.requestCount()).toBe(3);
    expect(pauses).toEqual([250, 1000]);
  });

  it("waits as long as Retry-After says", async () => {
    const busy = { ...status(429, "TooManyRequests", "busy"), headers: { "Retry-After": "7" } };
    const { cluster, pauses } = await connected(inTurn(busy, { body: {} }));
    expect(await cluster.get("/x")).toEqual({ ok: true, value: {} });
    expect(pauses).toEqual([7000]);
  });

  it("hands a longer Retry-After to the caller instead of waiting", async () => {
    const busy = { ...status(429, "TooManyRequests", "busy"), headers: { "Retry-After": "60" } };
    const { cluster, pauses } = await connected(() => busy);
    expect(await cluster.get("/x")).toMatchObject({ ok: false, error: { kind: "throttled", retryAfterSeconds: 60 } });
    expect(pauses).toEqual([]);
  });

  it("says that it timed out, after three attempts", async () => {
    const { cluster, server } = await connected(() => "silent", { requestTimeoutMs: 100 });
    const result = await cluster.get("/x");
    const host = new URL(server.url).host;
    expect(result).toEqual({ ok: false, error: { kind: "timeout", message: `no answer from ${host} within 0.1 s` } });
    expect(cluster.requestCount()).toBe(3);
  });

  it("takes an answer that is not JSON for something else than an API server", async () => {
    const { cluster } = await connected(() => ({ headers: { "Content-Type": "text/html" }, body: "<html>Sign in" }));
    expect(await cluster.get("/version")).toEqual({
      ok: false,
      error: {
        kind: "unreachable",
        status: 200,
        message: "HTTP 200 with something that is not JSON: is this the URL of an API server?",
      },
    });
  });

  it("does not follow a redirect", async () => {
    const { cluster, server } = await connected(() => ({ status: 302, headers: { Location: "https://127.0.0.1:1/" } }));
    expect(await cluster.get("/x")).toMatchObject({ ok: false, error: { kind: "unreachable", status: 302 } });
    expect(server.seen.length).toBe(1);
  });
});

describe("list", () => {
  const page = (names: readonly string[], token?: string) => ({
    body: { kind: "PodList", metadata: token === undefined ? {} : { continue: token }, items: names.map(podOf) },
  });
  const podOf = (name: string) => ({ metadata: { name } });

  it("asks for pages and gives all items", async () => {
    const { cluster, server } = await connected(inTurn(page(["a", "b"], "t1"), page(["c"])));
    const result = await cluster.list("/api/v1/pods", { labelSelector: "app=binder", fieldSelector: "x=y" });
    expect(result).toEqual({ ok: true, value: [podOf("a"), podOf("b"), podOf("c")] });
    expect(server.seen.map(({ url }) => url.search)).toEqual([
      "?limit=250&labelSelector=app%3Dbinder&fieldSelector=x%3Dy",
      "?limit=250&labelSelector=app%3Dbinder&fieldSelector=x%3Dy&continue=t1",
    ]);
  });

  it("starts afresh once where the continue token has expired, and mixes no pages", async () => {
    const expired = status(410, "Expired", "The provided continue parameter is too old");
    const { cluster } = await connected(inTurn(page(["old"], "t1"), expired, page(["new"], "t2"), page(["newer"])));
    expect(await cluster.list("/api/v1/pods")).toEqual({ ok: true, value: [podOf("new"), podOf("newer")] });
  });

  it("fails where it expires a second time", async () => {
    const expired = status(410, "Expired", "The provided continue parameter is too old");
    const { cluster } = await connected(inTurn(page(["a"], "t1"), expired, page(["a"], "t2"), expired));
    expect(await cluster.list("/api/v1/pods")).toMatchObject({ ok: false, error: { status: 410, reason: "Expired" } });
    expect(cluster.requestCount()).toBe(4);
  });

  it("tries a page again where it failed, not the whole list", async () => {
    const { cluster } = await connected(inTurn(page(["a"], "t1"), "reset", page(["b"])));
    expect(await cluster.list("/api/v1/pods")).toEqual({ ok: true, value: [podOf("a"), podOf("b")] });
    expect(cluster.requestCount()).toBe(3);
  });

  it("reads null items as none", async () => {
    const { cluster } = await connected(() => ({ body: { kind: "PodList", items: null } }));
    expect(await cluster.list("/api/v1/pods")).toEqual({ ok: true, value: [] });
  });

  it("does not take an object for a list", async () => {
    const { cluster } = await connected(() => ({ body: { kind: "Pod", metadata: {} } }));
    expect(await cluster.list("/api/v1/pods")).toMatchObject({ ok: false, error: { kind: "unreachable" } });
  });
});

describe("writes", () => {
  it("create a dry run as fleetmend", async () => {
    const { cluster, server } = await connected(() => ({ status: 201, body: { kind: "Pod" } }));
    await cluster.create("/api/v1/namespaces/p/pods", { kind: "Pod" }, { dryRun: true });
    const [seen] = server.seen;
    expect([seen?.method, seen?.url.search, seen?.headers["content-type"], seen?.body]).toEqual([
      "POST",
      "?fieldManager=fleetmend&dryRun=All",
      "application/json",
      '{"kind":"Pod"}',
    ]);
  });

  it("create for real where no dry run is asked for", async () => {
    const { cluster, server } = await connected(() => ({ status: 201, body: { kind: "Lease" } }));
    await cluster.create("/apis/coordination.k8s.io/v1/namespaces/k/leases", { kind: "Lease" });
    expect(server.seen[0]?.url.search).toBe("?fieldManager=fleetmend");
  });

  it("replace with PUT", async () => {
    const { cluster, server } = await connected(() => ({ body: { kind: "Lease" } }));
    await cluster.replace("/apis/coordination.k8s.io/v1/namespaces/k/leases/fleetmend", { kind: "Lease" });
    expect([server.seen[0]?.method, server.seen[0]?.url.search]).toEqual(["PUT", "?fieldManager=fleetmend"]);
  });

  it("patch with a JSON Patch", async () => {
    const { cluster, server } = await connected(() => ({ body: {} }));
    await cluster.patch("/x", [{ op: "test", path: "/webhooks/0/name", value: "a" }]);
    const [seen] = server.seen;
    expect([seen?.method, seen?.url.search, seen?.headers["content-type"], seen?.body]).toEqual([
      "PATCH",
      "?fieldManager=fleetmend",
      "application/json-patch+json",
      '[{"op":"test","path":"/webhooks/0/name","value":"a"}]',
    ]);
  });

  it.each<[string, ReturnType<Behaviour>, string]>([
    ["429", status(429, "TooManyRequests", "busy"), "throttled"],
    ["500", status(500, "InternalError", "failed calling webhook"), "server-error"],
    ["a reset", "reset", "unreachable"],
    ["silence", "silent", "timeout"],
  ])("are sent once, whatever happens: %s", async (_name, fault, kind) => {
    const { cluster, pauses } = await connected(() => fault, fault === "silent" ? { requestTimeoutMs: 100 } : {});
    for (const write of [
      cluster.create("/x", {}),
      cluster.create("/x", {}, { dryRun: true }),
      cluster.replace("/x", {}),
      cluster.patch("/x", []),
    ]) {
      expect(await write).toMatchObject({ ok: false, error: { kind } });
    }
    expect(cluster.requestCount()).toBe(4);
    expect(pauses).toEqual([]);
  });
});

describe("the connection", () => {
  it("is kept between requests and closed at the end", async () => {
    const { cluster, server, connection } = await connected(() => ({ body: {} }));
    for (let request = 0; request < 5; request += 1) await cluster.get("/x");
    expect(server.connections()).toBe(1);
    expect(server.open()).toBe(1);
    connection.close();
    await expect.poll(() => server.open(), soon).toBe(0);
  });

  it("that nobody accepts is tried three times and named", async () => {
    const { cluster, server } = await connected(() => ({ body: {} }));
    await server.stop();
    const { host } = new URL(server.url);
    expect(await cluster.get("/x")).toEqual({
      ok: false,
      error: {
        kind: "unreachable",
        cause: "connect",
        message: `${host} could not be reached: connect ECONNREFUSED ${host}`,
      },
    });
    expect(cluster.requestCount()).toBe(3);
  });

  it("to a server of another CA is refused at the first attempt", async () => {
    const server = await startServer(() => ({ body: {} }));
    const result = await connect({ kubeconfig: writeKubeconfig({ server: server.url }) });
    if (!result.ok) throw new Error(result.error.message);
    open.push({ server, connection: result.value });
    const answer = await result.value.cluster.get("/x");
    expect(answer).toMatchObject({ ok: false, error: { kind: "unreachable", cause: "tls" } });
    expect(answer.ok ? "" : answer.error.message).toContain("self-signed certificate");
    expect(result.value.cluster.requestCount()).toBe(1);
    expect(server.seen).toEqual([]);
  });

  it("to a name that nobody knows is told from one that nobody answers", async () => {
    // RFC 6761 §6.4: "invalid" has no addresses.
    const result = await connect({ kubeconfig: writeKubeconfig({ server: "https://kai.invalid" }), environment: {} });
    if (!result.ok) throw new Error(result.error.message);
    expect(await result.value.cluster.get("/x")).toMatchObject({
      ok: false,
      error: { kind: "unreachable", cause: "dns" },
    });
  });

  it("that is silent after the TCP handshake is told as TLS", async () => {
    const silent = net.createServer((socket) => socket.resume().on("error", () => undefined));
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const { port } = silent.address() as AddressInfo;
    const kubeconfig = writeKubeconfig({ server: `https://127.0.0.1:${port}` });
    const result = await connect({ kubeconfig, requestTimeoutMs: 100 });
    if (!result.ok) throw new Error(result.error.message);
    expect(await result.value.cluster.create("/x", {})).toMatchObject({ error: { kind: "timeout", cause: "tls" } });
    silent.close();
  });
});
