// The manifests against what fleetmend asks of a cluster, decided as Kubernetes' RBAC authorizer does
// (pkg/apis/rbac/v1/evaluation_helpers.go). That the API server agrees is shown in test/cluster.
import { readFileSync } from "node:fs";
import path from "node:path";
import { parseAllDocuments } from "yaml";
import { describe, expect, it } from "vitest";
import { manifest, type ManifestNames } from "../../scripts/manifests.ts";

interface Rule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
  readonly verbs: readonly string[];
}

interface RbacObject {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly rules?: readonly Rule[];
  readonly roleRef?: { readonly kind: string; readonly name: string };
  readonly subjects?: readonly unknown[];
}

type Capability = ManifestNames["capability"];
const capabilities: readonly Capability[] = ["read", "prove", "repair"];
const objectsOf = (text: string): readonly RbacObject[] =>
  parseAllDocuments(text).map((document) => document.toJS() as RbacObject);
const shipped = (capability: Capability): string =>
  readFileSync(path.join(import.meta.dirname, "../../infra/kubernetes", `${capability}.yaml`), "utf8");
const rulesOf = (capability: Capability) => objectsOf(shipped(capability)).flatMap(({ rules = [] }) => rules);

/** `verb group/resource[/subresource] [name] [@namespace]`, or `verb url:/path`. */
function isAllowed(capability: Capability, request: string): boolean {
  const [verb = "", what = "", ...rest] = request.split(" ");
  const name = rest.find((word) => !word.startsWith("@"));
  const namespace = rest.find((word) => word.startsWith("@"))?.slice(1);
  return objectsOf(shipped(capability))
    .filter(({ kind, metadata }) => kind === "ClusterRole" || (kind === "Role" && metadata.namespace === namespace))
    .flatMap(({ rules = [] }) => rules)
    .some((rule) => rule.verbs.includes(verb) && covers(rule, what, name));
}

function covers(rule: Rule, what: string, name: string | undefined): boolean {
  if (what.startsWith("url:")) return rule.nonResourceURLs?.includes(what.slice("url:".length)) ?? false;
  const slash = what.indexOf("/");
  const isResource =
    (rule.apiGroups?.includes(what.slice(0, slash)) ?? false) &&
    (rule.resources?.includes(what.slice(slash + 1)) ?? false);
  return isResource && (rule.resourceNames === undefined || rule.resourceNames.includes(name ?? ""));
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
];

describe.each(capabilities)("the manifest of %s", (capability) => {
  const level = capabilities.indexOf(capability);
  const within = capabilities.slice(0, level + 1).flatMap((each) => needed[each]);
  const beyond = capabilities.slice(level + 1).flatMap((each) => needed[each]);

  it.each(within)("allows: %s", (request) => {
    expect(isAllowed(capability, request)).toBe(true);
  });

  it.each([...beyond, ...forbidden])("does not allow: %s", (request) => {
    expect(isAllowed(capability, request)).toBe(false);
  });

  it("has no wildcard", () => {
    expect(rulesOf(capability).flatMap((rule) => Object.values(rule).flat() as string[])).not.toContain("*");
  });

  it("names the objects of every verb that changes, but for a create", () => {
    const unnamed = rulesOf(capability).filter(({ resourceNames = [] }) => resourceNames.length === 0);
    const verbs = unnamed.flatMap(({ verbs }) => verbs);
    expect(verbs.filter((verb) => !["get", "list", "create"].includes(verb))).toEqual([]);
  });

  it("names the objects of every rule on Secrets", () => {
    const onSecrets = rulesOf(capability).filter(({ resources = [] }) => resources.includes("secrets"));
    expect(onSecrets.every(({ resourceNames = [] }) => resourceNames.length > 0)).toBe(true);
  });

  it("binds every role that it defines to the same subjects, and nothing else", () => {
    const objects = objectsOf(shipped(capability));
    const scope = ({ metadata }: RbacObject): string => metadata.namespace ?? "";
    const roles = objects.filter(({ rules }) => rules !== undefined);
    const bindings = objects.filter(({ rules }) => rules === undefined);
    expect(bindings.map((binding) => [scope(binding), binding.roleRef?.kind, binding.roleRef?.name])).toEqual(
      roles.map((role) => [scope(role), role.kind, role.metadata.name]),
    );
    const group = { apiGroup: "rbac.authorization.k8s.io", kind: "Group", name: `fleetmend-${capability}` };
    expect(bindings.map(({ subjects }) => subjects)).toEqual(bindings.map(() => [group]));
  });

  it("is printed as it is where no parameter is given", () => {
    expect(manifest({ capability })).toBe(shipped(capability));
  });
});

describe("npm run manifests", () => {
  const objects = objectsOf(
    manifest({
      capability: "repair",
      namespace: "gpu",
      probeNamespace: "probes",
      mutating: ["my-mutating"],
      validating: ["my-validating", "other"],
      secret: ["my-secret"],
      deployment: ["my-webhook"],
      subjects: [
        { kind: "User", name: "jane" },
        { kind: "ServiceAccount", name: "fleetmend", namespace: "ops" },
      ],
    }),
  );

  it("puts the namespaces where the defaults were", () => {
    expect(objects.map(({ kind, metadata }) => [kind, metadata.namespace])).toEqual([
      ["ClusterRole", undefined],
      ["ClusterRoleBinding", undefined],
      ["Role", "gpu"],
      ["RoleBinding", "gpu"],
      ["Role", "probes"],
      ["RoleBinding", "probes"],
    ]);
  });

  it("puts the names where the defaults were, and leaves fixed ones", () => {
    const named = objects
      .flatMap(({ rules = [] }) => rules)
      .flatMap(({ resources = [], resourceNames, verbs }) =>
        resourceNames ? [[resources, resourceNames, verbs]] : [],
      );
    expect(named).toEqual([
      [["configs"], ["kai-config"], ["get"]],
      [["namespaces"], ["probes"], ["get"]],
      [["mutatingwebhookconfigurations"], ["my-mutating"], ["patch"]],
      [["validatingwebhookconfigurations"], ["my-validating", "other"], ["patch"]],
      [["serviceaccounts"], ["webhookmanager"], ["get"]],
      [["secrets"], ["my-secret"], ["get"]],
      [["secrets"], ["my-secret"], ["patch"]],
      [["deployments"], ["my-webhook"], ["patch"]],
      [["leases"], ["fleetmend"], ["get", "update"]],
    ]);
  });

  it("gives the rights to all who are named", () => {
    const subjects = objects.flatMap((object) => (object.subjects === undefined ? [] : [object.subjects]));
    const wanted = [
      { apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "jane" },
      { kind: "ServiceAccount", name: "fleetmend", namespace: "ops" },
    ];
    expect(subjects).toEqual([wanted, wanted, wanted]);
  });

  it("keeps the comments that say what a rule is for", () => {
    expect(manifest({ capability: "prove", namespace: "gpu" })).toContain("# The dry run. RBAC cannot tell it");
  });
});
