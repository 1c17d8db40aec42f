// Families and owners, on every recorded installation and on changes to them. Expected values are docs/kai-families.md's.
import { describe, expect, it } from "vitest";
import { collect } from "../../src/admission/collect.ts";
import type { Installation } from "../../src/admission/installation.ts";
import { identifyInstallations } from "../../src/admission/owner.ts";
import { serve } from "./recorded-cluster.ts";
import type { HolderObject, Recording } from "./recorded-objects.ts";
import { recording } from "./recorded-objects.ts";

async function installationsOf(recorded: Recording): Promise<readonly Installation[]> {
  const snapshot = await collect(serve(recorded), {
    now: () => new Date("2026-12-01T00:00:00Z"),
    probeNamespace: "osmo-workflows",
  });
  if (!snapshot.ok) throw new Error(snapshot.error.message);
  return identifyInstallations(snapshot.value);
}

const brief = (installations: readonly Installation[]) =>
  installations.map(({ family, owner, namespace, hooks }) => `${family} ${owner} ${namespace} ${hooks.length}`);

function pick<T extends { metadata: { name: string } }>(objects: readonly T[], name: string): T {
  const found = objects.find(({ metadata }) => metadata.name === name);
  if (found === undefined) throw new Error(`${name} was not recorded`);
  return found;
}

function setOperatorImage({ deployments }: Recording, image: string): void {
  const [container] = pick(deployments, "kai-operator").spec.template.spec.containers;
  if (container !== undefined) container.image = image;
}

function without<T extends { metadata: { name: string } }>(objects: readonly T[], name: string): T[] {
  return objects.filter(({ metadata }) => metadata.name !== name);
}

describe("the family of a recorded installation", () => {
  it.each([
    ["v0.5.5", "A kai-helm-hooks kai-scheduler 2", "helm"],
    ["v0.5.5-post-hook-never-ran", "A kai-helm-hooks kai-scheduler 2", "helm"],
    ["v0.7.12", "B kai-helm-hooks kai-scheduler 3", "helm"],
    ["v0.8.5", "C kai-helm-hooks kai-scheduler 3", "helm"],
    ["v0.9.14", "D0 kai-operator kai-scheduler 3", "helm"],
    ["v0.20.1", "D1 kai-operator kai-scheduler 4", "helm"],
    ["v0.20.1-upgraded-from-v0.5.5", "D1 kai-operator kai-scheduler 4", "helm"],
    ["v0.14.0", "D3 kai-operator kai-scheduler 4", "helm"],
    ["v0.17.0", "D4 kai-operator kai-scheduler 5", "helm"],
  ])("%s is %s", async (version, expected, deliveredBy) => {
    const installations = await installationsOf(recording(version));
    expect(brief(installations)).toEqual([expected]);
    expect(installations.map((one) => one.deliveredBy)).toEqual([deliveredBy]);
  });

  it("is told without a Secret of an older family, which is no source of truth", async () => {
    const recorded = recording("v0.20.1-upgraded-from-v0.5.5");
    expect(recorded.secrets.map(({ metadata }) => metadata.name)).toContain("binder-webhook-tls-secret");
    const cluster = serve(recorded);
    await collect(cluster, { now: () => new Date("2026-12-01T00:00:00Z"), probeNamespace: "osmo-workflows" });
    expect(cluster.asked.filter((request) => request.includes("binder-webhook-tls-secret"))).toEqual([]);
  });
});

