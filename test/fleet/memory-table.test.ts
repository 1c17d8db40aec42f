import { describe, expect, it } from "vitest";
import { StoreError } from "../../src/fleet/table.ts";
import { createMemoryTable, overNetwork } from "./memory-table.ts";
import { describeTable } from "./table-contract.ts";

describeTable("the memory table", () => Promise.resolve(createMemoryTable()));

const key = { partition: "p", row: "r" };
const calm = { random: () => 0, before: 0, after: 0, resent: 0, pause: () => Promise.resolve() };

describe("the memory table's faults", () => {
  it("throws before the effect: nothing has happened", async () => {
    const rows = createMemoryTable();
    const table = overNetwork(rows, { ...calm, before: 1 });
    await expect(table.insert(key, 1)).rejects.toThrow(StoreError);
    expect(rows.peek(key)).toBeUndefined();
  });

  it("throws after the effect: it has happened", async () => {
    const rows = createMemoryTable();
    const table = overNetwork(rows, { ...calm, after: 1 });
    await expect(table.insert(key, 1)).rejects.toThrow(StoreError);
    expect(rows.peek(key)?.value).toBe(1);
  });

  it("sends again what took effect: the caller is told that the row is there already", async () => {
    const rows = createMemoryTable();
    const table = overNetwork(rows, { ...calm, resent: 1 });
    expect(await table.insert(key, 1)).toBeUndefined();
    expect(rows.peek(key)?.value).toBe(1);
  });
});
