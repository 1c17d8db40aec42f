// Turns `unknown` into values of known shape, and reads the metadata that every Kubernetes object has. Tolerant: what is
// missing gets its zero value, what is more is dropped. What an object means is not decided here.
import * as v from "valibot";
import type { Result } from "../result.ts";
import { failure, success } from "../result.ts";
import type { LastWriter, OwnerReference } from "./snapshot.ts";

/** A text that is empty where the field is absent or null. */
export const text = v.nullish(v.string(), "");
/** A number that is zero where the field is absent or null. */
export const count = v.nullish(v.number(), 0);
/** Labels, annotations, selectors: empty where absent. */
export const stringMap = v.nullish(v.record(v.string(), v.string()), {});

/** A list that is empty where the field is absent or null. */
export function listOf<const Item extends v.GenericSchema>(item: Item) {
  return v.nullish(v.array(item), []);
}

const ownerReference = v.object({
  apiVersion: text,
  kind: text,
  name: text,
  uid: text,
  controller: v.nullish(v.boolean(), false),
});

export const metadata = v.object({
  name: v.string(),
  namespace: text,
  uid: text,
  resourceVersion: text,
  generation: count,
  labels: stringMap,
  annotations: stringMap,
  ownerReferences: listOf(ownerReference),
  creationTimestamp: text,
  deletionTimestamp: text,
  managedFields: listOf(v.unknown()),
});
export type Metadata = v.InferOutput<typeof metadata>;

/** The value in the shape of the schema, or the first thing that is wrong with it: a path and a word, never a value. */
export function parseWith<Schema extends v.GenericSchema>(
  schema: Schema,
  value: unknown,
): Result<v.InferOutput<Schema>, string> {
  const parsed = v.safeParse(schema, value, { abortEarly: true });
  if (parsed.success) return success(parsed.output);
  const [issue] = parsed.issues;
  const at = v.getDotPath(issue) ?? "the object";
  return failure(`${at} is not what the Kubernetes API says: ${issue.expected ?? "another value"} was expected`);
}

/** The name of a malformed object as far as it can be read, for people. */
export function nameOf(value: unknown): string {
  const parsed = v.safeParse(v.object({ metadata: v.object({ name: v.string() }) }), value);
  return parsed.success ? parsed.output.metadata.name : "(without a name)";
}

/** RFC 3339 as Kubernetes writes it; undefined where absent or unreadable. */
export function timeOf(written: string): Date | undefined {
  const time = new Date(written);
  return written === "" || Number.isNaN(time.getTime()) ? undefined : time;
}

export function ownersOf({ ownerReferences }: Metadata): readonly OwnerReference[] {
  return ownerReferences;
}

const fieldsEntry = v.object({
  manager: text,
  operation: text,
  time: text,
  subresource: text,
  fieldsV1: v.nullish(v.record(v.string(), v.unknown()), {}),
});

/**
 * Who last wrote one field: of the managedFields entries that hold it, the one with the latest time, the later one of two
 * of the same second. `field` is the path in FieldsV1, such as `["f:data", "f:tls.crt"]`
 * (https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management). Undefined where none holds it.
 */
export function lastWriterOf({ managedFields }: Metadata, field: readonly string[]): LastWriter | undefined {
  const holding = managedFields
    .map((entry) => v.safeParse(fieldsEntry, entry))
    .flatMap((parsed) => (parsed.success ? [parsed.output] : []))
    .filter((entry) => entry.subresource === "" && holdsField(entry.fieldsV1, field))
    .map((entry) => ({ manager: entry.manager, operation: entry.operation, time: timeOf(entry.time) }));
  const last = holding.reduce<(typeof holding)[number] | undefined>(
    (latest, entry) =>
      latest === undefined || (entry.time?.getTime() ?? 0) >= (latest.time?.getTime() ?? 0) ? entry : latest,
    undefined,
  );
  if (last === undefined) return undefined;
  const { manager, operation, time } = last;
  return { manager, operation, ...(time !== undefined && { time }) };
}

function holdsField(fields: Record<string, unknown>, path: readonly string[]): boolean {
  let at: unknown = fields;
  for (const step of path) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, step)) return false;
    at = (at as Record<string, unknown>)[step];
  }
  return true;
}

/** Only that an object is there, by its name. */
export function parsePresence(object: unknown): Result<string, string> {
  const parsed = parseWith(v.object({ metadata }), object);
  return parsed.ok ? success(parsed.value.metadata.name) : parsed;
}
