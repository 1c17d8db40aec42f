// The probe on the real API server, as fleetmend-prove and fleetmend-read: what it says of a hook, against what the hooks
// themselves recorded, and the verdict's text against the API server's.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Duplex } from "node:stream";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { classify, maskTimes, type Refusal } from "../../src/admission/classify.ts";
import type { ClusterApi } from "../../src/admission/cluster-api.ts";
import { collect } from "../../src/admission/collect.ts";
import type { Finding } from "../../src/admission/finding.ts";
import type { BundleHistory } from "../../src/admission/fresh-connection.ts";
import { probeFindings } from "../../src/admission/probe-findings.ts";
import { probePod } from "../../src/admission/probe-pod.ts";
import type { FailureClass, HookProbe, ProbeReport } from "../../src/admission/probe-report.ts";
import { probe } from "../../src/admission/probe.ts";
import { servedTrust } from "../../src/admission/served-trust.ts";
import type { ClusterSnapshot } from "../../src/admission/snapshot.ts";
import { connect, type Connection } from "../../src/kubernetes/connect.ts";
import { removeIfThere } from "./api.ts";
import { openClusterUnderTest } from "./cluster-under-test.ts";
import { startFaultProxy, type FaultProxy } from "./fault-proxy.ts";
import { inject, type FaultName } from "./faults.ts";
import { holderPath, readBundles, writeBundle } from "./holder.ts";
import type { FamilyName, HolderName } from "../../src/lab/kai/families.ts";
import { servicesPath } from "./kai/helm.ts";
import { installFamily, probeNamespace, uninstall, type Installed } from "./kai/install.ts";
import { until } from "./until.ts";
import { applyRights } from "./rights.ts";
import { createNamespace, type World } from "./world.ts";

const namespacePath = `/api/v1/namespaces/${probeNamespace}`;
const policies = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";
const bindings = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings";
const mutatingPolicies = "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies";
const mutatingBindings = "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicybindings";

