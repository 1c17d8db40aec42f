// The manifests against what fleetmend asks of a cluster, decided as Kubernetes' RBAC authorizer does
// (pkg/apis/rbac/v1/evaluation_helpers.go). That the API server agrees is shown in test/cluster.
import { readFileSync } from "node:fs";
import path from "node:path";
import { parseAllDocuments } from "yaml";
import { describe, expect, it } from "vitest";
import { manifest } from "../../scripts/manifests.ts";
import {
  capabilities,
  parseRequest,
  requestsBeyond,
  requestsWithin,
  type AccessRequest,
  type Capability,
} from "./rights.ts";

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

const objectsOf = (text: string): readonly RbacObject[] =>
  parseAllDocuments(text).map((document) => document.toJS() as RbacObject);
const shipped = (capability: Capability): string =>
  readFileSync(path.join(import.meta.dirname, "../../infra/kubernetes", `${capability}.yaml`), "utf8");
const parsed = new Map(capabilities.map((capability) => [capability, objectsOf(shipped(capability))]));
const shippedObjects = (capability: Capability): readonly RbacObject[] => parsed.get(capability) ?? [];
const rulesOf = (capability: Capability) => shippedObjects(capability).flatMap(({ rules = [] }) => rules);

function isAllowed(capability: Capability, text: string): boolean {
  const request = parseRequest(text);
  return shippedObjects(capability)
    .filter(({ kind, metadata: { namespace } }) => kind === "ClusterRole" || namespace === request.namespace)
    .flatMap(({ rules = [] }) => rules)
    .some((rule) => rule.verbs.includes(request.verb) && covers(rule, request));
}

function covers(rule: Rule, request: AccessRequest): boolean {
  if (request.url !== undefined) return rule.nonResourceURLs?.includes(request.url) ?? false;
  const isResource =
    (rule.apiGroups?.includes(request.group) ?? false) && (rule.resources?.includes(request.resource) ?? false);
  return isResource && (rule.resourceNames === undefined || rule.resourceNames.includes(request.name ?? ""));
}

describe.each(capabilities)("the manifest of %s", (capability) => {
  it.each(requestsWithin(capability))("allows: %s", (request) => {
    expect(isAllowed(capability, request)).toBe(true);
  });

  it.each(requestsBeyond(capability))("does not allow: %s", (request) => {
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
    const objects = shippedObjects(capability);
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
      ["Role", "default"],
      ["RoleBinding", "default"],
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
    expect(subjects).toEqual([wanted, wanted, wanted, wanted]);
  });

  it("keeps the comments that say what a rule is for", () => {
    expect(manifest({ capability: "prove", namespace: "gpu" })).toContain("# The dry run. RBAC cannot tell it");
  });
});