const changes: readonly {
  readonly name: string;
  readonly of: string;
  readonly change: (recorded: Recording) => void;
  readonly expected: readonly string[];
}[] = [
  {
    name: "calls configurations with the oldest names A0",
    of: "v0.5.5",
    change: ({ mutating, validating }) => {
      pick(mutating, "kai-binder").metadata.name = "mutating-binder";
      pick(validating, "kai-binder").metadata.name = "validating-binder";
    },
    expected: ["A0 kai-helm-hooks kai-scheduler 2"],
  },
  {
    name: "knows B by the queue's server where the queue hook is gone",
    of: "v0.7.12",
    change: (recorded) => (recorded.validating = without(recorded.validating, "kai-queuecontroller")),
    expected: ["B kai-helm-hooks kai-scheduler 2"],
  },
  {
    name: "claims no family for the queue hook alone, which B and C share",
    of: "v0.8.5",
    change: (recorded) => {
      recorded.mutating = [];
      recorded.validating = without(recorded.validating, "kai-admission");
    },
    expected: ["unknown kai-helm-hooks kai-scheduler 1"],
  },
  {
    name: "claims no family for kai-binder hooks whose Deployment mounts no certificate any more",
    of: "v0.8.5",
    change: (recorded) => {
      const old = recording("v0.5.5");
      recorded.mutating.push(...old.mutating);
      recorded.validating.push(...old.validating);
    },
    expected: ["C kai-helm-hooks kai-scheduler 3", "unknown kai-helm-hooks kai-scheduler 2"],
  },
  {
    name: "sees two installations where an upgrade to D stopped half way",
    of: "v0.20.1",
    change: (recorded) => {
      const old = recording("v0.5.5");
      recorded.mutating.push(...old.mutating);
      recorded.validating.push(...old.validating);
    },
    expected: ["unknown kai-helm-hooks kai-scheduler 2", "D1 kai-operator kai-scheduler 4"],
  },
  {
    name: "knows D1 by podgroup-controller's certificate where the podgroup hook is switched off",
    of: "v0.20.1",
    change: (recorded) => (recorded.validating = without(recorded.validating, "kai-podgroup-validation-v2alpha2")),
    expected: ["D1 kai-operator kai-scheduler 3"],
  },
  {
    name: "knows D1 by kai-config where podgroup-controller is switched off altogether",
    of: "v0.20.1",
    change: (recorded) => {
      recorded.validating = without(recorded.validating, "kai-podgroup-validation-v2alpha2");
      recorded.deployments = without(recorded.deployments, "podgroup-controller");
      if (recorded.kaiConfig) {
        recorded.kaiConfig.spec.podGroupController = { webhooks: { enableValidation: false } };
      }
      setOperatorImage(recorded, "mirror.example/kai@sha256:0000");
    },
    expected: ["D1 kai-operator kai-scheduler 3"],
  },
  {
    name: "says D0–D1 where neither podgroup-controller nor kai-config nor the image tells",
    of: "v0.20.1",
    change: (recorded) => {
      recorded.validating = without(recorded.validating, "kai-podgroup-validation-v2alpha2");
      recorded.deployments = without(recorded.deployments, "podgroup-controller");
      setOperatorImage(recorded, "mirror.example/kai@sha256:0000");
    },
    expected: ["D0–D1 kai-operator kai-scheduler 3"],
  },
  {
    name: "says D2 where the objects are D2's or D3's and the operator's image is v0.13",
    of: "v0.14.0",
    change: (recorded) => {
      setOperatorImage(recorded, "mirror.example:5000/kai/operator:v0.13.4");
    },
    expected: ["D2 kai-operator kai-scheduler 4"],
  },
  {
    name: "says D2–D3 where the image's tag is a mirror's own",
    of: "v0.14.0",
    change: (recorded) => {
      setOperatorImage(recorded, "mirror.example:5000/kai/operator:stable");
    },
    expected: ["D2–D3 kai-operator kai-scheduler 4"],
  },
  {
    name: "claims no family where the image makes other objects than there are",
    of: "v0.14.0",
    change: (recorded) => {
      setOperatorImage(recorded, "mirror.example/kai/operator:v0.20.1");
    },
    expected: ["unknown kai-operator kai-scheduler 4"],
  },
  {
    name: "claims no family where only one pod hook has matchConditions",
    of: "v0.14.0",
    change: ({ mutating }) => {
      for (const { webhooks } of mutating) for (const webhook of webhooks) delete webhook.matchConditions;
    },
    expected: ["unknown kai-operator kai-scheduler 4"],
  },
  {
    name: "knows custom configuration names by entry, Service and path",
    of: "v0.17.0",
    change: ({ mutating, validating }) => {
      pick(mutating, "mutating-kai-admission").metadata.name = "team-a-mutating";
      pick(validating, "validating-kai-admission").metadata.name = "team-a-validating";
    },
    expected: ["D4 kai-operator kai-scheduler 5"],
  },
  {
    name: "claims no family for a KAI entry that calls another path, and keeps it apart",
    of: "v0.5.5",
    change: ({ mutating }) => {
      const [webhook] = pick(mutating, "kai-binder").webhooks;
      if (webhook?.clientConfig.service) webhook.clientConfig.service.path = "/mutate";
    },
    expected: ["unknown kai-helm-hooks kai-scheduler 1", "A kai-helm-hooks kai-scheduler 1"],
  },
  {
    name: "claims no family for a KAI entry that is called by URL",
    of: "v0.5.5",
    change: ({ mutating, validating }) => {
      for (const { webhooks } of [...mutating, ...validating]) {
        for (const webhook of webhooks) webhook.clientConfig = { url: "https://binder.example/mutate--v1-pod" };
      }
    },
    expected: ["unknown kai-helm-hooks kai-scheduler 1", "unknown kai-helm-hooks kai-scheduler 1"],
  },
  {
    name: "keeps a stranger's hook that calls KAI's Service, of no family, no owner and no delivery",
    of: "v0.5.5",
    change: ({ mutating }) => {
      const stranger: HolderObject = structuredClone(pick(mutating, "kai-binder"));
      stranger.metadata.name = "robotics-pod-defaults";
      for (const webhook of stranger.webhooks) webhook.name = "pod-defaults.robotics.example";
      mutating.push(stranger);
    },
    expected: ["A kai-helm-hooks kai-scheduler 2", "unknown unknown kai-scheduler 1"],
  },
  {
    name: "leaves a stranger's hook on /mutate--v1-pod alone",
    of: "v0.5.5",
    change: ({ mutating }) => {
      const stranger: HolderObject = structuredClone(pick(mutating, "kai-binder"));
      stranger.metadata.name = "stranger";
      for (const webhook of stranger.webhooks) {
        webhook.name = "mpod.stranger.example";
        if (webhook.clientConfig.service) webhook.clientConfig.service.name = "webhook-service";
      }
      mutating.push(stranger);
    },
    expected: ["A kai-helm-hooks kai-scheduler 2"],
  },
];