/** Speaks second, as web servers do: what speaks first may arrive with the tunnel's own answer and is another error. */
function answerInPlaintext(connection: Duplex): void {
  connection.once("data", () => connection.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
}

let world: World;
let proxy: FaultProxy;
let plaintext = false;
const connections: Connection[] = [];
const folder = mkdtempSync(path.join(tmpdir(), "fleetmend-probing-"));

beforeAll(async () => {
  world = await openClusterUnderTest({ mountRefreshMs: 200 });
  proxy = await startFaultProxy(world.plane);
  // A web server without TLS in the binder's pods, while `plaintext` says so.
  world.addProgram(
    (pod) => plaintext && pod.metadata.labels?.app === "binder",
    () => ({
      servers: new Map([[9443, { accept: answerInPlaintext }]]),
    }),
  );
});

afterEach(async () => {
  plaintext = false;
  try {
    proxy.assertNothingForbidden();
  } finally {
    proxy.restart();
    for (const connection of connections.splice(0)) connection.close();
    await uninstall(world);
  }
});

afterAll(async () => {
  await proxy.stop();
  await world.stop();
  rmSync(folder, { recursive: true });
});

async function as(user: "prove" | "read"): Promise<ClusterApi> {
  const kubeconfig = proxy.kubeconfig(path.join(folder, `${user}.kubeconfig`), user);
  const connected = await connect({ kubeconfig });
  if (!connected.ok) throw new Error(connected.error.message);
  connections.push(connected.value);
  return connected.value.cluster;
}

async function look(cluster: ClusterApi): Promise<ClusterSnapshot> {
  const looked = await collect(cluster, { now: () => new Date(), probeNamespace });
  if (!looked.ok) throw new Error(looked.error.message);
  return looked.value;
}

interface Probed {
  readonly snapshot: ClusterSnapshot;
  readonly report: ProbeReport;
  readonly findings: readonly Finding[];
  /** The paths of the hooks that were called for it. */
  readonly called: readonly string[];
}

/** A look and a probe, both now, as one user. */
async function probed(cluster: ClusterApi, changed: readonly BundleHistory[] = []): Promise<Probed> {
  return probedWith(cluster, await look(cluster), changed);
}

async function probedWith(
  cluster: ClusterApi,
  snapshot: ClusterSnapshot,
  changedBundles: readonly BundleHistory[] = [],
): Promise<Probed> {
  const before = world.admission.calls.length;
  const report = await probe(cluster, snapshot, { now: () => new Date(), namespace: probeNamespace, changedBundles });
  const called = world.admission.calls.slice(before).map((call) => call.path);
  return { snapshot, report, findings: probeFindings(report, snapshot), called };
}

/** `mutating proven`, `validating failed trust`, and so on: pod hooks by their side, others by their names. */
function summaryOf({ report }: Probed): readonly string[] {
  return report.hooks.map((probe) => {
    const side = probe.hook.holderKind === "MutatingWebhookConfiguration" ? "mutating" : "validating";
    return `${side} ${probe.hook.name}: ${inShort(probe)}`;
  });
}

function inShort(probe: HookProbe): string {
  switch (probe.result) {
    case "proven":
      return `proven, ${probe.connection}`;
    case "failed":
      return `failed, ${probe.failureClass}`;
    case "blocked":
      return `blocked by ${probe.by}, ${probe.phase}`;
    case "not-reached":
      return `not reached, ${probe.handshake.trust}`;
    default:
      return probe.result;
  }
}

describe("a healthy KAI", () => {
  const proven: readonly [FamilyName, readonly string[]][] = [
    ["A", ["mutating binder.run.ai: proven, maybe-reused", "validating binder.run.ai: proven, maybe-reused"]],
    [
      "C",
      [
        "mutating admission.run.ai: proven, maybe-reused",
        "validating admission.run.ai: proven, maybe-reused",
        "validating queues.scheduling.run.ai: not reached, trusted",
      ],
    ],
    [
      "D1",
      [
        "mutating admission.kai-scheduler.svc: proven, maybe-reused",
        "validating podgroup-validation.kai.scheduler: not reached, trusted",
        "validating queue-validation.kai.scheduler: not reached, trusted",
        "validating admission.kai-scheduler.svc: proven, maybe-reused",
      ],
    ],
    [
      "D4",
      [
        "mutating admission.kai-scheduler.svc: proven, maybe-reused",
        "validating podgroup-validation.kai.scheduler: not reached, trusted",
        "validating queue-validation.kai.scheduler: not reached, trusted",
        "validating admission.kai-scheduler.svc: proven, maybe-reused",
        "validating topology.admission.kai-scheduler.svc: not reached, trusted",
      ],
    ],
  ];

  it.each(proven)("of family %s is proven, by dry runs only", async (family, expected) => {
    await installFamily(world, family);
    const cluster = await as("prove");
    const snapshot = await look(cluster);
    const before = cluster.requestCount();
    const seen = await probedWith(cluster, snapshot);
    expect(summaryOf(seen)).toEqual(expected);
    expect(seen.called).toEqual(["/mutate--v1-pod", "/validate--v1-pod"]);
    expect(world.admission.calls.filter((call) => !call.dryRun)).toEqual([]);
    expect(seen.findings).toEqual([]);
    expect(cluster.requestCount() - before).toBe(2);
  });

  it("is proven in a namespace that enforces Pod Security restricted", async () => {
    await installFamily(world, "A");
    await world.admin.merge(namespacePath, {
      metadata: { labels: { "pod-security.kubernetes.io/enforce": "restricted" } },
    });
    const seen = await probed(await as("prove"));
    await world.admin.merge(namespacePath, { metadata: { labels: { "pod-security.kubernetes.io/enforce": null } } });
    expect(summaryOf(seen)).toEqual([
      "mutating binder.run.ai: proven, maybe-reused",
      "validating binder.run.ai: proven, maybe-reused",
    ]);
  });
});

/** In both of the admission component's holders, so that a silent server is not waited for for ten seconds. */
async function shortenTimeout({ admission }: Installed): Promise<void> {
  const value = [{ op: "replace", path: "/webhooks/0/timeoutSeconds", value: 1 }];
  for (const holder of admission.holders) {
    const call = { body: value, contentType: "application/json-patch+json" };
    await world.as("admin", "kubectl-patch").request("PATCH", holderPath(holder), call);
  }
}

describe("the classes", () => {
  const binder = "kai-scheduler/binder";
  const fault = (kind: "closed" | "silent") => () => {
    world.egress.setFault(binder, kind);
    world.egress.closeConnections(binder);
  };

  const failures: readonly [FailureClass, (installed: Installed) => unknown, RegExp][] = [
    ["trust", (installed) => inject(installed, "drift"), /parent certificate cannot sign this kind of certificate/],
    ["config", (installed) => inject(installed, "garbage-bundle"), /^unable to load root certificates: /],
    ["connection-refused", (installed) => inject(installed, "no-endpoints"), /connect: connection refused$/],
    [
      "service-not-found",
      async () => {
        await world.admin.remove(`${servicesPath}/binder`);
        world.egress.closeConnections(binder);
      },
      /^service "binder" not found$/,
    ],
    [
      "service-port-not-found",
      async () => {
        await world.admin.merge(`${servicesPath}/binder`, {
          spec: { ports: [{ name: "x", port: 444, targetPort: 9443 }] },
        });
        world.egress.closeConnections(binder);
      },
      /^no service port 443 found for service "binder"$/,
    ],
    ["timeout", fault("silent"), /^context deadline exceeded$/],
    ["connection-closed", fault("closed"), /^EOF$/],
  ];

  it.each(failures)("%s", async (failureClass, breakIt, text) => {
    const installed = await installFamily(world, "A");
    await shortenTimeout(installed);
    await breakIt(installed);
    const [first, second] = (await probed(await as("prove"))).report.hooks;
    expect(first).toMatchObject({ result: "failed", failureClass, goText: expect.stringMatching(text) as string });
    expect(second).toMatchObject({ result: "blocked", by: "hook binder.run.ai", phase: "mutating" });
  });

  it("not-tls", async () => {
    plaintext = true;
    await installFamily(world, "A");
    const { report } = await probed(await as("prove"));
    expect(report.hooks[0]).toMatchObject({
      result: "failed",
      failureClass: "not-tls",
      goText: "http: server gave HTTP response to HTTPS client",
    });
  });

  it("a denial by a hook of a name of its own, with its trust fine", async () => {
    await installFamily(world, "A");
    await removeIfThere(world.admin, holderPath({ kind: "mutating", name: "kai-binder" }));
    world.admission.deny = () => "no such queue";
    const seen = await probed(await as("prove"));
    expect(seen.report.hooks).toMatchObject([{ result: "denied-by-target", message: "no such queue" }]);
  });

  it.each(["/mutate--v1-pod", "/validate--v1-pod"])(
    "a denial by %s, of which the text does not say whose it is",
    async (denying) => {
      await installFamily(world, "A");
      world.admission.deny = (call) => (call.path === denying ? "no such queue" : undefined);
      const { report } = await probed(await as("prove"));
      expect(report.hooks.map(({ result }) => result)).toEqual(["denied-by-target", "undecided"]);
    },
  );

  it("a bad response, of which the text does not say whose it is", async () => {
    await installFamily(world, "A");
    world.admission.answer = () => ({ status: 404, contentType: "text/plain", body: "404 page not found" });
    const { report } = await probed(await as("prove"));
    expect(report.hooks[0]).toMatchObject({
      result: "failed",
      failureClass: "bad-response",
      goText: "the server could not find the requested resource",
      oneOf: 2,
    });
  });

  it.each([
    ["aaa-first", "blocked by hook other.example.com, mutating", []],
    ["zzz-last", "proven, maybe-reused", ["/mutate--v1-pod"]],
  ] as const)(
    "a broken hook of somebody else called %s leaves KAI's mutating hook %s",
    async (name, result, called) => {
      const { admission } = await installFamily(world, "A");
      await createOther(name, admission.service);
      const seen = await probed(await as("prove"));
      expect(summaryOf(seen)).toEqual([
        `mutating binder.run.ai: ${result}`,
        "validating binder.run.ai: blocked by hook other.example.com, mutating",
      ]);
      expect(seen.called).toEqual(called);
    },
  );

  /** A mutating hook that is not KAI's, with a bundle that trusts nothing. */
  async function createOther(name: string, service: string): Promise<void> {
    await world.admin.create("/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations", {
      metadata: { name },
      webhooks: [
        {
          name: "other.example.com",
          admissionReviewVersions: ["v1"],
          sideEffects: "None",
          clientConfig: { service: { namespace: "default", name: service, path: "/", port: 443 }, caBundle: "" },
          rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] }],
          namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": probeNamespace } },
        },
      ],
    });
  }
});

