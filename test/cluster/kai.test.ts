// The installed families against the recordings of real KAI, and what each fault does to a pod create.
import { readFileSync } from "node:fs";
import path from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { openClusterUnderTest } from "./cluster-under-test.ts";
import { inject, type FaultName } from "./faults.ts";
import { holderCollection, holderPath, readBundles, writeBundle } from "./holder.ts";
import { families, type FamilyName } from "../../src/lab/kai/families.ts";
import { configsPath, deploymentsPath, servicesPath } from "./kai/helm.ts";
import { installFamily, probeNamespace, uninstall } from "./kai/install.ts";
import { secretsPath } from "./kai/pair.ts";
import type { KubeObject } from "../../src/lab/kai/kube-object.ts";
import { until } from "./until.ts";
import type { World } from "./world.ts";

let world: World;

beforeAll(async () => {
  world = await openClusterUnderTest({ mountRefreshMs: 200 });
});

afterEach(() => uninstall(world));

afterAll(() => world.stop());

const collections = {
  mutatingwebhookconfigurations: holderCollection("mutating"),
  validatingwebhookconfigurations: holderCollection("validating"),
  secrets: secretsPath,
  services: servicesPath,
  deployments: deploymentsPath,
};

// What differs from one cluster, and one run, to the next.
const ownEach = new Set(["uid", "resourceVersion", "creationTimestamp", "time", "clusterIP", "clusterIPs", "status"]);
const bytes = new Set(["caBundle", "tls.crt", "tls.key"]);

/** An object without what no two clusters have in common; of bytes only that they are there. */
function comparable(value: unknown, name = ""): unknown {
  if (bytes.has(name) && typeof value === "string") return value === "" ? "empty" : "bytes";
  if (Array.isArray(value)) return value.map((item) => comparable(item));
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([key]) => !ownEach.has(key));
  return Object.fromEntries(
    kept.map(([key, item]) => [key.startsWith('k:{"uid"') ? "k:{uid}" : key, comparable(item, key)]),
  );
}

function byName(items: readonly KubeObject[], hasManagedFields: boolean): Record<string, unknown> {
  const own = items.filter(({ metadata }) => !metadata.name.startsWith("sh.helm.release.v1."));
  return Object.fromEntries(
    own.map(({ apiVersion: _apiVersion, kind: _kind, ...object }) => {
      const { managedFields, ...metadata } = object.metadata;
      return [
        metadata.name,
        comparable({ ...object, metadata: { ...metadata, ...(hasManagedFields && { managedFields }) } }),
      ];
    }),
  );
}

const familyNames = Object.keys(families) as FamilyName[];

describe("an installed family", () => {
  it.each(familyNames)("%s has the objects of real KAI, managedFields included", async (name) => {
    await installFamily(world, name);
    for (const [kind, collection] of Object.entries(collections)) {
      const file = path.join(
        import.meta.dirname,
        "..",
        "..",
        "src",
        "lab",
        "kai",
        "recorded",
        families[name].version,
        `${kind}.yaml`,
      );
      const recorded = (parse(readFileSync(file, "utf8")) as { items: readonly KubeObject[] }).items;
      const { items } = await world.admin.list<KubeObject>(collection);
      // The recordings of these two kinds were made without managedFields.
      const hasManagedFields = !["services", "deployments"].includes(kind);
      // The operator rolls its scheduler twice, for a ConfigMap that is not played here.
      const same = ({ metadata }: KubeObject): boolean => metadata.name !== "kai-scheduler-default";
      const expected = byName(recorded.filter(same), hasManagedFields);
      expect(byName(items.filter(same), hasManagedFields), kind).toEqual(expected);
    }
  });
});

describe("the operator", () => {
  it.each(["D1", "D4"] as const)("of family %s takes a patched bundle back at once", async (name) => {
    const { admission } = await installFamily(world, name);
    for (const holder of admission.holders) {
      const before = await readBundles(world.admin, holder);
      await writeBundle(world.as("admin", "kubectl-patch"), holder, "patched by hand\n");
      await until(
        "the bundle is back",
        async () => (await readBundles(world.admin, holder)).join() === before.join(),
        2000,
      );
    }
  });

  it.each(["operator-down", "operator-blind"] as const)(
    "does not take a patched bundle back when it is %s",
    async (fault) => {
      const installed = await installFamily(world, "D1");
      await inject(installed, fault);
      const holder = { kind: "mutating", name: "mutating-kai-admission" } as const;
      await writeBundle(world.as("admin", "kubectl-patch"), holder, "patched by hand\n");
      // Ten times what a working operator takes.
      await new Promise((resolve) => setTimeout(resolve, 500));
      expect(await readBundles(world.admin, holder)).toEqual(["patched by hand\n"]);
    },
  );

  it("makes a new pair for a Secret that was deleted, and copies it into the bundles", async () => {
    const { admission } = await installFamily(world, "D1");
    const holder = { kind: "mutating", name: "mutating-kai-admission" } as const;
    const [before] = await readBundles(world.admin, holder);
    await world.admin.remove(`${secretsPath}/${admission.secret}`);
    await until("the bundle is another", async () => (await readBundles(world.admin, holder))[0] !== before, 5000);
    expect((await world.admin.get(`${secretsPath}/${admission.secret}`)).metadata.ownerReferences?.[0]?.kind).toBe(
      "Config",
    );
  });
});

