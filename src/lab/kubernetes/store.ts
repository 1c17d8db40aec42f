// The lab's etcd: objects by resource, namespace and name, with resourceVersion, generation and managedFields counted as
// the API server counts them. Not here: who may write, admission, HTTP.
import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { managedFieldsAfter, secondsOf, type Writer } from "./managed-fields.ts";
import { apiVersionOf, type Resource } from "./resources.ts";
import type { StoredObject } from "./stored-object.ts";

export interface ObjectKey {
  readonly resource: Resource;
  /** Empty for a cluster-scoped resource. */
  readonly namespace: string;
  readonly name: string;
}

/** What a writer brings: the server's own bookkeeping is added. */
export interface NewObject {
  readonly metadata: { readonly name: string; readonly [field: string]: unknown };
  readonly [field: string]: unknown;
}

export interface Store {
  get(key: ObjectKey): StoredObject | undefined;
  /** Sorted by namespace and name, as etcd's keys are. An empty namespace lists all of them. */
  list(resource: Resource, namespace?: string): readonly StoredObject[];
  /** The caller has seen that the key is free. */
  create(key: ObjectKey, object: NewObject, writer: Writer): StoredObject;
  /** Takes what `change` makes of the present object. A change of nothing counts nothing up, as in Kubernetes. */
  update(key: ObjectKey, change: (present: StoredObject) => StoredObject, writer: Writer): StoredObject | undefined;
  remove(key: ObjectKey): void;
  /** The newest resourceVersion. */
  version(): string;
  /** Calls `listener` after each write or removal. */
  watch(listener: (key: ObjectKey, object: StoredObject | undefined) => void): void;
}

export function createStore(now: () => Date): Store {
  const objects = new Map<string, { readonly key: ObjectKey; readonly object: StoredObject }>();
  const listeners: ((key: ObjectKey, object: StoredObject | undefined) => void)[] = [];
  let revision = 100;

  const put = (key: ObjectKey, object: StoredObject): StoredObject => {
    objects.set(pathOf(key), { key, object });
    for (const listener of listeners) listener(key, object);
    return object;
  };
  const numbered = (object: StoredObject, generation: number | undefined, fields: unknown[]): StoredObject => ({
    ...object,
    metadata: {
      ...object.metadata,
      resourceVersion: String(++revision),
      ...(generation === undefined ? {} : { generation }),
      managedFields: fields as Record<string, unknown>[],
    },
  });

  return {
    get: (key) => objects.get(pathOf(key))?.object,
    list: (resource, namespace = "") =>
      [...objects]
        .filter(([, { key }]) => key.resource === resource && (namespace === "" || key.namespace === namespace))
        .sort(([one], [other]) => (one < other ? -1 : 1))
        .map(([, { object }]) => object),
    create(key, { metadata, ...rest }, writer) {
      const { resource, namespace } = key;
      const object: StoredObject = {
        apiVersion: apiVersionOf(resource),
        kind: resource.kind,
        metadata: {
          ...metadata,
          ...(namespace === "" ? {} : { namespace }),
          uid: randomUUID(),
          creationTimestamp: secondsOf(now()),
        },
        ...rest,
      };
      const generation = resource.generationOf === undefined ? undefined : 1;
      return put(key, numbered(object, generation, managedFieldsAfter(undefined, object, writer)));
    },
    update(key, change, writer) {
      const before = objects.get(pathOf(key))?.object;
      if (before === undefined) return undefined;
      const changed = change(before);
      // What a writer says of these is not heard (rest.BeforeUpdate).
      const { uid, creationTimestamp, resourceVersion, generation, managedFields } = before.metadata;
      const after = {
        ...changed,
        metadata: { ...changed.metadata, uid, creationTimestamp, resourceVersion, generation, managedFields },
      } as StoredObject;
      if (isDeepStrictEqual(withoutUndefined(before), withoutUndefined(after))) return before;
      const counted = key.resource.generationOf;
      const isNewGeneration = counted !== undefined && !isDeepStrictEqual(before[counted], after[counted]);
      const next = isNewGeneration ? (generation ?? 0) + 1 : generation;
      return put(key, numbered(after, next, managedFieldsAfter(before, after, writer)));
    },
    remove(key) {
      if (!objects.delete(pathOf(key))) return;
      revision += 1;
      for (const listener of listeners) listener(key, undefined);
    },
    version: () => String(revision),
    watch(listener) {
      listeners.push(listener);
    },
  };
}

function pathOf({ resource, namespace, name }: ObjectKey): string {
  return `${resource.group}/${resource.plural}/${namespace}/${name}`;
}

function withoutUndefined(object: StoredObject): unknown {
  return JSON.parse(JSON.stringify(object)) as unknown;
}
