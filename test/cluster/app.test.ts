// The packaged app on the real API server: a timer tick finds the drift, repairs it, and the telemetry says so. Azure around
// it is the lab's; the identity's token is the one that the API server knows fleetmend-repair by.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writeAppPackage } from "../../scripts/package/bundle-app.ts";
import type { ReportAnswer } from "../../src/fleet/fleet.ts";
import { createArm } from "../../src/lab/azure/arm.ts";
import { startIdentity, type Identity } from "../../src/lab/azure/identity.ts";
import { createIngestion, type Ingestion } from "../../src/lab/azure/ingestion.ts";
import { startWire, type Wire } from "../../src/lab/azure/wire.ts";
import { startAzurite, type Azurite } from "../../src/lab/azurite.ts";
import { startHostProcess, type HostProcess } from "../../src/lab/functions-host/start-host-process.ts";
import { clusterNamed, subscription } from "../azure/azure-world.ts";
import { openClusterUnderTest } from "./cluster-under-test.ts";
import { startFaultProxy, type FaultProxy } from "./fault-proxy.ts";
import { inject } from "./faults.ts";
import { installFamily, probeNamespace, uninstall } from "./kai/install.ts";
import { until } from "./until.ts";
import type { World } from "./world.ts";

const ingestionHost = "westeurope-5.in.applicationinsights.azure.com";
const instrumentationKey = randomUUID();

let world: World;
let proxy: FaultProxy;
let wire: Wire;
let identity: Identity;
let ingestion: Ingestion;
let azurite: Azurite;
let host: HostProcess;

beforeAll(async () => {
  world = await openClusterUnderTest({ mountRefreshMs: 200 });
  proxy = await startFaultProxy(world.plane);
  [wire, identity, azurite] = await Promise.all([
    startWire(),
    startIdentity({ aksToken: world.plane.tokens.repair }),
    startAzurite(),
  ]);
  ingestion = createIngestion(instrumentationKey, identity);
  // ARM tells the address of the proxy, which passes everything on and keeps count of what was refused.
  const { hostname, port } = new URL(proxy.server);
  const server = { host: hostname, port: Number(port), caPem: world.plane.ca };
  const cluster = clusterNamed("aks-real", { server, fqdn: "aks-real.hcp.westeurope.azmk8s.io" });
  const now = (): Date => new Date();
  const arm = createArm({ subscription, clusters: () => [cluster], identity, now });
  await wire.serve("management.azure.com", arm.host);
  await wire.serve(ingestionHost, ingestion.host);
  const appFolder = path.join(mkdtempSync(path.join(tmpdir(), "app-")), "app");
  await writeAppPackage(appFolder);
  host = await startHostProcess({
    appFolder,
    pollingMs: 200,
    environment: {
      HTTPS_PROXY: wire.proxyUrl,
      NO_PROXY: "127.0.0.1",
      NODE_EXTRA_CA_CERTS: wire.caFile,
      IDENTITY_ENDPOINT: identity.endpoint,
      IDENTITY_HEADER: identity.header,
      AZURE_CLIENT_ID: identity.clientId,
      AzureWebJobsStorage: azurite.connectionString,
      APPLICATIONINSIGHTS_CONNECTION_STRING: `InstrumentationKey=${instrumentationKey};IngestionEndpoint=https://${ingestionHost}/`,
      FLEETMEND_SUBSCRIPTION_ID: subscription,
      FLEETMEND_MODE: "repair",
      FLEETMEND_PROBE_NAMESPACE: probeNamespace,
      SCAN_SCHEDULE: "0 0 4 1 1 *",
      PROBE_SCHEDULE: "0 0 4 1 1 *",
    },
  });
});

afterAll(async () => {
  await host.stop();
  await Promise.all([wire.stop(), identity.stop(), azurite.stop(), proxy.stop()]);
  await uninstall(world);
  await world.stop();
});

async function tick(): Promise<void> {
  const headers = { "x-functions-key": host.keys.master, "content-type": "application/json" };
  const answer = await fetch(`${host.url}/admin/functions/scanFleet`, { method: "POST", headers, body: "{}" });
  expect(answer.status).toBe(202);
}

async function report(): Promise<ReportAnswer["report"]> {
  const headers = { "x-functions-key": host.keys.default };
  const answer = await fetch(`${host.url}/api/clusters/aks-real`, { headers });
  return ((await answer.json()) as Partial<ReportAnswer>).report;
}

interface Item {
  readonly name?: string;
  readonly success?: boolean;
  readonly properties?: Readonly<Record<string, string>>;
}

const itemsOf = (kind: string): readonly Item[] =>
  ingestion.envelopes.filter(({ data }) => data.baseType === kind).map(({ data }) => data.baseData as Item);
const events = (name: string): readonly Item[] => itemsOf("EventData").filter((item) => item.name === name);

/** A pod as OSMO makes it, as a dry run: the status of the API server's answer. */
async function createPod(): Promise<number> {
  const spec = { schedulerName: "kai-scheduler", containers: [{ name: "main", image: "busybox" }] };
  const body = { apiVersion: "v1", kind: "Pod", metadata: { generateName: "workflow-" }, spec };
  const query = { dryRun: "All" };
  return (await world.admin.request("POST", `/api/v1/namespaces/${probeNamespace}/pods`, { body, query })).status;
}

describe("the packaged app, after a timer tick", () => {
  it("repairs the drift, reports it, tells Application Insights, and asks for nothing that it may not have", async () => {
    const installed = await installFamily(world, "A");
    await inject(installed, "drift");
    expect(await createPod()).toBe(500);
    await tick();
    await until("the cluster is reported repaired", async () => (await report())?.repair?.outcome === "proven", 90_000);
    expect(await report()).toMatchObject({ state: "healthy", reason: "timer", capability: "repair" });
    expect(await createPod()).toBe(201);
    // The last word is sent when its invocation ends.
    await until("the telemetry of it has come", () => events("repair").length > 0);
    expect(events("repair")).toMatchObject([{ properties: { cluster: "aks-real", outcome: "proven", steps: "2" } }]);
    expect(events("finding").map(({ properties }) => [properties?.kind, properties?.severity])).toContainEqual([
      "bundle-stale",
      "broken",
    ]);
    const availability = itemsOf("AvailabilityData").map(({ name, success }) => [name, success]);
    expect(availability.at(0)).toEqual(["rg-Robotics/aks-real", false]);
    expect(availability.at(-1)).toEqual(["rg-Robotics/aks-real", true]);
    proxy.assertNothingForbidden();
  });
});
