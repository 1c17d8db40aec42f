import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTelemetry, type FleetTelemetry } from "../../src/azure/application-insights.ts";
import { createIngestion, type Envelope, type Ingestion } from "../../src/lab/azure/ingestion.ts";
import { startAzureWorld, type AzureWorld } from "./azure-world.ts";

const host = "westeurope-0.in.applicationinsights.azure.com";
const key = randomUUID();
const connectionString = `InstrumentationKey=${key};IngestionEndpoint=https://${host}/`;

let world: AzureWorld;
let ingestion: Ingestion;
let telemetry: FleetTelemetry;
beforeAll(async () => {
  world = await startAzureWorld();
  ingestion = createIngestion(key, world.identity);
  await world.wire.serve(host, ingestion.host);
  telemetry = await createTelemetry({
    ...{ connectionString, credential: world.credential.sdk, role: "func-fleetmend", instance: "i-1" },
    log: () => undefined,
    flushDeadlineMs: 15_000,
  });
});
afterAll(() => world.stop());

const ofType = (baseType: string): Envelope[] => ingestion.envelopes.filter(({ data }) => data.baseType === baseType);

const traceParent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const operation = {
  "ai.operation.id": "0af7651916cd43dd8448eb211c80319c",
  "ai.operation.parentId": "b7ad6b7169203331",
};
const role = { "ai.cloud.role": "func-fleetmend", "ai.cloud.roleInstance": "i-1" };

describe("telemetry", () => {
  it("sends each kind of item once, under the app's role and the invocation's operation, and nothing else", async () => {
    await telemetry.within(traceParent, async () => {
      await Promise.resolve();
      telemetry.availability({
        name: "rg/aks-1",
        success: false,
        durationMs: 1234,
        message: "broken",
        properties: { cluster: "aks-1", run: "r-1" },
      });
      telemetry.event("notAssessed", { cluster: "aks-2", kind: "stopped", passing: false });
      telemetry.metric("daysToExpiry", 12.5, { cluster: "aks-1" });
    });
    await telemetry.flush();
    expect(ofType("AvailabilityData")).toMatchObject([
      {
        tags: { ...role, ...operation },
        data: {
          baseData: {
            name: "rg/aks-1",
            success: false,
            duration: "00:00:01.234",
            message: "broken",
            properties: { cluster: "aks-1", run: "r-1" },
          },
        },
      },
    ]);
    expect(ofType("EventData")).toMatchObject([
      {
        tags: { ...role, ...operation },
        data: {
          baseData: { name: "notAssessed", properties: { cluster: "aks-2", kind: "stopped", passing: "false" } },
        },
      },
    ]);
    const metrics = ofType("MetricData").filter(({ data }) => !JSON.stringify(data).includes("_OTELRESOURCE_"));
    expect(metrics).toMatchObject([
      {
        tags: role,
        data: {
          baseData: {
            metrics: [{ name: "daysToExpiry", value: 12.5, count: 1 }],
            properties: { cluster: "aks-1" },
          },
        },
      },
    ]);
    const others = ["AvailabilityData", "EventData", "MetricData"];
    expect(ingestion.envelopes.filter(({ data }) => !others.includes(data.baseType))).toEqual([]);
  });

  it("keeps invocations that run at the same time apart", async () => {
    const parents = ["1", "2"].map((digit) => `00-${digit.repeat(32)}-${digit.repeat(16)}-01`);
    await Promise.all(
      parents.map((parent, number) =>
        telemetry.within(parent, async () => {
          await new Promise((resolve) => setImmediate(resolve));
          telemetry.event("fleetScanned", { sent: number });
        }),
      ),
    );
    telemetry.event("fleetScanned", { sent: "outside" });
    await telemetry.flush();
    const scanned = ofType("EventData").filter(({ data }) => data.baseData.name === "fleetScanned");
    const pairs = scanned.map(({ tags, data }) => [data.baseData.properties, tags["ai.operation.id"]]);
    expect(pairs).toEqual([
      [{ sent: "0" }, "1".repeat(32)],
      [{ sent: "1" }, "2".repeat(32)],
      [{ sent: "outside" }, undefined],
    ]);
  });

  it("has sent what an invocation reported when its flush ends, also while another flush runs", async () => {
    telemetry.event("repair", { run: "r-1" });
    const first = telemetry.flush();
    telemetry.event("repair", { run: "r-2" });
    await telemetry.flush();
    const runs = ofType("EventData").flatMap(({ data }) =>
      data.baseData.name === "repair" ? [data.baseData.properties] : [],
    );
    expect(runs).toEqual([{ run: "r-1" }, { run: "r-2" }]);
    await first;
  });

  it("never throws where nothing can be sent", async () => {
    const unheard = "nowhere-0.in.applicationinsights.azure.com";
    const impatient = await createTelemetry({
      connectionString: `InstrumentationKey=${key};IngestionEndpoint=https://${unheard}/`,
      ...{ credential: world.credential.sdk, role: "func-fleetmend", instance: "i-1" },
      log: () => undefined,
      flushDeadlineMs: 100,
    });
    impatient.event("budget", { outcome: "granted" });
    await impatient.flush();
  });

  it("without a connection string does nothing, and says so once", async () => {
    const lines: string[] = [];
    const none = await createTelemetry({
      ...{ credential: world.credential.sdk, role: "r", instance: "i" },
      log: (line) => lines.push(line),
    });
    none.event("budget", { outcome: "granted" });
    expect(await none.within(traceParent, () => Promise.resolve(7))).toBe(7);
    await none.flush();
    expect(lines).toEqual([
      "APPLICATIONINSIGHTS_CONNECTION_STRING is not set: nothing is reported to Application Insights.",
    ]);
  });
});
