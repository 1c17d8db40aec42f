// The probe against a ClusterApi whose answers are written out, as a real API server gave them. The real API server's own
// answers are in test/cluster/probing.test.ts.
import { readFileSync } from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import type { ApiFailure, ClusterApi } from "../../src/admission/cluster-api.ts";
import { probeFindings } from "../../src/admission/probe-findings.ts";
import type { FailureClass, HookResult, ProbeReport } from "../../src/admission/probe-report.ts";
import { probe, type ProbeOptions } from "../../src/admission/probe.ts";
import type { Backend, BackendPod, ClusterSnapshot, Hook } from "../../src/admission/snapshot.ts";
import { failure, success, type Result } from "../../src/result.ts";
import { generateKeys, mintKaiCertificate, type MintedCertificate } from "../../src/trust/mint.ts";
import { hookOf, validatingBinder } from "./hook-of.ts";
import { snapshotOf } from "./snapshot-of.ts";

const now = new Date("2026-06-01T12:00:00Z");
const serverName = "binder.kai-scheduler.svc";

let old: MintedCertificate;
let current: MintedCertificate;
let expired: MintedCertificate;

beforeAll(async () => {
  const mint = (notBefore: string, notAfter?: string): Promise<MintedCertificate> =>
    mintKaiCertificate({
      serverName,
      notBefore: new Date(notBefore),
      ...(notAfter === undefined ? {} : { notAfter: new Date(notAfter) }),
    });
  old = await mint("2026-05-03T00:00:00Z");
  current = await mint("2026-05-09T00:00:00Z");
  expired = await mintKaiCertificate({
    serverName,
    notBefore: new Date("2025-01-01T00:00:00Z"),
    notAfter: new Date("2026-01-01T00:00:00Z"),
    keys: await generateKeys("rsa-2048"),
  });
});

const pem = (...certificates: readonly MintedCertificate[]): Uint8Array =>
  new TextEncoder().encode(certificates.map((certificate) => certificate.pem).join(""));

function podServing(name: string, leaf: MintedCertificate | undefined): BackendPod {
  const served =
    leaf === undefined
      ? { from: "unseen" as const, why: { kind: "forbidden" as const, message: "no port-forward" } }
      : { from: "handshake" as const, chain: [leaf.der] };
  return { name, uid: name, ready: true, deleting: false, port: 9443, served };
}

function binder(pods: readonly BackendPod[], readyEndpoints = pods.length): Backend {
  return {
    namespace: "kai-scheduler",
    service: "binder",
    port: 443,
    exists: true,
    portExists: true,
    serviceType: "ClusterIP",
    pods,
    readyEndpoints,
  };
}

/** KAI v0.5.5 with this bundle in both hooks. */
function cluster(bundle: Uint8Array, backend: Backend, changes: Partial<ClusterSnapshot> = {}): ClusterSnapshot {
  const service = { namespace: "kai-scheduler", name: "binder", port: 443, path: "/validate--v1-pod" };
  const hooks = [hookOf({ bundle }), hookOf({ bundle, holder: validatingBinder, service })];
  return snapshotOf(hooks, { backends: [backend], ...changes });
}

type Answer = Result<unknown, ApiFailure>;

interface Asked {
  readonly api: ClusterApi;
  readonly requests: string[];
  readonly bodies: unknown[];
}

const namespace: Answer = success({ metadata: { labels: { "kubernetes.io/metadata.name": "osmo-workflows" } } });

/**
 * Answers the namespace, then the dry runs with these answers, one after another; `returned` gives the pod back. Reading
 * the namespace is allowed, as far as it is asked, unless its answer is `forbidden`.
 */
function apiServer(
  dryRuns: readonly (Answer | "returned")[],
  namespaceAnswer: Answer | "forbidden" = namespace,
): Asked {
  const requests: string[] = [];
  const bodies: unknown[] = [];
  const left = [...dryRuns];
  const unexpected = (what: string) => () => Promise.reject(new Error(`a probe does not ${what}`));
  const api: ClusterApi = {
    server: "https://cluster.example:443",
    requestCount: () => requests.length,
    get: (url) => {
      requests.push(`GET ${url}`);
      if (namespaceAnswer === "forbidden") return Promise.reject(new Error("a probe does not provoke a 403"));
      return Promise.resolve(namespaceAnswer);
    },
    create: (url, body, options) => {
      requests.push(`POST ${url}${options?.dryRun === true ? "?dryRun=All" : ""}`);
      if (url.endsWith("/selfsubjectaccessreviews"))
        return Promise.resolve(success({ status: { allowed: namespaceAnswer !== "forbidden" } }));
      bodies.push(body);
      const answer = left.shift();
      if (answer === undefined) return Promise.reject(new Error("one dry run too many"));
      return Promise.resolve(answer === "returned" ? success(body) : answer);
    },
    list: unexpected("list"),
    replace: unexpected("replace"),
    patch: unexpected("patch"),
    handshake: unexpected("shake hands"),
  };
  return { api, requests, bodies };
}

