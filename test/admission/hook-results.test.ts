import { describe, expect, it } from "vitest";
import { classify } from "../../src/admission/classify.ts";
import { hookResults, type DryRun, type ProbeContext } from "../../src/admission/hook-results.ts";
import type { HandshakeAnswer, HookResult } from "../../src/admission/probe-report.ts";
import type { ServedTrust } from "../../src/admission/served-trust.ts";
import type { Hook } from "../../src/admission/snapshot.ts";
import { hookOf, mutatingBinder, validatingBinder } from "./hook-of.ts";

const trusted: HandshakeAnswer = { trust: "trusted" };
const drifted: ServedTrust = {
  answer: { trust: "broken", goText: "x509: certificate signed by unknown authority" },
  predicted: ["x509: certificate signed by unknown authority"],
  complete: true,
  broken: { stage: "handshake", cause: { kind: "no-issuer-in-bundle", issuerName: "binder.kai-scheduler.svc" } },
};
const unreadable: ServedTrust = {
  answer: { trust: "broken", goText: "unable to load root certificates: unable to parse bytes as PEM block" },
  predicted: ["unable to load root certificates: unable to parse bytes as PEM block"],
  complete: true,
  broken: { stage: "config", cause: { kind: "bundle-unparsable", detail: "unable to parse bytes as PEM block" } },
};
const unseen: ServedTrust = {
  answer: { trust: "undetermined", reason: "no handshake with pod binder-0: forbidden" },
  predicted: [],
  complete: false,
};

const service = (path: string) => ({ namespace: "kai-scheduler", name: "binder", port: 443, path });
const mutating = hookOf();
const validating = hookOf({ holder: validatingBinder, service: service("/validate--v1-pod") });
const queue = hookOf({
  holder: { ...validatingBinder, name: "kai-queuecontroller" },
  name: "queues.scheduling.run.ai",
  rules: [
    {
      apiGroups: ["scheduling.run.ai"],
      apiVersions: ["v2"],
      operations: ["CREATE"],
      resources: ["queues"],
      scope: "Cluster",
    },
  ],
});
const injector = (holder: string, changes: Partial<Hook> = {}): Hook =>
  hookOf({ holder: { ...mutatingBinder, name: holder }, name: "injector.example.com", ...changes });

const pod = { labels: {}, schedulerName: "kai-scheduler" };

interface Given {
  readonly hooks?: readonly Hook[];
  readonly others?: readonly Hook[];
  readonly trust?: (hook: Hook) => ServedTrust;
  readonly namespaceLabels?: ProbeContext["namespaceLabels"] | "unread";
}

/** The results, by position, without the hooks' addresses. */
function resultsOf(dryRun: DryRun, given: Given = {}): readonly HookResult[] {
  const hooks = given.hooks ?? [mutating, validating];
  const labels = given.namespaceLabels ?? { "kubernetes.io/metadata.name": "osmo-workflows" };
  const context: ProbeContext = {
    allHooks: [...hooks, ...(given.others ?? [])],
    pod,
    ...(labels === "unread" ? {} : { namespaceLabels: labels }),
    trustOf: given.trust ?? (() => ({ answer: trusted, predicted: ["OK"], complete: true })),
    connectionOf: () => "maybe-reused",
  };
  return hookResults(hooks, dryRun, context).map(({ hook: _address, ...result }) => result);
}

const refused = (message: string): DryRun => ({ outcome: "refused", refusal: classify({ message }) });
const green: DryRun = { outcome: "green", pod };
const failed = (path: string, cause: string): DryRun =>
  refused(
    `Internal error occurred: failed calling webhook "binder.run.ai": failed to call webhook: Post "https://binder.kai-scheduler.svc:443${path}?timeout=10s": ${cause}`,
  );
const proven = { result: "proven", connection: "maybe-reused" };
const kinds = (results: readonly HookResult[]): readonly string[] => results.map(({ result }) => result);