// What the API server refuses for reasons of its own, and which hooks it had called by then.
describe("the phases", () => {
  /** Probes until the refusal is in effect: its plugin learns of it by a watch of its own. */
  async function probedOnceRefused(cluster: ClusterApi): Promise<Probed> {
    let seen = await probed(cluster);
    await until("the API server refuses the probe", async () => {
      if (seen.report.answer?.status !== 201) return true;
      seen = await probed(cluster);
      return false;
    });
    return seen;
  }

  it("a limit range speaks after the mutating hooks and before the validating ones", async () => {
    await installFamily(world, "A");
    const limits = [{ type: "Container", min: { memory: "64Mi" } }];
    await world.admin.create(`${namespacePath}/limitranges`, { metadata: { name: "large" }, spec: { limits } });
    const seen = await probedOnceRefused(await as("prove"));
    await world.admin.remove(`${namespacePath}/limitranges/large`);
    expect(summaryOf(seen)).toEqual([
      "mutating binder.run.ai: proven, maybe-reused",
      "validating binder.run.ai: blocked by LimitRanger, validating",
    ]);
    expect(seen.called).toEqual(["/mutate--v1-pod"]);
  });

  const podCreates = {
    resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] }],
  };

  it("a MutatingAdmissionPolicy speaks before any hook", async () => {
    await installFamily(world, "A");
    const expression = 'Object{metadata: Object.metadata{labels: {"a": object.metadata.annotations["none"]}}}';
    await world.admin.create(mutatingPolicies, {
      metadata: { name: "defaults" },
      spec: {
        failurePolicy: "Fail",
        reinvocationPolicy: "Never",
        matchConstraints: podCreates,
        mutations: [{ patchType: "ApplyConfiguration", applyConfiguration: { expression } }],
      },
    });
    await world.admin.create(mutatingBindings, { metadata: { name: "defaults" }, spec: { policyName: "defaults" } });
    const seen = await probedOnceRefused(await as("prove"));
    await world.admin.remove(`${mutatingBindings}/defaults`);
    await world.admin.remove(`${mutatingPolicies}/defaults`);
    expect(summaryOf(seen)).toEqual([
      "mutating binder.run.ai: blocked by MutatingAdmissionPolicy defaults, mutating",
      "validating binder.run.ai: blocked by MutatingAdmissionPolicy defaults, mutating",
    ]);
    expect(seen.called).toEqual([]);
    await until("the policy is forgotten", async () => (await probed(await as("prove"))).report.answer?.status === 201);
  });

  it("a ValidatingAdmissionPolicy speaks after the mutating hooks and before the validating ones", async () => {
    await installFamily(world, "A");
    await world.admin.create(policies, {
      metadata: { name: "no-probes" },
      spec: {
        failurePolicy: "Fail",
        matchConstraints: podCreates,
        validations: [{ expression: "!object.metadata.name.startsWith('fleetmend')", message: "no probes here" }],
      },
    });
    const spec = { policyName: "no-probes", validationActions: ["Deny"] };
    await world.admin.create(bindings, { metadata: { name: "no-probes" }, spec });
    const seen = await probedOnceRefused(await as("prove"));
    await world.admin.remove(`${bindings}/no-probes`);
    await world.admin.remove(`${policies}/no-probes`);
    expect(summaryOf(seen)).toEqual([
      "mutating binder.run.ai: proven, maybe-reused",
      "validating binder.run.ai: blocked by ValidatingAdmissionPolicy no-probes, validating",
    ]);
    expect(seen.called).toEqual(["/mutate--v1-pod"]);
    await until("the policy is forgotten", async () => (await probed(await as("prove"))).report.answer?.status === 201);
  });

  it.each([
    ["A", "validating binder.run.ai: proven, maybe-reused"],
    ["D4", "validating admission.kai-scheduler.svc: blocked by ResourceQuota, quota"],
  ] as const)("a quota speaks after all hooks; in family %s it leaves %s", async (family, validating) => {
    await installFamily(world, family);
    const quota = { metadata: { name: "none" }, spec: { hard: { pods: "0" } } };
    await world.admin.create(`${namespacePath}/resourcequotas`, quota);
    const seen = await probedOnceRefused(await as("prove"));
    await world.admin.remove(`${namespacePath}/resourcequotas/none`);
    expect(seen.called).toEqual(["/mutate--v1-pod", "/validate--v1-pod"]);
    expect(summaryOf(seen)).toContain(validating);
    expect(seen.report.hooks[0]).toMatchObject({ result: "proven" });
    await until("the quota is forgotten", async () => (await probed(await as("prove"))).report.answer?.status === 201);
  });

  // Our own pod gives no reason for these; they are asked with a pod that does.
  const spoiled: readonly [string, Record<string, unknown>, Partial<Refusal>, readonly string[]][] = [
    [
      "Pod Security",
      { hostNetwork: true },
      { kind: "refused", by: "PodSecurity", phase: "validating" },
      ["/mutate--v1-pod"],
    ],
    [
      "the pod's own validation",
      { restartPolicy: "Sometimes" },
      { kind: "refused", by: "the object's validation", phase: "schema" },
      ["/mutate--v1-pod"],
    ],
    [
      "a missing service account",
      { serviceAccountName: "nobody" },
      { kind: "refused", by: "ServiceAccount", phase: "mutating" },
      [],
    ],
    [
      "a missing priority class",
      { priorityClassName: "none" },
      { kind: "refused", by: "Priority", phase: "mutating" },
      [],
    ],
    [
      "a missing runtime class",
      { runtimeClassName: "none" },
      { kind: "refused", by: "RuntimeClass", phase: "mutating" },
      [],
    ],
  ];

  it.each(spoiled)("%s speaks where it is said to", async (_name, change, expected, called) => {
    await installFamily(world, "A");
    await world.admin.merge(namespacePath, {
      metadata: { labels: { "pod-security.kubernetes.io/enforce": "restricted" } },
    });
    const cluster = await as("prove");
    const pod = probePod(await look(cluster), probeNamespace);
    const before = world.admission.calls.length;
    const spec = { ...pod.spec, ...change };
    const answer = await cluster.create(`${namespacePath}/pods`, { ...pod, spec }, { dryRun: true });
    await world.admin.merge(namespacePath, { metadata: { labels: { "pod-security.kubernetes.io/enforce": null } } });
    if (answer.ok) throw new Error("the pod was admitted");
    expect(classify(answer.error)).toMatchObject(expected);
    expect(world.admission.calls.slice(before).map((call) => call.path)).toEqual(called);
  });
});

