// The lab's Azure hosts one by one, over plain http: what they answer. That the real SDKs take it is subscription.test.ts.
import { gzipSync } from "node:zlib";
import { createServer, type RequestListener } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createArm } from "../../src/lab/azure/arm.ts";
import type { ArmCluster } from "../../src/lab/azure/arm-cluster.ts";
import { audiences, startIdentity, type Audience, type Identity } from "../../src/lab/azure/identity.ts";
import { createIngestion } from "../../src/lab/azure/ingestion.ts";
import { createTeams } from "../../src/lab/azure/teams.ts";
import { createVault } from "../../src/lab/azure/vault.ts";
import { listen } from "../../src/lab/listen.ts";

const subscription = "00000000-0000-4000-8000-000000000001";
let time = new Date("2026-12-01T06:00:00Z");
const now = (): Date => time;

let identity: Identity;
const stops: (() => Promise<void>)[] = [];
beforeAll(async () => {
  identity = await startIdentity({ now });
  stops.push(identity.stop);
});
afterAll(async () => {
  await Promise.all(stops.map((stop) => stop()));
});

async function started(host: RequestListener): Promise<string> {
  const { port, stop } = await listen(createServer(host));
  stops.push(stop);
  return `http://127.0.0.1:${port}`;
}

const tokenUrl = (resource: string, clientId = identity.clientId): string =>
  `${identity.endpoint}?api-version=2019-08-01&resource=${encodeURIComponent(resource)}&client_id=${clientId}`;

async function bearer(audience: Audience): Promise<Record<string, string>> {
  const response = await fetch(tokenUrl(audiences[audience]), { headers: { "x-identity-header": identity.header } });
  const { access_token: token } = (await response.json()) as { access_token: string };
  return { authorization: `Bearer ${token}` };
}

describe("the managed identity endpoint", () => {
  it("gives a token for one resource, which is good there and until it is revoked", async () => {
    const { authorization } = await bearer("arm");
    expect(identity.accepts(authorization, "arm")).toBe(true);
    expect(identity.accepts(authorization, "aks")).toBe(false);
    identity.revoke();
    expect(identity.accepts(authorization, "arm")).toBe(false);
  });

  it.each([
    { what: "without the header", header: "", clientId: undefined, status: 403 },
    { what: "for another identity", header: undefined, clientId: "11111111-1111-4111-8111-111111111111", status: 400 },
  ])("refuses who comes $what", async ({ header, clientId, status }) => {
    const headers = { "x-identity-header": header ?? identity.header };
    expect((await fetch(tokenUrl(audiences.arm, clientId), { headers })).status).toBe(status);
  });
});

function clusterNamed(name: string): ArmCluster {
  return {
    subscription,
    resourceGroup: "rg-robotics",
    name,
    location: "westeurope",
    tags: {},
    kubernetesVersion: "1.37.2",
    provisioningState: "Succeeded",
    powerState: "Running",
    entra: true,
    private: false,
    authorizedIpRanges: [],
    etag: "1",
    server: { host: `${name}.hcp.westeurope.azmk8s.io`, caPem: "CA" },
  };
}

describe("ARM", () => {
  const clusters = ["one", "two", "three"].map(clusterNamed);
  const list = `/subscriptions/${subscription}/providers/Microsoft.ContainerService/managedClusters`;
  const one = `/subscriptions/${subscription}/resourcegroups/RG-Robotics/providers/microsoft.containerservice/managedclusters/ONE`;
  const version = "api-version=2026-06-01";
  let base: string;
  beforeAll(async () => {
    base = await started(createArm({ subscription, clusters: () => clusters, identity, now, pageSize: 2 }).host);
  });

  it("lists clusters page by page", async () => {
    const first = await fetch(`${base}${list}?${version}`, { headers: await bearer("arm") });
    const page = (await first.json()) as { value: { name: string }[]; nextLink: string };
    expect(page.value.map(({ name }) => name)).toEqual(["one", "two"]);
    const { pathname, search } = new URL(page.nextLink);
    const second = await fetch(base + pathname + search, { headers: await bearer("arm") });
    const last = (await second.json()) as { value: { name: string }[]; nextLink?: string };
    expect(last.value.map(({ name }) => name)).toEqual(["three"]);
    expect(last.nextLink).toBeUndefined();
  });

  it.each([
    { what: "no token", path: `${list}?${version}`, audience: undefined, status: 401, code: "AuthenticationFailed" },
    {
      what: "another's token",
      path: `${list}?${version}`,
      audience: "vault",
      status: 401,
      code: "AuthenticationFailed",
    },
    { what: "no api-version", path: list, audience: "arm", status: 400, code: "MissingApiVersionParameter" },
    { what: "an unknown cluster", path: `${one}x?${version}`, audience: "arm", status: 404, code: "ResourceNotFound" },
  ] as const)("answers $what with $status $code", async ({ path, audience, status, code }) => {
    const headers = audience === undefined ? {} : await bearer(audience);
    const response = await fetch(base + path, { headers });
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ error: { code } });
  });

  it("gives the user's kubeconfig, without regard to case in the id", async () => {
    const url = `${base}${one}/listClusterUserCredential?${version}&format=exec`;
    const response = await fetch(url, { method: "POST", headers: await bearer("arm") });
    const { kubeconfigs } = (await response.json()) as { kubeconfigs: { value: string }[] };
    const text = Buffer.from(kubeconfigs[0]?.value ?? "", "base64").toString();
    expect(text).toContain("server: https://one.hcp.westeurope.azmk8s.io:443");
    expect(text).toContain("command: kubelogin");
  });

  it("throttles a cluster's GET at 60 in a row, and one more a second later", async () => {
    const { host, requests } = createArm({ subscription, clusters: () => clusters, identity, now });
    const url = `${await started(host)}${one}?${version}`;
    const headers = await bearer("arm");
    const statuses = [];
    for (let call = 0; call < 61; call += 1) statuses.push((await fetch(url, { headers })).status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(60);
    const refused = await fetch(url, { headers });
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "1"]);
    time = new Date(time.getTime() + 1000);
    expect((await fetch(url, { headers })).status).toBe(200);
    expect(requests).toEqual({ list: 0, get: 61, credentials: 0, throttled: 2 });
  });

  it("makes a storm on order", async () => {
    const { host, storm } = createArm({ subscription, clusters: () => clusters, identity, now, throttle: "none" });
    const url = `${await started(host)}${list}?${version}`;
    const headers = await bearer("arm");
    storm(1, 7);
    const refused = await fetch(url, { headers });
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "7"]);
    expect((await fetch(url, { headers })).status).toBe(200);
  });
});

