// Serves recorded objects by path: another implementation of ClusterApi, for tests of looking. It answers reads, rights and
// handshakes as a real API server would for these objects; it has no behaviour of its own.
import type { ApiFailure, ClusterApi, HandshakeFailure, PodPort } from "../../src/admission/cluster-api.ts";
import { collect } from "../../src/admission/collect.ts";
import type { CollectOptions } from "../../src/admission/collect.ts";
import type { ClusterSnapshot } from "../../src/admission/snapshot.ts";
import { failure, success } from "../../src/result.ts";
import type { Result } from "../../src/result.ts";
import { ders, servers } from "./recorded-objects.ts";
import type { KubeObject, Recording } from "./recorded-objects.ts";

export interface RbacRule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
}

/** Rights as the API server gives them: what a review says, and what a request is refused for. */
export interface User {
  readonly rules: readonly RbacRule[];
  /** Rules of an authorizer that cannot list them. */
  readonly unlisted?: readonly RbacRule[];
  readonly probeNamespaces?: readonly string[];
}

export const everything: User = {
  rules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }],
  probeNamespaces: ["osmo-workflows"],
};

const readRules: readonly RbacRule[] = [
  { verbs: ["list"], apiGroups: ["admissionregistration.k8s.io"], resources: ["*"] },
  { verbs: ["list"], apiGroups: [""], resources: ["services", "pods"] },
  { verbs: ["list"], apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"] },
  { verbs: ["list"], apiGroups: ["apps"], resources: ["deployments"] },
  { verbs: ["list"], apiGroups: ["batch"], resources: ["jobs"] },
  { verbs: ["get"], apiGroups: [""], resources: ["serviceaccounts"], resourceNames: ["webhookmanager"] },
  { verbs: ["get"], apiGroups: ["kai.scheduler"], resources: ["configs"], resourceNames: ["kai-config"] },
];
export const reader: User = { rules: readRules };

export const prover: User = {
  rules: [
    ...readRules,
    { verbs: ["get", "create"], apiGroups: [""], resources: ["pods/portforward"] },
    { verbs: ["get"], apiGroups: [""], resources: ["secrets"], resourceNames: Object.keys(servers) },
  ],
  probeNamespaces: ["osmo-workflows"],
};

export type Handshake = (target: PodPort) => Result<{ readonly chain: readonly Uint8Array[] }, HandshakeFailure>;

export interface RecordedCluster extends ClusterApi {
  /** Every request, as method and path, in the order of asking. */
  readonly asked: readonly string[];
  /** Those of them that were answered with 403. */
  readonly refused: readonly string[];
}

interface Serving {
  readonly user?: User;
  /** What pods serve; by default what their Secret holds. */
  readonly handshake?: Handshake;
  /** Answers that replace the recorded ones, by path. */
  readonly answers?: Readonly<Record<string, Result<unknown, ApiFailure>>>;
}

export function serve(
  recorded: Recording,
  { user = everything, handshake, answers = {} }: Serving = {},
): RecordedCluster {
  const asked: string[] = [];
  const refused: string[] = [];
  const shake = handshake ?? servesItsSecret(recorded);
  const answer = (method: string, url: string, right: Right | undefined, value: () => Result<unknown, ApiFailure>) => {
    asked.push(`${method} ${url}`);
    const given = answers[url];
    if (given !== undefined) return Promise.resolve(given);
    if (right !== undefined && !isCovered([...user.rules, ...(user.unlisted ?? [])], right)) {
      refused.push(`${method} ${url}`);
      const message = `User "test" cannot ${right.verb} resource "${right.resource}"`;
      return Promise.resolve(failure<ApiFailure>({ kind: "forbidden", status: 403, reason: "Forbidden", message }));
    }
    return Promise.resolve(value());
  };
  const unused = () => Promise.reject(new Error("looking does not write"));
  return {
    server: "https://recorded.example",
    asked,
    refused,
    requestCount: () => asked.length,
    get: (url) => answer("GET", url, rightOf("get", url), () => objectAt(recorded, url)),
    list: (url) =>
      answer("LIST", url, rightOf("list", url), () => success(collectionAt(recorded, url))) as ReturnType<
        ClusterApi["list"]
      >,
    create: (url, body) => answer("POST", url, undefined, () => reviewOf(user, url, body)),
    replace: unused,
    patch: unused,
    handshake: (target) => {
      asked.push(`HANDSHAKE ${target.pod}:${String(target.port)} ${target.serverName}`);
      return Promise.resolve(shake(target));
    },
  };
}

/** Every pod serves what the Secret that it mounts holds; a pod that mounts none does not listen. */
export function servesItsSecret({ pods, secrets }: Recording): Handshake {
  return ({ pod }) => {
    const spec = pods.find(({ metadata }) => metadata.name === pod)?.spec;
    const mounted = spec?.volumes?.flatMap(({ secret }) => secret?.secretName ?? []) ?? [];
    const secret = secrets.find(({ metadata }) => mounted.includes(metadata.name));
    if (secret === undefined) return failure({ kind: "refused", message: "connection refused" });
    return success({ chain: ders(Buffer.from(secret.data["tls.crt"] ?? "", "base64").toString()) });
  };
}

interface Right {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly name: string;
}

function rightOf(verb: string, url: string): Right | undefined {
  const match = /^\/(?:api\/v1|apis\/([^/]+)\/[^/]+)(?:\/namespaces\/[^/]+)?\/([^/]+)(?:\/([^/]+))?$/.exec(url);
  return match === null ? undefined : { verb, group: match[1] ?? "", resource: match[2] ?? "", name: match[3] ?? "" };
}

function isCovered(rules: readonly RbacRule[], { verb, group, resource, name }: Right): boolean {
  const has = (values: readonly string[], value: string) => values.includes("*") || values.includes(value);
  return rules.some(
    (rule) =>
      has(rule.verbs, verb) &&
      has(rule.apiGroups, group) &&
      has(rule.resources, resource) &&
      (rule.resourceNames === undefined || rule.resourceNames.includes(name)),
  );
}

function reviewOf(user: User, url: string, body: unknown): Result<unknown, ApiFailure> {
  if (url.endsWith("/selfsubjectrulesreviews")) {
    return success({
      status: { resourceRules: user.rules, nonResourceRules: [], incomplete: user.unlisted !== undefined },
    });
  }
  const { resourceAttributes: asked } = (body as { spec: { resourceAttributes: Record<string, string> } }).spec;
  const { verb = "", group = "", resource = "", subresource, name = "", namespace = "" } = asked;
  if (namespace !== "kai-scheduler") {
    return success({ status: { allowed: user.probeNamespaces?.includes(namespace) === true } });
  }
  const wanted = subresource === undefined ? resource : `${resource}/${subresource}`;
  const rules = [...user.rules, ...(user.unlisted ?? [])];
  return success({ status: { allowed: isCovered(rules, { verb, group, resource: wanted, name }) } });
}

const inNamespace = "/namespaces/kai-scheduler";

function collectionAt(recorded: Recording, url: string): readonly KubeObject[] {
  const collections: Readonly<Record<string, readonly KubeObject[]>> = {
    "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations": recorded.mutating,
    "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations": recorded.validating,
    [`/api/v1${inNamespace}/services`]: recorded.services,
    [`/api/v1${inNamespace}/pods`]: recorded.pods,
    [`/apis/discovery.k8s.io/v1${inNamespace}/endpointslices`]: recorded.slices,
    [`/apis/apps/v1${inNamespace}/deployments`]: recorded.deployments,
    [`/apis/batch/v1${inNamespace}/jobs`]: recorded.jobs,
    [`/api/v1${inNamespace}/secrets`]: recorded.secrets,
    [`/api/v1${inNamespace}/serviceaccounts`]: recorded.accounts,
    "/apis/kai.scheduler/v1/configs": recorded.kaiConfig ? [recorded.kaiConfig] : [],
  };
  return collections[url] ?? [];
}

function objectAt(recorded: Recording, url: string): Result<unknown, ApiFailure> {
  if (url === "/version") return success({ gitVersion: "v1.37.2", goVersion: "go1.26.8" });
  const slash = url.lastIndexOf("/");
  const name = url.slice(slash + 1);
  const found = collectionAt(recorded, url.slice(0, slash)).find(({ metadata }) => metadata.name === name);
  if (found !== undefined) return success(found);
  return failure({ kind: "not-found", status: 404, reason: "NotFound", message: `"${name}" not found` });
}

/** A look at midnight, one hour and more after everything in the recordings was written. */
export async function lookAt(cluster: ClusterApi, changes: Partial<CollectOptions> = {}): Promise<ClusterSnapshot> {
  const now = () => new Date("2026-12-01T00:00:00Z");
  const snapshot = await collect(cluster, { now, probeNamespace: "osmo-workflows", ...changes });
  if (!snapshot.ok) throw new Error(snapshot.error.message);
  return snapshot.value;
}