describe("the verdict and the API server", () => {
  const faults: readonly [FamilyName, FaultName, FailureClass][] = [
    ["A", "drift", "trust"],
    ["A", "expired", "trust"],
    ["A", "wrong-name", "trust"],
    ["A", "empty-bundle", "trust"],
    ["A", "garbage-bundle", "config"],
    ["D4", "drift", "trust"],
    ["D4", "expired", "trust"],
  ];

  it.each(faults)("say the same in family %s to %s (%s)", async (family, fault, failureClass) => {
    const installed = await installFamily(world, family);
    await inject(installed, fault);
    const { snapshot, report, findings } = await probed(await as("prove"));
    const [hook] = snapshot.hooks;
    const [result] = report.hooks;
    if (hook === undefined || result?.result !== "failed") throw new Error(JSON.stringify(report, undefined, 2));
    const { predicted, complete } = servedTrust(hook, snapshot, report.at);
    expect(result.failureClass).toBe(failureClass);
    expect(predicted.map(maskTimes)).toEqual([maskTimes(result.goText)]);
    expect(complete).toBe(true);
    expect(findings).toEqual([]);
  });

  it("agree on each of two replicas that differ", async () => {
    const installed = await installFamily(world, "A");
    await inject(installed, "replicas-differ");
    world.admission.requestsPerConnection = 1;
    const cluster = await as("prove");
    const snapshot = await look(cluster);
    const results = new Set<string>();
    for (let times = 0; times < 24; times += 1) {
      const seen = await probedWith(cluster, snapshot);
      results.add(seen.report.hooks[0]?.result ?? "");
      expect(seen.findings.filter(({ kind }) => kind === "probe-disagrees")).toEqual([]);
    }
    expect([...results].toSorted()).toEqual(["failed", "latent"]);
  });

  it("prove the mutating hook where only the validating one was left behind", async () => {
    const installed = await installFamily(world, "A");
    await inject(installed, "one-holder");
    const seen = await probed(await as("prove"));
    expect(summaryOf(seen)).toEqual([
      "mutating binder.run.ai: proven, maybe-reused",
      "validating binder.run.ai: failed, trust",
    ]);
    expect(seen.findings).toEqual([]);
  });
});