const refusal = (status: number, kind: ApiFailure["kind"], message: string): Answer =>
  failure({ kind, status, message });
const call = (name: string, url: string, cause: string): Answer =>
  refusal(
    500,
    "server-error",
    `Internal error occurred: failed calling webhook "${name}": failed to call webhook: Post "${url}?timeout=10s": ${cause}`,
  );
const mutateFails = (cause: string): Answer =>
  call("binder.run.ai", "https://binder.kai-scheduler.svc:443/mutate--v1-pod", cause);

interface Slept {
  readonly waits: number[];
  readonly options: ProbeOptions;
}

function patiently(changes: Partial<ProbeOptions> = {}): Slept {
  const waits: number[] = [];
  const sleep = (ms: number): Promise<void> => {
    waits.push(ms);
    return Promise.resolve();
  };
  return { waits, options: { now: () => now, namespace: "osmo-workflows", sleep, ...changes } };
}

const resultsOf = (report: ProbeReport): readonly HookResult["result"][] => report.hooks.map(({ result }) => result);

describe("probe, what it asks", () => {
  it("asks for the namespace and for one dry run", async () => {
    const { api, requests, bodies } = apiServer(["returned"]);
    const report = await probe(api, cluster(pem(current), binder([podServing("a", current)])), patiently().options);
    expect(requests).toEqual([
      "GET /api/v1/namespaces/osmo-workflows",
      "POST /api/v1/namespaces/osmo-workflows/pods?dryRun=All",
    ]);
    expect(bodies).toMatchObject([{ kind: "Pod", metadata: { generateName: "fleetmend-probe-" } }]);
    expect(report).toMatchObject({
      at: now,
      apiServer: "https://cluster.example:443",
      namespace: "osmo-workflows",
      answer: { status: 201 },
    });
  });

  const capability = { portForward: false, secrets: [], dryRunPods: false };

  it("sends no dry run where the rights forbid it", async () => {
    const { api, requests } = apiServer([]);
    const snapshot = cluster(pem(current), binder([podServing("a", current)]), { capability });
    const report = await probe(api, snapshot, patiently().options);
    expect(requests).toEqual([
      "POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
      "GET /api/v1/namespaces/osmo-workflows",
    ]);
    expect(resultsOf(report)).toEqual(["forbidden", "forbidden"]);
    expect(report.hooks[0]).toMatchObject({ handshake: { trust: "trusted" } });
  });

  it("does not look at the namespace either where that is forbidden, too", async () => {
    const { api, requests } = apiServer([], "forbidden");
    const report = await probe(api, cluster(pem(current), binder([]), { capability }), patiently().options);
    expect(requests).toEqual(["POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews"]);
    expect(resultsOf(report)).toEqual(["forbidden", "forbidden"]);
  });

  it("says that the namespace is missing, where the right to create pods went with it", async () => {
    const { api } = apiServer([], failure({ kind: "not-found", status: 404, message: "not found" }));
    const report = await probe(api, cluster(pem(current), binder([]), { capability }), patiently().options);
    expect(resultsOf(report)).toEqual(["no-namespace", "no-namespace"]);
  });

  it("sends no dry run into a namespace that is not there", async () => {
    const { api, requests } = apiServer([], failure({ kind: "not-found", status: 404, message: "not found" }));
    const report = await probe(api, cluster(pem(current), binder([])), patiently().options);
    expect(requests).toHaveLength(1);
    expect(resultsOf(report)).toEqual(["no-namespace", "no-namespace"]);
  });

  it("sends no dry run that would meet no hook", async () => {
    const kai: Answer = success({ metadata: { labels: { "kubernetes.io/metadata.name": "kai-scheduler" } } });
    const { api, requests } = apiServer([], kai);
    const report = await probe(
      api,
      cluster(pem(current), binder([])),
      patiently({ namespace: "kai-scheduler" }).options,
    );
    expect(requests).toEqual(["GET /api/v1/namespaces/kai-scheduler"]);
    expect(resultsOf(report)).toEqual(["not-reached", "not-reached"]);
  });

  it("asks nothing where no hook is called for pods", async () => {
    const { api, requests } = apiServer([]);
    const queues = hookOf({ rules: [] });
    expect(resultsOf(await probe(api, snapshotOf([queues]), patiently().options))).toEqual(["not-reached"]);
    expect(requests).toEqual([]);
  });

  it("says that the namespace could not be read", async () => {
    const { api } = apiServer([], refusal(403, "forbidden", "namespaces is forbidden"));
    const report = await probe(api, cluster(pem(current), binder([])), patiently().options);
    expect(report.hooks[0]).toMatchObject({
      result: "undecided",
      because: "namespace osmo-workflows was not read: namespaces is forbidden",
    });
  });
});

