// RFC 6902 as kube-apiserver applies it: gopkg.in/evanphx/json-patch.v4 v4.13.0, patch.go, for the four operations that
// fleetmend sends. Pure. Its departures from the RFC are kept, because callers meet them on the real API server.
import { isDeepStrictEqual } from "node:util";
import type { JsonPatchOperation } from "../../admission/cluster-api.ts";
import { failure, success, type Result } from "../../result.ts";

type Container = Record<string, unknown> | unknown[];

/**
 * A changed copy of `document`, or the sentence that says which operation does not apply. All or nothing. Departures:
 * `replace` of a key that an object lacks adds it, and `test` for null passes where the key is absent.
 */
export function applyJsonPatch(document: unknown, operations: readonly JsonPatchOperation[]): Result<unknown, string> {
  const copy = structuredClone(document);
  for (const operation of operations) {
    const problem = applyOperation(copy, operation);
    if (problem !== undefined) return failure(problem);
  }
  return success(copy);
}

function applyOperation(document: unknown, operation: JsonPatchOperation): string | undefined {
  const { op, path } = operation;
  const place = find(document, path);
  if (place === undefined) return `${op} operation does not apply: missing path: ${path}`;
  const { container, key } = place;
  if (Array.isArray(container)) return applyToArray(container, key, operation);
  switch (op) {
    case "test":
      return isDeepStrictEqual(container[key] ?? null, operation.value) ? undefined : `testing value ${path} failed`;
    case "add":
    case "replace":
      container[key] = structuredClone(operation.value);
      return undefined;
    case "remove":
      if (!Object.hasOwn(container, key)) return `unable to remove nonexistent key: ${path}`;
      Reflect.deleteProperty(container, key);
      return undefined;
  }
}

function applyToArray(array: unknown[], key: string, operation: JsonPatchOperation): string | undefined {
  const { op, path } = operation;
  const index = op === "add" && key === "-" ? array.length : indexOf(key);
  // Only `add` may name the place behind the last element.
  if (index === undefined || index >= array.length + (op === "add" ? 1 : 0)) return `invalid index: ${path}`;
  switch (op) {
    case "test":
      return isDeepStrictEqual(array[index], operation.value) ? undefined : `testing value ${path} failed`;
    case "add":
      array.splice(index, 0, structuredClone(operation.value));
      return undefined;
    case "replace":
      array[index] = structuredClone(operation.value);
      return undefined;
    case "remove":
      array.splice(index, 1);
      return undefined;
  }
}

/** The container that `path` ends in and its last key; undefined where a part on the way is missing. */
function find(document: unknown, path: string): { container: Container; key: string } | undefined {
  // RFC 6901 §4: `~1` first, then `~0`.
  const keys = path.split("/").map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
  if (keys.length < 2) return undefined;
  let container = document;
  for (const key of keys.slice(1, -1)) {
    if (!isContainer(container)) return undefined;
    container = Array.isArray(container) ? container[indexOf(key) ?? container.length] : container[key];
  }
  return isContainer(container) ? { container, key: keys.at(-1) ?? "" } : undefined;
}

function isContainer(value: unknown): value is Container {
  return typeof value === "object" && value !== null;
}

function indexOf(key: string): number | undefined {
  return /^\d+$/.test(key) ? Number(key) : undefined;
}
