import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { explainFinding } from "../../src/admission/explain.ts";
import type { Evidence, Finding, FindingKind, HookReference, ServedGroup } from "../../src/admission/finding.ts";
import type { CertificateSummary, Rejection } from "../../src/trust/verdict.ts";

const hook: HookReference = {
  holderKind: "MutatingWebhookConfiguration",
  holder: "kai-binder",
  index: 0,
  name: "binder.run.ai",
};

function certificate(madeOn: string, fingerprint: string): CertificateSummary {
  return {
    fingerprint: fingerprint.repeat(8),
    keyFingerprint: fingerprint.repeat(8),
    name: "binder.kai-scheduler.svc",
    issuerName: "binder.kai-scheduler.svc",
    notBefore: new Date(madeOn),
    notAfter: new Date("2036-05-03T12:00:00Z"),
    dnsNames: ["binder.kai-scheduler.svc"],
    ipAddresses: [],
  };
}

const may = certificate("2026-05-03T12:00:00Z", "ab12cd34");
const june = certificate("2026-06-09T08:30:00Z", "ef56ab78");
const at = new Date("2026-12-01T03:00:00Z");
const pods: ServedGroup = { pods: ["binder-1", "binder-2"], servedFrom: "handshake", leaf: june };
const service = "kai-scheduler/binder";
const secret = "kai-scheduler/binder-webhook-tls-secret";

const refused = (cause: Rejection) => ({
  hook,
  serverName: "binder.kai-scheduler.svc",
  bundle: [may],
  served: pods,
  readyPods: 2,
  goText: "x509: certificate signed by unknown authority",
  cause,
});

const expired: Rejection = { kind: "expired", subject: june, at, notAfter: new Date("2026-11-01T00:00:00Z") };

