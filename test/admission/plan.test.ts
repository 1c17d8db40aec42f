// What a plan says and what it never says, on worlds that collect has looked at. Whole repairs are in mend.test.ts.
import { webcrypto } from "node:crypto";
import { describe, expect, it } from "vitest";
import { collect } from "../../src/admission/collect.ts";
import type { Finding } from "../../src/admission/finding.ts";
import { patchOf, restartPatchOf } from "../../src/admission/mend-patch.ts";
import { planRepair } from "../../src/admission/plan.ts";
import type { Plan, Step } from "../../src/admission/repair-plan.ts";
import type { ClusterSnapshot } from "../../src/admission/snapshot.ts";
import { mintKaiCertificate } from "../../src/trust/mint.ts";
import { generation, kaiWorld, pairOf, startOfWorld, type KaiVersion, type KaiWorld } from "./kai-world.ts";
import { applyJsonPatch, type Json } from "./memory-api.ts";

async function look(world: KaiWorld): Promise<ClusterSnapshot> {
  const looked = await collect(world.memory.api(), { now: world.now, probeNamespace: "osmo-workflows" });
  if (!looked.ok) throw new Error(looked.error.message);
  return looked.value;
}

async function planOf(world: KaiWorld, findings: readonly Finding[] = []): Promise<Plan> {
  return planRepair(await look(world), findings, { allowOutage: false });
}

/** The Secret has moved on; the pods have followed (`drift`) or will (`lag`). */
async function worldAfter(version: KaiVersion, what: "drift" | "lag", operator?: "blind" | "down"): Promise<KaiWorld> {
  const world = await kaiWorld({ version, ...(operator && { operator }) });
  const service = world.podWebhookService;
  const next = await generation(world.workload(service).serverName, 1);
  world.writeSecret(service, pairOf(next), "webhookmanager");
  if (what === "drift") world.pass(90);
  return world;
}

const kubectlPatch = /^kubectl patch (\S+) (\S+) (?:-n \S+ )?--type=json -p '(.+)'$/;

describe("a plan", () => {
  it("shows the whole way, and its next step is the first of it", async () => {
    const plan = await planOf(await worldAfter("v0.5.5", "lag"));
    expect(plan.next).toEqual({ do: "step", step: plan.steps[0] });
    expect(plan.steps.map(({ action }) => action)).toMatchObject([
      { kind: "set-bundle", phase: "widen" },
      { kind: "set-bundle", phase: "widen" },
      { kind: "set-bundle", phase: "narrow" },
      { kind: "set-bundle", phase: "narrow" },
    ]);
  });

  it("expects of a later step what an earlier one will have written", async () => {
    const world = await worldAfter("v0.5.5", "lag");
    const { steps } = await planOf(world);
    let holder = world.memory.objects.get(
      "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/kai-binder",
    ) as unknown as Json | undefined;
    for (const step of steps.filter((one) => one.summary.startsWith("Mutating"))) {
      if (step.action.kind !== "set-bundle" || holder === undefined) throw new Error("a step of another kind");
      holder = applyJsonPatch(holder, patchOf(step.action).operations);
    }
    const { secretPath } = world.workload("binder");
    const secret = world.memory.objects.get(secretPath)?.data as Record<string, string>;
    expect(holder).toMatchObject({ webhooks: [{ clientConfig: { caBundle: secret["tls.crt"] } }] });
  });

  it.each([
    { version: "v0.5.5", what: "drift" },
    { version: "v0.5.5", what: "lag" },
    { version: "v0.17.0", what: "lag" },
    { version: "v0.17.0", what: "drift", operator: "down" },
  ] as const)(
    "has an undo that a person can type and that undoes: $version, $what",
    async ({ version, what, ...rest }) => {
      const world = await worldAfter(version, what, "operator" in rest ? rest.operator : undefined);
      const { next } = await planOf(world);
      if (next.do !== "step" || next.step.action.kind === "restart-deployment") throw new Error("no step");
      const patch = patchOf(next.step.action);
      const before = world.memory.objects.get(patch.path) as unknown as Json;
      const done = applyJsonPatch(before, patch.operations);
      const undo = JSON.parse(kubectlPatch.exec(next.step.undo)?.[3] ?? "[]") as Parameters<typeof applyJsonPatch>[1];
      expect(undo.length).toBeGreaterThan(0);
      const undone = applyJsonPatch(done ?? null, undo) as Record<string, unknown>;
      expect(undone).toMatchObject(withoutMetadata(before));
    },
  );

  it("names in its steps only what was found", async () => {
    const hook = {
      holderKind: "MutatingWebhookConfiguration",
      holder: "kai-binder",
      index: 0,
      name: "binder.run.ai",
    };
    const finding: Finding = {
      kind: "owner-unknown",
      hook,
      evidence: [],
      severity: "info",
      object: "x",
      fixableBy: "nobody-needed",
    };
    const empty: Finding = {
      kind: "bundle-wider-than-needed",
      hook,
      unused: [],
      severity: "info",
      object: "x",
      fixableBy: "fleetmend",
    };
    const plan = await planOf(await worldAfter("v0.5.5", "lag"), [finding, empty]);
    expect(plan.steps.map(({ cures }) => cures)).toEqual([
      [],
      [],
      ["bundle-wider-than-needed"],
      ["bundle-wider-than-needed"],
    ]);
  });

  it("is the same for the same snapshot", async () => {
    const snapshot = await look(await worldAfter("v0.17.0", "lag"));
    const plan = (): Plan => planRepair(snapshot, [], { allowOutage: false });
    expect(plan()).toEqual(plan());
  });
});

