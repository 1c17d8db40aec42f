import { randomUUID } from "node:crypto";
import { QueueClient } from "@azure/storage-queue";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { startAzurite, type Azurite } from "../src/lab/azurite.ts";
import { createIngestion, type Ingestion } from "../src/lab/azure/ingestion.ts";
import { createTeams, type Teams } from "../src/lab/azure/teams.ts";
import { createVault, type Vault } from "../src/lab/azure/vault.ts";
import { clusterNamed, startAzureWorld, subscription, type AzureWorld } from "./azure/azure-world.ts";
import { admissionBroken, commonAlert } from "../src/lab/azure/common-alert.ts";

const ingestionHost = "westeurope-0.in.applicationinsights.azure.com";
const key = randomUUID();
const traceParent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
let world: AzureWorld;
let azurite: Azurite;
let ingestion: Ingestion;
let teams: Teams;
let vault: Vault;
let compose: typeof import("../src/compose-fleet.ts");

beforeAll(async () => {
  [world, azurite] = await Promise.all([startAzureWorld(), startAzurite()]);
  ingestion = createIngestion(key, world.identity);
  teams = createTeams("prod-1.westeurope.logic.azure.com");
  await world.wire.serve(ingestionHost, ingestion.host);
  await world.wire.serve("prod-1.westeurope.logic.azure.com", teams.host);
  vault = createVault({ host: "kv-1.vault.azure.net", identity: world.identity, secrets: { teams: teams.url } });
  await world.wire.serve("kv-1.vault.azure.net", vault.host);
  // What it keeps for a process must not come from another file's tests.
  vi.resetModules();
  compose = await import("../src/compose-fleet.ts");
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await Promise.all([world.stop(), azurite.stop()]);
});

const invocation = () => {
  const lines: string[] = [];
  return { lines, traceParent, log: (line: string) => lines.push(line) };
};

const tick = { at: new Date("2026-12-01T06:15:00Z"), isPastDue: false };

describe("composing the fleet", () => {
  it("with unusable settings lists every mistake by name, and tries again at the next invocation", async () => {
    vi.stubEnv("FLEETMEND_SUBSCRIPTION_ID", "sekret");
    vi.stubEnv("FLEETMEND_MODE", "sekret");
    vi.stubEnv("AzureWebJobsStorage", azurite.connectionString);
    const thrown: unknown = await compose.withFleet(invocation(), () => Promise.resolve()).catch((e: unknown) => e);
    expect(thrown).toMatchObject({ name: "UnusableSettings" });
    expect(String(thrown)).toContain("FLEETMEND_SUBSCRIPTION_ID must be a UUID.");
    expect(String(thrown)).toContain("FLEETMEND_MODE must be off, observe, repair.");
    expect(String(thrown)).not.toContain("sekret");
    vi.stubEnv("FLEETMEND_SUBSCRIPTION_ID", subscription);
    vi.stubEnv("FLEETMEND_MODE", "observe");
    vi.stubEnv("AZURE_CLIENT_ID", world.identity.clientId);
    vi.stubEnv("FLEETMEND_TEAMS_SECRET_ID", "https://kv-1.vault.azure.net/secrets/teams");
    vi.stubEnv(
      "APPLICATIONINSIGHTS_CONNECTION_STRING",
      `InstrumentationKey=${key};IngestionEndpoint=https://${ingestionHost}/`,
    );
    await expect(compose.withFleet(invocation(), () => Promise.resolve("used"))).resolves.toBe("used");
  });

  it("has a scan list the subscription, send one message each, and report under the invocation", async () => {
    world.clusters.push(clusterNamed("aks-1"), clusterNamed("aks-2"), clusterNamed("aks-3"));
    await compose.withFleet(invocation(), (fleet) => fleet.scan(tick));
    const queue = new QueueClient(azurite.connectionString, "care");
    const { receivedMessageItems } = await queue.receiveMessages({ numberOfMessages: 32, visibilityTimeout: 1 });
    const sent = receivedMessageItems.map(
      ({ messageText }) =>
        JSON.parse(Buffer.from(messageText, "base64").toString("utf8")) as { cluster: string; reason: string },
    );
    expect(sent.map(({ cluster, reason }) => [cluster.split("/").at(-1), reason]).toSorted()).toEqual([
      ["aks-1", "timer"],
      ["aks-2", "timer"],
      ["aks-3", "timer"],
    ]);
    const scanned = ingestion.envelopes.filter(({ data }) => data.baseData.name === "fleetScanned");
    expect(scanned).toMatchObject([
      {
        tags: { "ai.operation.id": "0af7651916cd43dd8448eb211c80319c" },
        data: { baseData: { properties: { outcome: "sent", clusters: "3", sent: "3" } } },
      },
    ]);
  });

  it("keeps its adapters between invocations", async () => {
    const before = world.identity.issued();
    await compose.withFleet(invocation(), (fleet) => fleet.overview());
    expect(world.identity.issued()).toBe(before);
  });

  it("throws what the use case throws, after what it reported was sent", async () => {
    const broken = compose.withFleet(invocation(), () => Promise.reject(new Error("a defect")));
    await expect(broken).rejects.toThrow("a defect");
  });

  it("forwards an alert to the workflow whose URL the vault keeps, and shows the URL nowhere", async () => {
    const alert = commonAlert(admissionBroken);
    const forwarded = await compose.withAlerts(invocation(), (alerts) => alerts.forward(alert));
    expect(forwarded).toEqual({ ok: true, value: { rule: admissionBroken.rule, condition: "Fired" } });
    expect(teams.posts).toHaveLength(1);
    vault.remove("teams");
    expect(await compose.withAlerts(invocation(), (alerts) => alerts.forward(alert))).toMatchObject({
      ok: false,
      error: { kind: "not-configured" },
    });
    expect(JSON.stringify(ingestion.envelopes)).not.toContain("sig=");
  });
});