describe("probe, an answer that is not one", () => {
  const healthy = (): ClusterSnapshot => cluster(pem(current), binder([podServing("a", current)]));

  const hiccups: readonly (readonly [string, Answer])[] = [
    ["a timeout", failure({ kind: "timeout", message: "no answer within 15 s" })],
    ["a reset", failure({ kind: "unreachable", message: "ECONNRESET" })],
    ["429", refusal(429, "throttled", "too many requests")],
    ["503", refusal(503, "server-error", "etcdserver: leader changed")],
    ["504", refusal(504, "server-error", "Timeout: request did not complete within requested timeout")],
  ];

  it.each(hiccups)("%s is tried again", async (_name, hiccup) => {
    const { waits, options } = patiently();
    const report = await probe(apiServer([hiccup, hiccup, "returned"]).api, healthy(), options);
    expect(resultsOf(report)).toEqual(["proven", "proven"]);
    expect(waits).toEqual([1_000, 2_000]);
  });

  it("is undecided after three tries, with the reason", async () => {
    const hiccup = failure({ kind: "timeout" as const, message: "no answer within 15 s" });
    const { api, requests } = apiServer([hiccup, hiccup, hiccup]);
    const report = await probe(api, healthy(), patiently().options);
    expect(report.hooks[0]).toEqual({
      hook: {
        holderKind: "MutatingWebhookConfiguration",
        holder: "kai-binder",
        index: 0,
        name: "binder.run.ai",
      },
      result: "undecided",
      because: "the dry run got no answer in 3 tries: no answer within 15 s",
      handshake: { trust: "trusted" },
    });
    expect(report.answer).toBeUndefined();
    expect(requests).toHaveLength(4);
  });

  it("waits as long as the server asks, and ten seconds at most", async () => {
    const { waits, options } = patiently();
    const slow = (retryAfterSeconds: number): Answer =>
      failure({ kind: "throttled", status: 429, message: "later", retryAfterSeconds });
    await probe(apiServer([slow(3), slow(600), "returned"]).api, healthy(), options);
    expect(waits).toEqual([3_000, 10_000]);
  });

  it("is not taken for one where a hook denies with 429 or 503", async () => {
    const denial = (status: number, kind: ApiFailure["kind"]): Answer =>
      refusal(status, kind, 'admission webhook "binder.run.ai" denied the request: busy');
    const { waits, options } = patiently();
    const throttled = await probe(apiServer([denial(429, "throttled")]).api, healthy(), options);
    const unavailable = await probe(apiServer([denial(503, "server-error")]).api, healthy(), options);
    expect([throttled.hooks[0]?.result, unavailable.hooks[0]?.result]).toEqual([
      "denied-by-target",
      "denied-by-target",
    ]);
    expect(waits).toEqual([]);
  });

  it("is a missing right where RBAC refuses after all", async () => {
    const message =
      'pods is forbidden: User "fleetmend-read" cannot create resource "pods" in API group "" in the namespace "osmo-workflows"';
    const report = await probe(apiServer([refusal(403, "forbidden", message)]).api, healthy(), patiently().options);
    expect(report.hooks[0]).toMatchObject({ result: "forbidden", message });
  });

  it("is a missing namespace where it has just gone", async () => {
    const gone = refusal(404, "not-found", 'namespaces "osmo-workflows" not found');
    const report = await probe(apiServer([gone]).api, healthy(), patiently().options);
    expect(resultsOf(report)).toEqual(["no-namespace", "no-namespace"]);
  });

  it("is undecided where the API server does not know us", async () => {
    const report = await probe(
      apiServer([refusal(401, "unauthorized", "Unauthorized")]).api,
      healthy(),
      patiently().options,
    );
    expect(resultsOf(report)).toEqual(["undecided", "undecided"]);
  });
});

