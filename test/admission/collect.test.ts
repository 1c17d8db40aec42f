// Looking: which requests a look takes, what is not tried, and that what is seen arrives in the snapshot.
import { describe, expect, it } from "vitest";
import { collect } from "../../src/admission/collect.ts";
import type { CollectOptions } from "../../src/admission/collect.ts";
import type { ClusterSnapshot } from "../../src/admission/snapshot.ts";
import type { ClusterApi } from "../../src/admission/cluster-api.ts";
import { failure, success } from "../../src/result.ts";
import { everything, prover, reader, serve } from "./recorded-cluster.ts";
import { addReplica, base64, healthy, pairFor, recording, secretOf } from "./recorded-objects.ts";

const options: CollectOptions = { now: () => new Date("2026-12-01T00:00:00Z"), probeNamespace: "osmo-workflows" };

async function look(cluster: ClusterApi, changes: Partial<CollectOptions> = {}): Promise<ClusterSnapshot> {
  const snapshot = await collect(cluster, { ...options, ...changes });
  if (!snapshot.ok) throw new Error(snapshot.error.message);
  return snapshot.value;
}

const registration = "LIST /apis/admissionregistration.k8s.io/v1";
const core = "/api/v1/namespaces/kai-scheduler";
const common = [
  "GET /version",
  `${registration}/mutatingwebhookconfigurations`,
  `${registration}/validatingwebhookconfigurations`,
  "LIST /apis/apps/v1/namespaces/kai-scheduler/deployments",
  "LIST /apis/discovery.k8s.io/v1/namespaces/kai-scheduler/endpointslices",
  `LIST ${core}/pods`,
  `LIST ${core}/services`,
  "POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
  "POST /apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
];
const ofHelm = ["LIST /apis/batch/v1/namespaces/kai-scheduler/jobs", `GET ${core}/serviceaccounts/webhookmanager`];
const ofOperator = ["GET /apis/kai.scheduler/v1/configs/kai-config"];

describe("a look at a healthy cluster", () => {
  it.each([
    {
      name: "A takes 13 requests",
      version: "v0.5.5",
      count: 13,
      others: [
        ...ofHelm,
        `GET ${core}/secrets/binder-webhook-tls-secret`,
        "HANDSHAKE binder-8669877d6d-qm97n:9443 binder.kai-scheduler.svc",
      ],
    },
    {
      name: "C takes 15 requests",
      version: "v0.8.5",
      count: 15,
      others: [
        ...ofHelm,
        `GET ${core}/secrets/admission-webhook-tls-secret`,
        `GET ${core}/secrets/queuecontroller-webhook-tls-secret`,
        "HANDSHAKE kai-admission-69cb7d9784-cpnpj:9443 kai-admission.kai-scheduler.svc",
        "HANDSHAKE queuecontroller-7bf5474c5c-g7t52:9443 queuecontroller.kai-scheduler.svc",
      ],
    },
    {
      name: "D1 takes 16 requests",
      version: "v0.20.1",
      count: 16,
      others: [
        ...ofOperator,
        `GET ${core}/secrets/kai-admission-webhook-tls-secret`,
        `GET ${core}/secrets/podgroup-webhook-tls-secret`,
        `GET ${core}/secrets/queue-webhook-tls-secret`,
        "HANDSHAKE admission-7f9fd78cb-9tdt8:9443 admission.kai-scheduler.svc",
        "HANDSHAKE podgroup-controller-7b4ff76b77-cp6pd:9443 podgroup-controller.kai-scheduler.svc",
        "HANDSHAKE queue-controller-65b7dc77f-gchtk:9443 queue-controller.kai-scheduler.svc",
      ],
    },
    {
      name: "D4 takes 16 requests",
      version: "v0.17.0",
      count: 16,
      others: [
        ...ofOperator,
        `GET ${core}/secrets/kai-admission-webhook-tls-secret`,
        `GET ${core}/secrets/podgroup-webhook-tls-secret`,
        `GET ${core}/secrets/queue-webhook-tls-secret`,
        "HANDSHAKE admission-7cc98d9576-phbw7:9443 admission.kai-scheduler.svc",
        "HANDSHAKE podgroup-controller-5b569c9d84-jfwx6:9443 podgroup-controller.kai-scheduler.svc",
        "HANDSHAKE queue-controller-64d857497d-chcvg:9443 queue-controller.kai-scheduler.svc",
      ],
    },
  ])("of family $name, and nothing else", async ({ version, count, others }) => {
    const cluster = serve(await healthy(version), { user: prover });
    const snapshot = await look(cluster);
    expect(cluster.asked.toSorted()).toEqual([...common, ...others].toSorted());
    expect(snapshot.requests).toBe(count);
    expect(cluster.refused).toEqual([]);
    expect(snapshot.unseen).toEqual([]);
  });

  it("has no key material in its snapshot", async () => {
    const recorded = await healthy("v0.17.0");
    const { keyPem } = await pairFor("admission", "first");
    const snapshot = await look(serve(recorded));
    const withText = JSON.stringify(snapshot, (_, value: unknown) =>
      value instanceof Uint8Array ? Buffer.from(value).toString("latin1") : value,
    );
    const keyLines = keyPem.split("\n").filter((line) => line.length === 64);
    expect(keyLines.length).toBeGreaterThan(10);
    expect(keyLines.filter((line) => withText.includes(line))).toEqual([]);
    expect(withText).not.toContain(base64(keyPem).slice(0, 40));
    expect(withText).not.toContain("PRIVATE KEY");
    expect(withText).toContain("BEGIN CERTIFICATE");
  });
});