/** One of each kind: the compiler asks for a new one when the union grows. */
const examples: { readonly [K in FindingKind]: Extract<Evidence, { kind: K }> } = {
  "bundle-stale": { kind: "bundle-stale", ...refused({ kind: "same-name-other-key", detail: "…" }) },
  "bundle-empty": { kind: "bundle-empty", ...refused({ kind: "bundle-empty" }) },
  "bundle-unparsable": {
    kind: "bundle-unparsable",
    ...refused({ kind: "bundle-unparsable", detail: "unable to parse bytes as PEM block" }),
  },
  "certificate-expired": { kind: "certificate-expired", ...refused(expired) },
  "certificate-not-yet-valid": {
    kind: "certificate-not-yet-valid",
    ...refused({ kind: "not-yet-valid", subject: june, at, notBefore: new Date("2026-12-02T00:00:00Z") }),
  },
  "certificate-wrong-name": {
    kind: "certificate-wrong-name",
    ...refused({ kind: "wrong-name", wanted: "binder.kai-scheduler.svc", names: ["binder.other.svc"] }),
  },
  "certificate-unusable": { kind: "certificate-unusable", ...refused({ kind: "incompatible-key-usage" }) },
  "next-certificate-refused": {
    kind: "next-certificate-refused",
    ...refused({ kind: "same-name-other-key", detail: "…" }),
  },
  "secret-key-mismatch": { kind: "secret-key-mismatch", secret, certificate: june, detail: "…", servedBy: [pods] },
  "secret-key-missing": { kind: "secret-key-missing", secret, certificate: june, detail: "…", servedBy: [pods] },
  "secret-unusable": { kind: "secret-unusable", secret, detail: "tls.crt is empty", servedBy: [pods] },
  "secret-bad-certificate": {
    kind: "secret-bad-certificate",
    secret,
    certificate: june,
    serverName: "binder.kai-scheduler.svc",
    cause: expired,
  },
  "secret-absent": { kind: "secret-absent", secret, servedBy: [pods] },
  "pod-serves-older": {
    kind: "pod-serves-older",
    secret,
    certificate: june,
    served: { ...pods, leaf: may },
    secretWrittenAt: at,
    state: "stale",
  },
  "replicas-differ": {
    kind: "replicas-differ",
    service,
    groups: [
      { pods: ["binder-1"], servedFrom: "handshake", leaf: may },
      { pods: ["binder-2"], servedFrom: "handshake", leaf: june },
    ],
  },
  "holders-differ": {
    kind: "holders-differ",
    service,
    bundles: [
      { hook, certificates: [june] },
      { hook: { ...hook, holderKind: "ValidatingWebhookConfiguration" }, certificates: [may] },
    ],
  },
  "service-missing": { kind: "service-missing", service, hooks: [hook] },
  "service-port-missing": { kind: "service-port-missing", service, port: 443, hooks: [hook] },
  "service-unroutable": { kind: "service-unroutable", service, serviceType: "ExternalName", hooks: [hook] },
  "no-ready-endpoints": { kind: "no-ready-endpoints", service, hooks: [hook], pods: [] },
  "pod-not-serving": {
    kind: "pod-not-serving",
    service,
    pods: ["binder-1"],
    readyPods: 2,
    port: 9443,
    because: "refused",
    detail: "connection refused",
    hooks: [hook],
  },
  "no-hooks": { kind: "no-hooks", namespace: "kai-scheduler", operatorReady: 1 },
  "operator-down": { kind: "operator-down", deployment: "kai-scheduler/kai-operator", replicas: 1, ready: 0 },
  "operator-absent": { kind: "operator-absent", namespace: "kai-scheduler" },
  "operator-blind": {
    kind: "operator-blind",
    deployment: "kai-scheduler/kai-operator",
    hook,
    bundle: [may],
    secret: [june],
    unchangedSince: at,
    likely: "missing-cluster-policy-crd",
  },
  "owner-unknown": { kind: "owner-unknown", hook, evidence: ["No release of KAI makes this entry."] },
  "foreign-last-writer": {
    kind: "foreign-last-writer",
    hook,
    writer: { manager: "kubectl-patch", operation: "Update", time: at },
    expected: "webhookmanager",
  },
  "bundle-wider-than-needed": { kind: "bundle-wider-than-needed", hook, unused: [may] },
  "fails-open": { kind: "fails-open", hook },
  "hook-leftover": {
    kind: "hook-leftover",
    leftover: { kind: "Job", namespace: "kai-scheduler", name: "pre-install-hook", state: "complete" },
  },
  "expires-soon": { kind: "expires-soon", hook, certificate: june, at },
  "trust-undetermined": { kind: "trust-undetermined", hook, pods: ["binder-1"], reason: "port-forward is not allowed" },
  "not-seen": { kind: "not-seen", what: "/version", reason: "no answer in 15 s" },
  "probe-disagrees": { kind: "probe-disagrees", hook, probeText: "EOF", predicted: [] },
  "call-failed": { kind: "call-failed", hook, failureClass: "timeout", goText: "context deadline exceeded" },
  "drift-latent": { kind: "drift-latent", hook, goText: "x509: certificate signed by unknown authority" },
};

const asFinding = (evidence: Evidence): Finding => ({
  ...evidence,
  severity: "broken",
  object: "mutatingwebhookconfigurations/kai-binder",
  fixableBy: "person",
});

const kinds = Object.keys(examples) as FindingKind[];

