import { createServer } from "node:https";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createAccess, type AccessOptions } from "../../src/azure/cluster-access.ts";
import { createDirectory } from "../../src/azure/cluster-directory.ts";
import type { ManagedCluster } from "../../src/fleet/managed-cluster.ts";
import { StoreError, type Table } from "../../src/fleet/table.ts";
import { connectServer } from "../../src/kubernetes/connect-server.ts";
import { createAuthority, type Authority } from "../../src/lab/authority.ts";
import { createMemoryTable } from "../fleet/memory-table.ts";
import { clusterNamed, startAzureWorld, subscription, type AzureWorld } from "./azure-world.ts";

let world: AzureWorld;
let authority: Authority;
let table: Table;
/** Authorization header and the client certificate's name, for each request that reached the cluster. */
const seen: unknown[] = [];

beforeAll(async () => {
  world = await startAzureWorld();
  authority = await createAuthority("the cluster's CA", new Date());
  const names = { dnsNames: ["aks-1.hcp.westeurope.azmk8s.io"] };
  const tls = { ...(await authority.certify(names)), requestCert: true, rejectUnauthorized: false };
  const server = createServer(tls, (request, response) => {
    const socket = request.socket as unknown as { getPeerCertificate(): { subject?: { CN?: string } } };
    const authorization = request.headers.authorization;
    seen.push([world.identity.accepts(authorization, "aks"), socket.getPeerCertificate().subject?.CN]);
    response.writeHead(200, { "content-type": "application/json" }).end('{"gitVersion":"v1.37.2"}');
  });
  world.wire.route("aks-1.hcp.westeurope.azmk8s.io", server);
});
afterAll(() => world.stop());
beforeEach(() => {
  world.clusters.splice(0);
  seen.splice(0);
  table = createMemoryTable();
});

const known = { caPem: "" };
async function cluster(rest: Partial<Parameters<typeof clusterNamed>[1]> = {}): Promise<ManagedCluster> {
  known.caPem = authority.caPem;
  const server = { host: "aks-1.hcp.westeurope.azmk8s.io", caPem: authority.caPem };
  world.clusters.splice(0, 1, clusterNamed("aks-1", { server, ...rest }));
  const listed = await (await createDirectory({ ...world, subscription })).list();
  if (!listed.ok || listed.value[0] === undefined) throw new Error("no cluster");
  return listed.value[0];
}

const access = (rest: Partial<AccessOptions> = {}) =>
  createAccess({ ...world, subscription, table, connect: connectServer, allowLocalAccounts: false, ...rest });

async function versionOf(opened: Awaited<ReturnType<Awaited<ReturnType<typeof access>>["open"]>>) {
  if (!opened.ok) throw new Error(opened.error.message);
  const answer = await opened.value.api.get("/version");
  opened.value.close();
  return answer;
}

