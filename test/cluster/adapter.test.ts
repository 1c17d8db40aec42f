// The adapter against the real API server, with the rights of infra/kubernetes: what it answers in the cases that the rest
// of fleetmend relies on.
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { ClusterApi, JsonPatchOperation } from "../../src/admission/cluster-api.ts";
import { connect, type Connection, type ConnectOptions } from "../../src/kubernetes/connect.ts";
import { mintKaiCertificate, type MintedCertificate } from "../../src/trust/mint.ts";
import { capabilities, parseRequest, requestsBeyond, requestsWithin, type Capability } from "../kubernetes/rights.ts";
import { ApiError } from "./api.ts";
import { openClusterUnderTest } from "./cluster-under-test.ts";
import { accessOf, users } from "./control-plane.ts";
import { uninstall } from "./kai/install.ts";
import type { KubeObject, Pod } from "../../src/lab/kai/kube-object.ts";
import { writeKubeconfig } from "./kubeconfig.ts";
import { servingCertificates, type World } from "./world.ts";

const namespace = "kai-scheduler";
const serverName = "binder.kai-scheduler.svc";
const hooksPath = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
const leasesPath = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
const secretsPath = `/api/v1/namespaces/${namespace}/secrets`;
const secretPath = `${secretsPath}/binder-webhook-tls-secret`;
const podsPath = `/api/v1/namespaces/${namespace}/pods`;
const probePodsPath = "/api/v1/namespaces/osmo-workflows/pods";
const rbacPath = "/apis/rbac.authorization.k8s.io/v1";

let world: World;
let kubeconfig: string;
/** As `repair`, the highest of fleetmend's own users. */
let cluster: ClusterApi;
const connections: Connection[] = [];
const pairs = new Map<string, MintedCertificate>();

async function as(capability: Capability, options: ConnectOptions = {}): Promise<ClusterApi> {
  const result = await connect({ kubeconfig, context: capability, ...options });
  if (!result.ok) throw new Error(result.error.message);
  connections.push(result.value);
  return result.value.cluster;
}

beforeAll(async () => {
  world = await openClusterUnderTest();
  const { plane } = world;
  kubeconfig = writeKubeconfig(path.join(plane.folder, "adapter.kubeconfig"), {
    read: accessOf(plane, "read"),
    prove: accessOf(plane, "prove"),
    repair: accessOf(plane, "repair"),
  });
  cluster = await as("repair");
  // The authorizer learns of the rights by a watch.
  await vi.waitUntil(() => isAllowed(cluster, requestsWithin("repair").at(-1) ?? ""), 10_000);
  for (const name of ["kai-binder", "other-1", "other-2", "other-3"]) await createHook(name);
  await startPod("binder-1", "binder-webhook-tls-secret");
  await startPod("binder-2", "another-secret");
});

afterAll(async () => {
  for (const connection of connections) connection.close();
  await uninstall(world);
  await world.stop();
});

/** What the API server itself says of a request, to the one who would make it. */
async function isAllowed(api: ClusterApi, text: string): Promise<boolean> {
  const { verb, group, resource, name, namespace: within, url } = parseRequest(text);
  const [main, subresource] = resource.split("/");
  const spec =
    url === undefined
      ? { resourceAttributes: { verb, group, resource: main, subresource, name, namespace: within } }
      : { nonResourceAttributes: { verb, path: url } };
  const kind = "SelfSubjectAccessReview";
  const answer = await api.create("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {
    apiVersion: "authorization.k8s.io/v1",
    kind,
    spec,
  });
  if (!answer.ok) throw new Error(answer.error.message);
  return (answer.value as { readonly status: { readonly allowed: boolean } }).status.allowed;
}

async function createHook(name: string): Promise<void> {
  const clientConfig = { service: { namespace, name: "binder", port: 443 } };
  await world.admin.create(hooksPath, {
    metadata: { name },
    webhooks: [
      { name: "binder.run.ai", clientConfig, rules: [], sideEffects: "None", admissionReviewVersions: ["v1"] },
    ],
  });
}

/** A pod that serves a pair of its own. */
async function startPod(name: string, secretName: string): Promise<void> {
  const pair = await mintKaiCertificate({ serverName, notBefore: new Date() });
  pairs.set(name, pair);
  const encode = (text: string): string => Buffer.from(text).toString("base64");
  await world.admin.create(secretsPath, {
    metadata: { name: secretName },
    data: { "tls.crt": encode(pair.pem), "tls.key": encode(pair.keyPem) },
  });
  await world.admin.create(podsPath, podOf(name, secretName));
  await vi.waitUntil(async () => {
    const pod = await world.admin.get<Pod>(`${podsPath}/${name}`);
    return pod.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True");
  }, 20_000);
}

function podOf(name: string, secretName: string): Record<string, unknown> {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name },
    spec: {
      containers: [
        { name: "binder", image: "binder", volumeMounts: [{ name: "certs", mountPath: servingCertificates }] },
      ],
      volumes: [{ name: "certs", secret: { secretName } }],
    },
  };
}

