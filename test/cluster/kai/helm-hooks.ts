// What KAI's helm hooks write in families A to C, request by request, with the rights that the chart gives them
// (NVIDIA/KAI-Scheduler v0.4 to v0.8: cmd/webhookmanager, deployments/kai-scheduler/templates/rbac/webhookmanager.yaml).
// Their Jobs are not created here: a hook that succeeds leaves no trace of its Job.
import { createIfMissing, removeIfThere, type Api } from "../api.ts";
import { holderPath } from "../holder.ts";
import type { Secret, WebhookConfiguration } from "../../../src/lab/kai/kube-object.ts";
import { until } from "../until.ts";
import type { World } from "../world.ts";
import type { Component } from "../../../src/lab/kai/families.ts";
import { mintPair, pairData, secretsPath } from "./pair.ts";
import { kaiNamespace } from "../../../src/lab/kai/recorded.ts";

/**
 * The pre-install and pre-upgrade hook, `--upsert-secret`: always a new pair, also where the Secret holds a good one. An
 * existing Secret gets a merge patch of its data.
 */
export async function upsertSecret(webhookManager: Api, component: Component): Promise<void> {
  const data = pairData(await mintPair(component.service));
  const path = `${secretsPath}/${component.secret}`;
  const existing = await webhookManager.request("GET", path);
  if (existing.status === 404) {
    await webhookManager.create(secretsPath, { metadata: { name: component.secret }, type: "Opaque", data });
  } else {
    await webhookManager.merge(path, { data });
  }
}

/**
 * The post-install and post-upgrade hook, `--patch-webhooks`: copies `tls.crt` into every entry of the component's
 * configurations. A JSON merge patch knows no list items, so the whole list of webhooks is sent.
 */
export async function patchWebhooks(webhookManager: Api, component: Component): Promise<void> {
  const secret = await webhookManager.get<Secret>(`${secretsPath}/${component.secret}`);
  const caBundle = secret.data?.["tls.crt"];
  for (const holder of component.holders) {
    const path = holderPath(holder);
    const { webhooks = [] } = await webhookManager.get<WebhookConfiguration>(path);
    const patched = webhooks.map((webhook) => ({ ...webhook, clientConfig: { ...webhook.clientConfig, caBundle } }));
    await webhookManager.merge(path, { webhooks: patched });
  }
}

const hookAnnotations = {
  "helm.sh/hook": "pre-install,post-install,pre-upgrade,post-upgrade",
  "helm.sh/hook-delete-policy": "before-hook-creation,hook-succeeded",
  "helm.sh/hook-weight": "-3",
};

const roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
const bindings = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";
const accounts = `/api/v1/namespaces/${kaiNamespace}/serviceaccounts`;
const roleName = "kai-webhookmanager";
const accountName = "webhookmanager";

/** The hooks' ServiceAccount, ClusterRole and binding, which are hooks themselves. Returns when they have their effect. */
export async function grantHookRights(world: World): Promise<void> {
  const helm = world.as("admin", "helm");
  const metadata = { name: roleName, annotations: hookAnnotations };
  await createIfMissing(helm, accounts, { metadata: { name: accountName, annotations: hookAnnotations } });
  await createIfMissing(helm, roles, {
    metadata,
    rules: [
      {
        apiGroups: ["admissionregistration.k8s.io"],
        resources: ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"],
        verbs: ["get", "patch", "update"],
      },
      { apiGroups: [""], resources: ["secrets"], verbs: ["create", "get", "patch", "update"] },
    ],
  });
  await createIfMissing(helm, bindings, {
    metadata,
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: roleName },
    subjects: [{ kind: "ServiceAccount", name: accountName, namespace: kaiNamespace }],
  });
  const probe = `${secretsPath}/any`;
  const webhookManager = world.as("webhookManager", "webhookmanager");
  await until("the hooks have their rights", async () => (await webhookManager.request("GET", probe)).status !== 403);
}

/** `hook-succeeded`: a healthy cluster has none of the three. */
export async function revokeHookRights(world: World): Promise<void> {
  const helm = world.as("admin", "helm");
  await removeIfThere(helm, `${bindings}/${roleName}`);
  await removeIfThere(helm, `${roles}/${roleName}`);
  await removeIfThere(helm, `${accounts}/${accountName}`);
}

/** The Job of a pre hook. It does nothing here: `upsertSecret` has done its writes, and our kubelet lets it end well. */
export const preHookJob = (component: Component): object => ({
  metadata: {
    name: "pre-install-hook",
    labels: { app: "pre-install-hook" },
    annotations: { ...hookAnnotations, "helm.sh/hook": "pre-install,pre-upgrade", "helm.sh/hook-weight": "0" },
  },
  spec: {
    template: {
      spec: {
        serviceAccountName: accountName,
        restartPolicy: "Never",
        containers: [
          {
            name: "pre-install-hook",
            image: "REGISTRY/kai-scheduler/webhookmanager",
            args: [
              `--namespace=${kaiNamespace}`,
              `--service-name=${component.service}`,
              "--upsert-secret",
              `--secret-name=${component.secret}`,
            ],
          },
        ],
      },
    },
  },
});
