// What is left to a person: each finding that fleetmend does not repair by itself has a sentence and a command, and what the
// owner's way costs depends on whether anything is left to lose.
import { beforeAll, describe, expect, it } from "vitest";
import { collect } from "../../src/admission/collect.ts";
import type { Evidence, Finding, HookReference } from "../../src/admission/finding.ts";
import { identifyInstallations } from "../../src/admission/owner.ts";
import { adviceFor } from "../../src/admission/plan-advice.ts";
import type { Advice } from "../../src/admission/repair-plan.ts";
import type { ClusterSnapshot } from "../../src/admission/snapshot.ts";
import type { CertificateSummary } from "../../src/trust/verdict.ts";
import { kaiWorld, startOfWorld, type KaiVersion } from "./kai-world.ts";

const snapshots = new Map<KaiVersion, ClusterSnapshot>();

beforeAll(async () => {
  for (const version of ["v0.5.5", "v0.17.0"] as const) {
    const world = await kaiWorld({ version });
    const looked = await collect(world.memory.api(), { now: world.now, probeNamespace: "osmo-workflows" });
    if (looked.ok) snapshots.set(version, looked.value);
  }
});

const hookOf = (version: KaiVersion): HookReference => ({
  holderKind: "MutatingWebhookConfiguration",
  holder: version === "v0.5.5" ? "kai-binder" : "mutating-kai-admission",
  index: 0,
  name: version === "v0.5.5" ? "binder.run.ai" : "admission.kai-scheduler.svc",
});

const certificate: CertificateSummary = {
  fingerprint: "ab",
  keyFingerprint: "cd",
  name: "binder.kai-scheduler.svc",
  issuerName: "binder.kai-scheduler.svc",
  notBefore: startOfWorld,
  notAfter: startOfWorld,
  dnsNames: [],
  ipAddresses: [],
};

const refused = (version: KaiVersion) => ({
  hook: hookOf(version),
  serverName: "binder.kai-scheduler.svc",
  bundle: [],
  served: { pods: ["binder-1"], servedFrom: "handshake" as const },
  readyPods: 1,
  goText: "",
  cause: { kind: "not-a-ca" } as const,
});

function advise(version: KaiVersion, evidence: Evidence, rest: Partial<Finding> = {}): readonly Advice[] {
  const snapshot = snapshots.get(version);
  if (snapshot === undefined) throw new Error("not looked at");
  const finding = { severity: "broken", fixableBy: "person", object: "x", ...rest, ...evidence } as Finding;
  return adviceFor(snapshot, identifyInstallations(snapshot), [finding]);
}

const binderSecret = "kai-scheduler/binder-webhook-tls-secret";
const admissionSecret = "kai-scheduler/kai-admission-webhook-tls-secret";

describe("a pair that cannot be used", () => {
  it.each([
    {
      name: "refused already, made by helm's hooks",
      version: "v0.5.5",
      evidence: { kind: "certificate-expired", ...refused("v0.5.5") },
      price: "It costs nothing more",
      last: "kubectl rollout restart deployment/binder -n kai-scheduler",
    },
    {
      name: "accepted while the pods keep the old one, made by helm's hooks",
      version: "v0.5.5",
      evidence: { kind: "secret-key-mismatch", secret: binderSecret, detail: "no", servedBy: [] },
      price: "until the kubelet has refreshed the mount",
      last: "fleetmend repair",
    },
    {
      name: "refused already, made by the operator",
      version: "v0.17.0",
      evidence: { kind: "certificate-wrong-name", ...refused("v0.17.0") },
      price: "It costs nothing more",
      last: "kubectl rollout restart deployment/admission -n kai-scheduler",
    },
    {
      name: "accepted while the pods keep the old one, made by the operator",
      version: "v0.17.0",
      evidence: { kind: "secret-absent", secret: admissionSecret, servedBy: [] },
      price: "from then on every call is refused",
      last: "fleetmend repair",
    },
  ] as const)("has its price: $name", ({ version, evidence, price, last }) => {
    const [advice, ...more] = advise(version, evidence);
    expect(more).toEqual([]);
    expect(advice?.sentence).toContain(price);
    expect(advice?.commands.at(-1)).toBe(last);
  });

  it("of an operator is named by the Secret that the pods mount", () => {
    const [advice] = advise("v0.17.0", { kind: "certificate-expired", ...refused("v0.17.0") });
    expect(advice?.commands).toContain("kubectl delete secret kai-admission-webhook-tls-secret -n kai-scheduler");
  });

  it("of helm is named by the release that made the hook", () => {
    const [advice] = advise("v0.5.5", { kind: "certificate-expired", ...refused("v0.5.5") });
    expect(advice?.commands[1]).toBe(
      "helm upgrade kai-scheduler <chart> --version <installed> -n kai-scheduler -f values.yaml",
    );
  });
});