describe("a green dry run", () => {
  it("proves every hook that was reached and whose pods are all trusted", () => {
    expect(resultsOf(green)).toEqual([proven, proven]);
  });

  it("carries each hook's address", () => {
    const context = {
      allHooks: [mutating],
      pod,
      namespaceLabels: {},
      trustOf: () => unseen,
      connectionOf: () => "fresh",
    };
    expect(hookResults([mutating], green, context as ProbeContext)[0]?.hook).toEqual({
      holderKind: "MutatingWebhookConfiguration",
      holder: "kai-binder",
      index: 0,
      name: "binder.run.ai",
    });
  });

  it("is latent where the verdict is broken", () => {
    expect(resultsOf(green, { trust: () => drifted })[0]).toEqual({
      result: "latent",
      goText: "x509: certificate signed by unknown authority",
    });
  });

  it("decides nothing where a pod could not be judged", () => {
    expect(resultsOf(green, { trust: () => unseen })[0]).toEqual({
      result: "undecided",
      because: "the dry run is green, but no handshake with pod binder-0: forbidden",
      handshake: unseen.answer,
    });
  });

  it("is no latent drift where the bundle cannot be read: no connection could have been kept", () => {
    expect(kinds(resultsOf(green, { trust: () => unreadable }))).toEqual(["undecided", "undecided"]);
  });

  it("says nothing of a hook that fails open", () => {
    const open = { ...mutating, failurePolicy: "Ignore" };
    expect(resultsOf(green, { hooks: [open], trust: () => drifted })).toMatchObject([
      { result: "blind", handshake: drifted.answer },
    ]);
  });

  it("says nothing of a hook whose condition is not decided here", () => {
    const conditional = { ...mutating, matchConditions: [{ name: "c", expression: "has(object.x)" }] };
    expect(kinds(resultsOf(green, { hooks: [conditional] }))).toEqual(["undecided"]);
  });

  it("does not reach a hook with a condition on another scheduler: the false green of D2 and later", () => {
    const matchConditions = [{ name: "scheduler-name-match", expression: "object.spec.schedulerName == 'kai-2'" }];
    expect(resultsOf(green, { hooks: [{ ...mutating, matchConditions }] })).toEqual([
      {
        result: "not-reached",
        because: "its matchCondition scheduler-name-match wants schedulerName kai-2, the pod has kai-scheduler",
        handshake: trusted,
      },
    ]);
  });

  it("leaves queues to the handshake", () => {
    expect(resultsOf(green, { hooks: [queue], trust: () => drifted })).toMatchObject([
      { result: "not-reached", handshake: drifted.answer },
    ]);
  });

  const matchConditions = [{ name: "m", expression: "object.spec.schedulerName == 'kai-scheduler'" }];
  const changed: DryRun = { outcome: "green", pod: { labels: {}, schedulerName: "other" } };

  it("does not prove a validating hook that another hook has steered the pod away from", () => {
    expect(kinds(resultsOf(changed, { hooks: [{ ...validating, matchConditions }] }))).toEqual(["not-reached"]);
  });

  it("does not decide a mutating hook where another hook changed what it selects by", () => {
    expect(kinds(resultsOf(changed, { hooks: [{ ...mutating, matchConditions }] }))).toEqual(["undecided"]);
  });
});

describe("a failed call", () => {
  it("is the mutating hook's by its path, and the validating one is not known", () => {
    expect(resultsOf(failed("/mutate--v1-pod", "EOF"))).toEqual([
      { result: "failed", failureClass: "connection-closed", goText: "EOF" },
      { result: "blocked", by: "hook binder.run.ai", phase: "mutating", message: "EOF", handshake: trusted },
    ]);
  });

  it("is the validating hook's by its path, and proves the mutating one", () => {
    expect(resultsOf(failed("/validate--v1-pod", "EOF"))).toEqual([
      proven,
      { result: "failed", failureClass: "connection-closed", goText: "EOF" },
    ]);
  });

  const config = refused(
    'Internal error occurred: failed calling webhook "binder.run.ai": could not get REST client: unable to load root certificates: unable to parse bytes as PEM block',
  );

  it("without a URL is the mutating hook's where its bundle cannot be read", () => {
    expect(kinds(resultsOf(config, { trust: () => unreadable }))).toEqual(["failed", "blocked"]);
  });

  it("without a URL is the validating hook's where only that bundle cannot be read", () => {
    const trust = (hook: Hook) =>
      hook === validating ? unreadable : { answer: trusted, predicted: ["OK"], complete: true };
    expect(kinds(resultsOf(config, { trust }))).toEqual(["proven", "failed"]);
  });

  it("without a URL is one of both where nothing tells the two of one name apart", () => {
    const status = refused(
      'Internal error occurred: failed calling webhook "binder.run.ai": failed to call webhook: the server could not find the requested resource',
    );
    const goText = "the server could not find the requested resource";
    expect(resultsOf(status)).toEqual([
      { result: "failed", failureClass: "bad-response", goText, oneOf: 2 },
      { result: "failed", failureClass: "bad-response", goText, oneOf: 2 },
    ]);
  });

  it("of a hook that was thought not to be reached is believed", () => {
    const elsewhere = {
      ...mutating,
      namespaceSelector: { matchLabels: { team: "arms" }, matchExpressions: [] },
    };
    expect(kinds(resultsOf(failed("/mutate--v1-pod", "EOF"), { hooks: [elsewhere] }))).toEqual(["failed"]);
  });
});

describe("a denial", () => {
  it("of a hook with a name of its own says that its trust is fine", () => {
    const dryRun = refused('admission webhook "binder.run.ai" denied the request: no queue');
    expect(resultsOf(dryRun, { hooks: [validating] })).toEqual([{ result: "denied-by-target", message: "no queue" }]);
  });

  it("by one of two hooks of a name says that the mutating one has answered, and nothing of the other", () => {
    const dryRun = refused('admission webhook "binder.run.ai" denied the request: no queue');
    expect(kinds(resultsOf(dryRun))).toEqual(["denied-by-target", "undecided"]);
  });
});