describe("explainFinding", () => {
  it.each(kinds)("says of %s what is wrong and what to do, in whole sentences", (kind) => {
    const { sentence, todo } = explainFinding(asFinding(examples[kind]));
    for (const text of [sentence, todo]) {
      expect(text).toMatch(/^[^a-z\s].*\.$/s);
      expect(text).not.toMatch(/undefined|\[object|NaN|\.\.|\s\s/);
    }
  });

  it("names both generations, their dates, who serves, and that it bites at the next connection", () => {
    const finding: Finding = { ...asFinding(examples["bundle-stale"]), fixableBy: "fleetmend" };
    expect(explainFinding(finding)).toEqual({
      sentence:
        "The bundle holds the certificate made on 3 May 2026 (sha256 ab12cd34…), and both pods serve the one made on 9 June 2026 (sha256 ef56ab78…): same name, different key. Every pod create that it is asked about is refused at the next connection, however many still pass over older ones.",
      todo: "Type fleetmend repair: it brings bundle and pods in line, and admission is at no moment worse than now.",
    });
  });

  it.each([
    {
      name: "which calls are refused where only some pods serve the refused chain",
      evidence: { ...examples["bundle-stale"], readyPods: 3 },
      says: "A pod create that meets binder-1 and binder-2 is refused at the next connection",
    },
    {
      name: "that it is a guess where the served side is the Secret's",
      evidence: { ...examples["bundle-stale"], served: { ...pods, servedFrom: "secret" as const } },
      says: "the Secret, which the pods may not have loaded, holds",
    },
    {
      name: "that a bundle that cannot be read fails at once: no client is left that was built before",
      evidence: examples["bundle-unparsable"],
      says: "Every pod create that it is asked about is refused at once.",
    },
    {
      name: "what is refused where the hook is asked about queues",
      evidence: { ...examples["bundle-stale"], asked: { resources: ["queues"], failurePolicy: "Fail" } },
      says: "Every write to queues that it is asked about is refused",
    },
    {
      name: "that nobody is told where the hook fails open",
      evidence: { ...examples["bundle-stale"], asked: { resources: ["pods"], failurePolicy: "Ignore" } },
      says: "passes without it, and nobody is told (failurePolicy Ignore)",
    },
    {
      name: "that a cluster without KAI has none",
      evidence: { kind: "no-hooks" as const, namespace: "kai-scheduler" },
      says: "No webhook of KAI was found in this cluster",
    },
    {
      name: "that a headless Service may work",
      evidence: { ...examples["service-unroutable"], serviceType: "Headless" as const },
      says: "only with endpoint routing, which is not the default",
    },
  ])("says $name", ({ evidence, says }) => {
    expect(explainFinding(asFinding(evidence)).sentence).toContain(says);
  });

  it.each([
    {
      name: "to wait, where pods are about to load the Secret",
      finding: { ...asFinding(examples["bundle-stale"]), fixableBy: "time" as const },
      todo: "Wait two minutes and look again: the pods are about to load what the Secret holds, or the operator to copy it.",
    },
    {
      name: "to wait for the certificate's own time, which no repair changes",
      finding: { ...asFinding(examples["certificate-not-yet-valid"]), fixableBy: "time" as const },
      todo: "Wait until then, or set the clock right of the machine that is wrong: a new certificate would have the same fault.",
    },
    {
      name: "to turn to the owner, where fleetmend does not write",
      finding: asFinding(examples["bundle-stale"]),
      todo: "Have whoever owns it put the certificate that is served, or its CA, into the bundle: fleetmend writes only to hooks whose owner it knows to be KAI.",
    },
    {
      name: "nothing about a repair of our own",
      finding: asFinding({
        ...examples["foreign-last-writer"],
        writer: { manager: "fleetmend", operation: "Update" },
      }),
      todo: "Nothing: that was a repair.",
    },
    {
      name: "to give the rights that are missing",
      finding: asFinding({ ...examples["trust-undetermined"], because: "not-allowed" as const }),
      todo: "Give fleetmend the rights of infra/kubernetes/prove.yaml, so that it may see what the pods serve.",
    },
    {
      name: "to mend the role of an operator that lacks a right",
      finding: asFinding({ ...examples["operator-blind"], likely: "no-right-to-update" as const }),
      todo: "KAI's ClusterRole lets the operator create configurations of any name and update those of the default names only: go back to those, or widen the role. A bundle that is patched by hand stays until then.",
    },
  ])("asks for $name", ({ finding, todo }) => {
    expect(explainFinding(finding).todo).toBe(todo);
  });

  it("warns against copying a Secret whose key does not match into the bundle", () => {
    expect(explainFinding(asFinding(examples["secret-key-mismatch"])).sentence).toContain(
      "Do not copy this Secret into a bundle",
    );
  });
});

describe("docs/findings.md", () => {
  const text = readFileSync(path.join(import.meta.dirname, "../../docs/findings.md"), "utf8");
  const rows = [...text.matchAll(/^\| `([a-z-]+)` +\| ([^|]+) \|/gm)];

  it("lists every kind once, and none that does not exist", () => {
    expect(rows.map((row) => row[1]).toSorted()).toEqual(kinds.toSorted());
  });

  it("gives every kind its severities", () => {
    const severities = rows.flatMap((row) => (row[2] ?? "").trim().split(", "));
    expect([...new Set(severities)].toSorted()).toEqual(["broken", "info", "undetermined", "warning"]);
  });
});
