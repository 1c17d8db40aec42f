import { describe, expect, it } from "vitest";
import type { JsonPatchOperation } from "../../src/admission/cluster-api.ts";
import { applyJsonPatch } from "../../src/lab/kubernetes/json-patch.ts";

const holder = {
  metadata: { annotations: { "a/b": "slash", "c~d": "tilde" } },
  webhooks: [
    { name: "one", clientConfig: { caBundle: "b2xk" } },
    { name: "two", clientConfig: {} },
  ],
};

const cases: readonly {
  readonly name: string;
  readonly operations: readonly JsonPatchOperation[];
  readonly at?: (patched: typeof holder) => unknown;
  readonly gives: unknown;
}[] = [
  {
    name: "a test of the whole clientConfig that holds lets the add through",
    operations: [
      { op: "test", path: "/webhooks/0/clientConfig", value: { caBundle: "b2xk" } },
      { op: "add", path: "/webhooks/0/clientConfig/caBundle", value: "bmV3" },
    ],
    at: (patched) => patched.webhooks[0]?.clientConfig,
    gives: { caBundle: "bmV3" },
  },
  {
    name: "a test does not look at the order of an object's fields",
    operations: [
      { op: "test", path: "/webhooks/0", value: { clientConfig: { caBundle: "b2xk" }, name: "one" } },
      { op: "replace", path: "/webhooks/0/name", value: "three" },
    ],
    at: (patched) => patched.webhooks[0]?.name,
    gives: "three",
  },
  {
    name: "a test with another value refuses the whole patch",
    operations: [
      { op: "add", path: "/webhooks/1/clientConfig/caBundle", value: "bmV3" },
      { op: "test", path: "/webhooks/0/name", value: "two" },
    ],
    gives: "testing value /webhooks/0/name failed",
  },
  {
    name: "a test of a field that is absent refuses",
    operations: [{ op: "test", path: "/webhooks/1/clientConfig/caBundle", value: "b2xk" }],
    gives: "testing value /webhooks/1/clientConfig/caBundle failed",
  },
  {
    name: "a test for null passes where the field is absent, unlike RFC 6902",
    operations: [{ op: "test", path: "/webhooks/1/clientConfig/caBundle", value: null }],
    at: (patched) => patched.webhooks[1],
    gives: { name: "two", clientConfig: {} },
  },
  {
    name: "a replace of an absent key adds it, unlike RFC 6902",
    operations: [{ op: "replace", path: "/webhooks/1/clientConfig/caBundle", value: "bmV3" }],
    at: (patched) => patched.webhooks[1]?.clientConfig,
    gives: { caBundle: "bmV3" },
  },
  {
    name: "a slash and a tilde in a key are escaped",
    operations: [
      { op: "test", path: "/metadata/annotations/a~1b", value: "slash" },
      { op: "remove", path: "/metadata/annotations/c~0d" },
    ],
    at: (patched) => patched.metadata.annotations,
    gives: { "a/b": "slash" },
  },
  {
    name: "a remove of an absent key refuses",
    operations: [{ op: "remove", path: "/metadata/labels" }],
    gives: "unable to remove nonexistent key: /metadata/labels",
  },
  {
    name: "an add below an absent parent refuses",
    operations: [{ op: "add", path: "/metadata/labels/x", value: "y" }],
    gives: "add operation does not apply: missing path: /metadata/labels/x",
  },
  {
    name: "an index behind the last entry refuses",
    operations: [{ op: "test", path: "/webhooks/2/name", value: "three" }],
    gives: "test operation does not apply: missing path: /webhooks/2/name",
  },
];

describe("a JSON Patch as the API server applies it", () => {
  it.each(cases)("$name", ({ operations, at, gives }) => {
    const result = applyJsonPatch(holder, operations);
    if (at === undefined) expect(result).toEqual({ ok: false, error: gives });
    else expect(result.ok && at(result.value as typeof holder)).toEqual(gives);
  });

  it("leaves the object that it was given as it was", () => {
    applyJsonPatch(holder, [{ op: "replace", path: "/webhooks/0/name", value: "three" }]);
    expect(holder.webhooks[0]?.name).toBe("one");
  });
});