describe("a refusal by somebody else", () => {
  const denial = refused('admission webhook "injector.example.com" denied the request: no');

  it.each([
    ["before KAI's mutating hook proves nothing", injector("aaa"), ["blocked", "blocked"]],
    ["after KAI's mutating hook proves it", injector("zzz"), ["proven", "blocked"]],
    [
      "by a later entry of the same holder proves the earlier entry",
      injector("kai-binder", { index: 1 }),
      ["proven", "blocked"],
    ],
    [
      "by a validating hook proves the mutating one, never a validating one",
      injector("aaa", { holder: validatingBinder }),
      ["proven", "blocked"],
    ],
  ])("%s", (_name, other, expected) => {
    expect(kinds(resultsOf(denial, { others: [other] }))).toEqual(expected);
  });

  it("by a hook that nobody knows proves nothing", () => {
    expect(resultsOf(denial)[0]).toEqual({
      result: "blocked",
      by: "hook injector.example.com",
      phase: "unknown",
      message: "no",
      handshake: trusted,
    });
  });

  it("for want of dry runs names the hook", () => {
    const message = 'admission webhook "injector.example.com" does not support dry run';
    const other = injector("aaa", { sideEffects: "Unknown" });
    expect(resultsOf(refused(message), { others: [other] })[0]).toEqual({
      result: "blocked",
      by: "hook injector.example.com",
      phase: "mutating",
      message,
      handshake: trusted,
    });
  });

  it("for want of dry runs in KAI's own hook leaves it undecided", () => {
    const own = { ...mutating, sideEffects: "Unknown" };
    const message = 'admission webhook "binder.run.ai" does not support dry run';
    expect(resultsOf(refused(message), { hooks: [own, validating] })).toMatchObject([
      { result: "undecided", because: "it takes no dry run: sideEffects is Unknown" },
      { result: "blocked", phase: "mutating" },
    ]);
  });

  const forbidden = (body: string): DryRun => refused(`pods "fleetmend-probe-x" is forbidden: ${body}`);

  it.each([
    ["Pod Security", forbidden('violates PodSecurity "restricted:latest": x'), ["proven", "blocked"]],
    ["a limit range", forbidden("maximum cpu usage per Container is 1m, but limit is 10m"), ["proven", "blocked"]],
    ["a policy", forbidden("ValidatingAdmissionPolicy 'p' denied request: no"), ["proven", "blocked"]],
    ["the pod's own validation", refused('Pod "p" is invalid: spec: Invalid value'), ["proven", "blocked"]],
    ["a quota, which speaks last", forbidden("exceeded quota: q, requested: pods=1"), ["proven", "proven"]],
    ["a missing service account", forbidden("error looking up service account a/default: x"), ["blocked", "blocked"]],
    ["an unknown plugin", forbidden("the moon is full"), ["blocked", "blocked"]],
    ["an unknown text", refused("who knows"), ["blocked", "blocked"]],
  ])("%s", (_name, dryRun, expected) => {
    expect(kinds(resultsOf(dryRun))).toEqual(expected);
  });

  it("by a quota does not prove a validating hook that selects by what a mutating hook may have changed", () => {
    const matchConditions = [{ name: "m", expression: "object.spec.schedulerName == 'kai-scheduler'" }];
    const hooks = [
      { ...mutating, matchConditions },
      { ...validating, matchConditions },
    ];
    expect(kinds(resultsOf(forbidden("exceeded quota: q"), { hooks }))).toEqual(["proven", "blocked"]);
  });

  it("that comes past a hook leaves a broken verdict latent", () => {
    const results = resultsOf(forbidden('violates PodSecurity "restricted:latest": x'), { trust: () => drifted });
    expect(kinds(results)).toEqual(["latent", "blocked"]);
  });

  it("leaves a hook that fails open blind", () => {
    const open = { ...validating, failurePolicy: "Ignore" };
    expect(kinds(resultsOf(forbidden("the moon is full"), { hooks: [mutating, open] }))).toEqual(["blocked", "blind"]);
  });
});

describe("no answer", () => {
  it.each([
    [{ outcome: "forbidden", message: "no right" }, "forbidden"],
    [{ outcome: "no-namespace", namespace: "osmo-workflows" }, "no-namespace"],
    [{ outcome: "no-answer", because: "it timed out" }, "undecided"],
  ] as const)("%o gives %s for pod hooks and leaves queues to the handshake", (dryRun, result) => {
    const given: Given = { hooks: [mutating, queue], namespaceLabels: "unread" };
    expect(kinds(resultsOf(dryRun, given))).toEqual([result, "not-reached"]);
  });
});