describe("rights", () => {
  it("are asked first: a reader is refused nothing, and what was not tried is said", async () => {
    const cluster = serve(await healthy("v0.17.0"), { user: reader });
    const snapshot = await look(cluster);
    expect(cluster.refused).toEqual([]);
    expect(cluster.asked.filter((request) => /HANDSHAKE|secrets/.test(request))).toEqual([]);
    expect(snapshot.capability).toEqual({ portForward: false, secrets: [], dryRunPods: false });
    expect(snapshot.unseen.map(({ what, why }) => [what, why.kind])).toEqual([
      [`${core}/pods/*/portforward`, "forbidden"],
      [`${core}/secrets/kai-admission-webhook-tls-secret`, "forbidden"],
      [`${core}/secrets/podgroup-webhook-tls-secret`, "forbidden"],
      [`${core}/secrets/queue-webhook-tls-secret`, "forbidden"],
    ]);
  });

  it("to port-forward are two, get and create: one alone is not tried", async () => {
    const rules = reader.rules.concat([
      { verbs: ["create"], apiGroups: [""], resources: ["pods/portforward"] },
      { verbs: ["get"], apiGroups: [""], resources: ["secrets"] },
    ]);
    const cluster = serve(await healthy("v0.5.5"), { user: { rules } });
    const snapshot = await look(cluster);
    expect(snapshot.capability).toEqual({
      portForward: false,
      secrets: ["binder-webhook-tls-secret"],
      dryRunPods: false,
    });
    expect(cluster.refused).toEqual([]);
  });

  it("are asked one by one where the rules are incomplete, as on AKS with Azure RBAC", async () => {
    const user = { rules: [], unlisted: prover.rules, probeNamespaces: ["osmo-workflows"] };
    const cluster = serve(await healthy("v0.5.5"), { user });
    const snapshot = await look(cluster);
    expect(snapshot.capability).toEqual({
      portForward: true,
      secrets: ["binder-webhook-tls-secret"],
      dryRunPods: true,
    });
    expect(cluster.refused).toEqual([]);
    expect(snapshot.unseen).toEqual([]);
    expect(snapshot.requests).toBe(16);
  });

  it("that a reader of the webhook configurations alone has are enough for a look", async () => {
    const rules = [{ verbs: ["list"], apiGroups: ["admissionregistration.k8s.io"], resources: ["*"] }];
    const cluster = serve(await healthy("v0.5.5"), { user: { rules } });
    const snapshot = await look(cluster);
    expect(cluster.refused).toEqual([]);
    expect(snapshot.hooks.map(({ name }) => name)).toEqual(["binder.run.ai", "binder.run.ai"]);
    expect(snapshot.backends).toEqual([]);
    expect(snapshot.unseen.map(({ what }) => what)).toEqual([
      `${core}/pods`,
      `${core}/serviceaccounts/webhookmanager`,
      `${core}/services`,
      "/apis/apps/v1/namespaces/kai-scheduler/deployments",
      "/apis/batch/v1/namespaces/kai-scheduler/jobs",
      "/apis/discovery.k8s.io/v1/namespaces/kai-scheduler/endpointslices",
    ]);
  });
});

