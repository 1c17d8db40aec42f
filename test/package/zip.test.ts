// The zip that is deployed: written by us, so that the same package is the same bytes.
import { expect, it } from "vitest";
import { unzip, zip } from "../../scripts/package/zip.ts";

const entries = [
  { name: "host.json", content: Buffer.from("{}") },
  { name: "dist/ä.js", content: Buffer.alloc(70_000, "x") },
  { name: "empty", content: Buffer.alloc(0) },
];

it("unpacks what it packed, sorted by name", () => {
  expect(unzip(zip(entries))).toEqual([entries[1], entries[2], entries[0]]);
});

it("has the same bytes in whatever order the files came", () => {
  expect(zip([...entries].reverse()).equals(zip(entries))).toBe(true);
});

it("notices a damaged entry", () => {
  const damaged = zip([{ name: "a", content: Buffer.from("hello") }]);
  damaged.writeUInt8(damaged.readUInt8(damaged.length - 22 - 47 + 16) ^ 1, damaged.length - 22 - 47 + 16);
  expect(() => unzip(damaged)).toThrow("a does not have its checksum");
  expect(() => unzip(Buffer.from("PK"))).toThrow("not a zip");
});
