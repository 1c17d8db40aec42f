import { readFileSync } from "node:fs";
import path from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { connectServer, type ServerConnectOptions } from "../../src/kubernetes/connect-server.ts";
import { failure, success } from "../../src/result.ts";
import { mintCertificate } from "../../src/trust/mint.ts";
import { soon, startServer, status, type Behaviour } from "./wire.ts";

const stops: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

async function served(behaviour: Behaviour = () => ({ body: {} })) {
  const server = await startServer(behaviour, { requestCert: true, rejectUnauthorized: false });
  stops.push(server.stop);
  return server;
}

async function connected(options: ServerConnectOptions) {
  const made = await connectServer({ environment: {}, ...options });
  if (!made.ok) throw new Error(made.error.message);
  stops.push(() => {
    made.value.close();
  });
  return made.value;
}

const token = (text: string) => () => Promise.resolve(success(text));

describe("connectServer", () => {
  it("sends the token that is valid at each request, over one connection", async () => {
    const server = await served();
    const tokens = ["sekret-token-1", "sekret-token-2"];
    const login = { token: () => Promise.resolve(success(tokens.shift() ?? "")) };
    const { api, ...connection } = await connected({ server: `${server.url}/`, caPem: server.certificatePem, login });
    expect(server.connections()).toBe(0);
    await api.get("/version");
    await api.get("/version");
    expect(server.seen.map(({ headers }) => headers.authorization)).toEqual([
      "Bearer sekret-token-1",
      "Bearer sekret-token-2",
    ]);
    expect([server.connections(), api.requestCount(), api.server]).toEqual([1, 2, server.url]);
    connection.close();
    await expect.poll(() => server.open(), soon).toBe(0);
  });

  it("accepts no server of another CA than the one that was told", async () => {
    const server = await served();
    const [notBefore, notAfter] = [new Date("2020-01-01T00:00:00Z"), new Date("2099-01-01T00:00:00Z")];
    const other = await mintCertificate({ subject: "another CA", ca: true, notBefore, notAfter });
    const { api } = await connected({
      server: server.url,
      caPem: other.pem,
      login: { token: token("sekret-token-1") },
    });
    expect(await api.get("/version")).toMatchObject({ ok: false, error: { kind: "unreachable", cause: "tls" } });
    expect(server.seen).toEqual([]);
  });

  it("is unauthorized where no token can be obtained, and sends nothing", async () => {
    const server = await served();
    const login = {
      token: () =>
        Promise.resolve(failure({ kind: "credentials" as const, message: "No token.", todo: "az login   # sign in" })),
    };
    const { api } = await connected({ server: server.url, caPem: server.certificatePem, login });
    expect(await api.get("/version")).toEqual({
      ok: false,
      error: { kind: "unauthorized", message: "No token. az login   # sign in" },
    });
    expect(server.connections()).toBe(0);
  });

  it("blots the token out of what the server says", async () => {
    const server = await served(({ headers }) => status(401, "Unauthorized", `not ${headers.authorization ?? ""}`));
    const login = { token: token("sekret-token-1") };
    const { api } = await connected({ server: server.url, caPem: server.certificatePem, login });
    expect(await api.get("/version")).toMatchObject({ error: { message: "not Bearer [removed]" } });
  });

  it("shows a client certificate instead, where it has one", async () => {
    const server = await served();
    const shown: unknown[] = [];
    server.onSecure((socket) => shown.push(socket.getPeerCertificate().subject.CN));
    const [notBefore, notAfter] = [new Date("2020-01-01T00:00:00Z"), new Date("2099-01-01T00:00:00Z")];
    const { pem, keyPem } = await mintCertificate({ subject: "clusterUser", notBefore, notAfter });
    const login = { certificatePem: pem, keyPem };
    const { api } = await connected({ server: server.url, caPem: server.certificatePem, login });
    expect((await api.get("/version")).ok).toBe(true);
    expect(shown).toEqual(["clusterUser"]);
    expect(server.seen[0]?.headers.authorization).toBeUndefined();
  });

  it.each([
    ["an address that is no URL", { server: "kai.example" }, "The API server's address is not an https URL."],
    ["plain http", { server: "http://kai.example" }, "The API server's address is not an https URL."],
    ["a CA that is not PEM", { caPem: "MIIB" }, "The CA or the client certificate for kai.example is not PEM."],
    ["a proxy that is no URL", { environment: { HTTPS_PROXY: "::" } }, "The proxy in HTTPS_PROXY is not a URL."],
  ])("refuses %s before it sends", async (_name, wrong, message) => {
    const server = await served();
    const options = { server: "https://kai.example", caPem: server.certificatePem, login: { token: token("x") } };
    expect(await connectServer({ environment: {}, ...options, ...wrong })).toMatchObject({ error: { message } });
  });

  it("loads no client-node, which takes half a second and 80 MB", () => {
    const folder = path.join(import.meta.dirname, "../../src");
    const seen = new Set<string>();
    const follow = (file: string): void => {
      if (seen.has(file)) return;
      seen.add(file);
      const text = readFileSync(file, "utf8");
      for (const [, kind, specifier = ""] of text.matchAll(/^(import|export)\b(?! type)[^;]*?from "([^"]+)"/gm)) {
        expect([kind, specifier]).not.toContain("@kubernetes/client-node");
        if (specifier.startsWith(".")) follow(path.join(path.dirname(file), specifier));
      }
    };
    follow(path.join(folder, "kubernetes/connect-server.ts"));
    expect(seen.size).toBeGreaterThan(8);
  });
});