describe.each(capabilities)("the rights of %s", (capability) => {
  it("are what the API server allows, and no more", async () => {
    const api = await as(capability);
    const answers = async (requests: readonly string[]) =>
      Promise.all(requests.map(async (request) => `${request}: ${String(await isAllowed(api, request))}`));
    const [within, beyond] = [requestsWithin(capability), requestsBeyond(capability)];
    expect(await answers(within)).toEqual(within.map((request) => `${request}: true`));
    expect(await answers(beyond)).toEqual(beyond.map((request) => `${request}: false`));
  });
});

describe("a JSON Patch", () => {
  const patch = (operations: readonly JsonPatchOperation[]) => cluster.patch(`${hooksPath}/kai-binder`, operations);
  const clientConfig = "/webhooks/0/clientConfig";
  // This is all that the server says: a failed test, a path that is not there and an unknown operation look the same.
  const refused = {
    ok: false,
    error: {
      kind: "invalid",
      status: 422,
      reason: "Invalid",
      message: "the server rejected our request due to an error in our request",
    },
  };

  it("applies where every test holds, and fleetmend is the bundle's last writer", async () => {
    const service = { namespace, name: "binder", port: 443 };
    const result = await patch([
      { op: "test", path: "/webhooks/0/name", value: "binder.run.ai" },
      { op: "test", path: clientConfig, value: { service } },
      { op: "replace", path: clientConfig, value: { service, caBundle: "YQ==" } },
    ]);
    expect(result).toMatchObject({ ok: true, value: { webhooks: [{ clientConfig: { service, caBundle: "YQ==" } }] } });
    const writers = (result.ok ? result.value : {}) as {
      metadata: { managedFields: { manager: string; operation: string; fieldsV1: object }[] };
    };
    const ofBundle = writers.metadata.managedFields.filter((entry) => JSON.stringify(entry).includes("f:caBundle"));
    expect(ofBundle.map(({ manager, operation }) => [manager, operation])).toEqual([["fleetmend", "Update"]]);
  });

  it.each<[string, readonly JsonPatchOperation[]]>([
    ["a test of another value", [{ op: "test", path: "/webhooks/0/name", value: "other" }]],
    ["a test of an entry that is not there", [{ op: "test", path: "/webhooks/7/name", value: "binder.run.ai" }]],
    ["a test of another resourceVersion", [{ op: "test", path: "/metadata/resourceVersion", value: "1" }]],
    ["a test of a smaller clientConfig", [{ op: "test", path: clientConfig, value: { service: { namespace } } }]],
  ])("is refused as invalid by %s", async (_what, operations) => {
    expect(await patch([...operations, { op: "add", path: "/metadata/labels", value: { a: "b" } }])).toEqual(refused);
  });

  it("can test that a bundle is absent, with null", async () => {
    const absent: JsonPatchOperation = { op: "test", path: `${clientConfig}/caBundle`, value: null };
    await patch([{ op: "add", path: `${clientConfig}/caBundle`, value: "YQ==" }]);
    expect(await patch([absent])).toEqual(refused);
    await patch([{ op: "remove", path: `${clientConfig}/caBundle` }]);
    expect((await patch([absent])).ok).toBe(true);
  });

  it("conflicts where it sets an old resourceVersion", async () => {
    const result = await patch([{ op: "replace", path: "/metadata/resourceVersion", value: "1" }]);
    expect(result).toMatchObject({ ok: false, error: { kind: "conflict", status: 409, reason: "Conflict" } });
  });

  it("of something that is not there is not found", async () => {
    const result = await cluster.patch(`${hooksPath}/kai-admission`, [
      { op: "test", path: "/metadata/name", value: "kai-admission" },
    ]);
    expect(result).toMatchObject({ ok: false, error: { kind: "not-found", status: 404, reason: "NotFound" } });
  });

  it("that spoils a Secret is refused, and the answer quotes no value of it", async () => {
    const result = await cluster.patch(secretPath, [{ op: "replace", path: "/data/tls.crt", value: "!not base64" }]);
    expect(result).toEqual({
      ok: false,
      error: {
        kind: "invalid",
        status: 422,
        reason: "Invalid",
        message: ' "" is invalid: patch: Invalid value: [removed]',
      },
    });
  });
});

describe("a Lease", () => {
  it("that exists cannot be created again, and a PUT with an old resourceVersion conflicts", async () => {
    const body = {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { name: "fleetmend" },
      spec: { holderIdentity: "first" },
    };
    const created = await cluster.create(leasesPath, body);
    if (!created.ok) throw new Error(created.error.message);
    expect(await cluster.create(leasesPath, body)).toMatchObject({
      ok: false,
      error: { kind: "conflict", status: 409, reason: "AlreadyExists" },
    });
    const seen = created.value as typeof body;
    const taken = await cluster.replace(`${leasesPath}/fleetmend`, { ...seen, spec: { holderIdentity: "second" } });
    expect(taken.ok).toBe(true);
    expect(await cluster.replace(`${leasesPath}/fleetmend`, seen)).toMatchObject({
      ok: false,
      error: { kind: "conflict", status: 409, reason: "Conflict" },
    });
  });
});

