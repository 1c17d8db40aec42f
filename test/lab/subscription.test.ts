import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { assign, everySituation, type Situation } from "../../src/lab/azure/situations.ts";
import { seededRandom } from "../../src/lab/azure/random.ts";
import { startSubscription, type Subscription, type SubscriptionCluster } from "../../src/lab/subscription.ts";
import { readClusterEvents } from "../../src/fleet/cluster-event.ts";

const situations: readonly Situation[] = [
  "healthy",
  "drift",
  "stopped",
  "no-dns",
  "no-route",
  "tls-failed",
  "unauthorized",
  "forbidden",
  "local-accounts",
  "nothing-to-watch",
];

let subscription: Subscription;
beforeAll(async () => {
  subscription = await startSubscription({ clusters: situations.length, situations });
});
afterAll(() => subscription.stop());

function clusterThatIs(situation: Situation): SubscriptionCluster {
  const found = subscription.clusters.find((cluster) => cluster.situation() === situation);
  if (found === undefined) throw new Error(`no cluster is ${situation}`);
  return found;
}

interface Met {
  readonly clusters: readonly { readonly name: string; readonly seen: readonly string[] }[];
  readonly cardStatus: number;
}

/** Another process, since NODE_EXTRA_CA_CERTS is read at its start. */
async function runApp(): Promise<Met> {
  const program = path.join(import.meta.dirname, "app-process.ts");
  const { PATH } = process.env;
  const { stdout } = await promisify(execFile)(process.execPath, ["--disable-warning=ExperimentalWarning", program], {
    env: { PATH, ...subscription.environment, APPLICATION_INSIGHTS_NO_STATSBEAT: "1" },
  });
  return JSON.parse(stdout) as Met;
}

describe("the real SDKs, led by the environment alone,", () => {
  let met: Met;
  beforeAll(async () => {
    met = await runApp();
  }, 60_000);

  it("list every cluster, and see each as the lab made it", () => {
    const seen = (situation: Situation) =>
      met.clusters.find(({ name }) => name === clusterThatIs(situation).name)?.seen;
    expect(Object.fromEntries(situations.map((situation) => [situation, seen(situation)]))).toEqual({
      healthy: [],
      drift: expect.arrayContaining(["bundle-stale"]) as unknown,
      stopped: ["stopped"],
      "no-dns": ["failure unreachable"],
      "no-route": ["failure unreachable"],
      "tls-failed": ["failure unreachable"],
      unauthorized: ["failure unauthorized"],
      forbidden: ["failure forbidden"],
      "local-accounts": [],
      "nothing-to-watch": [],
    });
  });

  it("ask ARM once for the list and once for each credential", () => {
    expect(subscription.arm.requests).toEqual({ list: 1, get: 0, credentials: 9, throttled: 0 });
  });

  it("bring telemetry to the ingestion endpoint", () => {
    const [envelope] = subscription.telemetry.envelopes.filter(({ data }) => data.baseType === "EventData");
    expect(envelope?.data.baseData).toMatchObject({ name: "finding", properties: { cluster: "one" } });
  });

  it("read the workflow's URL in the vault, and post to it", () => {
    expect(met.cardStatus).toBe(202);
    expect(subscription.teams.posts).toEqual([{ type: "message" }]);
  });
});

describe("a cluster of the subscription", () => {
  it("changes its etag with what ARM knows of it, and heals", async () => {
    const cluster = clusterThatIs("stopped");
    const { etag } = cluster.arm();
    await cluster.heal();
    expect(cluster.arm()).toMatchObject({ powerState: "Running", provisioningState: "Succeeded" });
    expect(cluster.arm().etag).not.toBe(etag);
    expect(await cluster.createPod()).toEqual({ admitted: true, message: "" });
  });

  it("tells a new CA under the old etag once its certificates were rotated", async () => {
    const cluster = clusterThatIs("healthy");
    const before = cluster.arm();
    await cluster.rotateCertificates();
    expect(cluster.arm().server.caPem).not.toBe(before.server.caPem);
    expect(cluster.arm().etag).toBe(before.etag);
  });

  it.each(["EventGridSchema", "CloudEventSchemaV1_0"] as const)("has its events in %s", (schema) => {
    const cluster = clusterThatIs("drift");
    const read = (operation: "write" | "listClusterUserCredential/action") =>
      readClusterEvents(subscription.eventFor(cluster, operation, schema), subscription.id);
    expect(read("write")).toEqual([{ kind: "change", cluster: cluster.id, change: "written" }]);
    expect(read("listClusterUserCredential/action")).toMatchObject([{ kind: "ignored" }]);
  });
});

describe("the seed", () => {
  const dealt = (seed: number) => assign(40, everySituation, seededRandom(seed));

  it("deals each situation once to a fleet that has room for all, and the same again", () => {
    const names = dealt(7).map(({ situation }) => situation);
    expect(names.filter((name) => name !== "healthy").toSorted()).toEqual([...everySituation].toSorted());
    expect(dealt(7)).toEqual(dealt(7));
    expect(dealt(7)).not.toEqual(dealt(8));
  });

  it("gives no family a fault that it cannot have", () => {
    const rbacTraps = Array.from({ length: 20 }, (): Situation => "rbac-trap");
    const families = new Set(assign(20, rbacTraps, seededRandom(1)).map(({ family }) => family));
    expect([...families].toSorted()).toEqual(["D1", "D4"]);
  });
});
