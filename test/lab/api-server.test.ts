import { readFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { startLab, type Lab } from "../../src/lab/start.ts";
import { rawCall, rawPatch } from "../contract/raw-call.ts";

const admission = "/apis/admissionregistration.k8s.io/v1";
const holder = `${admission}/mutatingwebhookconfigurations/kai-binder`;
const secretPath = "/api/v1/namespaces/kai-scheduler/secrets/binder-webhook-tls-secret";
const leases = "/apis/coordination.k8s.io/v1/namespaces/kai-scheduler/leases";
const installedAt = new Date("2026-05-03T08:00:00Z");

interface Holder {
  readonly metadata: { readonly resourceVersion: string; readonly generation: number; readonly managedFields: unknown };
  readonly webhooks: readonly { readonly clientConfig: Readonly<Record<string, unknown>> }[];
}

let lab: Lab;
beforeAll(async () => {
  lab = await startLab({
    installedAt,
    replicas: 2,
  });
});
afterAll(() => lab.stop());

const get = async (url: string): Promise<unknown> => (await rawCall(lab.kubeconfig, url)).body;

function recorded(file: string): Record<string, unknown> {
  const text = readFileSync(path.join(import.meta.dirname, "../../src/lab/kai/recorded/v0.5.5", file), "utf8");
  const [first] = (parse(text) as { items: Record<string, unknown>[] }).items;
  if (first === undefined) throw new Error(`${file} is empty`);
  return first;
}

/** What differs from installation to installation, made equal. */
function masked(value: unknown): unknown {
  const own = ["uid", "resourceVersion", "time", "creationTimestamp", "caBundle", "tls.crt", "tls.key", "clusterIP"];
  const text = JSON.stringify(value, (key, child: unknown) =>
    own.includes(key) && typeof child === "string" ? "…" : child,
  );
  return JSON.parse(text);
}

describe("the lab's objects", () => {
  it.each([
    { file: "mutatingwebhookconfigurations.yaml", url: holder },
    { file: "validatingwebhookconfigurations.yaml", url: `${admission}/validatingwebhookconfigurations/kai-binder` },
    { file: "secrets.yaml", url: secretPath },
  ])("are those recorded from KAI v0.5.5, managedFields included: $file", async ({ file, url }) => {
    expect(masked(await get(url))).toEqual(masked(recorded(file)));
  });

  it("have a Service like the recorded one", async () => {
    const { metadata, ...rest } = recorded("services.yaml");
    const service = (await get("/api/v1/namespaces/kai-scheduler/services/binder")) as Record<string, unknown>;
    expect(masked(service)).toMatchObject(masked({ ...rest, metadata }) as object);
  });

  it("have a Deployment that mounts the Secret, with strategy Recreate", async () => {
    const deployment = await get("/apis/apps/v1/namespaces/kai-scheduler/deployments/binder");
    expect(deployment).toMatchObject({
      spec: {
        strategy: { type: "Recreate" },
        template: { spec: { volumes: [{ name: "certs", secret: { secretName: "binder-webhook-tls-secret" } }] } },
      },
      status: { replicas: 2, readyReplicas: 2, observedGeneration: 1 },
    });
  });
});

describe("the lab's API server", () => {
  it("refuses a caller without its token", async () => {
    const answer = await rawCall(lab.kubeconfig, "/version", { headers: { authorization: "Bearer wrong" } });
    expect(answer).toEqual({
      status: 401,
      body: {
        kind: "Status",
        apiVersion: "v1",
        metadata: {},
        status: "Failure",
        message: "Unauthorized",
        reason: "Unauthorized",
        code: 401,
      },
    });
  });

  it("says of what it lacks that it lacks it", async () => {
    const answer = await rawCall(lab.kubeconfig, "/api/v1/nodes");
    expect(answer).toMatchObject({ status: 404, body: { message: "the lab does not have this: GET /api/v1/nodes" } });
  });

  it("answers 404 for an object that is not there", async () => {
    const answer = await rawCall(lab.kubeconfig, "/api/v1/namespaces/kai-scheduler/serviceaccounts/webhookmanager");
    expect(answer).toEqual({
      status: 404,
      body: {
        kind: "Status",
        apiVersion: "v1",
        metadata: {},
        status: "Failure",
        message: 'serviceaccounts "webhookmanager" not found',
        reason: "NotFound",
        details: { name: "webhookmanager", kind: "serviceaccounts" },
        code: 404,
      },
    });
  });

  it("gives a list in pages", async () => {
    const pods = "/api/v1/namespaces/kai-scheduler/pods";
    const first = (await get(`${pods}?limit=1`)) as { metadata: { continue: string }; items: unknown[] };
    expect(first).toMatchObject({ kind: "PodList", apiVersion: "v1", metadata: { remainingItemCount: 1 } });
    const second = (await get(`${pods}?limit=1&continue=${first.metadata.continue}`)) as typeof first;
    expect(second.metadata.continue).toBeUndefined();
    expect([...first.items, ...second.items]).toEqual(((await get(pods)) as typeof first).items);
  });

  it.each([
    { selector: "labelSelector=app%3Dbinder", count: 2 },
    { selector: "labelSelector=app+in+(binder,scheduler),pod-template-hash", count: 2 },
    { selector: "labelSelector=app!%3Dbinder", count: 0 },
    { selector: "labelSelector=!app", count: 0 },
    { selector: "fieldSelector=metadata.name%3Dnobody", count: 0 },
  ])("selects by $selector", async ({ selector, count }) => {
    const list = (await get(`/api/v1/namespaces/kai-scheduler/pods?${selector}`)) as { items: unknown[] };
    expect(list.items).toHaveLength(count);
  });

  it("takes a JSON Patch whose tests hold, and makes its manager the last writer of the bundle", async () => {
    const before = (await get(holder)) as Holder;
    const { status, body } = await rawPatch(
      lab.kubeconfig,
      holder,
      [
        { op: "test", path: "/webhooks/0/name", value: "binder.run.ai" },
        { op: "test", path: "/webhooks/0/clientConfig", value: before.webhooks[0]?.clientConfig },
        { op: "add", path: "/webhooks/0/clientConfig/caBundle", value: "bmV3" },
      ],
      "fleetmend",
    );
    const after = body as Holder;
    expect(status).toBe(200);
    expect(after.webhooks[0]?.clientConfig.caBundle).toBe("bmV3");
    expect(after.metadata.generation).toBe(before.metadata.generation + 1);
    expect(Number(after.metadata.resourceVersion)).toBeGreaterThan(Number(before.metadata.resourceVersion));
    expect(after.metadata.managedFields).toMatchObject([
      { manager: "helm" },
      {
        manager: "fleetmend",
        operation: "Update",
        fieldsV1: { "f:webhooks": { 'k:{"name":"binder.run.ai"}': { "f:clientConfig": { "f:caBundle": {} } } } },
      },
    ]);
  });

  it("refuses a JSON Patch whose test fails, without a reason, and changes nothing", async () => {
    const before = await get(holder);
    const answer = await rawPatch(
      lab.kubeconfig,
      holder,
      [
        { op: "test", path: "/webhooks/0/name", value: "another" },
        { op: "add", path: "/webhooks/0/clientConfig/caBundle", value: "bmV3ZXI=" },
      ],
      "fleetmend",
    );
    expect(answer).toEqual({
      status: 422,
      body: {
        kind: "Status",
        apiVersion: "v1",
        metadata: {},
        status: "Failure",
        message: "the server rejected our request due to an error in our request",
        reason: "Invalid",
        details: {},
        code: 422,
      },
    });
    expect(await get(holder)).toEqual(before);
  });

  it("counts nothing up for a patch that changes nothing", async () => {
    const before = await get(secretPath);
    const test = [{ op: "test", path: "/type", value: "Opaque" }];
    expect(await rawPatch(lab.kubeconfig, secretPath, test, "fleetmend")).toEqual({ status: 200, body: before });
  });

  it("refuses a PUT of a Lease that was written meanwhile", async () => {
    const named = { metadata: { name: "fleetmend" }, spec: { holderIdentity: "one" } };
    const created = await rawCall(lab.kubeconfig, leases, { method: "POST", body: named });
    expect(created.status).toBe(201);
    const lease = created.body as Record<string, unknown>;
    const put = { method: "PUT", body: { ...lease, spec: { holderIdentity: "two" } } };
    expect((await rawCall(lab.kubeconfig, `${leases}/fleetmend`, put)).status).toBe(200);
    const message =
      'Operation cannot be fulfilled on leases.coordination.k8s.io "fleetmend": the object has been modified; ' +
      "please apply your changes to the latest version and try again";
    expect(await rawCall(lab.kubeconfig, `${leases}/fleetmend`, put)).toMatchObject({
      status: 409,
      body: {
        reason: "Conflict",
        message,
        details: { name: "fleetmend", group: "coordination.k8s.io", kind: "leases" },
      },
    });
    expect(await rawCall(lab.kubeconfig, leases, { method: "POST", body: named })).toMatchObject({
      status: 409,
      body: { reason: "AlreadyExists", message: 'leases.coordination.k8s.io "fleetmend" already exists' },
    });
  });

  it("makes no pod", async () => {
    const pod = { metadata: { name: "p" }, spec: { containers: [{ name: "c", image: "i" }] } };
    const call = { method: "POST", body: pod };
    expect(await rawCall(lab.kubeconfig, "/api/v1/namespaces/osmo-workflows/pods", call)).toMatchObject({
      status: 400,
      body: { message: "the lab makes no pods: a create must have dryRun=All, and this one has not" },
    });
  });
});

describe("rights in the lab", () => {
  const user = "fleetmend-read";

  it.each([
    {
      url: secretPath,
      message:
        'secrets "binder-webhook-tls-secret" is forbidden: User "fleetmend-read" cannot get resource "secrets" in API ' +
        'group "" in the namespace "kai-scheduler"',
    },
    {
      url: `${admission}/mutatingwebhookconfigurations/kai-binder`,
      method: "PATCH",
      message:
        'mutatingwebhookconfigurations.admissionregistration.k8s.io "kai-binder" is forbidden: User "fleetmend-read" ' +
        'cannot patch resource "mutatingwebhookconfigurations" in API group "admissionregistration.k8s.io" ' +
        "at the cluster scope",
    },
    {
      url: "/api/v1/namespaces/default/pods",
      message:
        'pods is forbidden: User "fleetmend-read" cannot list resource "pods" in API group "" in the namespace "default"',
    },
  ])("refuse as RBAC refuses: $url", async ({ url, message, method = "GET" }) => {
    const answer = await rawCall(lab.kubeconfig, url, { method, user });
    expect(answer).toMatchObject({ status: 403, body: { reason: "Forbidden", message } });
  });

  it.each([
    { access: { verb: "list", resource: "pods", namespace: "kai-scheduler" }, allowed: true },
    { access: { verb: "list", resource: "pods", namespace: "default" }, allowed: false },
    {
      access: { verb: "get", resource: "serviceaccounts", name: "webhookmanager", namespace: "kai-scheduler" },
      allowed: true,
    },
    { access: { verb: "get", resource: "serviceaccounts", namespace: "kai-scheduler" }, allowed: false },
    {
      access: { verb: "list", group: "admissionregistration.k8s.io", resource: "mutatingwebhookconfigurations" },
      allowed: true,
    },
    {
      access: { verb: "create", resource: "pods", subresource: "portforward", namespace: "kai-scheduler" },
      allowed: false,
    },
  ])("are told by a SelfSubjectAccessReview: $access", async ({ access, allowed }) => {
    const url = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    const call = { user, method: "POST", body: { spec: { resourceAttributes: access } } };
    expect(await rawCall(lab.kubeconfig, url, call)).toMatchObject({
      status: 201,
      body: { status: { allowed } },
    });
  });

  it("are listed by a SelfSubjectRulesReview", async () => {
    const url = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews";
    const call = { user, method: "POST", body: { spec: { namespace: "default" } } };
    const { body } = await rawCall(lab.kubeconfig, url, call);
    const resourceRules = [
      {
        verbs: ["get", "list"],
        apiGroups: ["admissionregistration.k8s.io"],
        resources: ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"],
      },
      { verbs: ["get"], apiGroups: ["kai.scheduler"], resources: ["configs"], resourceNames: ["kai-config"] },
      { verbs: ["get"], apiGroups: [""], resources: ["namespaces"], resourceNames: ["osmo-workflows"] },
    ];
    expect(body).toMatchObject({ status: { resourceRules, nonResourceRules: [], incomplete: false } });
  });
});
