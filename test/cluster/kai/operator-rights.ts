// The operator's ServiceAccount rights, as the chart grants them (NVIDIA/KAI-Scheduler,
// deployments/kai-scheduler/templates/rbac/operator.yaml), as far as the reconcile of operator.ts needs them.
import { createIfMissing, type Api } from "../api.ts";
import { kaiNamespace } from "../../../src/lab/kai/recorded.ts";

const all = ["create", "delete", "get", "list", "patch", "update", "watch"];
const look = ["get", "list", "watch"];

// Since v0.10.0: configurations of other names can be created, and never changed or deleted again.
const defaultConfigurations = [
  "mutating-kai-admission",
  "validating-kai-admission",
  "kai-queue-validation-v2",
  "kai-podgroup-validation-v2alpha2",
];

const configurations = {
  apiGroups: ["admissionregistration.k8s.io"],
  resources: ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"],
};

const rules = [
  { apiGroups: [""], resources: ["configmaps", "secrets", "serviceaccounts", "services"], verbs: all },
  { apiGroups: ["apps"], resources: ["daemonsets", "deployments"], verbs: all },
  { ...configurations, verbs: ["create", "get", "list", "watch"] },
  { ...configurations, resourceNames: defaultConfigurations, verbs: ["update", "patch", "delete"] },
  { apiGroups: ["apiextensions.k8s.io"], resources: ["customresourcedefinitions"], verbs: look },
  { apiGroups: ["kai.scheduler"], resources: ["configs", "schedulingshards"], verbs: all },
  {
    apiGroups: ["kai.scheduler"],
    resources: ["configs/status", "schedulingshards/status"],
    verbs: ["get", "patch", "update"],
  },
  { apiGroups: ["kai.scheduler"], resources: ["configs/finalizers", "schedulingshards/finalizers"], verbs: ["update"] },
  { apiGroups: ["nvidia.com"], resources: ["clusterpolicies"], verbs: look },
];

export async function grantOperatorRights(helm: Api): Promise<void> {
  const rbac = "/apis/rbac.authorization.k8s.io/v1";
  const metadata = { name: "kai-operator" };
  await createIfMissing(helm, `${rbac}/clusterroles`, { metadata, rules });
  await createIfMissing(helm, `${rbac}/clusterrolebindings`, {
    metadata,
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "kai-operator" },
    subjects: [{ kind: "ServiceAccount", name: "kai-operator", namespace: kaiNamespace }],
  });
}