describe("a list", () => {
  it("comes whole over many pages, each item without its kind", async () => {
    const small = await as("read", { pageSize: 3 });
    const whole = await as("read");
    const [paged, unpaged] = [await small.list(hooksPath), await whole.list(hooksPath)];
    if (!paged.ok || !unpaged.ok) throw new Error("a list failed");
    expect(paged.value).toEqual(unpaged.value);
    const names = (paged.value as KubeObject[]).map(({ kind, metadata }) => [kind, metadata.name]);
    expect(names).toEqual(["kai-binder", "other-1", "other-2", "other-3"].map((name) => [undefined, name]));
    expect([small.requestCount(), whole.requestCount()]).toEqual([2, 1]);
  });
});

describe("an object of a version that the server does not have", () => {
  it("is not found, without a reason", async () => {
    expect(await (await as("read")).get("/apis/kai.scheduler/v9/configs/kai-config")).toEqual({
      ok: false,
      error: { kind: "not-found", status: 404, message: "404 page not found" },
    });
  });
});

describe("a dry run", () => {
  it("answers with the object and stores nothing", async () => {
    const prove = await as("prove");
    const result = await prove.create(probePodsPath, podOf("dry", "none"), { dryRun: true });
    expect(result).toMatchObject({
      ok: true,
      value: { kind: "Pod", metadata: { name: "dry", namespace: "osmo-workflows" } },
    });
    await expect(world.admin.get(`${probePodsPath}/dry`)).rejects.toThrow(ApiError);
  });
});

describe("without rights", () => {
  it("a request is forbidden, in the authorizer's words", async () => {
    const read = await as("read");
    expect(await read.get(secretPath)).toEqual({
      ok: false,
      error: {
        kind: "forbidden",
        status: 403,
        reason: "Forbidden",
        message:
          'secrets "binder-webhook-tls-secret" is forbidden: User "fleetmend-read" cannot get resource "secrets" in API group "" in the namespace "kai-scheduler"',
      },
    });
    expect(read.requestCount()).toBe(1);
  });

  it("and without a user it is unauthorized", async () => {
    const file = writeKubeconfig(path.join(world.plane.folder, "stranger.kubeconfig"), {
      read: { ...accessOf(world.plane, "read"), token: "sekret-token-of-nobody" },
    });
    const stranger = await as("read", { kubeconfig: file });
    expect(await stranger.get("/version")).toEqual({
      ok: false,
      error: { kind: "unauthorized", status: 401, reason: "Unauthorized", message: "Unauthorized" },
    });
  });
});

describe("a handshake", () => {
  const target = { namespace, pod: "binder-1", port: 9443, serverName };

  it("gives the chain of each single pod", async () => {
    for (const [pod, { der }] of pairs) {
      expect(await cluster.handshake({ ...target, pod })).toEqual({ ok: true, value: { chain: [der] } });
    }
  });

  it("with a pod that is gone is not found", async () => {
    expect(await cluster.handshake({ ...target, pod: "binder-9" })).toEqual({
      ok: false,
      error: { kind: "not-found", message: 'pods "binder-9" not found' },
    });
  });

  it("where nothing listens is refused", async () => {
    expect(await cluster.handshake({ ...target, port: 1234 })).toMatchObject({ ok: false, error: { kind: "refused" } });
  });

  it("without the right is forbidden, in the authorizer's words", async () => {
    expect(await (await as("read")).handshake(target)).toEqual({
      ok: false,
      error: {
        kind: "forbidden",
        message:
          'pods "binder-1" is forbidden: User "fleetmend-read" cannot get resource "pods/portforward" in API group "" in the namespace "kai-scheduler" (get and create on pods/portforward in kai-scheduler are needed)',
      },
    });
  });

  // Since Kubernetes 1.35 (AuthorizePodWebsocketUpgradeCreatePermission) a WebSocket asks for both verbs. Whoever has
  // `get` alone, which was enough before, is told nothing of the other by the server.
  it("with the right to get alone is forbidden, and says what is missing", async () => {
    const name = "get-port-forward";
    const roles = `${rbacPath}/namespaces/${namespace}/roles`;
    const bindings = `${rbacPath}/namespaces/${namespace}/rolebindings`;
    const rules = [{ apiGroups: [""], resources: ["pods/portforward"], verbs: ["get"] }];
    const subjects = [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: users.read.name }];
    const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name };
    await world.admin.create(roles, { metadata: { name }, rules });
    await world.admin.create(bindings, { metadata: { name }, roleRef, subjects });
    const read = await as("read");
    try {
      await vi.waitUntil(() => isAllowed(read, "get /pods/portforward binder-1 @kai-scheduler"), 10_000);
      expect(await read.handshake(target)).toEqual({
        ok: false,
        error: {
          kind: "forbidden",
          message: 'pods "binder-1" is forbidden (get and create on pods/portforward in kai-scheduler are needed)',
        },
      });
    } finally {
      await world.admin.remove(`${bindings}/${name}`);
      await world.admin.remove(`${roles}/${name}`);
    }
  });
});