describe("a hook", () => {
  it("arrives with its bundle, its selectors and its last writer", async () => {
    const snapshot = await look(serve(recording("v0.5.5")));
    const [hook] = snapshot.hooks;
    expect(hook).toMatchObject({
      holder: { kind: "MutatingWebhookConfiguration", name: "kai-binder", generation: 2 },
      index: 0,
      name: "binder.run.ai",
      service: { namespace: "kai-scheduler", name: "binder", port: 443, path: "/mutate--v1-pod" },
      serverName: "binder.kai-scheduler.svc",
      failurePolicy: "Fail",
      timeoutSeconds: 10,
      namespaceSelector: {
        matchLabels: {},
        matchExpressions: [
          { key: "kubernetes.io/metadata.name", operator: "NotIn", values: ["kube-system", "kai-scheduler"] },
        ],
      },
      objectSelector: { matchLabels: {}, matchExpressions: [] },
      bundleWriter: { manager: "webhookmanager", operation: "Update", time: new Date("2026-11-30T22:33:35Z") },
    });
    expect(hook?.bundle).toHaveLength(1070);
    expect(Buffer.from(hook?.bundle ?? []).toString()).toMatch(/^-----BEGIN CERTIFICATE-----\n/);
  });

  it.each([
    { url: "https://[fd00::1]:8443/hook", serverName: "fd00::1" },
    { url: "https://hooks.example:8443/hook", serverName: "hooks.example" },
  ])("called by $url is verified as $serverName", async ({ url, serverName }) => {
    const recorded = await healthy("v0.5.5");
    for (const { webhooks } of recorded.mutating) for (const webhook of webhooks) webhook.clientConfig = { url };
    const [hook] = (await look(serve(recorded))).hooks;
    expect(hook).toMatchObject({ url, serverName, bundle: new Uint8Array() });
    expect(hook).not.toHaveProperty("service");
  });

  it("that is not KAI's is kept where it is called for pods, for the probe", async () => {
    const recorded = await healthy("v0.5.5");
    const [holder] = recorded.mutating;
    const stranger = structuredClone(holder);
    if (stranger === undefined) throw new Error("nothing was recorded");
    stranger.metadata.name = "stranger";
    for (const webhook of stranger.webhooks) {
      webhook.name = "mpod.stranger.example";
      if (webhook.clientConfig.service) webhook.clientConfig.service.name = "stranger";
    }
    recorded.mutating.push(stranger);
    const snapshot = await look(serve(recorded));
    expect(snapshot.hooks).toHaveLength(2);
    expect(snapshot.otherHooks.map(({ name }) => name)).toEqual(["mpod.stranger.example"]);
  });

  it("of another namespace is not KAI's where the namespace is given", async () => {
    const snapshot = await look(serve(await healthy("v0.5.5")), { namespace: "kai-two" });
    expect(snapshot.hooks).toEqual([]);
    expect(snapshot.otherHooks).toHaveLength(2);
    expect(snapshot.namespaces).toEqual(["kai-two"]);
  });
});

const binderOf = (snapshot: ClusterSnapshot) => snapshot.backends.find(({ service }) => service === "binder");

