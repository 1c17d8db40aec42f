// POST of a pod: only as a dry run, with its namespace looked up and all its webhooks called. Quota, Pod Security and the
// rest of the real admission chain are left out.
import { randomBytes, randomUUID } from "node:crypto";
import * as v from "valibot";
import { refusalOf } from "./admission.ts";
import { secondsOf, type Writer } from "./managed-fields.ts";
import { resources, type Target } from "./resources.ts";
import { answer, badRequest, notFound, type Answer } from "./status.ts";
import type { Store } from "./store.ts";
import { podSchema } from "./stored-object.ts";
import type { WebhookClients } from "./webhook-client.ts";

const createSchema = v.looseObject({
  metadata: v.looseObject({ name: v.optional(v.string()), generateName: v.optional(v.string()) }),
});

export interface PodCreateRequest {
  readonly target: Target;
  readonly dryRun: boolean;
  readonly body: unknown;
  readonly user: string;
  readonly writer: Writer;
}

/** 201 with the pod as it would be stored, or what the API server says where a hook fails. Nothing is stored. */
export async function createPod(request: PodCreateRequest, store: Store, clients: WebhookClients): Promise<Answer> {
  const { target, body, user, writer } = request;
  if (!request.dryRun) return badRequest("the lab makes no pods: a create must have dryRun=All, and this one has not");
  const named = v.safeParse(createSchema, body);
  if (!named.success) return badRequest("the lab cannot read this Pod");
  const namespace = store.get({ resource: resources.namespaces, namespace: "", name: target.namespace });
  if (namespace === undefined) return notFound(resources.namespaces, target.namespace);
  const { name, generateName = "" } = named.output.metadata;
  const pod = v.safeParse(podSchema, {
    apiVersion: "v1",
    kind: "Pod",
    ...named.output,
    metadata: {
      ...named.output.metadata,
      // names.SimpleNameGenerator: five characters.
      name: name ?? `${generateName}${randomBytes(3).toString("hex").slice(1)}`,
      namespace: target.namespace,
      uid: randomUUID(),
      creationTimestamp: secondsOf(writer.at),
    },
    status: { phase: "Pending", qosClass: "BestEffort" },
  });
  if (!pod.success) return badRequest("the lab cannot read this Pod");
  const refusal = await refusalOf({ pod: pod.output, namespace, user }, store, clients);
  return refusal ?? answer(pod.output, 201);
}