describe("the family by objects", () => {
  it.each(changes)("$name", async ({ of, change, expected }) => {
    const recorded = recording(of);
    change(recorded);
    expect(brief(await installationsOf(recorded))).toEqual(expected);
  });
});

function mark(
  recorded: Recording,
  marks: { labels?: Record<string, string>; annotations?: Record<string, string> },
): void {
  for (const { metadata } of [...recorded.mutating, ...recorded.validating]) {
    metadata.labels = marks.labels ?? {};
    metadata.annotations = marks.annotations ?? {};
  }
}

describe("the owner", () => {
  it.each([
    {
      name: "cert-manager where cainjector is told to inject",
      marks: { annotations: { "cert-manager.io/inject-ca-from": "kai-scheduler/binder" } },
      expected: ["A", "cert-manager", undefined],
    },
    {
      name: "platform where AKS manages the object",
      marks: { labels: { "kubernetes.azure.com/managedby": "aks" } },
      expected: ["A", "platform", undefined],
    },
    {
      name: "platform where the addon manager does",
      marks: { labels: { "addonmanager.kubernetes.io/mode": "Reconcile" } },
      expected: ["A", "platform", undefined],
    },
    {
      name: "kai-helm-hooks where Argo CD renders the chart",
      marks: { annotations: { "argocd.argoproj.io/tracking-id": "kai:admissionregistration.k8s.io/x:/kai-binder" } },
      expected: ["A", "kai-helm-hooks", "argo-cd"],
    },
    {
      name: "kai-helm-hooks where Flux makes the release",
      marks: {
        annotations: { "meta.helm.sh/release-name": "kai" },
        labels: { "helm.toolkit.fluxcd.io/name": "kai" },
      },
      expected: ["A", "kai-helm-hooks", "flux"],
    },
    {
      name: "unknown where a label says Helm and no release is named",
      marks: { labels: { "app.kubernetes.io/managed-by": "Helm" } },
      expected: ["A", "unknown", undefined],
    },
  ])("of hooks of family A is $name", async ({ marks, expected }) => {
    const recorded = recording("v0.5.5");
    mark(recorded, marks);
    const installations = await installationsOf(recorded);
    expect(installations.map((one) => [one.family, one.owner, one.deliveredBy])).toEqual([expected]);
  });

  it("is kai-operator by ownerReference, also where the operator is gone", async () => {
    const recorded = recording("v0.17.0");
    recorded.deployments = without(recorded.deployments, "kai-operator");
    expect(brief(await installationsOf(recorded))).toEqual(["D4 kai-operator kai-scheduler 5"]);
  });

  it("is kai-operator by its presence, also where the ownerReference is gone", async () => {
    const recorded = recording("v0.17.0");
    for (const { metadata } of [...recorded.mutating, ...recorded.validating]) delete metadata.ownerReferences;
    expect(brief(await installationsOf(recorded))).toEqual(["D4 kai-operator kai-scheduler 5"]);
  });

  it("is unknown where neither ownerReference nor operator is there", async () => {
    const recorded = recording("v0.17.0");
    recorded.deployments = without(recorded.deployments, "kai-operator");
    for (const { metadata } of [...recorded.mutating, ...recorded.validating]) delete metadata.ownerReferences;
    expect(brief(await installationsOf(recorded))).toEqual(["D4 unknown kai-scheduler 5"]);
  });

  it("does not change with the last writer: drift by hand, repair, drift again", async () => {
    const recorded = recording("v0.5.5");
    const seen: string[] = [];
    for (const manager of ["webhookmanager", "kubectl-edit", "fleetmend", "kubectl-patch", "fleetmend"]) {
      for (const { metadata } of [...recorded.mutating, ...recorded.validating]) {
        const fields = metadata.managedFields?.find((one) => JSON.stringify(one.fieldsV1).includes("f:caBundle"));
        if (fields !== undefined) fields.manager = manager;
      }
      const [installation] = await installationsOf(recorded);
      const writers = installation?.hooks.map((hook) => hook.bundleWriter?.manager) ?? [];
      seen.push(`${installation?.family ?? ""} ${installation?.owner ?? ""} ${writers.join()}`);
    }
    expect(seen).toEqual([
      "A kai-helm-hooks webhookmanager,webhookmanager",
      "A kai-helm-hooks kubectl-edit,kubectl-edit",
      "A kai-helm-hooks fleetmend,fleetmend",
      "A kai-helm-hooks kubectl-patch,kubectl-patch",
      "A kai-helm-hooks fleetmend,fleetmend",
    ]);
  });
});
