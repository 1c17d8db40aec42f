import { describe, expect, it } from "vitest";
import { reach, refusesDryRun, schedulerAskedFor } from "../../src/admission/reach.ts";
import type { LabelSelector, WebhookRule } from "../../src/admission/snapshot.ts";
import { hookOf } from "./hook-of.ts";

const namespace = { "kubernetes.io/metadata.name": "osmo-workflows", team: "robots" };
const pod = { labels: { app: "probe" }, schedulerName: "kai-scheduler" };

const pods: WebhookRule = {
  apiGroups: [""],
  apiVersions: ["v1"],
  operations: ["CREATE"],
  resources: ["pods"],
  scope: "*",
};

const expression = (key: string, operator: string, ...values: string[]): LabelSelector => ({
  matchLabels: {},
  matchExpressions: [{ key, operator, values }],
});

describe("reach, by rules", () => {
  const table: readonly (readonly [name: string, rule: Partial<WebhookRule>, reached: boolean])[] = [
    ["pods", {}, true],
    ["every resource", { resources: ["*"] }, true],
    ["every resource and subresource", { resources: ["*/*"] }, true],
    ["pods and their subresources", { resources: ["pods/*"] }, true],
    ["every group, version and operation", { apiGroups: ["*"], apiVersions: ["*"], operations: ["*"] }, true],
    ["namespaced objects", { scope: "Namespaced" }, true],
    ["a subresource of pods only", { resources: ["pods/exec"] }, false],
    ["a subresource of everything", { resources: ["*/status"] }, false],
    ["updates only", { operations: ["UPDATE", "DELETE"] }, false],
    ["another group", { apiGroups: ["apps"] }, false],
    ["another version", { apiVersions: ["v2"] }, false],
    ["cluster-wide objects", { scope: "Cluster" }, false],
    ["queues", { apiGroups: ["scheduling.run.ai"], resources: ["queues"] }, false],
  ];

  it.each(table)("%s: reached %s", (_name, rule, reached) => {
    expect(reach(hookOf({ rules: [{ ...pods, ...rule }] }), pod, namespace).reach).toBe(
      reached ? "reached" : "not-reached",
    );
  });

  it("takes the group, the version and the resource from one and the same rule", () => {
    const rules = [
      { ...pods, resources: ["services"] },
      { ...pods, apiGroups: ["apps"] },
    ];
    expect(reach(hookOf({ rules }), pod, namespace).reach).toBe("not-reached");
  });

  it("says what a hook without pods covers", () => {
    const rules = [{ ...pods, apiGroups: ["scheduling.run.ai"], apiVersions: ["v2"], resources: ["queues"] }];
    expect(reach(hookOf({ rules }), pod, namespace)).toEqual({
      reach: "not-reached",
      because: "its rules cover CREATE of queues, not the creation of pods",
    });
  });
});

