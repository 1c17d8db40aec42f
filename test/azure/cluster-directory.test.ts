import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createDirectory } from "../../src/azure/cluster-directory.ts";
import { entraCredential } from "../../src/azure/entra-credential.ts";
import type { ClusterDirectory } from "../../src/fleet/managed-cluster.ts";
import { clusterNamed, startAzureWorld, subscription, type AzureWorld } from "./azure-world.ts";

let world: AzureWorld;
let directory: ClusterDirectory;
beforeAll(async () => {
  world = await startAzureWorld();
  directory = await createDirectory({ ...world, subscription });
});
afterAll(() => world.stop());
beforeEach(() => {
  world.clusters.splice(0);
  world.pauses.splice(0);
});

const id = (name: string) =>
  `/subscriptions/${subscription}/resourcegroups/rg-robotics/providers/microsoft.containerservice/managedclusters/${name}`;

describe("the directory", () => {
  it("lists every page, ids in lower case", async () => {
    world.clusters.push(...["Aks-1", "aks-2", "aks-3", "aks-4", "aks-5"].map((name) => clusterNamed(name)));
    const listed = await directory.list();
    if (!listed.ok) throw new Error(listed.error.message);
    expect(listed.value.map((cluster) => cluster.id)).toEqual(
      ["aks-1", "aks-2", "aks-3", "aks-4", "aks-5"].map((name) => id(name)),
    );
    expect(listed.value[0]).toEqual({
      id: id("aks-1"),
      name: "Aks-1",
      resourceGroup: "rg-Robotics",
      location: "westeurope",
      tags: { team: "robotics" },
      provisioningState: "Succeeded",
      powerState: "Running",
      kubernetesVersion: "1.37.2",
      entra: true,
      private: false,
      authorizedIpRanges: false,
      etag: "1",
    });
  });

  it("gets one cluster, as it is now", async () => {
    const there = { private: true, entra: false, authorizedIpRanges: ["203.0.113.0/24"], etag: "2" };
    world.clusters.push(clusterNamed("aks-1", { ...there, powerState: "Stopped", provisioningState: "Stopping" }));
    expect(await directory.get(id("aks-1"))).toMatchObject({
      value: { private: true, entra: false, authorizedIpRanges: true, powerState: "Stopped", etag: "2" },
    });
    expect(await directory.get(id("gone"))).toMatchObject({ ok: false, error: { kind: "not-found" } });
  });

  it("waits for a short Retry-After, and hands a long one to the caller", async () => {
    world.arm.storm(2, 3);
    expect((await directory.list()).ok).toBe(true);
    expect(world.pauses).toEqual([3000, 3000]);
    world.arm.storm(1, 60);
    expect(await directory.list()).toMatchObject({ error: { kind: "throttled", retryAfterSeconds: 60 } });
    world.arm.storm(3, 1);
    expect(await directory.list()).toMatchObject({ error: { kind: "throttled", retryAfterSeconds: 1 } });
  });

  it.each([
    [401, "credentials"],
    [403, "forbidden"],
    [404, "not-found"],
    [500, "unavailable"],
    [503, "unavailable"],
  ] as const)("tells %i as %s, without the text of the answer", async (status, kind) => {
    await world.wire.serve("management.azure.com", (_request, response) => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { code: "SomeCode", message: "sekret-of-the-answer" } }));
    });
    const answer = await directory.get(id("aks-1"));
    await world.wire.serve("management.azure.com", world.arm.host);
    expect(answer).toMatchObject({
      ok: false,
      error: { kind, message: `Azure Resource Manager answered ${status} about the cluster aks-1 (SomeCode).` },
    });
    expect(JSON.stringify(answer)).not.toContain("sekret");
  });

  it("gives up where ARM is silent", async () => {
    world.wire.silence("management.azure.com");
    const impatient = await createDirectory({ ...world, subscription, deadlineMs: 200 });
    const answer = await impatient.list();
    await world.wire.serve("management.azure.com", world.arm.host);
    expect(answer).toMatchObject({
      error: {
        kind: "unavailable",
        message: `Azure Resource Manager gave no answer about the clusters of the subscription ${subscription} within 0.2 s.`,
      },
    });
  });

  it("is told apart from a way that does not lead to ARM", async () => {
    world.wire.remove("management.azure.com");
    const answer = await directory.list();
    await world.wire.serve("management.azure.com", world.arm.host);
    expect(answer).toMatchObject({ ok: false, error: { kind: "unavailable" } });
  });
});

describe("the credential", () => {
  it("asks once for all who ask at the same time, and again only near the end", async () => {
    const before = world.identity.issued();
    const audience = "https://vault.azure.net/.default";
    const tokens = await Promise.all([1, 2, 3].map(() => world.credential.token(audience)));
    expect(new Set(tokens.map((token) => token.ok && token.value)).size).toBe(1);
    await world.credential.token(audience);
    expect(world.identity.issued()).toBe(before + 1);
  });

  it("says which identity is not assigned", async () => {
    const clientId = "11111111-1111-4111-8111-111111111111";
    const other = await entraCredential({ clientId, environment: process.env });
    const elsewhere = await createDirectory({ ...world, credential: other, subscription });
    const error = {
      kind: "credentials",
      message: expect.stringMatching(
        /^The managed identity 11111111-1111-4111-8111-111111111111 \(AZURE_CLIENT_ID\) gave no token \(\w+\)\.$/,
      ) as string,
      todo: "az functionapp identity show --resource-group GROUP --name APP   # is that identity assigned to the app?",
    };
    expect(await other.token("https://management.azure.com/.default")).toEqual({ ok: false, error });
    expect(await elsewhere.list()).toEqual({ ok: false, error });
  });

  it("outside Azure is the Azure CLI's, and says what to type where nobody is signed in", async () => {
    const search = process.env.PATH;
    process.env.PATH = "/nowhere";
    const person = await entraCredential({ environment: {} });
    const answer = await person.token("https://management.azure.com/.default");
    process.env.PATH = search;
    expect(answer).toEqual({
      ok: false,
      error: {
        kind: "credentials",
        message: "The Azure CLI gave no token (CredentialUnavailableError).",
        todo: "az login   # install the Azure CLI first where the shell does not know az",
      },
    });
  });
});
