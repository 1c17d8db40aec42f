// The HTTP functions of the packaged app, as a caller meets them: what is refused, how, and what an order answers.
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { admissionBroken, commonAlert } from "../../src/lab/azure/common-alert.ts";
import { startFleetWorld, type FleetWorld } from "../../src/lab/fleet-world.ts";
import type { SubscriptionCluster } from "../../src/lab/subscription.ts";

let world: FleetWorld;
let drifted: SubscriptionCluster;
const log: string[] = [];

beforeAll(async () => {
  const situations = ["drift", "stopped"] as const;
  const settings = { FLEETMEND_MODE: "repair" };
  world = await startFleetWorld({ clusters: 3, situations, settings, log: (line) => log.push(line) });
  const found = world.subscription.clusters.find((cluster) => cluster.situation() === "drift");
  if (found === undefined) throw new Error("no cluster has drifted");
  drifted = found;
});
afterAll(() => world.stop());

describe("an HTTP function refuses", () => {
  it.each<[method: "GET" | "POST", path: string, status: number, error: string]>([
    ["POST", "/api/clusters/nope/scan", 404, "unknown-cluster"],
    ["GET", "/api/clusters/nope", 404, "unknown-cluster"],
    ["POST", "/api/clusters/{drifted}/repair?dryrun=true", 400, "wrong-input"],
    ["POST", "/api/clusters/{drifted}/repair?dryRun=yes", 400, "wrong-input"],
    ["POST", "/api/clusters/{drifted}/scan?dryRun=true", 400, "wrong-input"],
    ["POST", "/api/clusters/{drifted}/scan?wait=1000", 400, "wrong-input"],
    ["POST", "/api/clusters/{drifted}/scan?wait=soon", 400, "wrong-input"],
    ["GET", "/api/clusters/{drifted}?run=scan-of-long-ago", 400, "wrong-input"],
    ["GET", "/api/fleet?top=3", 400, "wrong-input"],
  ])("%s %s with %i, %s", async (method, path, status, error) => {
    const answer = await world.ask(method, path.replace("{drifted}", drifted.name));
    expect(answer).toMatchObject({ status, body: { error, message: expect.any(String) as string } });
    expect((answer.body as { todo: string }).todo).not.toBe("");
    expect(answer.headers.get("cache-control")).toBe("no-store");
  });

  it("an order with a body, but for an empty object", async () => {
    const path = `/api/clusters/${drifted.name}/probe`;
    expect(await world.ask("POST", path, { dryRun: true })).toMatchObject({ status: 400 });
    expect(await world.ask("POST", path, {})).toMatchObject({ status: 202 });
  });

  it.each(["/api/fleet", "/api/clusters/a", "/api/clusters/a/scan", "/api/alerts"])(
    "%s without a key",
    async (path) => {
      const method = path.endsWith("scan") || path.endsWith("alerts") ? "POST" : "GET";
      expect((await fetch(`${world.host().url}${path}`, { method })).status).toBe(401);
    },
  );
});

describe("an order", () => {
  it("names a caller only where the platform has authenticated one: the header alone proves nothing", async () => {
    const url = `${world.host().url}/api/clusters/${drifted.name}/repair?dryRun=true&wait=60`;
    const headers = { "x-functions-key": world.host().keys.default, "x-ms-client-principal-name": "root@contoso.com" };
    const answer = await vi.waitFor(
      async () => {
        const response = await fetch(url, { method: "POST", headers });
        expect(response.status).toBe(200);
        return response.json();
      },
      { timeout: 40_000, interval: 300 },
    );
    expect(answer).toMatchObject({ report: { caller: "key", repair: { outcome: "planned", done: [] } } });
  }, 60_000);

  it("that is not waited for says where its report will be, and the report comes", async () => {
    const path = `/api/clusters/${drifted.resourceGroup}:${drifted.name}/repair`;
    const { status, headers, body } = await world.ask("POST", path);
    expect(status).toBe(202);
    const address = new URL(headers.get("location") ?? "");
    expect(body).toMatchObject({ status: address.href });
    await vi.waitFor(
      async () => {
        const answer = await world.ask("GET", `${address.pathname}${address.search}`);
        expect(answer).toMatchObject({ status: 200, body: { report: { repair: { outcome: "proven" } } } });
      },
      { timeout: 30_000, interval: 300 },
    );
    expect(await drifted.createPod()).toMatchObject({ admitted: true });
  }, 40_000);
});

describe("forwardAlert", () => {
  it("posts a card to Teams, and refuses what is no alert", async () => {
    expect(await world.ask("POST", "/api/alerts", commonAlert(admissionBroken))).toMatchObject({
      status: 200,
      body: { condition: "Fired" },
    });
    expect(world.subscription.teams.posts).toHaveLength(1);
    expect(await world.ask("POST", "/api/alerts", { hello: 1 })).toMatchObject({ status: 400 });
    expect(await world.ask("POST", "/api/alerts")).toMatchObject({ status: 400 });
  });

  it("answers 503 where Teams does not take it, so that the action group tries again", async () => {
    world.subscription.teams.fail(500, 20);
    const answer = await world.ask("POST", "/api/alerts", commonAlert(admissionBroken));
    expect(answer).toMatchObject({ status: 503, body: { error: "unavailable" } });
  }, 60_000);
});

describe("clusterChanged", () => {
  it("takes both schemas, and lets what fleetmend reads itself set off nothing", async () => {
    const { subscription } = world;
    const [cluster] = subscription.clusters;
    if (cluster === undefined) throw new Error("no cluster");
    const events = [
      subscription.eventFor(cluster, "listClusterUserCredential/action", "EventGridSchema"),
      subscription.eventFor(cluster, "write", "EventGridSchema"),
      subscription.eventFor(cluster, "write", "CloudEventSchemaV1_0"),
    ];
    for (const event of events) expect(await world.deliver(event)).toBe(202);
    const taken = log.filter((line) => /clusterChanged: (?!Executed)/.test(line));
    expect(taken.filter((line) => line.includes(cluster.name)).length).toBeGreaterThan(0);
  });
});

describe("the app, in all that it has logged and answered", () => {
  it("shows no key, no token and no workflow URL", async () => {
    const { host, azurite, subscription } = world;
    const accountKey = /AccountKey=([^;]+)/.exec(azurite.connectionString)?.[1] ?? "";
    const fleet = JSON.stringify((await world.ask("GET", "/api/fleet")).body);
    const all = [...log, fleet, JSON.stringify(subscription.telemetry.envelopes)].join("\n");
    for (const secret of [host().keys.default, host().keys.master, accountKey, "sig="]) {
      expect(secret.length).toBeGreaterThan(3);
      expect(all).not.toContain(secret);
    }
  });
});