describe("a latent drift", () => {
  it.each(["A", "D4"] as const)("of family %s is found while every pod create works", async (family) => {
    const installed = await installFamily(world, family);
    await inject(installed, "latent-drift");
    const cluster = await as("prove");
    const hidden = await probed(cluster);
    expect(hidden.report.answer?.status).toBe(201);
    expect(hidden.findings.map(({ kind, severity }) => `${kind}, ${severity}`)).toEqual([
      "drift-latent, broken",
      "drift-latent, broken",
    ]);
    world.egress.closeConnections();
    const bitten = await probed(cluster);
    const [before] = hidden.report.hooks;
    // Word for word what was foretold.
    expect(bitten.report.hooks[0]).toMatchObject({
      result: "failed",
      failureClass: "trust",
      goText: before?.result === "latent" ? before.goText : "not latent",
    });
  });
});

describe("a hook that is not reached", () => {
  it("is not taken for healthy where the pod has a plain schedulerName: the false green of D2 and later", async () => {
    const installed = await installFamily(world, "D4");
    await inject(installed, "drift");
    const cluster = await as("prove");
    const snapshot = await look(cluster);
    if (snapshot.kaiConfig?.seen !== true || snapshot.kaiConfig.value === undefined) throw new Error("no kai-config");
    const value = { ...snapshot.kaiConfig.value, schedulerName: "default-scheduler" };
    const plain: ClusterSnapshot = { ...snapshot, kaiConfig: { seen: true, value } };
    const pod = probePod(plain, probeNamespace);
    expect((await cluster.create(`${namespacePath}/pods`, pod, { dryRun: true })).ok).toBe(true);
    const seen = await probedWith(cluster, plain);
    expect(summaryOf(seen)[0]).toBe("mutating admission.kai-scheduler.svc: not reached, broken");
    expect(seen.called).toEqual([]);
  });

  it("says that it fails open, and what the handshake says", async () => {
    const installed = await installFamily(world, "A");
    await inject(installed, "drift");
    for (const holder of installed.admission.holders) {
      const body = [{ op: "replace", path: "/webhooks/0/failurePolicy", value: "Ignore" }];
      const call = { body, contentType: "application/json-patch+json" };
      await world.as("admin", "kubectl-patch").request("PATCH", holderPath(holder), call);
    }
    await until("the API server has seen it", async () => {
      const { report } = await probed(await as("prove"));
      return report.answer?.status === 201;
    });
    const { report } = await probed(await as("prove"));
    expect(report.hooks).toMatchObject([
      { result: "blind", handshake: { trust: "broken" } },
      { result: "blind", handshake: { trust: "broken" } },
    ]);
  });
});

