// Admission of a pod create as the API server does it: which hooks are called, in which order, and what the caller is
// told when one fails (k8s.io/apiserver pkg/admission/plugin/webhook). Every hook really is called. Hooks of the lab
// allow what reaches them and change nothing. Of matchConditions (CEL) only KAI's is evaluated; any other is said.
import { randomUUID } from "node:crypto";
import * as v from "valibot";
import { resources, type Resource } from "./resources.ts";
import { selects } from "./selector.ts";
import { internalError, type Answer } from "./status.ts";
import type { Store } from "./store.ts";
import { webhookConfigurationSchema, type StoredObject, type Webhook } from "./stored-object.ts";
import type { WebhookClients } from "./webhook-client.ts";

export interface PodCreate {
  readonly pod: StoredObject;
  readonly namespace: StoredObject;
  readonly user: string;
}

/** Calls every hook that matches; the API server's answer if one of them fails, else undefined. */
export async function refusalOf(create: PodCreate, store: Store, clients: WebhookClients): Promise<Answer | undefined> {
  // Mutating hooks run one after another and the first failure ends it.
  for (const hook of matching(resources.mutatingWebhookConfigurations, create, store)) {
    const problem = await problemOf(hook, create, clients);
    if (problem !== undefined) return internalError(problem);
  }
  // Validating hooks run side by side, all are waited for, and of those that fail the first is told (dispatcher.go).
  const problems: string[] = [];
  await Promise.all(
    matching(resources.validatingWebhookConfigurations, create, store).map(async (hook) => {
      const problem = await problemOf(hook, create, clients);
      if (problem !== undefined) problems.push(problem);
    }),
  );
  return problems[0] === undefined ? undefined : internalError(problems[0]);
}

/** In the order of the configurations' names, and of the entries within one. */
function matching(resource: Resource, { pod, namespace }: PodCreate, store: Store): Webhook[] {
  return store
    .list(resource)
    .flatMap((object) => v.parse(webhookConfigurationSchema, object).webhooks)
    .filter(
      (hook) =>
        hook.rules.some(isForPodCreate) &&
        selects(hook.namespaceSelector, namespace.metadata.labels ?? {}) &&
        selects(hook.objectSelector, pod.metadata.labels ?? {}),
    );
}

function isForPodCreate({ apiGroups, apiVersions, operations, resources: names }: Webhook["rules"][number]): boolean {
  const has = (list: readonly string[], value: string): boolean => list.includes("*") || list.includes(value);
  return has(apiGroups, "") && has(apiVersions, "v1") && has(operations, "CREATE") && has(names, "pods");
}

/** What is told of a hook that failed; undefined where it answered, or may fail (`failurePolicy: Ignore`). */
async function problemOf(hook: Webhook, create: PodCreate, clients: WebhookClients): Promise<string | undefined> {
  const conditions = hook.matchConditions.map(({ expression }) => schedulerNameIs(expression, create.pod));
  if (conditions.includes(undefined)) return "the lab evaluates no matchCondition but KAI's";
  if (conditions.includes(false)) return undefined;
  const uid = randomUUID();
  const answered = await clients.call(hook, reviewOf(uid, create));
  if (answered.ok) return wrongAnswer(answered.value, uid);
  return hook.failurePolicy === "Ignore" ? undefined : `failed calling webhook "${hook.name}": ${answered.error}`;
}

/** KAI's `scheduler-name-match` since v0.13; undefined for any other expression. */
function schedulerNameIs(expression: string, pod: StoredObject): boolean | undefined {
  const [, name] = /^object\.spec\.schedulerName == '([^']*)'$/.exec(expression) ?? [];
  const { schedulerName = "default-scheduler" } = pod.spec as { readonly schedulerName?: string };
  return name === undefined ? undefined : schedulerName === name;
}

const reviewResponse = v.object({
  apiVersion: v.literal("admission.k8s.io/v1"),
  kind: v.literal("AdmissionReview"),
  response: v.object({ uid: v.string(), allowed: v.literal(true) }),
});

function wrongAnswer(value: unknown, uid: string): string | undefined {
  const parsed = v.safeParse(reviewResponse, value);
  if (parsed.success && parsed.output.response.uid === uid) return undefined;
  return `the lab's own webhook gave an answer that the lab does not know: ${JSON.stringify(value)}`;
}

/** admission.k8s.io/v1, AdmissionRequest, for a create of a pod with `dryRun=All`. */
function reviewOf(uid: string, { pod, namespace, user }: PodCreate): unknown {
  const kind = { group: "", version: "v1", kind: "Pod" };
  const resource = { group: "", version: "v1", resource: "pods" };
  return {
    kind: "AdmissionReview",
    apiVersion: "admission.k8s.io/v1",
    request: {
      uid,
      kind,
      resource,
      requestKind: kind,
      requestResource: resource,
      name: pod.metadata.name,
      namespace: namespace.metadata.name,
      operation: "CREATE",
      userInfo: { username: user, groups: ["system:authenticated"] },
      object: pod,
      oldObject: null,
      dryRun: true,
      options: { kind: "CreateOptions", apiVersion: "meta.k8s.io/v1", dryRun: ["All"] },
    },
  };
}