describe("the vault", () => {
  it("asks for a token by a challenge, and then gives the secret", async () => {
    const { host } = createVault({ host: "kv-lab.vault.azure.net", secrets: { teams: "a-secret" }, identity });
    const url = `${await started(host)}/secrets/teams/?api%2Dversion=2026-04-01`;
    const refused = await fetch(url);
    expect(refused.status).toBe(401);
    expect(refused.headers.get("www-authenticate")).toContain('resource="https://vault.azure.net"');
    const response = await fetch(url, { headers: await bearer("vault") });
    expect(await response.json()).toMatchObject({ value: "a-secret", attributes: { enabled: true } });
    const missing = await fetch(url.replace("teams", "other"), { headers: await bearer("vault") });
    expect([missing.status, await missing.json()]).toMatchObject([404, { error: { code: "SecretNotFound" } }]);
  });
});

describe("ingestion", () => {
  const key = "00000000-0000-4000-8000-00000000000a";
  const event = { name: "E", time: "2026-12-01T06:00:00Z", iKey: key, data: { baseType: "EventData", baseData: {} } };

  it.each([
    { how: "a JSON array", body: JSON.stringify([event, event]), encoding: undefined },
    {
      how: "JSON lines, gzipped",
      body: gzipSync(`${JSON.stringify(event)}\n${JSON.stringify(event)}\n`),
      encoding: "gzip",
    },
  ])("keeps what comes as $how", async ({ body, encoding }) => {
    const { host, envelopes } = createIngestion(key, identity);
    const headers = { ...(await bearer("monitor")), ...(encoding && { "content-encoding": encoding }) };
    const response = await fetch(`${await started(host)}/v2.1/track`, { method: "POST", headers, body });
    expect(await response.json()).toEqual({ itemsReceived: 2, itemsAccepted: 2, errors: [] });
    expect(envelopes.map(({ data }) => data.baseType)).toEqual(["EventData", "EventData"]);
  });

  it("takes the items of its own key only, and nothing without a token", async () => {
    const { host, envelopes } = createIngestion(key, identity);
    const url = `${await started(host)}/v2.1/track`;
    const body = JSON.stringify([{ ...event, iKey: "another" }, event]);
    expect((await fetch(url, { method: "POST", body })).status).toBe(401);
    const partial = await fetch(url, { method: "POST", headers: await bearer("monitor"), body });
    expect([partial.status, await partial.json()]).toMatchObject([206, { itemsAccepted: 1, errors: [{ index: 0 }] }]);
    expect(envelopes).toHaveLength(1);
  });
});

describe("the Teams workflow", () => {
  it("answers 202 and keeps the post, fails on order, and refuses a wrong signature", async () => {
    const teams = createTeams("prod-00.westeurope.logic.azure.com");
    const base = await started(teams.host);
    const { pathname, search } = new URL(teams.url);
    const post = async (url: string) =>
      (await fetch(base + url, { method: "POST", body: '{"type":"message"}' })).status;
    teams.fail(429, 1);
    const statuses = [await post(pathname + search), await post(pathname + search), await post(pathname)];
    expect(statuses).toEqual([429, 202, 401]);
    expect(teams.posts).toEqual([{ type: "message" }]);
  });
});
