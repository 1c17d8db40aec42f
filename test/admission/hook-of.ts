// Hooks as collect would give them, for tests that look at one field: KAI v0.5.5's mutating binder hook, changed at will.
import type { Holder, Hook } from "../../src/admission/snapshot.ts";

export const mutatingBinder: Holder = {
  kind: "MutatingWebhookConfiguration",
  name: "kai-binder",
  uid: "11111111-1111-1111-1111-111111111111",
  resourceVersion: "1",
  generation: 1,
  labels: {},
  annotations: {},
  ownerReferences: [],
  deleting: false,
};

export const validatingBinder: Holder = { ...mutatingBinder, kind: "ValidatingWebhookConfiguration" };

export function hookOf(changes: Partial<Hook> = {}): Hook {
  const service = { namespace: "kai-scheduler", name: "binder", port: 443, path: "/mutate--v1-pod" };
  return {
    holder: mutatingBinder,
    index: 0,
    name: "binder.run.ai",
    service,
    serverName: "binder.kai-scheduler.svc",
    bundle: new Uint8Array(),
    clientConfig: { service },
    rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"], scope: "Namespaced" }],
    namespaceSelector: {
      matchLabels: {},
      matchExpressions: [
        { key: "kubernetes.io/metadata.name", operator: "NotIn", values: ["kube-system", "kai-scheduler"] },
      ],
    },
    objectSelector: { matchLabels: {}, matchExpressions: [] },
    matchConditions: [],
    failurePolicy: "Fail",
    sideEffects: "None",
    timeoutSeconds: 10,
    ...changes,
  };
}
