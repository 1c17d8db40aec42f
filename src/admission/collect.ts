// Looks at one cluster: every request that a look takes starts here. What is seen is not judged (assess.ts).
import { failure, success } from "../result.ts";
import type { Result } from "../result.ts";
import type { ApiFailure, ClusterApi } from "./cluster-api.ts";
import { lookAtList, lookAtObject } from "./collect-look.ts";
import type { Look } from "./collect-look.ts";
import { lookAtNamespace } from "./collect-namespace.ts";
import type { NamespaceView } from "./collect-namespace.ts";
import { reviewed } from "./collect-rights.ts";
import { defaultNamespace, kaiEntryOf, operatorName } from "./objects.ts";
import { parseVersion } from "./parse-answer.ts";
import { parseHooks } from "./parse-holder.ts";
import type { ClusterSnapshot, Hook, Observed, ServerVersion } from "./snapshot.ts";

export interface CollectOptions {
  /** The time of the look. */
  readonly now: () => Date;
  /** Only hooks whose Service is in this namespace are taken for KAI's. Without it: every namespace. */
  readonly namespace?: string;
  /** Where a probe would create a pod: only whether that is allowed is asked. */
  readonly probeNamespace: string;
}

/**
 * One look at KAI's admission on one cluster, in three rounds: version and webhook configurations; the rights; what
 * stands behind the hooks. A healthy KAI takes 13 to 16 requests, port-forwards included (docs/kai-families.md lists them).
 * Fails only where neither kind of webhook configuration can be listed. All else that was not seen is in `unseen`: not
 * allowed (and then not tried), refused, or malformed. The objects are read one after another and are not one state of
 * the cluster: what changes meanwhile may look inconsistent, and is put right by the next look.
 */
export async function collect(
  cluster: ClusterApi,
  options: CollectOptions,
): Promise<Result<ClusterSnapshot, ApiFailure>> {
  const requestsBefore = cluster.requestCount();
  const at = options.now();
  const look: Look = { cluster, unseen: [] };
  const [server, holders] = await Promise.all([lookAtVersion(look), lookAtHolders(look)]);
  if (!holders.ok) return holders;
  const hooks = hooksOfKai(holders.value, options.namespace);
  const namespaces = namespacesOf(hooks, options.namespace);
  const [dryRunPods, views] = await Promise.all([
    reviewed(cluster, options.probeNamespace, { verb: "create", group: "", resource: "pods" }),
    Promise.all(namespaces.map((namespace) => lookAtNamespace(look, namespace, hooksIn(hooks, namespace)))),
  ]);
  return success({
    at,
    apiServer: cluster.server,
    server,
    hooks,
    otherHooks: holders.value.filter((hook) => !hooks.includes(hook) && isCalledForPods(hook)),
    namespaces,
    ...together(views, dryRunPods),
    unseen: look.unseen.toSorted((left, right) => (left.what < right.what ? -1 : 1)),
    requests: cluster.requestCount() - requestsBefore,
  });
}

/**
 * Only KAI's hooks, in two requests: enough to notice that one of them has changed. Fails where either kind of webhook
 * configuration could not be listed, or an object of it not be read.
 */
export async function collectHooks(
  cluster: ClusterApi,
  namespace?: string,
): Promise<Result<readonly Hook[], ApiFailure>> {
  const look: Look = { cluster, unseen: [] };
  const holders = await lookAtHolders(look);
  if (!holders.ok || look.unseen.length === 0) {
    return holders.ok ? success(hooksOfKai(holders.value, namespace)) : holders;
  }
  return failure({ kind: "invalid", message: `${look.unseen.map(({ what }) => what).join(", ")} could not be read` });
}

async function lookAtVersion(look: Look): Promise<Observed<ServerVersion>> {
  const answer = await lookAtObject(look, "/version", parseVersion);
  return answer.ok ? { seen: true, value: answer.value } : { seen: false, why: answer.error };
}

const registration = "/apis/admissionregistration.k8s.io/v1";

/** Every hook of the cluster, ordered by kind, name of the configuration, and place in it. */
async function lookAtHolders(look: Look): Promise<Result<readonly Hook[], ApiFailure>> {
  const [mutating, validating] = await Promise.all([
    lookAtList(look, `${registration}/mutatingwebhookconfigurations`, (object) =>
      parseHooks("MutatingWebhookConfiguration", object),
    ),
    lookAtList(look, `${registration}/validatingwebhookconfigurations`, (object) =>
      parseHooks("ValidatingWebhookConfiguration", object),
    ),
  ]);
  if (!mutating.ok && !validating.ok) return mutating;
  return success([mutating, validating].flatMap((kind) => (kind.ok ? kind.value.toSorted(byHolderName).flat() : [])));
}

function byHolderName([left]: readonly Hook[], [right]: readonly Hook[]): number {
  return (left?.holder.name ?? "") < (right?.holder.name ?? "") ? -1 : 1;
}

/** KAI's own hooks, and strangers' that call a Service of KAI's: what its pods serve decides about those, too. */
function hooksOfKai(all: readonly Hook[], namespace: string | undefined): readonly Hook[] {
  const own = all.filter((hook) => kaiEntryOf(hook) !== undefined);
  const called = new Set(own.map(serviceOf));
  return all.filter(
    (hook) =>
      (own.includes(hook) || (hook.service !== undefined && called.has(serviceOf(hook)))) &&
      (namespace === undefined || hook.service?.namespace === namespace),
  );
}

function serviceOf({ service }: Hook): string | undefined {
  return service && `${service.namespace}/${service.name}`;
}

/** Where there are no hooks KAI may still be installed: an operator that has made none. */
function namespacesOf(hooks: readonly Hook[], namespace: string | undefined): readonly string[] {
  const found = [...new Set(hooks.flatMap(({ service }) => service?.namespace ?? []))];
  return found.length > 0 ? found : [namespace ?? defaultNamespace];
}

function hooksIn(hooks: readonly Hook[], namespace: string): readonly Hook[] {
  return hooks.filter(({ service }) => service?.namespace === namespace);
}

function isCalledForPods({ rules }: Hook): boolean {
  return rules.some(
    ({ apiGroups, operations, resources }) =>
      apiGroups.some((group) => group === "" || group === "*") &&
      operations.some((operation) => operation === "CREATE" || operation === "*") &&
      resources.some((resource) => ["pods", "*", "*/*", "pods/*"].includes(resource)),
  );
}

type Together = Pick<
  ClusterSnapshot,
  "capability" | "backends" | "deployments" | "operator" | "kaiConfig" | "leftovers"
>;

function together(views: readonly NamespaceView[], dryRunPods: boolean): Together {
  const deployments = views.flatMap((view) => view.deployments);
  const operator = deployments.find(({ name }) => name === operatorName);
  const kaiConfig = views.find((view) => view.kaiConfig !== undefined)?.kaiConfig;
  return {
    capability: {
      portForward: views.every((view) => view.portForward),
      secrets: views.flatMap((view) => view.secrets),
      dryRunPods,
    },
    backends: views.flatMap((view) => view.backends),
    deployments,
    ...(operator && { operator }),
    ...(kaiConfig && { kaiConfig }),
    leftovers: views.flatMap((view) => view.leftovers),
  };
}