describe("a backend", () => {
  it("has every pod of its Service with the chain that it serves, in served order", async () => {
    const recorded = await healthy("v0.5.5");
    addReplica(recorded, "binder", "binder-two");
    const first = await pairFor("binder", "first");
    const second = await pairFor("binder", "second");
    const cluster = serve(recorded, {
      handshake: ({ pod }) =>
        pod === "binder-two" ? success({ chain: [second.der, first.der] }) : success({ chain: [first.der] }),
    });
    const backend = binderOf(await look(cluster));
    expect(backend).toMatchObject({
      exists: true,
      port: 443,
      portExists: true,
      serviceType: "ClusterIP",
      readyEndpoints: 2,
      secretName: "binder-webhook-tls-secret",
      deployment: { name: "binder", strategy: "Recreate", replicas: 1, readyReplicas: 1 },
    });
    expect(backend?.pods.map(({ name, ready, port, served }) => [name, ready, port, served])).toEqual([
      ["binder-8669877d6d-qm97n", true, 9443, { from: "handshake", chain: [first.der] }],
      ["binder-two", true, 9443, { from: "handshake", chain: [second.der, first.der] }],
    ]);
  });

  it("asks no pod that is not ready", async () => {
    const recorded = await healthy("v0.5.5");
    for (const { endpoints } of recorded.slices) for (const one of endpoints) one.conditions.ready = false;
    const cluster = serve(recorded);
    const backend = binderOf(await look(cluster));
    expect(backend?.readyEndpoints).toBe(0);
    expect(backend?.pods).toMatchObject([{ name: "binder-8669877d6d-qm97n", ready: false }]);
    expect(cluster.asked.filter((request) => request.startsWith("HANDSHAKE"))).toEqual([]);
  });

  it("takes the number of a named target port from the EndpointSlice, pod by pod", async () => {
    const recorded = await healthy("v0.5.5");
    for (const { spec } of recorded.services) {
      for (const port of spec.ports) if (port.name === "webhook") port.targetPort = "webhook";
    }
    for (const { ports } of recorded.slices) for (const port of ports) if (port.name === "webhook") port.port = 10443;
    const cluster = serve(recorded);
    await look(cluster);
    expect(cluster.asked).toContain("HANDSHAKE binder-8669877d6d-qm97n:10443 binder.kai-scheduler.svc");
  });

  it("takes the Secret from what the ready pods mount, not from the Deployment's next template", async () => {
    const recorded = await healthy("v0.5.5");
    for (const { metadata, spec } of recorded.deployments) {
      const [volume] = spec.template.spec.volumes ?? [];
      if (metadata.name === "binder" && volume?.secret) volume.secret.secretName = "another-secret";
    }
    expect(binderOf(await look(serve(recorded)))?.secretName).toBe("binder-webhook-tls-secret");
  });

  it("has no Secret where its pods mount none at the serving-certs path: none is guessed", async () => {
    const recorded = await healthy("v0.5.5");
    for (const { spec } of recorded.pods) delete spec.volumes;
    for (const { spec } of recorded.deployments) delete spec.template.spec.volumes;
    const cluster = serve(recorded, { handshake: () => success({ chain: [] }) });
    const backend = binderOf(await look(cluster));
    expect(backend).not.toHaveProperty("secretName");
    expect(cluster.asked.filter((request) => request.includes("secrets"))).toEqual([]);
  });

  it.each([
    { name: "ExternalName", spec: { type: "ExternalName" }, serviceType: "ExternalName" },
    { name: "headless", spec: { clusterIP: "None" }, serviceType: "Headless" },
    { name: "LoadBalancer", spec: { type: "LoadBalancer" }, serviceType: "ClusterIP" },
  ])("says that its Service is $name", async ({ spec, serviceType }) => {
    const recorded = await healthy("v0.5.5");
    for (const service of recorded.services) Object.assign(service.spec, spec);
    expect(binderOf(await look(serve(recorded)))?.serviceType).toBe(serviceType);
  });

  it("that does not exist is said to, with what the hooks call", async () => {
    const recorded = await healthy("v0.5.5");
    recorded.services = [];
    expect(binderOf(await look(serve(recorded)))).toEqual({
      namespace: "kai-scheduler",
      service: "binder",
      port: 443,
      exists: false,
      portExists: false,
      serviceType: "none",
      pods: [],
      readyEndpoints: 0,
    });
  });

  it("keeps why a handshake gave no chain", async () => {
    const why = { kind: "tls", message: "ssl/tls alert handshake failure" } as const;
    const backend = binderOf(await look(serve(await healthy("v0.5.5"), { handshake: () => failure(why) })));
    expect(backend?.pods.map(({ served }) => served)).toEqual([{ from: "unseen", why }]);
  });
});