describe("opening a cluster of Entra", () => {
  it("asks ARM once, then knows the server by the etag, and logs in with a token for AKS", async () => {
    const there = await cluster();
    const before = world.arm.requests.credentials;
    expect(await versionOf(await (await access()).open(there))).toEqual({ ok: true, value: { gitVersion: "v1.37.2" } });
    expect(await versionOf(await (await access()).open(there))).toMatchObject({ ok: true });
    expect(seen).toEqual([
      [true, undefined],
      [true, undefined],
    ]);
    expect(world.arm.requests.credentials).toBe(before + 1);
    const [row] = await table.list("access");
    expect(row?.value).toEqual({ etag: "1", server: "https://aks-1.hcp.westeurope.azmk8s.io:443", caPem: known.caPem });
  });

  it("asks anew when the resource has changed, and when it was told to forget", async () => {
    const opening = await access();
    const there = await cluster();
    await opening.open(there);
    const before = world.arm.requests.credentials;
    await opening.open(await cluster({ etag: "2" }));
    expect(world.arm.requests.credentials).toBe(before + 1);
    await opening.forget(there.id);
    await opening.forget(there.id);
    await opening.open(await cluster({ etag: "2" }));
    expect(world.arm.requests.credentials).toBe(before + 2);
  });

  it("does without the table's write, and not without its answer", async () => {
    const there = await cluster();
    const broken = () => Promise.reject(new StoreError("Storage answered 503: insert."));
    const readOnly = await access({ table: { ...table, insert: broken, replace: broken } });
    expect((await readOnly.open(there)).ok).toBe(true);
    await expect((await access({ table: { ...table, get: broken } })).open(there)).rejects.toThrow(StoreError);
  });

  it("never keeps or uses a certificate that ARM hands out with it", async () => {
    const clientCertificate = await authority.certifyClient("masterclient", "system:masters");
    const there = await cluster({ clientCertificate });
    expect((await versionOf(await (await access({ allowLocalAccounts: true })).open(there))).ok).toBe(true);
    expect(seen).toEqual([[true, undefined]]);
    expect(JSON.stringify(await table.list("access"))).not.toContain("PRIVATE KEY");
  });

  it.each([
    ["is removed", 404, "removed", false],
    ["may not be asked for", 403, "forbidden", false],
    ["is in a busy subscription", 429, "throttled", true],
    ["cannot be told", 500, "unavailable", true],
  ] as const)("is not assessed where it %s", async (_name, status, kind, passing) => {
    const there = await cluster();
    await world.wire.serve("management.azure.com", (_request, response) => {
      response.writeHead(status, { "content-type": "application/json", "retry-after": "40" }).end("{}");
    });
    const opened = await (await access()).open(there);
    await world.wire.serve("management.azure.com", world.arm.host);
    expect(opened).toMatchObject({ ok: false, error: { kind, passing } });
    if (!opened.ok && kind === "throttled") expect(opened.error.retryAfterSeconds).toBe(40);
  });

  it("is not assessed where ARM's kubeconfig is none, and shows nothing of it", async () => {
    const there = await cluster();
    await world.wire.serve("management.azure.com", (_request, response) => {
      const value = Buffer.from("users: [{user: {token: sekret-token}}]").toString("base64");
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ kubeconfigs: [{ name: "clusterUser", value }] }));
    });
    const opened = await (await access()).open(there);
    await world.wire.serve("management.azure.com", world.arm.host);
    expect(opened).toMatchObject({ ok: false, error: { kind: "unavailable" } });
    expect(JSON.stringify(opened)).not.toContain("sekret");
  });
});

describe("a cluster without Entra", () => {
  it("is refused, and ARM is not asked for its key", async () => {
    const there = await cluster({ entra: false });
    const before = world.arm.requests.credentials;
    expect(await (await access()).open(there)).toEqual({
      ok: false,
      error: {
        kind: "local-accounts",
        passing: false,
        message: "aks-1 does not use Entra: the only credential that Azure gives out for it is a cluster-admin's.",
        todo: "az aks update --resource-group rg-Robotics --name aks-1 --enable-aad   # or set FLEETMEND_ALLOW_LOCAL_ACCOUNTS=true",
      },
    });
    expect(world.arm.requests.credentials).toBe(before);
  });

  it("is opened with its user's certificate where the setting allows it, which stays in memory", async () => {
    const clientCertificate = await authority.certifyClient("masterclient", "system:masters");
    const there = await cluster({ entra: false, clientCertificate });
    const before = world.arm.requests.credentials;
    const opening = await access({ allowLocalAccounts: true });
    await versionOf(await opening.open(there));
    await versionOf(await opening.open(there));
    expect(seen).toEqual([
      [false, "masterclient"],
      [false, "masterclient"],
    ]);
    expect(world.arm.requests.credentials).toBe(before + 1);
    expect(JSON.stringify(await table.list("access"))).not.toContain("PRIVATE KEY");
    await (await access({ allowLocalAccounts: true })).open(there);
    expect(world.arm.requests.credentials).toBe(before + 2);
  });
});
