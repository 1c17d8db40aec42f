// OSMO reached over the wire: through a tunnel as a kubelet speaks it, and over a URL; plain, and with TLS as 6.3 has it.
import { afterEach, describe, expect, it } from "vitest";
import { connect, type Connection } from "../../src/kubernetes/connect.ts";
import { osmoAtUrl } from "../../src/kubernetes/osmo-at-url.ts";
import { createOsmoDatabase } from "../../src/lab/osmo/osmo-tables.ts";
import { startWithDefaultAdmin } from "../../src/lab/osmo/default-admin.ts";
import { createOsmoApi as createLabOsmo } from "../../src/lab/osmo/osmo-api.ts";
import { startOsmoServer, type OsmoServer } from "../../src/lab/osmo/osmo-server.ts";
import type { OsmoRelease } from "../../src/lab/osmo/release.ts";
import { createOsmoApi } from "../../src/osmo/create-osmo-api.ts";
import type { OsmoTransport } from "../../src/osmo/osmo-transport.ts";
import { secretText } from "../../src/osmo/secret-text.ts";
import { forwardPorts, type KubeletOptions } from "./kubelet.ts";
import { startServer, writeKubeconfig } from "./wire.ts";

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

const password = "adminPassword0123456789adminPassword0123456";
const pod = { namespace: "osmo-control-plane", pod: "osmo-service-7d4b9c", port: 8000 };
const fingerprint = { method: "POST", path: "/api/auth/jwt/access_token", headers: {} } as const;

async function osmo(release: OsmoRelease, tls = false): Promise<OsmoServer> {
  const api = createLabOsmo({ release, database: await createOsmoDatabase(), now: () => new Date() });
  startWithDefaultAdmin(api, { username: "admin", password });
  const server = await startOsmoServer({ api, tls });
  stops.push(server.stop);
  return server;
}

async function connection(kubelet: KubeletOptions): Promise<Connection> {
  const server = await startServer(() => ({ status: 404 }));
  server.onUpgrade(forwardPorts(kubelet));
  const kubeconfig = writeKubeconfig({ ...server, server: server.url });
  const result = await connect({ kubeconfig, requestTimeoutMs: 5000 });
  if (!result.ok) throw new Error(result.error.message);
  stops.push(() => {
    result.value.close();
    return server.stop();
  });
  return result.value;
}

async function exchanged(transport: OsmoTransport): Promise<string> {
  const opened = await createOsmoApi(transport, { sleep: () => Promise.resolve() });
  if (!opened.ok) throw new Error(opened.error.message);
  return (await opened.value.exchange(secretText(password))).exchange;
}

describe("OSMO through a pod", () => {
  it.each([
    ["6.2", false],
    ["6.3", true],
  ] as const)("%s (TLS: %s) answers", async (release, tls) => {
    const { port } = await osmo(release, tls);
    const { osmoThrough, cluster } = await connection({ behind: () => port });
    const transport = osmoThrough({ ...pod, ...(tls && { tls: {} }) });
    expect(transport.where).toBe("osmo-control-plane/osmo-service-7d4b9c port 8000");
    expect(await exchanged(transport)).toBe("good");
    expect(cluster.requestCount()).toBe(2);
  });

  it("is pinned to the certificate of the first connection", async () => {
    let { port } = await osmo("6.3", true);
    const { osmoThrough } = await connection({ behind: () => port });
    const transport = osmoThrough({ ...pod, tls: {} });
    expect(await transport.request(fingerprint)).toMatchObject({ ok: true, value: { status: 422 } });
    const other = await osmo("6.3", true);
    port = other.port;
    expect(await transport.request(fingerprint)).toEqual({
      ok: false,
      error: { kind: "unreachable", message: "osmo-service-7d4b9c serves another certificate than the pinned one" },
    });
    expect(other.accessLog).toEqual([]);
  });

  it("is pinned to a given leaf", async () => {
    const { port } = await osmo("6.3", true);
    const { osmoThrough } = await connection({ behind: () => port });
    const transport = osmoThrough({ ...pod, tls: { leaf: new Uint8Array([1]) } });
    expect(await transport.request(fingerprint)).toMatchObject({ ok: false, error: { kind: "unreachable" } });
  });

  it("says when nothing listens", async () => {
    const { osmoThrough } = await connection({ behind: () => 0, refusal: "dial tcp4: connect: connection refused" });
    expect(await osmoThrough(pod).request(fingerprint)).toMatchObject({
      ok: false,
      error: { kind: "unreachable", message: expect.stringContaining("connection refused") as unknown },
    });
  });

  it("says when plain HTTP meets TLS", async () => {
    const { port } = await osmo("6.3", true);
    const { osmoThrough } = await connection({ behind: () => port });
    expect(await osmoThrough(pod).request(fingerprint)).toMatchObject({ ok: false, error: { kind: "unreachable" } });
  });
});

describe("OSMO at a URL", () => {
  it("answers plain HTTP", async () => {
    const { url } = await osmo("6.2");
    const transport = osmoAtUrl({ url: new URL(url), timeoutMs: 5000 });
    expect(transport.where).toBe(url);
    expect(await exchanged(transport)).toBe("good");
  });

  it("answers TLS with the certificate that is pinned, and with no other", async () => {
    const [one, other] = [await osmo("6.3", true), await osmo("6.3", true)];
    const at = (certificate?: string) =>
      osmoAtUrl({ url: new URL(one.url), timeoutMs: 5000, ...(certificate !== undefined && { certificate }) });
    expect(await exchanged(at(one.certificate))).toBe("good");
    expect(await at(other.certificate).request(fingerprint)).toMatchObject({
      ok: false,
      error: { kind: "unreachable" },
    });
    expect(await at().request(fingerprint)).toMatchObject({ ok: false, error: { kind: "unreachable" } });
  });

  it("keeps a path before the API's own", async () => {
    const { port, accessLog } = await osmo("6.2");
    await osmoAtUrl({ url: new URL(`http://127.0.0.1:${port}/osmo/`), timeoutMs: 5000 }).request(fingerprint);
    expect(accessLog).toEqual(['"POST /osmo/api/auth/jwt/access_token HTTP/1.1" 404']);
  });
});
