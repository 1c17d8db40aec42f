import { describe, expect, it } from "vitest";
import { labelsFor, probePod } from "../../src/admission/probe-pod.ts";
import { reach } from "../../src/admission/reach.ts";
import type { LabelSelector } from "../../src/admission/snapshot.ts";
import { hookOf } from "./hook-of.ts";
import { snapshotOf } from "./snapshot-of.ts";

const condition = { name: "scheduler-name-match", expression: "object.spec.schedulerName == 'kai-2'" };
const select = (
  matchLabels: LabelSelector["matchLabels"],
  ...matchExpressions: LabelSelector["matchExpressions"][number][]
): LabelSelector => ({ matchLabels, matchExpressions });

describe("probePod, its scheduler", () => {
  const unread = { seen: false, why: { kind: "forbidden", message: "no" } } as const;
  const read = { seen: true, value: { uid: "u", schedulerName: "kai-3", speaksOfPodgroupWebhook: true } } as const;

  it("is kai-config's", () => {
    const snapshot = snapshotOf([hookOf({ matchConditions: [condition] })], { kaiConfig: read });
    expect(probePod(snapshot, "osmo-workflows").spec.schedulerName).toBe("kai-3");
  });

  it("is the one that a matchCondition asks for where kai-config could not be read", () => {
    const snapshot = snapshotOf([hookOf({ matchConditions: [condition] })], { kaiConfig: unread });
    expect(probePod(snapshot, "osmo-workflows").spec.schedulerName).toBe("kai-2");
  });

  it("is kai-scheduler where nothing says otherwise", () => {
    expect(probePod(snapshotOf([hookOf()]), "osmo-workflows").spec.schedulerName).toBe("kai-scheduler");
  });
});

describe("probePod, what it holds", () => {
  const pod = probePod(snapshotOf([hookOf()]), "osmo-workflows", "registry.example/pause:1");

  it("has a generated name, our mark and no ServiceAccount token", () => {
    expect(pod.metadata).toEqual({
      generateName: "fleetmend-probe-",
      namespace: "osmo-workflows",
      labels: { "app.kubernetes.io/managed-by": "fleetmend" },
    });
    expect(pod.spec.automountServiceAccountToken).toBe(false);
  });

  it("has one container with the image of the setting", () => {
    expect(pod.spec.containers).toMatchObject([{ image: "registry.example/pause:1" }]);
  });

  it("has a default image that is pinned", () => {
    const { spec } = probePod(snapshotOf([hookOf()]), "osmo-workflows");
    expect(spec.containers).toMatchObject([{ image: "mcr.microsoft.com/oss/kubernetes/pause:3.6" }]);
  });
});

describe("labelsFor", () => {
  const mark = { "app.kubernetes.io/managed-by": "fleetmend" };
  const table: readonly (readonly [name: string, selectors: readonly LabelSelector[], labels: object])[] = [
    ["gives nothing but our mark where nothing is asked", [select({})], mark],
    ["gives what matchLabels ask for", [select({ team: "robots" })], { ...mark, team: "robots" }],
    [
      "gives the first value of In",
      [select({}, { key: "k", operator: "In", values: ["a", "b"] })],
      { ...mark, k: "a" },
    ],
    [
      "gives a queue where KAI asks for one",
      [select({}, { key: "kai.scheduler/queue", operator: "Exists", values: [] })],
      { ...mark, "kai.scheduler/queue": "fleetmend-probe" },
    ],
    [
      "keeps one value that two selectors take",
      [select({ k: "b" }), select({}, { key: "k", operator: "In", values: ["a", "b"] })],
      { ...mark, k: "b" },
    ],
    [
      "gives up the later of two that exclude each other",
      [select({ k: "a" }), select({}, { key: "k", operator: "DoesNotExist", values: [] })],
      { ...mark, k: "a" },
    ],
    [
      "leaves our mark out where a selector minds it",
      [select({}, { key: "app.kubernetes.io/managed-by", operator: "DoesNotExist", values: [] })],
      {},
    ],
  ];

  it.each(table)("%s", (_name, selectors, labels) => {
    expect(labelsFor(selectors)).toEqual(labels);
  });
});

describe("probePod and reach", () => {
  it("makes one pod that reaches both of KAI's pod hooks, queue label, pod label and scheduler asked for", () => {
    const objectSelector = select(
      { "runai/pod": "yes" },
      { key: "kai.scheduler/queue", operator: "Exists", values: [] },
    );
    const hooks = [hookOf({ objectSelector, matchConditions: [condition] }), hookOf({ objectSelector })];
    const pod = probePod(snapshotOf(hooks), "osmo-workflows");
    const facts = { labels: pod.metadata.labels, schedulerName: pod.spec.schedulerName };
    expect(hooks.map((hook) => reach(hook, facts, {}))).toEqual([{ reach: "reached" }, { reach: "reached" }]);
  });
});