describe("rights and namespaces", () => {
  it("with `read` nothing is sent that would be refused, and the probe says so", async () => {
    await installFamily(world, "A");
    const seen = await probed(await as("read"));
    expect(seen.report.hooks).toMatchObject([
      { result: "forbidden", handshake: { trust: "undetermined" } },
      { result: "forbidden", handshake: { trust: "undetermined" } },
    ]);
    expect(proxy.requests.filter(({ path: url }) => url.startsWith(`${namespacePath}/pods`))).toEqual([]);
    proxy.assertNothingForbidden();
  });

  it("a namespace that has gone, and its rights with it, is not called forbidden", async () => {
    await installFamily(world, "A");
    await world.admin.remove(namespacePath);
    await until("the namespace is gone", async () => (await world.admin.request("GET", namespacePath)).status === 404);
    const { report } = await probed(await as("prove"));
    await createNamespace(world.admin, probeNamespace);
    await applyRights(world.admin);
    expect(report.hooks).toMatchObject([
      { result: "no-namespace", namespace: probeNamespace, handshake: { trust: "trusted" } },
      { result: "no-namespace", namespace: probeNamespace },
    ]);
  });
});

describe("a bundle that this run has written", () => {
  it("is proven over a fresh connection, which the hooks can confirm", async () => {
    const { admission } = await installFamily(world, "A");
    const cluster = await as("prove");
    await probed(cluster);
    // The installation is seconds old: what is true after 90 s of standing is said of it here, and the 90 s are not waited.
    const longAgo = new Date(Date.now() - 600_000);
    const changed: BundleHistory[] = [];
    for (const holder of admission.holders) changed.push(await widen(holder, longAgo));
    const before = world.admission.calls.length;
    const seen = await probed(cluster, changed);
    expect(summaryOf(seen)).toEqual([
      "mutating binder.run.ai: proven, fresh",
      "validating binder.run.ai: proven, fresh",
    ]);
    expect(world.admission.calls[before]?.reusedConnection).toBe(false);
  });

  it("is not called fresh where the API server goes back to a connection of 90 s before", async () => {
    const { admission } = await installFamily(world, "A");
    const cluster = await as("prove");
    await probed(cluster);
    const longAgo = new Date(Date.now() - 600_000);
    const changed: BundleHistory[] = [];
    for (const holder of admission.holders) changed.push(await widenAndTakeBack(holder, longAgo));
    const before = world.admission.calls.length;
    const seen = await probed(cluster, changed);
    expect(summaryOf(seen)[0]).toBe("mutating binder.run.ai: proven, maybe-reused");
    expect(world.admission.calls[before]?.reusedConnection).toBe(true);
  });

  async function widenAndTakeBack(holder: HolderName, since: Date): Promise<BundleHistory> {
    const { hook, bundles } = await widen(holder, since);
    const old = Buffer.from(bundles[0]?.bundle ?? []).toString();
    await writeBundle(world.as("admin", "fleetmend"), holder, old);
    return { hook, bundles: [...bundles, { bundle: Buffer.from(old), since: new Date() }] };
  }

  /** One more newline makes a bundle of other bytes that trusts the same. */
  async function widen(holder: HolderName, since: Date): Promise<BundleHistory> {
    const [old = ""] = await readBundles(world.admin, holder);
    await writeBundle(world.as("admin", "fleetmend"), holder, `${old}\n`);
    const holderKind = holder.kind === "mutating" ? "MutatingWebhookConfiguration" : "ValidatingWebhookConfiguration";
    return {
      hook: { holderKind, holder: holder.name, index: 0, name: "binder.run.ai" },
      bundles: [
        { bundle: Buffer.from(old), since },
        { bundle: Buffer.from(`${old}\n`), since: new Date() },
      ],
    };
  }
});
