import { describe, expect, it } from "vitest";
import { clusterKey } from "../../src/fleet/cluster-key.ts";

const id = (group: string, name = "aks-1") =>
  `/subscriptions/00000000-0000-0000-0000-000000000001/resourcegroups/${group}/providers/microsoft.containerservice/managedclusters/${name}`;

describe("clusterKey", () => {
  it.each([
    ["rg-one", "00000000-0000-0000-0000-000000000001:rg-one:aks-1"],
    ["rg_two.b", "00000000-0000-0000-0000-000000000001:rg__two.b:aks-1"],
    ["rg(3)", "00000000-0000-0000-0000-000000000001:rg_40_3_41_:aks-1"],
    ["größe", "00000000-0000-0000-0000-000000000001:gr_246__223_e:aks-1"],
  ])("of resource group %s is %s", (group, key) => {
    expect(clusterKey(id(group))).toBe(key);
  });

  it("differs between groups whose names look alike once escaped", () => {
    const groups = ["a_", "a__", "a(", "a_40_", "a_40", "a_(", "a(_"];
    expect(new Set(groups.map((group) => clusterKey(id(group)))).size).toBe(groups.length);
  });

  it("has 400 characters at the most, and differs where only the end does", () => {
    const long = (last: string): string => clusterKey(id(`${"漢".repeat(89)}${last}`));
    expect(long("a")).toMatch(/^[a-z0-9:._-]{400}$/);
    expect(long("a")).not.toBe(long("b"));
  });

  it.each(["", "aks-1", id("RG"), `${id("rg")}/agentPools/x`])("refuses %j, which is no id in lower case", (word) => {
    expect(() => clusterKey(word)).toThrow("is not a cluster's id in lower case");
  });
});
