import { describe, expect, it } from "vitest";
import { toJson } from "../../src/cli/json-document.ts";

describe("toJson", () => {
  it("prints dates as ISO 8601 in UTC", () => {
    expect(toJson({ at: new Date("2026-12-01T04:00:00+01:00") })).toEqual({ at: "2026-12-01T03:00:00.000Z" });
  });

  it("leaves absent fields out", () => {
    expect(toJson({ a: undefined, b: [1] })).toEqual({ b: [1] });
  });

  it("prints the hash and the length of bytes, wherever they are", () => {
    const empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    expect(toJson({ deep: [{ bundle: new Uint8Array() }] })).toEqual({
      deep: [{ bundle: { sha256: empty, length: 0 } }],
    });
  });

  it("takes no value that JSON would drop in silence", () => {
    expect(() => toJson({ f: () => 1 })).toThrow("no JSON for a function");
  });
});
