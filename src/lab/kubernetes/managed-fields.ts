// Who wrote which field, as the API server keeps it in `metadata.managedFields` for writes that are not server-side apply
// (k8s.io/apimachinery, pkg/util/managedfields). Pure. Lists are atomic here, but for the keyed lists that fleetmend's
// objects have: `webhooks` by name.
import { isDeepStrictEqual } from "node:util";
import type { StoredObject } from "./stored-object.ts";

export interface Writer {
  /** The query's `fieldManager`, or the first part of the user agent. */
  readonly manager: string;
  readonly at: Date;
}

/** A set of fields: FieldsV1, where a leaf is an empty object. */
interface FieldSet {
  [element: string]: FieldSet;
}

interface Entry {
  readonly manager: string;
  readonly operation: string;
  readonly apiVersion: string;
  readonly time: string;
  readonly fieldsType: "FieldsV1";
  readonly fieldsV1: FieldSet;
}

// From the markers of k8s.io/api: `+listMapKey=name` on webhooks; a LabelSelector is one atomic field.
const listKeys: Readonly<Record<string, string>> = { webhooks: "name" };
const atomic: readonly string[] = ["namespaceSelector", "objectSelector", "selector"];

/**
 * The entries of `after` once `writer` has made it out of `before` (undefined: a create). What was changed or added is
 * the writer's now and nobody else's; what was removed is nobody's. An entry left without fields goes.
 */
export function managedFieldsAfter(before: StoredObject | undefined, after: StoredObject, writer: Writer): Entry[] {
  const changed = changedFields({ value: tracked(before) }, { value: tracked(after) });
  const entries = (before?.metadata.managedFields ?? []) as unknown as Entry[];
  const time = secondsOf(writer.at);
  const isOwn = (entry: Entry): boolean =>
    entry.manager === writer.manager && entry.operation === "Update" && entry.apiVersion === after.apiVersion;
  const own = entries.find(isOwn);
  const written: Entry = {
    manager: writer.manager,
    operation: "Update",
    apiVersion: after.apiVersion,
    time,
    fieldsType: "FieldsV1",
    fieldsV1: union(without(own?.fieldsV1 ?? {}, changed.all), changed.present),
  };
  const others = entries
    .filter((entry) => !isOwn(entry))
    .map((entry) => ({ ...entry, fieldsV1: without(entry.fieldsV1, changed.all) }));
  return [...others, written].filter((entry) => Object.keys(entry.fieldsV1).length > 0);
}

/** RFC 3339 with seconds, as metav1.Time prints it. */
export function secondsOf(date: Date): string {
  return date.toISOString().replace(/\.\d+Z$/, "Z");
}

// Fields that nobody owns: the type and the status, which is written through a subresource; and of the metadata all but
// these (managedfields' stripMeta).
const untracked: readonly string[] = ["apiVersion", "kind", "metadata", "status"];
const trackedMetadata: readonly string[] = ["labels", "annotations", "ownerReferences", "generateName"];

function tracked(object: StoredObject | undefined): Record<string, unknown> {
  const fields = Object.entries(object ?? {}).filter(([field]) => !untracked.includes(field));
  const metadata = Object.entries(object?.metadata ?? {}).filter(([field]) => trackedMetadata.includes(field));
  // Every object has metadata: its fields come and go, it does not.
  return { metadata: Object.fromEntries(metadata), ...Object.fromEntries(fields) };
}

interface Changed {
  /** Every field that differs, the removed ones included. */
  readonly all: FieldSet;
  /** Those of them that the new object has. */
  readonly present: FieldSet;
}

function changedFields(before: Node, after: Node): Changed {
  const all: FieldSet = {};
  const present: FieldSet = {};
  const [old, now] = [childrenOf(before), childrenOf(after)];
  for (const element of new Set([...old.keys(), ...now.keys()])) {
    const [was, is] = [old.get(element) ?? nothing, now.get(element) ?? nothing];
    if (isDeepStrictEqual(was.value, is.value)) continue;
    const below = changedFields(was, is);
    // A container that comes or goes is itself a field: `.` stands for it.
    const self =
      (was === nothing || is === nothing) && childrenOf(is === nothing ? was : is).size > 0 ? { ".": {} } : {};
    all[element] = { ...self, ...below.all };
    if (is !== nothing) present[element] = { ...self, ...below.present };
  }
  return { all, present };
}

/** A value, and how it is told apart from its neighbours where it is a keyed list. */
interface Node {
  readonly value: unknown;
  readonly listKey?: string | undefined;
}

const nothing: Node = { value: undefined };

/** The elements of an object or keyed list, named as FieldsV1 names them; nothing below a scalar or an atomic value. */
function childrenOf({ value, listKey }: Node): Map<string, Node> {
  if (Array.isArray(value)) {
    if (listKey === undefined) return new Map();
    const items = value as Record<string, unknown>[];
    return new Map(items.map((item) => [`k:${JSON.stringify({ [listKey]: item[listKey] })}`, { value: item }]));
  }
  if (typeof value !== "object" || value === null) return new Map();
  const fields = Object.entries(value as Record<string, unknown>).filter(([, child]) => child !== undefined);
  return new Map(
    fields.map(([name, child]) => [
      `f:${name}`,
      { value: atomic.includes(name) ? JSON.stringify(child) : child, listKey: listKeys[name] },
    ]),
  );
}

function without(set: FieldSet, taken: FieldSet): FieldSet {
  const left: FieldSet = {};
  for (const [element, below] of Object.entries(set)) {
    const gone = taken[element];
    if (gone === undefined) {
      left[element] = below;
      continue;
    }
    const rest = without(below, gone);
    if (Object.keys(rest).length > 0) left[element] = rest;
  }
  return left;
}

function union(one: FieldSet, other: FieldSet): FieldSet {
  const both: FieldSet = { ...one };
  for (const [element, below] of Object.entries(other)) both[element] = union(both[element] ?? {}, below);
  return both;
}
