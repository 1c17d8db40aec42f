// Looks at one namespace in which KAI's hooks have their Services: rights first, then the lists, then the Secrets that
// pods really mount and the chains that they really serve.
import { failure } from "../result.ts";
import { backendsOf } from "./collect-backends.ts";
import { leaveOut, lookAtList, lookAtObject } from "./collect-look.ts";
import type { Look, Parser } from "./collect-look.ts";
import { isAllowed, mayTry, rightsIn } from "./collect-rights.ts";
import type { NamespaceRights, Right } from "./collect-rights.ts";
import { parseServingSecret } from "./collect-secret.ts";
import { hookJobNames, hookServiceAccountName, kaiConfigName, kaiEntryOf } from "./objects.ts";
import { parseKaiConfig } from "./parse-answer.ts";
import { parsePresence } from "./parse-object.ts";
import { parseDeployment, parseJob, parsePod, parseService, parseSlice } from "./parse-workload.ts";
import type {
  Backend,
  BackendPod,
  ClusterSnapshot,
  DeploymentState,
  Hook,
  Leftover,
  Observed,
  ServingSecret,
} from "./snapshot.ts";

export interface NamespaceView {
  readonly backends: readonly Backend[];
  readonly deployments: readonly DeploymentState[];
  readonly kaiConfig?: NonNullable<ClusterSnapshot["kaiConfig"]>;
  readonly leftovers: readonly Leftover[];
  readonly portForward: boolean;
  /** Names of Secrets that may be read, of those that pods mount. */
  readonly secrets: readonly string[];
}

/** Everything about the hooks whose Services are in this namespace. Without hooks only the Deployments are looked at. */
export async function lookAtNamespace(look: Look, namespace: string, hooks: readonly Hook[]): Promise<NamespaceView> {
  const rights = await rightsIn(look.cluster, namespace);
  if (hooks.length === 0) {
    const parsed = (await listIn(look, rights, lists.deployments, parseDeployment)) ?? [];
    return {
      backends: [],
      deployments: parsed.map(({ state }) => state),
      leftovers: [],
      portForward: false,
      secrets: [],
    };
  }
  const [services, slices, pods, deployments, kaiConfig, leftovers] = await Promise.all([
    listIn(look, rights, lists.services, parseService),
    listIn(look, rights, lists.slices, parseSlice),
    listIn(look, rights, lists.pods, parsePod),
    listIn(look, rights, lists.deployments, parseDeployment),
    hasGeneration(hooks, "operator") ? lookAtKaiConfig(look, rights) : undefined,
    hasGeneration(hooks, "helm") ? lookAtLeftovers(look, rights) : [],
  ]);
  // Without Services or slices nothing is known of a backend, nor where its Service cannot be read: that it is missing
  // must not be concluded.
  const known = hooks.filter(
    ({ service }) => !isUnread(look, `${pathIn(namespace, lists.services)}/${service?.name ?? ""}`),
  );
  const bare =
    services && slices
      ? backendsOf(namespace, known, { services, slices, ...(pods && { pods }), ...(deployments && { deployments }) })
      : [];
  return {
    ...(await lookBehind(look, rights, bare)),
    deployments: (deployments ?? []).map(({ state }) => state),
    ...(kaiConfig && { kaiConfig }),
    leftovers,
  };
}

function isUnread({ unseen }: Look, path: string): boolean {
  return unseen.some(({ what }) => what === path);
}

function hasGeneration(hooks: readonly Hook[], generation: "helm" | "operator"): boolean {
  return hooks.some((hook) => kaiEntryOf(hook)?.generation === generation);
}

const lists = {
  services: { group: "", resource: "services" },
  slices: { group: "discovery.k8s.io", resource: "endpointslices" },
  pods: { group: "", resource: "pods" },
  deployments: { group: "apps", resource: "deployments" },
  jobs: { group: "batch", resource: "jobs" },
} as const;

function pathIn(namespace: string, { group, resource }: Pick<Right, "group" | "resource">): string {
  return `${group === "" ? "/api/v1" : `/apis/${group}/v1`}/namespaces/${namespace}/${resource}`;
}

async function listIn<T>(
  look: Look,
  rights: NamespaceRights,
  target: Pick<Right, "group" | "resource">,
  parse: Parser<T>,
): Promise<readonly T[] | undefined> {
  const path = pathIn(rights.namespace, target);
  if (!mayTry(rights, { verb: "list", ...target })) {
    leaveOut(look, path, `list ${target.resource} in namespace ${rights.namespace}`);
    return undefined;
  }
  const answer = await lookAtList(look, path, parse);
  return answer.ok ? answer.value : undefined;
}