describe("reach, by selectors", () => {
  const table: readonly (readonly [name: string, selector: LabelSelector, reached: boolean])[] = [
    ["an empty selector", { matchLabels: {}, matchExpressions: [] }, true],
    ["matchLabels that fit", { matchLabels: { team: "robots" }, matchExpressions: [] }, true],
    ["matchLabels with another value", { matchLabels: { team: "arms" }, matchExpressions: [] }, false],
    ["matchLabels with a missing key", { matchLabels: { zone: "a" }, matchExpressions: [] }, false],
    ["In, present", expression("team", "In", "arms", "robots"), true],
    ["In, other value", expression("team", "In", "arms"), false],
    ["In, missing key", expression("zone", "In", "a"), false],
    ["NotIn, present", expression("team", "NotIn", "robots"), false],
    ["NotIn, other value", expression("team", "NotIn", "arms"), true],
    ["NotIn, missing key", expression("zone", "NotIn", "a"), true],
    ["Exists, present", expression("team", "Exists"), true],
    ["Exists, missing key", expression("zone", "Exists"), false],
    ["Exists, a name that every object has", expression("constructor", "Exists"), false],
    ["DoesNotExist, present", expression("team", "DoesNotExist"), false],
    ["DoesNotExist, missing key", expression("zone", "DoesNotExist"), true],
    ["the namespace's own name", expression("kubernetes.io/metadata.name", "NotIn", "osmo-workflows"), false],
    [
      "two terms, one of which fails",
      { matchLabels: { team: "robots" }, matchExpressions: [{ key: "team", operator: "DoesNotExist", values: [] }] },
      false,
    ],
  ];

  it.each(table)("namespaceSelector, %s: reached %s", (_name, namespaceSelector, reached) => {
    expect(reach(hookOf({ namespaceSelector }), pod, namespace).reach).toBe(reached ? "reached" : "not-reached");
  });

  it.each(table)("objectSelector, %s: reached %s", (_name, objectSelector, reached) => {
    const labelled = { ...pod, labels: namespace };
    expect(reach(hookOf({ objectSelector }), labelled, namespace).reach).toBe(reached ? "reached" : "not-reached");
  });

  it("leaves out kube-system and KAI's own namespace, as KAI asks", () => {
    expect(reach(hookOf(), pod, { "kubernetes.io/metadata.name": "kube-system" })).toEqual({
      reach: "not-reached",
      because:
        "its namespaceSelector wants kubernetes.io/metadata.name NotIn (kube-system, kai-scheduler) of the namespace",
    });
  });

  it("leaves out what AKS's admissions enforcer leaves out", () => {
    const namespaceSelector = expression("kubernetes.azure.com/managedby", "NotIn", "aks");
    const managed = { ...namespace, "kubernetes.azure.com/managedby": "aks" };
    expect(reach(hookOf({ namespaceSelector }), pod, managed).reach).toBe("not-reached");
  });
});

describe("reach, by matchConditions", () => {
  const condition = (text: string) => ({ name: "c", expression: text });
  const kai = condition("object.spec.schedulerName == 'kai-scheduler'");

  it("reaches a hook whose condition asks for the pod's scheduler", () => {
    expect(reach(hookOf({ matchConditions: [kai] }), pod, namespace)).toEqual({ reach: "reached" });
  });

  it("does not reach it with another scheduler: a green answer would be false", () => {
    const plain = { ...pod, schedulerName: "default-scheduler" };
    expect(reach(hookOf({ matchConditions: [kai] }), plain, namespace)).toEqual({
      reach: "not-reached",
      because: "its matchCondition c wants schedulerName kai-scheduler, the pod has default-scheduler",
    });
  });

  it("does not decide a condition of another form", () => {
    const matchConditions = [kai, condition("!has(object.metadata.labels.skip)")];
    expect(reach(hookOf({ matchConditions }), pod, namespace).reach).toBe("undecided");
  });

  it("is not reached where one condition is false, whatever the others are", () => {
    const matchConditions = [condition("has(object.metadata.labels.x)"), kai];
    expect(reach(hookOf({ matchConditions }), { ...pod, schedulerName: "other" }, namespace).reach).toBe("not-reached");
  });

  it.each([
    ["object.spec.schedulerName == 'kai-scheduler'", "kai-scheduler"],
    ['object.spec.schedulerName == "kai"', "kai"],
    [" object.spec.schedulerName=='' ", ""],
    ["object.spec.schedulerName != 'kai-scheduler'", undefined],
    ["object.spec.schedulerName == 'a' || true", undefined],
    ["object.spec.schedulerName == 'a\\'b'", undefined],
    ["oldObject.spec.schedulerName == 'a'", undefined],
  ])("reads the scheduler of %s", (text, scheduler) => {
    expect(schedulerAskedFor(text)).toBe(scheduler);
  });
});

describe("refusesDryRun", () => {
  it.each([
    ["None", false],
    ["NoneOnDryRun", false],
    ["Some", true],
    ["Unknown", true],
  ])("sideEffects %s: %s", (sideEffects, refused) => {
    expect(refusesDryRun(hookOf({ sideEffects }))).toBe(refused);
  });
});
