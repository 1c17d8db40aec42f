// What every Table must do, run on the fake and on the emulator: the use cases are tested on the one and run on the other.
import { beforeAll, describe, expect, it } from "vitest";
import type { Row, Table } from "../../src/fleet/table.ts";

/** Registers the contract's tests. `open` gives a table that no other test writes to the partitions `contract-…` of. */
export function describeTable(name: string, open: () => Promise<Table>): void {
  describe(`${name} keeps the Table's contract`, () => {
    let table: Table;
    beforeAll(async () => {
      table = await open();
    });
    const key = (row: string) => ({ partition: "contract-rows", row });
    const inserted = async (row: string, value: Row["value"]): Promise<Row> => {
      const stored = await table.insert(key(row), value);
      if (stored === undefined) throw new Error(`${row} is there already`);
      return stored;
    };

    it("gives back what was inserted, with its etag", async () => {
      const value = { text: "ä€𝄞", none: null, list: [1, 2.5, true], empty: {}, deep: { at: ["x"] } };
      const stored = await inserted("a:b._-9", value);
      expect(stored.value).toEqual(value);
      expect(stored.etag).not.toBe("");
      expect(await table.get(key("a:b._-9"))).toEqual(stored);
    });

    it("has no row that was never inserted", async () => {
      expect(await table.get(key("never"))).toBeUndefined();
    });

    it("keeps no key whose value is undefined", async () => {
      await inserted("gap", { here: 1, gone: undefined });
      expect((await table.get(key("gap")))?.value).toStrictEqual({ here: 1 });
    });

    it.each([
      ["a string", "text"],
      ["a number", 7],
      ["null", null],
      ["an array", [1, [2]]],
    ])("keeps %s as a whole value", async (kind, value) => {
      const stored = await inserted(`value-${kind.replaceAll(" ", "-")}`, value);
      expect((await table.get(stored))?.value).toEqual(value);
    });

    it("keeps a value of 200,000 characters, and a shorter one after it", async () => {
      const long = { text: "0123456789".repeat(20_000), umlauts: "ü".repeat(40_000) };
      const stored = await inserted("long", long);
      expect((await table.get(key("long")))?.value).toEqual(long);
      await table.replace(stored, { text: "short" });
      expect((await table.get(key("long")))?.value).toEqual({ text: "short" });
    });

    it("inserts once: the second is told so and changes nothing", async () => {
      await inserted("once", 1);
      expect(await table.insert(key("once"), 2)).toBeUndefined();
      expect((await table.get(key("once")))?.value).toBe(1);
    });

    it("replaces what was read, and gives it another etag", async () => {
      const first = await inserted("replace", { n: 1 });
      const second = await table.replace(first, { n: 2 });
      expect(second?.value).toEqual({ n: 2 });
      expect(second?.etag).not.toBe(first.etag);
      expect(await table.get(first)).toEqual(second);
    });

    it("changes the etag also where the same value is written", async () => {
      const first = await inserted("same", { n: 1 });
      expect((await table.replace(first, { n: 1 }))?.etag).not.toBe(first.etag);
    });

    it("refuses to replace what has changed since it was read", async () => {
      const read = await inserted("stale", 1);
      await table.replace(read, 2);
      expect(await table.replace(read, 3)).toBeUndefined();
      expect((await table.get(read))?.value).toBe(2);
    });

    it("refuses to replace what is gone", async () => {
      const read = await inserted("gone", 1);
      expect(await table.remove(read)).toBe(true);
      expect(await table.replace(read, 2)).toBeUndefined();
      expect(await table.get(read)).toBeUndefined();
    });

    it("of ten that replace the same reading lets one", async () => {
      const read = await inserted("race", 0);
      const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => table.replace(read, n + 1)));
      const winners = answers.filter((row) => row !== undefined);
      expect(winners).toHaveLength(1);
      expect(await table.get(read)).toEqual(winners[0]);
    });

    it("of ten that insert the same row lets one", async () => {
      const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => table.insert(key("rush"), n)));
      expect(answers.filter((row) => row !== undefined)).toHaveLength(1);
    });

    it("removes what was read, and says true again where it is gone", async () => {
      const read = await inserted("remove", 1);
      expect(await table.remove(read)).toBe(true);
      expect(await table.get(read)).toBeUndefined();
      expect(await table.remove(read)).toBe(true);
    });

    it("refuses to remove what has changed since it was read", async () => {
      const read = await inserted("keep", 1);
      await table.replace(read, 2);
      expect(await table.remove(read)).toBe(false);
      expect((await table.get(read))?.value).toBe(2);
    });

    it("does not take a row that was made anew for the one that was read", async () => {
      const read = await inserted("anew", 1);
      await table.remove(read);
      await inserted("anew", 2);
      expect(await table.replace(read, 3)).toBeUndefined();
      expect(await table.remove(read)).toBe(false);
    });

    it("lists one partition in the order of its row keys, from after a row, so many", async () => {
      const at = (row: string) => ({ partition: "contract-list", row });
      for (const row of ["b", "a:2", "a:1", "c", "a_1"]) await table.insert(at(row), { row });
      await table.insert({ partition: "contract-list-2", row: "a" }, "elsewhere");
      const rows = async (options?: { after?: string; limit?: number }): Promise<string[]> =>
        (await table.list("contract-list", options)).map(({ row }) => row);
      expect(await rows()).toEqual(["a:1", "a:2", "a_1", "b", "c"]);
      expect(await rows({ after: "a:2" })).toEqual(["a_1", "b", "c"]);
      expect(await rows({ limit: 2 })).toEqual(["a:1", "a:2"]);
      expect(await rows({ after: "b", limit: 5 })).toEqual(["c"]);
      const [first] = await table.list("contract-list", { limit: 1 });
      expect(first).toEqual(await table.get(at("a:1")));
    });

    it.each(["", "A", "a/b", "a b", "ä", "a?b", "x".repeat(513)])("refuses the key %j", async (row) => {
      await expect(async () => table.get(key(row))).rejects.toThrow();
    });
  });
}
