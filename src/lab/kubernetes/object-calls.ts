// Get, list, JSON Patch, create and update of stored objects, each answered as the API server answers it. Not here: who
// may do it (api-server.ts) and the create of pods, which needs admission (pod-create.ts).
import { randomBytes } from "node:crypto";
import * as v from "valibot";
import { applyJsonPatch } from "./json-patch.ts";
import type { Writer } from "./managed-fields.ts";
import { apiVersionOf, resources, type Target } from "./resources.ts";
import { parseFieldSelector, parseLabelSelector, selects } from "./selector.ts";
import {
  alreadyExists,
  answer,
  badRequest,
  conflict,
  notFound,
  notInTheLab,
  patchDoesNotApply,
  type Answer,
} from "./status.ts";
import type { ObjectKey, Store } from "./store.ts";
import { storedObjectSchema, type StoredObject } from "./stored-object.ts";

/** GET of one object. */
export function getObject(store: Store, target: Target): Answer {
  const object = store.get(target);
  return object === undefined ? notFound(target.resource, target.name) : answer(object);
}

/** GET of a collection: `labelSelector`, `fieldSelector`, and pages by `limit` and `continue`. */
export function listObjects(store: Store, { resource, namespace }: Target, query: URLSearchParams): Answer {
  const labels = parseLabelSelector(query.get("labelSelector") ?? "");
  if (!labels.ok) return badRequest(labels.error);
  const fields = parseFieldSelector(query.get("fieldSelector") ?? "");
  if (!fields.ok) return badRequest(fields.error);
  const all = store
    .list(resource, namespace)
    .filter((object) => selects(labels.value, object.metadata.labels ?? {}) && fields.value(object));
  const start = Number(Buffer.from(query.get("continue") ?? "", "base64url").toString("utf8") || "0");
  const limit = Number(query.get("limit") ?? "0");
  const end = limit === 0 ? all.length : Math.min(start + limit, all.length);
  const rest = all.length - end;
  return answer({
    kind: `${resource.kind}List`,
    apiVersion: apiVersionOf(resource),
    metadata: {
      resourceVersion: store.version(),
      // Opaque to a client. The real one holds the key to go on from; here the position does, for nothing is removed
      // between two pages of one list.
      ...(rest === 0 ? {} : { continue: Buffer.from(String(end)).toString("base64url"), remainingItemCount: rest }),
    },
    // The items of a list of built-in kinds carry neither kind nor apiVersion.
    items: all.slice(start, end).map(({ kind: _kind, apiVersion: _version, ...item }) => item),
  });
}

const operationsSchema = v.array(
  v.variant("op", [
    v.object({ op: v.literal("test"), path: v.string(), value: v.unknown() }),
    v.object({ op: v.literal("add"), path: v.string(), value: v.unknown() }),
    v.object({ op: v.literal("replace"), path: v.string(), value: v.unknown() }),
    v.object({ op: v.literal("remove"), path: v.string() }),
  ]),
);

/** PATCH with `application/json-patch+json`. The API server retries on a conflict by itself; here none can come up. */
export function patchObject(store: Store, target: Target, body: unknown, writer: Writer): Answer {
  const operations = v.safeParse(operationsSchema, body);
  if (!operations.success) return notInTheLab("a JSON Patch with other operations than test, add, replace and remove");
  const present = store.get(target);
  if (present === undefined) return notFound(target.resource, target.name);
  const patched = applyJsonPatch(present, operations.output);
  if (!patched.ok) return patchDoesNotApply();
  const invalid = invalidity(target, patched.value);
  if (invalid !== undefined) return invalid;
  return answer(store.update(target, () => withoutEmptyBundles(patched.value as StoredObject), writer));
}

/** POST. Leases and Events are created this way. */
export function createObject(store: Store, target: Target, body: unknown, writer: Writer): Answer {
  const { resource, namespace } = target;
  const named = v.safeParse(v.looseObject({ metadata: v.looseObject({ name: v.string() }) }), withName(body));
  if (!named.success) return badRequest("name or generateName is required");
  if (store.get({ resource: resources.namespaces, namespace: "", name: namespace }) === undefined) {
    return notFound(resources.namespaces, namespace);
  }
  const key: ObjectKey = { resource, namespace, name: named.output.metadata.name };
  if (store.get(key) !== undefined) return alreadyExists(resource, key.name);
  return answer(store.create(key, named.output, writer), 201);
}

/** `metadata.generateName` and five letters, where there is no name (k8s.io/apiserver pkg/storage/names/generate.go). */
function withName(body: unknown): unknown {
  const unnamed = v.safeParse(
    v.looseObject({ metadata: v.looseObject({ name: v.optional(v.undefined()), generateName: v.string() }) }),
    body,
  );
  if (!unnamed.success) return body;
  const { metadata } = unnamed.output;
  const suffix = randomBytes(5).toString("hex").slice(0, 5);
  return { ...unnamed.output, metadata: { ...metadata, name: `${metadata.generateName}${suffix}` } };
}

/** PUT. The body's resourceVersion is the precondition. */
export function replaceObject(store: Store, target: Target, body: unknown, writer: Writer): Answer {
  const invalid = invalidity(target, body);
  if (invalid !== undefined) return invalid;
  const next = body as StoredObject;
  const present = store.get(target);
  if (present === undefined) return notFound(target.resource, target.name);
  const { resourceVersion } = next.metadata;
  if (resourceVersion === undefined) return notInTheLab("a PUT without metadata.resourceVersion");
  if (resourceVersion !== present.metadata.resourceVersion) return conflict(target.resource, target.name);
  return answer(store.update(target, () => next, writer));
}

function invalidity({ resource, name }: Target, value: unknown): Answer | undefined {
  const parsed = v.safeParse(storedObjectSchema, value);
  if (!parsed.success || !v.is(resource.schema, value)) return badRequest(`the lab cannot read this ${resource.kind}`);
  if (parsed.output.metadata.name === name) return undefined;
  return badRequest("the name of the object does not match the name on the URL");
}

/** A Go `[]byte` with omitempty: an empty `caBundle` is stored as none. */
function withoutEmptyBundles(object: StoredObject): StoredObject {
  return JSON.parse(
    JSON.stringify(object, (key, value: unknown) => (key === "caBundle" && value === "" ? undefined : value)),
  ) as StoredObject;
}