describe("advice", () => {
  const binder = "kai-scheduler/binder";
  it.each([
    { kind: "service-missing", service: binder, hooks: [hookOf("v0.5.5")] },
    { kind: "no-ready-endpoints", service: binder, hooks: [], pods: ["binder-1"] },
    { kind: "service-port-missing", service: binder, port: 443, hooks: [hookOf("v0.5.5")] },
    { kind: "service-unroutable", service: binder, serviceType: "ExternalName", hooks: [hookOf("v0.5.5")] },
    {
      kind: "pod-not-serving",
      service: binder,
      pods: ["binder-1"],
      readyPods: 1,
      port: 9443,
      because: "refused",
      detail: "connection refused",
      hooks: [],
    },
    { kind: "operator-down", deployment: "kai-scheduler/kai-operator", replicas: 1, ready: 0 },
    { kind: "operator-absent", namespace: "kai-scheduler" },
    { kind: "secret-bad-certificate", secret: binderSecret, certificate, serverName: "x", cause: { kind: "not-a-ca" } },
    { kind: "certificate-not-yet-valid", ...refused("v0.5.5") },
    { kind: "next-certificate-refused", ...refused("v0.5.5") },
    {
      kind: "hook-leftover",
      leftover: { kind: "Job", namespace: "kai-scheduler", name: "pre-install-hook", state: "complete" },
    },
    { kind: "not-seen", what: "pods/portforward", reason: "forbidden" },
  ] as const satisfies readonly Evidence[])("of $kind has a sentence and a command", (evidence) => {
    const [advice, ...more] = advise("v0.5.5", evidence);
    expect(more).toEqual([]);
    expect(advice?.sentence).toMatch(/^[A-Za-z].*\.$/);
    expect(advice?.commands.length).toBeGreaterThan(0);
    expect(advice?.commands.join(" ")).not.toContain("undefined");
  });

  it.each([
    { likely: "no-right-to-update", first: "kubectl auth can-i update mutatingwebhookconfigurations/" },
    { likely: "missing-cluster-policy-crd", first: "kubectl get crd clusterpolicies.nvidia.com" },
    { likely: "unknown", first: "kubectl logs deployment/kai-operator -n kai-scheduler" },
  ] as const)("of a blind operator begins with its likely cause: $likely", ({ likely, first }) => {
    const [advice] = advise("v0.17.0", {
      kind: "operator-blind",
      deployment: "kai-scheduler/kai-operator",
      hook: hookOf("v0.17.0"),
      bundle: [],
      secret: [],
      unchangedSince: startOfWorld,
      likely,
    });
    expect(advice?.commands[0]).toContain(first);
  });

  it("is not given for what fleetmend repairs itself, nor for what needs nobody", () => {
    expect(advise("v0.5.5", { kind: "bundle-stale", ...refused("v0.5.5") }, { fixableBy: "fleetmend" })).toEqual([]);
    expect(
      advise(
        "v0.5.5",
        { kind: "fails-open", hook: hookOf("v0.5.5") },
        { severity: "info", fixableBy: "nobody-needed" },
      ),
    ).toEqual([]);
  });

  it("is given once where many hooks have the same trouble", () => {
    const snapshot = snapshots.get("v0.17.0");
    if (snapshot === undefined) throw new Error("not looked at");
    const finding = {
      kind: "certificate-expired",
      ...refused("v0.17.0"),
      severity: "broken",
      fixableBy: "person",
    } as const;
    const findings: Finding[] = ["a", "b", "c"].map((object) => ({ ...finding, object }));
    expect(adviceFor(snapshot, identifyInstallations(snapshot), findings)).toHaveLength(1);
  });
});
