import { describe, expect, it } from "vitest";
import { accessNeededFor, patchOf, restartPatchOf } from "../../src/admission/mend-patch.ts";
import type { StepAction } from "../../src/admission/repair-plan.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

const setBundle = {
  kind: "set-bundle",
  phase: "widen",
  holderPath: "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/validating-kai-admission",
  entries: [
    {
      hook: {
        holderKind: "ValidatingWebhookConfiguration",
        holder: "validating-kai-admission",
        index: 0,
        name: "admission.kai-scheduler.svc",
      },
      expectedClientConfig: { caBundle: "b2xk", service: { name: "admission", namespace: "kai-scheduler" } },
      bundle: bytes("new"),
    },
    {
      hook: {
        holderKind: "ValidatingWebhookConfiguration",
        holder: "validating-kai-admission",
        index: 1,
        name: "topology.admission.kai-scheduler.svc",
      },
      expectedClientConfig: { service: { name: "admission", namespace: "kai-scheduler" } },
      bundle: bytes("new"),
    },
  ],
} as const satisfies StepAction;

const secretPath = "/api/v1/namespaces/kai-scheduler/secrets/kai-admission-webhook-tls-secret";

const setSecret = {
  kind: "set-secret-certificates",
  phase: "widen",
  secretPath,
  expectedUid: "u1",
  expectedResourceVersion: "42",
  certificates: bytes("both"),
  added: "ab,cd",
  annotations: {},
} as const satisfies StepAction;

const restart = {
  kind: "restart-deployment",
  deploymentPath: "/apis/apps/v1/namespaces/kai-scheduler/deployments/admission",
  expectedUid: "u2",
  expectedGeneration: 7,
  strategy: "Recreate",
  restartedAt: "2026-12-01T03:00:00.000Z",
} as const satisfies StepAction;

describe("the patch of a step", () => {
  it("tests name and whole clientConfig of each entry before its bundle is added, absent or not", () => {
    expect(patchOf(setBundle)).toEqual({
      path: "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/validating-kai-admission",
      operations: [
        { op: "test", path: "/webhooks/0/name", value: "admission.kai-scheduler.svc" },
        {
          op: "test",
          path: "/webhooks/0/clientConfig",
          value: { caBundle: "b2xk", service: { name: "admission", namespace: "kai-scheduler" } },
        },
        { op: "add", path: "/webhooks/0/clientConfig/caBundle", value: "bmV3" },
        { op: "test", path: "/webhooks/1/name", value: "topology.admission.kai-scheduler.svc" },
        {
          op: "test",
          path: "/webhooks/1/clientConfig",
          value: { service: { name: "admission", namespace: "kai-scheduler" } },
        },
        { op: "add", path: "/webhooks/1/clientConfig/caBundle", value: "bmV3" },
      ],
    });
  });

  it("tests uid and resourceVersion of a Secret, and makes the annotations where there are none", () => {
    expect(patchOf(setSecret)).toEqual({
      path: secretPath,
      operations: [
        { op: "test", path: "/metadata/uid", value: "u1" },
        { op: "test", path: "/metadata/resourceVersion", value: "42" },
        { op: "add", path: "/data/tls.crt", value: "Ym90aA==" },
        { op: "add", path: "/metadata/annotations", value: { "fleetmend/added-certificates": "ab,cd" } },
      ],
    });
  });

  it("adds one annotation beside those of others", () => {
    const patch = patchOf({ ...setSecret, annotations: { team: "gpu" } });
    expect(patch.operations.at(-1)).toEqual({
      op: "add",
      path: "/metadata/annotations/fleetmend~1added-certificates",
      value: "ab,cd",
    });
  });

  it("removes its annotation with the last block that was added", () => {
    const { added, ...narrow } = setSecret;
    const patch = patchOf({ ...narrow, phase: "narrow", annotations: { "fleetmend/added-certificates": added } });
    expect(patch.operations.at(-1)).toEqual({
      op: "remove",
      path: "/metadata/annotations/fleetmend~1added-certificates",
    });
  });

  it("writes nothing but the request to make the operator reconcile", () => {
    const action: StepAction = {
      kind: "force-reconcile",
      secretPath,
      expectedUid: "u1",
      expectedResourceVersion: "42",
      request: "now",
      annotations: { team: "gpu" },
    };
    expect(patchOf(action).operations).toEqual([
      { op: "test", path: "/metadata/uid", value: "u1" },
      { op: "test", path: "/metadata/resourceVersion", value: "42" },
      { op: "add", path: "/metadata/annotations/fleetmend~1reconcile-requested", value: "now" },
    ]);
  });

  it("is not made of a step that was only expected", () => {
    const { kind, phase, expectedUid, certificates, annotations } = setSecret;
    const expected = { kind, phase, secretPath, expectedUid, certificates, annotations };
    expect(() => patchOf(expected)).toThrow("only expected");
  });

  it.each([
    {
      name: "has no annotations",
      template: undefined,
      last: {
        op: "add",
        path: "/spec/template/metadata/annotations",
        value: { "kubectl.kubernetes.io/restartedAt": "2026-12-01T03:00:00.000Z" },
      },
    },
    {
      name: "has some",
      template: { checksum: "1" },
      last: {
        op: "add",
        path: "/spec/template/metadata/annotations/kubectl.kubernetes.io~1restartedAt",
        value: "2026-12-01T03:00:00.000Z",
      },
    },
  ])(
    "restarts as kubectl does, at the generation that was seen, where the pod template $name",
    ({ template, last }) => {
      expect(restartPatchOf(restart, template)).toEqual({
        path: "/apis/apps/v1/namespaces/kai-scheduler/deployments/admission",
        operations: [
          { op: "test", path: "/metadata/uid", value: "u2" },
          { op: "test", path: "/metadata/generation", value: 7 },
          last,
        ],
      });
    },
  );
});

describe("the rights of a step", () => {
  it.each([
    {
      action: setBundle,
      needed: [
        {
          group: "admissionregistration.k8s.io",
          resource: "validatingwebhookconfigurations",
          name: "validating-kai-admission",
          verb: "patch",
        },
      ],
    },
    {
      action: setSecret,
      needed: [
        {
          group: "",
          resource: "secrets",
          name: "kai-admission-webhook-tls-secret",
          namespace: "kai-scheduler",
          verb: "patch",
        },
      ],
    },
    {
      action: restart,
      needed: [
        { group: "apps", resource: "deployments", name: "admission", namespace: "kai-scheduler", verb: "get" },
        { group: "apps", resource: "deployments", name: "admission", namespace: "kai-scheduler", verb: "patch" },
      ],
    },
  ])("are named by object: $action.kind", ({ action, needed }) => {
    expect(accessNeededFor(action)).toEqual(needed);
  });
});