describe("a serving Secret", () => {
  it.each([
    { name: "whose key belongs to its certificate", change: () => ({}), key: "matches" },
    { name: "with the key of another certificate", key: "mismatch", change: (other: string) => ({ "tls.key": other }) },
    { name: "without a key", key: "missing", change: () => ({ "tls.key": "" }) },
    { name: "whose key is garbage", key: "unreadable", change: () => ({ "tls.key": base64("garbage") }) },
    { name: "whose certificate is garbage", key: "unreadable", change: () => ({ "tls.crt": base64("garbage") }) },
  ])("$name is known as such: $key", async ({ change, key }) => {
    const recorded = await healthy("v0.5.5");
    const { keyPem } = await pairFor("binder", "second");
    Object.assign(secretOf(recorded, "binder").data, change(base64(keyPem)));
    const handshake = () => success({ chain: [] });
    const backend = binderOf(await look(serve(recorded, { handshake })));
    expect(backend?.secret).toMatchObject({ seen: true, value: { key, name: "binder-webhook-tls-secret" } });
  });

  it("says who wrote its certificate last, and when", async () => {
    const backend = binderOf(await look(serve(await healthy("v0.5.5"))));
    expect(backend?.secret).toMatchObject({
      seen: true,
      value: { lastWriter: { manager: "webhookmanager", time: new Date("2026-11-30T22:33:32Z") } },
    });
  });
});