async function dryRuns(count: number): Promise<readonly string[]> {
  const pod = {
    metadata: { name: "probe" },
    spec: { schedulerName: "kai-scheduler", containers: [{ name: "main", image: "REGISTRY/pause" }] },
  };
  const call = { body: pod, query: { dryRun: "All" } };
  const seen: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const answer = await world
      .as("prove", "fleetmend")
      .request("POST", `/api/v1/namespaces/${probeNamespace}/pods`, call);
    seen.push(answer.status === 201 ? "admitted" : ((answer.body as { message?: string }).message ?? ""));
  }
  return seen;
}

const stale = /possibly because of "x509: invalid signature: parent certificate cannot sign this kind of certificate"/;
const unknown = /x509: certificate signed by unknown authority$/;

const outcomes: readonly [FamilyName, FaultName, RegExp][] = [
  ["A", "drift", stale],
  ["A", "latent-drift", /^admitted$/],
  ["A", "empty-bundle", unknown],
  ["A", "garbage-bundle", /unable to load root certificates: unable to parse bytes as PEM block$/],
  ["A", "expired", /x509: certificate has expired or is not yet valid: current time .* is after /],
  ["A", "wrong-name", /x509: certificate is valid for binder.another-namespace.svc, not binder.kai-scheduler.svc$/],
  ["A", "key-mismatch", /^admitted$/],
  ["A", "stale-pod", stale],
  ["A", "one-holder", /binder.kai-scheduler.svc:443\/validate--v1-pod.*parent certificate cannot sign/],
  ["A", "unknown-owner", /failed calling webhook "pod-defaults.robotics.example".*parent certificate cannot sign/],
  ["A", "no-endpoints", /dial tcp 10\.96\.\d+\.\d+:443: connect: connection refused$/],
  ["C", "drift", /failed calling webhook "admission.run.ai".*parent certificate cannot sign/],
  ["D1", "drift", stale],
  ["D1", "latent-drift", /^admitted$/],
  ["D1", "empty-bundle", unknown],
  ["D1", "garbage-bundle", /unable to parse bytes as PEM block$/],
  ["D1", "expired", /x509: certificate has expired/],
  [
    "D1",
    "wrong-name",
    /x509: certificate is valid for admission.another-namespace.svc, not admission.kai-scheduler.svc$/,
  ],
  ["D1", "key-mismatch", stale],
  ["D1", "stale-pod", stale],
  ["D1", "one-holder", /admission.kai-scheduler.svc:443\/validate--v1-pod.*parent certificate cannot sign/],
  ["D1", "operator-down", /^admitted$/],
  ["D1", "operator-blind", /^admitted$/],
  ["D1", "rbac-trap", stale],
  ["D4", "drift", stale],
  ["D4", "operator-blind", /^admitted$/],
];

describe("a fault", () => {
  it.each(outcomes)("in family %s: %s answers a pod create with %s", async (family, fault, answer) => {
    await inject(await installFamily(world, family), fault);
    // The API server learns of a changed configuration by a watch.
    await until("it is felt", async () => (await dryRuns(1)).every((seen) => answer.test(seen)));
    for (const seen of await dryRuns(2)) expect(seen).toMatch(answer);
  });

  it.each(["A", "D1"] as const)(
    "in family %s: replicas-differ refuses some pod creates and admits others",
    async (family) => {
      await inject(await installFamily(world, family), "replicas-differ");
      world.admission.requestsPerConnection = 1;
      const seen = await dryRuns(24);
      expect(seen.filter((answer) => answer === "admitted")).not.toEqual([]);
      expect(seen.filter((answer) => answer.includes("parent certificate cannot sign"))).not.toEqual([]);
    },
  );
});

// Last, because the garbage collector needs half a minute to learn of the kind that owns everything.
describe("the garbage collector", () => {
  it("removes what the operator made when kai-config is deleted", async () => {
    await installFamily(world, "D1");
    await world.admin.remove(`${configsPath}/kai-config`, { propagationPolicy: "Background" });
    const paths = [holderPath({ kind: "mutating", name: "mutating-kai-admission" }), `${deploymentsPath}/admission`];
    await until("its objects are gone", async () => {
      const answers = await Promise.all(paths.map((gone) => world.admin.request("GET", gone)));
      return answers.every(({ status }) => status === 404);
    });
  });
});
