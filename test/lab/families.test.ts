import { afterEach, describe, expect, it } from "vitest";
import { probe } from "../../src/admission/probe.ts";
import { collect } from "../../src/admission/collect.ts";
import { identifyInstallations } from "../../src/admission/owner.ts";
import { connect, type Connection } from "../../src/kubernetes/connect.ts";
import { keyPool } from "../../src/lab/key-pool.ts";
import { startLab, type Fault, type Lab } from "../../src/lab/start.ts";
import { dryRun, look, probeNamespace, valueOf } from "../contract/observed.ts";

let lab: Lab;
let connection: Connection;
afterEach(async () => {
  connection.close();
  await lab.stop();
});

async function start(family: "A" | "B" | "C" | "D1" | "D4"): Promise<void> {
  lab = await startLab({ family, keys: keyPool(), installedAt: new Date("2026-03-01T08:00:00Z") });
  const connected = await connect({ kubeconfig: lab.kubeconfig });
  if (!connected.ok) throw new Error(connected.error.message);
  connection = connected.value;
}

describe("a healthy family", () => {
  it.each(["A", "B", "C", "D1", "D4"] as const)("%s is told by its objects, and nothing is wrong", async (family) => {
    await start(family);
    const now = (): Date => new Date();
    const snapshot = valueOf(await collect(connection.cluster, { now, probeNamespace }));
    expect(identifyInstallations(snapshot).map((each) => each.family)).toEqual([family]);
    expect((await look(connection.cluster)).kinds).toEqual([]);
    const report = await probe(connection.cluster, snapshot, {
      now,
      namespace: probeNamespace,
      changedBundles: [],
      sleep: () => Promise.resolve(),
    });
    // Hooks on queues, pod groups and topologies are not reached by a pod.
    const results = report.hooks.map(({ result }) => result).filter((result) => result !== "not-reached");
    expect(results).toEqual(["proven", "proven"]);
  });
});

describe("a fault", () => {
  const cases: readonly {
    readonly family: "B" | "C" | "D1" | "D4";
    readonly fault: Fault;
    readonly kinds: readonly string[];
    readonly admitted: boolean;
  }[] = [
    { family: "B", fault: "drift", kinds: ["bundle-stale"], admitted: false },
    { family: "C", fault: "empty-bundle", kinds: ["bundle-empty", "hook-leftover"], admitted: false },
    { family: "C", fault: "no-endpoints", kinds: ["no-ready-endpoints"], admitted: false },
    { family: "C", fault: "replicas-differ", kinds: ["bundle-stale", "replicas-differ"], admitted: false },
    { family: "D1", fault: "drift", kinds: ["bundle-stale"], admitted: false },
    { family: "D1", fault: "rbac-trap", kinds: ["bundle-stale"], admitted: false },
    {
      family: "D1",
      fault: "unknown-owner",
      kinds: ["bundle-stale", "holders-differ", "owner-unknown"],
      admitted: false,
    },
    { family: "D4", fault: "latent-drift", kinds: ["bundle-stale", "operator-down"], admitted: true },
    { family: "D4", fault: "operator-down", kinds: ["operator-down"], admitted: true },
    { family: "D4", fault: "garbage-bundle", kinds: ["bundle-unparsable", "secret-unusable"], admitted: false },
    { family: "D4", fault: "expired", kinds: ["certificate-expired"], admitted: false },
    { family: "D4", fault: "replicas-differ", kinds: ["bundle-stale", "replicas-differ"], admitted: false },
  ];

  it.each(cases)("$fault in $family is seen as $kinds, and healed", async ({ family, fault, kinds, admitted }) => {
    await start(family);
    await lab.inject(fault);
    expect((await look(connection.cluster)).kinds.toSorted()).toEqual(kinds);
    // Replicas take turns; the first or the second is the stuck one.
    const answers = [await lab.createPod(), await lab.createPod()];
    expect(answers.every((answer) => answer.admitted)).toBe(admitted);
    await lab.heal();
    expect((await look(connection.cluster)).kinds).toEqual([]);
    expect(await lab.createPod()).toEqual({ admitted: true, message: "" });
  });

  it("that a family cannot have is refused", async () => {
    await start("C");
    await expect(lab.inject("operator-down")).rejects.toThrow("family C cannot have the fault operator-down");
  });
});

describe("kai-operator", () => {
  const path = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/mutating-kai-admission";
  const emptied = { op: "add", path: "/webhooks/0/clientConfig/caBundle", value: "" } as const;

  async function bundle(): Promise<string | undefined> {
    const holder = valueOf(await connection.cluster.get(path)) as {
      webhooks: { clientConfig: { caBundle?: string } }[];
    };
    return holder.webhooks[0]?.clientConfig.caBundle;
  }

  it("takes back a bundle that somebody else has patched", async () => {
    await start("D4");
    const before = await bundle();
    valueOf(await connection.cluster.patch(path, [emptied]));
    await expect.poll(bundle).toBe(before);
  });

  it("leaves it where the operator is down", async () => {
    await start("D4");
    await lab.inject("operator-down");
    valueOf(await connection.cluster.patch(path, [emptied]));
    expect(await bundle()).toBeUndefined();
  });
});

it("asks KAI's hooks of v0.17 only for pods of KAI's scheduler", async () => {
  await start("D4");
  await lab.inject("drift");
  expect((await dryRun(connection.cluster)).ok).toBe(true);
  expect((await lab.createPod()).admitted).toBe(false);
});