describe("no step", () => {
  it.each([
    { owner: "cert-manager", annotations: { "cert-manager.io/inject-ca-from": "kai/ca" }, labels: {} },
    { owner: "platform", annotations: {}, labels: { "kubernetes.azure.com/managedby": "aks" } },
    { owner: "unknown", annotations: { "meta.helm.sh/release-name": undefined }, labels: {} },
  ])("is made for a bundle that $owner writes", async ({ owner, annotations, labels }) => {
    const world = await worldAfter("v0.5.5", "drift");
    for (const kind of ["mutating", "validating"]) {
      const path = `/apis/admissionregistration.k8s.io/v1/${kind}webhookconfigurations/kai-binder`;
      const object = world.memory.objects.get(path) ?? { metadata: {} };
      const metadata = {
        ...object.metadata,
        annotations: JSON.parse(
          JSON.stringify({ ...(object.metadata.annotations as object), ...annotations }),
        ) as unknown,
        labels: { ...(object.metadata.labels as object), ...labels },
      };
      world.memory.put(path, { ...object, metadata }, "kubectl");
    }
    const snapshot = await look(world);
    const plan = planRepair(snapshot, [], { allowOutage: true });
    expect({ owner, ...plan }).toEqual({ owner, next: { do: "nothing" }, steps: [], advice: [] });
  });

  it("is made from a verdict that is undetermined", async () => {
    const world = await kaiWorld({ version: "v0.5.5" });
    // Go takes such a short key until 1.23 and refuses it from 1.24 on, and which Go it is was not seen.
    const algorithm = { name: "RSASSA-PKCS1-v1_5", modulusLength: 512, publicExponent: Buffer.from([1, 0, 1]) };
    const keys = await webcrypto.subtle.generateKey({ ...algorithm, hash: "SHA-256" }, true, ["sign", "verify"]);
    const { serverName } = world.workload("binder");
    world.setLoaded("binder", pairOf(await mintKaiCertificate({ serverName, notBefore: startOfWorld, keys })));
    const why = { kind: "forbidden", message: "no" } as const;
    const snapshot = { ...(await look(world)), server: { seen: false, why } } as const;
    expect(planRepair(snapshot, [], { allowOutage: true })).toEqual({ next: { do: "nothing" }, steps: [], advice: [] });
  });

  it("is made for a holder that is being deleted", async () => {
    const snapshot = await look(await worldAfter("v0.5.5", "drift"));
    const hooks = snapshot.hooks.map((hook) => ({ ...hook, holder: { ...hook.holder, deleting: true } }));
    expect(planRepair({ ...snapshot, hooks }, [], { allowOutage: true }).next).toEqual({ do: "nothing" });
  });
});

describe("the never-list", () => {
  const allowed = [
    /^\/webhooks\/\d+\/clientConfig\/caBundle$/,
    /^\/data\/tls\.crt$/,
    /^\/metadata\/annotations\/fleetmend~1(added-certificates|reconcile-requested)$/,
    /^\/spec\/template\/metadata\/annotations\/kubectl\.kubernetes\.io~1restartedAt$/,
  ];
  const wholeMaps = ["/metadata/annotations", "/spec/template/metadata/annotations"];

  it.each([
    { version: "v0.5.5", what: "drift" },
    { version: "v0.5.5", what: "lag" },
    { version: "v0.8.5", what: "lag" },
    { version: "v0.9.14", what: "lag" },
    { version: "v0.17.0", what: "lag" },
    { version: "v0.20.1", what: "drift", operator: "blind" },
    { version: "v0.20.1", what: "lag", operator: "blind" },
    { version: "v0.17.0", what: "lag", operator: "down" },
  ] as const)("holds in every step of a plan: $version, $what", async ({ version, what, ...rest }) => {
    const world = await worldAfter(version, what, "operator" in rest ? rest.operator : undefined);
    const { steps } = await planOf(world);
    expect(steps.length).toBeGreaterThan(0);
    for (const operation of steps.flatMap(writesOf)) {
      const isAllowed =
        allowed.some((pattern) => pattern.test(operation.path)) ||
        (wholeMaps.includes(operation.path) && "value" in operation && keysOf(operation.value).every(isOurs));
      expect(isAllowed, operation.path).toBe(true);
    }
  });

  const isOurs = (key: string): boolean => key.startsWith("fleetmend/") || key === "kubectl.kubernetes.io/restartedAt";
  const keysOf = (value: unknown): string[] => Object.keys(value as object);

  function writesOf({ action }: Step) {
    const patch =
      action.kind === "restart-deployment"
        ? restartPatchOf(action, undefined)
        : patchOf(action.kind === "set-bundle" ? action : { ...action, expectedResourceVersion: "1" });
    return patch.operations.filter(({ op }) => op !== "test");
  }
});

function withoutMetadata(object: Json): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object as Record<string, unknown>).filter(([key]) => key !== "metadata"));
}