describe("probe, with the verdict", () => {
  const probed = async (snapshot: ClusterSnapshot, answer: Answer | "returned"): Promise<ProbeReport> =>
    probe(apiServer([answer]).api, snapshot, patiently().options);

  it("proves a healthy KAI, and finds nothing", async () => {
    const snapshot = cluster(pem(current), binder([podServing("a", current), podServing("b", current)]));
    const report = await probed(snapshot, "returned");
    expect(report.hooks.map(({ hook: _address, ...result }) => result)).toEqual([
      { result: "proven", connection: "maybe-reused" },
      { result: "proven", connection: "maybe-reused" },
    ]);
    expect(probeFindings(report, snapshot)).toEqual([]);
  });

  it("calls a green dry run over a drift latent, and finds it broken", async () => {
    const snapshot = cluster(pem(old), binder([podServing("a", current)]));
    const report = await probed(snapshot, "returned");
    expect(resultsOf(report)).toEqual(["latent", "latent"]);
    expect(probeFindings(report, snapshot)[0]).toEqual({
      kind: "drift-latent",
      severity: "broken",
      object: "mutatingwebhookconfigurations/kai-binder",
      fixableBy: "fleetmend",
      hook: { holderKind: "MutatingWebhookConfiguration", holder: "kai-binder", index: 0, name: "binder.run.ai" },
      goText:
        'tls: failed to verify certificate: x509: certificate signed by unknown authority (possibly because of "x509: invalid signature: parent certificate cannot sign this kind of certificate" while trying to verify candidate authority certificate "binder.kai-scheduler.svc")',
    });
  });

  it("calls it latent where one of two replicas is refused", async () => {
    const snapshot = cluster(pem(old), binder([podServing("a", old), podServing("b", current)]));
    expect(resultsOf(await probed(snapshot, "returned"))).toEqual(["latent", "latent"]);
  });

  it("leaves an expired certificate behind a green dry run to a person", async () => {
    const snapshot = cluster(pem(expired), binder([podServing("a", expired)]));
    const findings = probeFindings(await probed(snapshot, "returned"), snapshot);
    expect(findings).toMatchObject([{ kind: "drift-latent", fixableBy: "person" }, { kind: "drift-latent" }]);
  });

  it("proves nothing where a pod could not be looked at", async () => {
    const snapshot = cluster(pem(current), binder([podServing("a", current), podServing("b", undefined)]));
    expect((await probed(snapshot, "returned")).hooks[0]).toMatchObject({
      result: "undecided",
      because: "the dry run is green, but no handshake with pod b: no port-forward",
    });
  });

  it("proves nothing where the Service has more addresses than pods are known", async () => {
    const snapshot = cluster(pem(current), binder([podServing("a", current)], 2));
    expect((await probed(snapshot, "returned")).hooks[0]).toMatchObject({
      result: "undecided",
      because: "the dry run is green, but 1 more ready addresses behind Service binder than ready pods known",
    });
  });

  const driftText =
    'tls: failed to verify certificate: x509: certificate signed by unknown authority (possibly because of "x509: invalid signature: parent certificate cannot sign this kind of certificate" while trying to verify candidate authority certificate "binder.kai-scheduler.svc")';

  it("agrees with the API server on a drift", async () => {
    const snapshot = cluster(pem(old), binder([podServing("a", current)]));
    const report = await probed(snapshot, mutateFails(driftText));
    expect(report.hooks[0]).toMatchObject({ result: "failed", failureClass: "trust", goText: driftText });
    expect(probeFindings(report, snapshot)).toEqual([]);
  });

  it("agrees on an expired certificate, whatever time the API server's clock shows", async () => {
    const snapshot = cluster(pem(expired), binder([podServing("a", expired)]));
    const text =
      "tls: failed to verify certificate: x509: certificate has expired or is not yet valid: current time 2026-06-01T14:00:07+02:00 is after 2026-01-01T00:00:00Z";
    expect(probeFindings(await probed(snapshot, mutateFails(text)), snapshot)).toEqual([]);
  });

  it("finds an API server that says what no pod's verdict predicts", async () => {
    const snapshot = cluster(pem(old), binder([podServing("a", current)]));
    const text = "tls: failed to verify certificate: x509: certificate is valid for other.svc, not binder.svc";
    expect(probeFindings(await probed(snapshot, mutateFails(text)), snapshot)).toMatchObject([
      {
        kind: "probe-disagrees",
        severity: "broken",
        fixableBy: "person",
        probeText: text,
        predicted: [driftText],
      },
    ]);
  });

  it("finds an API server that refuses what every pod's verdict trusts", async () => {
    const snapshot = cluster(pem(current), binder([podServing("a", current)]));
    expect(probeFindings(await probed(snapshot, mutateFails(driftText)), snapshot)).toMatchObject([
      { kind: "probe-disagrees", predicted: ["OK"] },
    ]);
  });

  it("does not compare where a pod is unknown: it may be the one that answered", async () => {
    const snapshot = cluster(pem(current), binder([podServing("a", current), podServing("b", undefined)]));
    expect(probeFindings(await probed(snapshot, mutateFails(driftText)), snapshot)).toMatchObject([
      { kind: "call-failed", failureClass: "trust", goText: driftText },
    ]);
  });

  it("does not compare texts that are not of trust", async () => {
    const snapshot = cluster(pem(current), binder([podServing("a", current)]));
    const report = await probed(snapshot, mutateFails("dial tcp 10.96.0.9:443: connect: connection refused"));
    expect(report.hooks[0]).toMatchObject({ result: "failed", failureClass: "connection-refused" });
    expect(probeFindings(report, snapshot)).toMatchObject([
      {
        kind: "call-failed",
        severity: "broken",
        fixableBy: "person",
        failureClass: "connection-refused",
        goText: "dial tcp 10.96.0.9:443: connect: connection refused",
      },
    ]);
  });

  it("agrees on a bundle that cannot be read, though no pod could be looked at", async () => {
    const snapshot = cluster(new TextEncoder().encode("not PEM"), binder([podServing("a", undefined)]));
    const report = await probed(
      snapshot,
      refusal(
        500,
        "server-error",
        'Internal error occurred: failed calling webhook "binder.run.ai": could not get REST client: unable to load root certificates: unable to parse bytes as PEM block',
      ),
    );
    expect(resultsOf(report)).toEqual(["failed", "blocked"]);
    expect(probeFindings(report, snapshot)).toEqual([]);
  });
});

