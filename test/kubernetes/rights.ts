// What fleetmend asks of a cluster, by the capability that it needs, and what it must never be allowed. The manifests are
// held against it (manifests.test.ts), and the real API server's answers too (test/cluster/adapter.test.ts).
import type { ManifestNames } from "../../scripts/manifests.ts";

export type Capability = ManifestNames["capability"];
export const capabilities: readonly Capability[] = ["read", "prove", "repair"];

export interface AccessRequest {
  readonly verb: string;
  readonly group: string;
  /** With its subresource, as in a rule. */
  readonly resource: string;
  readonly name?: string;
  readonly namespace?: string;
  /** In place of a resource. */
  readonly url?: string;
}

/** Reads `verb group/resource[/subresource] [name] [@namespace]`, or `verb url:/path`. The core group is empty. */
export function parseRequest(text: string): AccessRequest {
  const [verb = "", what = "", ...rest] = text.split(" ");
  if (what.startsWith("url:")) return { verb, group: "", resource: "", url: what.slice("url:".length) };
  const slash = what.indexOf("/");
  const name = rest.find((word) => !word.startsWith("@"));
  const namespace = rest.find((word) => word.startsWith("@"))?.slice(1);
  return {
    verb,
    group: what.slice(0, slash),
    resource: what.slice(slash + 1),
    ...(name !== undefined && { name }),
    ...(namespace !== undefined && { namespace }),
  };
}

/** What a capability has to allow. */
export function requestsWithin(capability: Capability): readonly string[] {
  return capabilities.slice(0, capabilities.indexOf(capability) + 1).flatMap((each) => needed[each]);
}

/** What it must not: what only a higher one needs, and what none does. */
export function requestsBeyond(capability: Capability): readonly string[] {
  const higher = capabilities.slice(capabilities.indexOf(capability) + 1).flatMap((each) => needed[each]);
  return [...higher, ...forbidden];
}

const secrets = [
  "binder-webhook-tls-secret",
  "admission-webhook-tls-secret",
  "queuecontroller-webhook-tls-secret",
  "kai-admission-webhook-tls-secret",
  "queue-webhook-tls-secret",
  "podgroup-webhook-tls-secret",
];
const registration = "admissionregistration.k8s.io";

// Everything that fleetmend asks for, by the capability that it needs.
const kai = "@kai-scheduler";
const needed: Readonly<Record<Capability, readonly string[]>> = {
  read: [
    "get url:/version",
    `list ${registration}/mutatingwebhookconfigurations`,
    `list ${registration}/validatingwebhookconfigurations`,
    `get ${registration}/mutatingwebhookconfigurations any`,
    `get ${registration}/validatingwebhookconfigurations any`,
    "get kai.scheduler/configs kai-config",
    "get /namespaces osmo-workflows @osmo-workflows",
    ...["/services", "/pods", "discovery.k8s.io/endpointslices", "apps/deployments", "batch/jobs"].flatMap((what) => [
      `list ${what} ${kai}`,
      `get ${what} any ${kai}`,
    ]),
    `get /serviceaccounts webhookmanager ${kai}`,
  ],
  prove: [
    "create /pods @osmo-workflows",
    `get /pods/portforward any ${kai}`,
    `create /pods/portforward any ${kai}`,
    ...secrets.map((name) => `get /secrets ${name} ${kai}`),
  ],
  repair: [
    ...["mutating-binder", "kai-binder", "kai-admission", "mutating-kai-admission"].map(
      (name) => `patch ${registration}/mutatingwebhookconfigurations ${name}`,
    ),
    ...[
      "validating-binder",
      "kai-binder",
      "kai-queuecontroller",
      "kai-admission",
      "validating-kai-admission",
      "kai-queue-validation-v2",
      "kai-podgroup-validation-v2alpha2",
    ].map((name) => `patch ${registration}/validatingwebhookconfigurations ${name}`),
    ...secrets.map((name) => `patch /secrets ${name} ${kai}`),
    ...["binder", "kai-admission", "queuecontroller", "admission", "queue-controller", "podgroup-controller"].map(
      (name) => `patch apps/deployments ${name} ${kai}`,
    ),
    `create coordination.k8s.io/leases ${kai}`,
    `get coordination.k8s.io/leases fleetmend ${kai}`,
    `update coordination.k8s.io/leases fleetmend ${kai}`,
    `create /events ${kai}`,
    "create /events @default",
  ],
};

// What no capability may do.
const forbidden = [
  `list /secrets ${kai}`,
  `watch /secrets ${kai}`,
  `get /secrets another ${kai}`,
  `delete /secrets ${secrets[0] ?? ""} ${kai}`,
  "get /secrets binder-webhook-tls-secret @osmo-workflows",
  "create /pods @kai-scheduler",
  "create /pods @default",
  "delete /pods any @osmo-workflows",
  `create /pods/exec any ${kai}`,
  "create /pods/portforward any @osmo-workflows",
  "list /pods @default",
  `patch ${registration}/mutatingwebhookconfigurations somebody-elses`,
  `patch ${registration}/validatingwebhookconfigurations aks-node-validating-webhook`,
  `update ${registration}/mutatingwebhookconfigurations kai-binder`,
  `delete ${registration}/mutatingwebhookconfigurations kai-binder`,
  `create ${registration}/mutatingwebhookconfigurations`,
  `patch apps/deployments kai-operator ${kai}`,
  `patch apps/deployments/scale binder ${kai}`,
  `update coordination.k8s.io/leases kai-scheduler ${kai}`,
  "patch kai.scheduler/configs kai-config",
  "get /nodes any",
  "create /events @osmo-workflows",
  "list /events @default",
];