describe("what cannot be seen", () => {
  it("is a failure where neither kind of webhook configuration can be listed", async () => {
    const result = await collect(serve(await healthy("v0.5.5"), { user: { rules: [] } }), options);
    expect(result).toMatchObject({ ok: false, error: { kind: "forbidden" } });
  });

  it("is written down, and no more, where one of them can", async () => {
    const rules = [
      { verbs: ["list"], apiGroups: ["admissionregistration.k8s.io"], resources: ["mutatingwebhookconfigurations"] },
    ];
    const snapshot = await look(serve(await healthy("v0.5.5"), { user: { rules } }));
    expect(snapshot.hooks.map(({ holder }) => holder.kind)).toEqual(["MutatingWebhookConfiguration"]);
    expect(snapshot.unseen[0]).toMatchObject({
      what: "/api/v1/namespaces/kai-scheduler/pods",
    });
    expect(snapshot.unseen.map(({ what }) => what)).toContain(
      "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
    );
  });

  it("names a malformed object by its path and goes on without it", async () => {
    const recorded = await healthy("v0.5.5");
    for (const { webhooks } of recorded.validating) {
      for (const webhook of webhooks) Object.assign(webhook, { clientConfig: { service: "binder" } });
    }
    const snapshot = await look(serve(recorded));
    expect(snapshot.hooks.map(({ holder }) => holder.kind)).toEqual(["MutatingWebhookConfiguration"]);
    expect(snapshot.unseen).toEqual([
      {
        what: "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/kai-binder",
        why: {
          kind: "invalid",
          message: "webhooks.0.clientConfig: service is not what the Kubernetes API says: Object was expected",
        },
      },
    ]);
  });

  it("makes no backend of a Service that cannot be read: it is not missing", async () => {
    const recorded = await healthy("v0.5.5");
    for (const service of recorded.services) Object.assign(service.spec, { ports: "many" });
    const snapshot = await look(serve(recorded));
    expect(snapshot.backends).toEqual([]);
    expect(snapshot.unseen.map(({ what }) => what)).toEqual([`${core}/services/binder`, `${core}/services/scheduler`]);
  });

  it.each([
    { name: "one that is not an object", object: 7, unread: 5 },
    { name: "one without metadata", object: {}, unread: 5 },
    { name: "null", object: null, unread: 5 },
    {
      name: "one with lists that are none",
      object: { metadata: { name: "x" }, spec: { ports: "many" }, endpoints: 1 },
      unread: 2,
    },
  ])("does not stop a look, even where every list holds $name", async ({ object, unread }) => {
    const recorded = await healthy("v0.5.5");
    const lists = ["services", "pods"].map((name) => `${core}/${name}`);
    const groups = [
      "/apis/discovery.k8s.io/v1/namespaces/kai-scheduler/endpointslices",
      "/apis/apps/v1/namespaces/kai-scheduler/deployments",
      "/apis/batch/v1/namespaces/kai-scheduler/jobs",
    ];
    const answers = Object.fromEntries([...lists, ...groups].map((path) => [path, success([object])]));
    const snapshot = await look(serve(recorded, { answers }));
    expect(snapshot.backends.map(({ exists }) => exists)).toEqual([false]);
    expect(snapshot.unseen).toHaveLength(unread);
  });

  it("is the Go release where /version does not say one", async () => {
    const answers = { "/version": success({ gitVersion: "v1.37.2", goVersion: "tip" }) };
    const snapshot = await look(serve(await healthy("v0.5.5"), { answers }));
    expect(snapshot.server).toMatchObject({ seen: false, why: { kind: "invalid" } });
    expect(snapshot.unseen.map(({ what }) => what)).toEqual(["/version"]);
  });

  it.each([
    { goVersion: "go1.26.8", go: "1.26", goPatch: 8 },
    { goVersion: "go1.23.4 X:boringcrypto", go: "1.23", goPatch: 4 },
    { goVersion: "go1.25rc1", go: "1.25" },
    { goVersion: "go1.31.0", go: "1.26" },
    { goVersion: "go1.17", go: "1.19" },
  ])("is not the Go release of $goVersion: judged as $go", async ({ goVersion, ...release }) => {
    const answers = { "/version": success({ gitVersion: "v1.37.2", goVersion }) };
    const snapshot = await look(serve(await healthy("v0.5.5"), { answers }));
    expect(snapshot.server).toEqual({ seen: true, value: { gitVersion: "v1.37.2", goVersion, ...release } });
  });
});

describe("left-overs of helm hooks", () => {
  it("are the Jobs by their names, with how they ended, and the ServiceAccount", async () => {
    const recorded = await healthy("v0.5.5");
    const metadata = (name: string) => ({ name, namespace: "kai-scheduler", uid: name });
    const ended = (type: string) => ({ conditions: [{ type, status: "True" }] });
    recorded.jobs.push(
      { metadata: metadata("post-install-hook"), status: ended("Failed") },
      { metadata: metadata("pre-install-hook"), status: ended("Complete") },
      { metadata: metadata("binder-webhook-job"), status: {} },
      { metadata: metadata("nightly-report"), status: ended("Failed") },
    );
    recorded.accounts.push({ metadata: metadata("webhookmanager") });
    expect((await look(serve(recorded, { user: everything }))).leftovers).toEqual([
      { kind: "Job", namespace: "kai-scheduler", name: "post-install-hook", state: "failed" },
      { kind: "Job", namespace: "kai-scheduler", name: "pre-install-hook", state: "complete" },
      { kind: "Job", namespace: "kai-scheduler", name: "binder-webhook-job", state: "running" },
      { kind: "ServiceAccount", namespace: "kai-scheduler", name: "webhookmanager", state: "present" },
    ]);
  });
});

describe("a cluster without KAI's hooks", () => {
  it("is asked for the operator that has made none, in KAI's usual namespace: six requests", async () => {
    const recorded = await healthy("v0.20.1");
    recorded.mutating = [];
    recorded.validating = [];
    const cluster = serve(recorded);
    const snapshot = await look(cluster);
    expect(snapshot.hooks).toEqual([]);
    expect(snapshot.operator).toMatchObject({ name: "kai-operator", readyReplicas: 1 });
    expect(snapshot.requests).toBe(6);
  });
});