describe("probe, after a write of this run", () => {
  const since = (clock: string): Date => new Date(`2026-06-01T${clock}Z`);

  it("is fresh, and waits until the write has settled", async () => {
    const snapshot = cluster(pem(old, current), binder([podServing("a", current)]));
    const changedBundles = snapshot.hooks.map(({ holder, index, name }: Hook) => ({
      hook: { holderKind: holder.kind, holder: holder.name, index, name },
      bundles: [
        { bundle: pem(old), since: since("11:00:00") },
        { bundle: pem(old, current), since: since("11:59:59.7") },
      ],
    }));
    let clock = now.getTime();
    const sleep = (ms: number): Promise<void> => {
      clock += ms;
      return Promise.resolve();
    };
    const report = await probe(apiServer(["returned"]).api, snapshot, {
      now: () => new Date(clock),
      namespace: "osmo-workflows",
      changedBundles,
      sleep,
    });
    expect(report.at).toEqual(new Date("2026-06-01T12:00:00.700Z"));
    expect(report.hooks.map(({ hook: _address, ...result }) => result)).toEqual([
      { result: "proven", connection: "fresh" },
      { result: "proven", connection: "fresh" },
    ]);
  });
});

describe("docs/probe-classes.md", () => {
  const page = readFileSync(path.join(import.meta.dirname, "..", "..", "docs", "probe-classes.md"), "utf8");
  // Records, so that a class or a result that is added to the types must be added here.
  const classes: Record<FailureClass, true> = {
    trust: true,
    config: true,
    handshake: true,
    "connection-refused": true,
    "no-endpoints": true,
    "service-not-found": true,
    "service-port-not-found": true,
    "service-unroutable": true,
    timeout: true,
    "connection-closed": true,
    "no-route": true,
    tunnel: true,
    "not-tls": true,
    "bad-response": true,
    dns: true,
    unknown: true,
  };
  const results: Record<HookResult["result"], true> = {
    proven: true,
    "denied-by-target": true,
    blocked: true,
    failed: true,
    "not-reached": true,
    undecided: true,
    latent: true,
    blind: true,
    forbidden: true,
    "no-namespace": true,
  };

  it.each([...Object.keys(results), ...Object.keys(classes)])("has a row for %s", (name) => {
    expect(page).toContain(`\n| \`${name}\` `);
  });
});