async function lookAtKaiConfig(look: Look, rights: NamespaceRights): Promise<NamespaceView["kaiConfig"]> {
  const right = { verb: "get", group: "kai.scheduler", resource: "configs", name: kaiConfigName } as const;
  const path = `/apis/kai.scheduler/v1/configs/${kaiConfigName}`;
  if (!mayTry(rights, right)) {
    return { seen: false, why: leaveOut(look, path, `get configs.kai.scheduler ${kaiConfigName}`) };
  }
  const answer = await lookAtObject(look, path, parseKaiConfig);
  if (answer.ok) return { seen: true, value: answer.value };
  return answer.error.kind === "not-found" ? { seen: true, value: undefined } : { seen: false, why: answer.error };
}

async function lookAtLeftovers(look: Look, rights: NamespaceRights): Promise<readonly Leftover[]> {
  const [jobs, account] = await Promise.all([
    listIn(look, rights, lists.jobs, parseJob),
    lookAtHookAccount(look, rights),
  ]);
  return [...(jobs ?? []).filter(({ name }) => hookJobNames.includes(name)), ...account];
}

async function lookAtHookAccount(look: Look, rights: NamespaceRights): Promise<readonly Leftover[]> {
  const right = { verb: "get", group: "", resource: "serviceaccounts", name: hookServiceAccountName } as const;
  const path = `${pathIn(rights.namespace, right)}/${hookServiceAccountName}`;
  if (!mayTry(rights, right)) {
    leaveOut(look, path, `get serviceaccounts ${hookServiceAccountName} in namespace ${rights.namespace}`);
    return [];
  }
  const found = await lookAtObject(look, path, parsePresence);
  if (!found.ok) return [];
  return [{ kind: "ServiceAccount", namespace: rights.namespace, name: hookServiceAccountName, state: "present" }];
}

/** Secrets and chains, all at once: none depends on another. */
async function lookBehind(
  look: Look,
  rights: NamespaceRights,
  bare: readonly Backend[],
): Promise<Pick<NamespaceView, "backends" | "portForward" | "secrets">> {
  const names = [...new Set(bare.flatMap(({ secretName }) => secretName ?? []))];
  const portForward = isPortForwardAllowed(look, rights);
  const [secrets, allowed, backends] = await Promise.all([
    Promise.all(names.map(async (name) => ({ name, secret: await lookAtSecret(look, rights, name) }))),
    portForward,
    Promise.all(bare.map(async (backend) => withChains(look, backend, await portForward))),
  ]);
  if (!allowed && bare.length > 0) {
    leaveOut(look, `${pathIn(rights.namespace, lists.pods)}/*/portforward`, `port-forward in ${rights.namespace}`);
  }
  const byName = new Map(secrets.map(({ name, secret }) => [name, secret]));
  return {
    backends: backends.map((backend) => {
      const secret = byName.get(backend.secretName ?? "");
      return { ...backend, ...(secret && { secret }) };
    }),
    portForward: allowed,
    secrets: secrets.filter(({ secret }) => secret.seen || secret.why.kind !== "forbidden").map(({ name }) => name),
  };
}

/** A WebSocket port-forward is a GET that Kubernetes 1.35 and later also want `create` for: either alone is a 403. */
async function isPortForwardAllowed(look: Look, rights: NamespaceRights): Promise<boolean> {
  const right = { group: "", resource: "pods", subresource: "portforward" };
  const answers = await Promise.all(
    (["get", "create"] as const).map((verb) => isAllowed(look.cluster, rights, { verb, ...right })),
  );
  return answers.every(Boolean);
}

async function lookAtSecret(look: Look, rights: NamespaceRights, name: string): Promise<Observed<ServingSecret>> {
  const right = { verb: "get", group: "", resource: "secrets", name } as const;
  const path = `${pathIn(rights.namespace, right)}/${name}`;
  if (!(await isAllowed(look.cluster, rights, right))) {
    return { seen: false, why: leaveOut(look, path, `get secrets ${name} in namespace ${rights.namespace}`) };
  }
  const answer = await lookAtObject(look, path, parseServingSecret);
  return answer.ok ? { seen: true, value: answer.value } : { seen: false, why: answer.error };
}

async function withChains(look: Look, backend: Backend, portForward: boolean): Promise<Backend> {
  return {
    ...backend,
    pods: await Promise.all(backend.pods.map((pod) => withChain(look, backend, pod, portForward))),
  };
}

/** The served chain of a ready pod. A pod that is not ready gets no calls, and its chain says nothing about them. */
async function withChain(look: Look, backend: Backend, pod: BackendPod, portForward: boolean): Promise<BackendPod> {
  const { namespace, service } = backend;
  const { name, ready, port } = pod;
  if (!ready || port === undefined) return pod;
  const answer = portForward
    ? await look.cluster.handshake({ namespace, pod: name, port, serverName: `${service}.${namespace}.svc` })
    : failure({ kind: "forbidden", message: "port-forward is not allowed to this user" } as const);
  return {
    ...pod,
    served: answer.ok ? { from: "handshake", chain: answer.value.chain } : { from: "unseen", why: answer.error },
  };
}
