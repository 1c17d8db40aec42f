// Whole repairs of a world in memory, step by step, through collect, assess, plan and mend. The rows are those of what KAI's
// families ask of a repair: helm hooks (v0.2 to v0.8) are repaired by their bundles, operators (v0.9 on) by their Secret.
import { describe, expect, it } from "vitest";
import { generation, kaiWorld, pairOf, startOfWorld, type KaiWorld, type Pair } from "./kai-world.ts";
import { repair, type Run } from "./repair-run.ts";

const secondsOf = (run: Run): number => Math.round(run.seconds);
const wrote = (run: Run): string[] =>
  run.steps.map(({ action }) => {
    switch (action.kind) {
      case "set-bundle":
        return `${action.phase} ${action.holderPath.split("/").slice(-2).join("/")}`;
      case "set-secret-certificates":
        return `${action.phase} Secret`;
      case "force-reconcile":
        return "ask the operator";
      case "restart-deployment":
        return "restart";
    }
  });

/** What the first step writes. */
function firstBytes({ steps }: Run): string | undefined {
  const action = steps[0]?.action;
  const bytes = action?.kind === "set-bundle" ? action.entries[0]?.bundle : undefined;
  const certificates = action?.kind === "set-secret-certificates" ? action.certificates : undefined;
  return Buffer.from(bytes ?? certificates ?? []).toString();
}

const isTrusted = (world: KaiWorld): boolean => [...world.trust().values()].every(Boolean);

async function pair(world: KaiWorld, number: 0 | 1 | 2 | 3): Promise<Pair> {
  return pairOf(await generation(world.workload(world.podWebhookService).serverName, number));
}

/** The bundles of the pod webhooks, as text. */
function bundles(world: KaiWorld): string[] {
  return world
    .hooks()
    .filter(({ service }) => service === world.podWebhookService)
    .map(({ bundle }) => Buffer.from(bundle).toString());
}

function setBundles(world: KaiWorld, text: string | undefined, which = /./): void {
  for (const { holder, index, service } of world.hooks()) {
    if (service !== world.podWebhookService || !which.test(holder)) continue;
    world.writeBundle(holder, index, text === undefined ? undefined : Buffer.from(text), "kubectl");
  }
}

const writesOf = (world: KaiWorld): string[] =>
  world.memory.requests
    .filter(({ verb, path }) => verb !== "get" && verb !== "list" && verb !== "handshake" && !path.includes("subject"))
    .map(({ verb, path }) => `${verb} ${path}`);

describe("a healthy cluster", () => {
  it.each(["v0.5.5", "v0.7.12", "v0.8.5", "v0.9.14", "v0.17.0", "v0.20.1"] as const)(
    "of KAI %s is not written to at all, not even a Lease",
    async (version) => {
      const world = await kaiWorld({ version });
      const run = await repair(world);
      expect(run).toMatchObject({ calls: 1, steps: [], outcome: { because: { kind: "nothing-left" } } });
      expect(run.outcome.plan).toEqual({ next: { do: "nothing" }, steps: [], advice: [] });
      expect(writesOf(world)).toEqual([]);
    },
  );

  it("keeps a bundle that somebody else made wider than needed", async () => {
    const world = await kaiWorld({ version: "v0.5.5" });
    setBundles(world, (await pair(world, 0)).pem + (await pair(world, 1)).pem);
    expect(wrote(await repair(world))).toEqual([]);
  });
});

describe("families A to C", () => {
  it.each([
    { version: "v0.5.5", holder: "kai-binder" },
    { version: "v0.7.12", holder: "kai-binder" },
    { version: "v0.8.5", holder: "kai-admission" },
  ] as const)(
    "repairs drift by exactly the Secret's bytes in both holders, the mutating one first ($version)",
    async ({ version, holder }) => {
      const world = await kaiWorld({ version });
      const next = await pair(world, 1);
      world.writeSecret(world.podWebhookService, next, "webhookmanager");
      world.pass(90);
      const run = await repair(world);
      expect(wrote(run)).toEqual([
        `replace mutatingwebhookconfigurations/${holder}`,
        `replace validatingwebhookconfigurations/${holder}`,
      ]);
      expect(bundles(world)).toEqual([next.pem, next.pem]);
      expect(secondsOf(run)).toBe(0);
    },
  );

  it("widens while the pods still serve the older pair, waits for them, and narrows again", async () => {
    const world = await kaiWorld({ version: "v0.5.5" });
    const [old, next] = [await pair(world, 0), await pair(world, 1)];
    world.writeSecret("binder", next, "webhookmanager");
    const run = await repair(world, {
      afterCall: () => {
        if (world.pods("binder")[0]?.loaded === old) expect(isTrusted(world)).toBe(true);
      },
    });
    expect(wrote(run)).toEqual([
      "widen mutatingwebhookconfigurations/kai-binder",
      "widen validatingwebhookconfigurations/kai-binder",
      "narrow mutatingwebhookconfigurations/kai-binder",
      "narrow validatingwebhookconfigurations/kai-binder",
    ]);
    expect(firstBytes(run)).toBe(next.pem + old.pem);
    expect(bundles(world)).toEqual([next.pem, next.pem]);
    expect(isTrusted(world)).toBe(true);
    // One kubelet refresh (60 s here), looked for every ten seconds.
    expect(secondsOf(run)).toBe(61);
  });

  it("stops the failures of an upgrade whose post hook was faster than the kubelet", async () => {
    const world = await kaiWorld({ version: "v0.5.5" });
    world.writeSecret("binder", await pair(world, 1), "webhookmanager");
    world.writeAllBundles("webhookmanager");
    expect(isTrusted(world)).toBe(false);
    const run = await repair(world);
    expect(wrote(run).slice(0, 2)).toEqual([
      "widen mutatingwebhookconfigurations/kai-binder",
      "widen validatingwebhookconfigurations/kai-binder",
    ]);
    expect(isTrusted(world)).toBe(true);
  });

  it.each([
    { name: "absent", bundle: undefined },
    { name: "empty", bundle: "" },
    { name: "no PEM at all", bundle: "placeholder" },
  ])("fills a bundle that is $name", async ({ bundle }) => {
    const world = await kaiWorld({ version: "v0.5.5" });
    setBundles(world, bundle);
    const run = await repair(world);
    expect(wrote(run)).toHaveLength(2);
    const secret = await pair(world, 0);
    expect(bundles(world)).toEqual([secret.pem, secret.pem]);
  });

  it("patches only the holder that drifted", async () => {
    const world = await kaiWorld({ version: "v0.5.5" });
    setBundles(world, (await pair(world, 1)).pem, /validating/);
    expect(wrote(await repair(world))).toEqual(["replace validatingwebhookconfigurations/kai-binder"]);
  });

  it("believes the served leaf where the Secret's key does not match, and explains the Secret", async () => {
    const world = await kaiWorld({ version: "v0.5.5" });
    const [served, wrong, other] = [await pair(world, 0), await pair(world, 1), await pair(world, 2)];
    world.writeSecret("binder", { pem: wrong.pem, keyPem: other.keyPem }, "kubectl");
    world.pass(200);
    expect(wrote(await repair(world))).toEqual([]);
    // Somebody "repairs" it by copying the Secret into the bundles.
    world.writeAllBundles("kubectl");
    expect(isTrusted(world)).toBe(false);
    const run = await repair(world);
    expect(wrote(run)).toHaveLength(2);
    expect(bundles(world)).toEqual([served.pem, served.pem]);
    expect(run.outcome.plan.advice).toMatchObject([
      {
        about: "secret-key-mismatch",
        commands: [
          expect.stringContaining("helm get values") as string,
          expect.stringContaining("helm upgrade") as string,
          "fleetmend repair",
        ],
      },
    ]);
  });

  it("stays widened where a pod with strategy Recreate never loads the new pair, and says what a restart costs", async () => {
    const world = await kaiWorld({ version: "v0.5.5", refreshSeconds: "never" });
    const [old, next] = [await pair(world, 0), await pair(world, 1)];
    world.writeSecret("binder", next, "webhookmanager");
    const run = await repair(world);
    expect(wrote(run)).toEqual([
      "widen mutatingwebhookconfigurations/kai-binder",
      "widen validatingwebhookconfigurations/kai-binder",
    ]);
    expect(bundles(world)).toEqual([next.pem + old.pem, next.pem + old.pem]);
    expect(secondsOf(run)).toBe(120);
    expect(run.outcome.plan.advice).toMatchObject([
      {
        about: "pod-serves-older",
        commands: ["fleetmend repair --allow-outage", "kubectl rollout restart deployment/binder -n kai-scheduler"],
      },
    ]);
  });

  it("restarts it where a person allows the outage, and narrows", async () => {
    const world = await kaiWorld({ version: "v0.5.5", refreshSeconds: "never" });
    const next = await pair(world, 1);
    world.writeSecret("binder", next, "webhookmanager");
    const run = await repair(world, { allowOutage: true });
    expect(wrote(run).slice(2)).toEqual([
      "restart",
      "narrow mutatingwebhookconfigurations/kai-binder",
      "narrow validatingwebhookconfigurations/kai-binder",
    ]);
    expect(bundles(world)).toEqual([next.pem, next.pem]);
  });

  it("restarts a stale pod without being told where every call fails and no bundle can help", async () => {
    const world = await kaiWorld({ version: "v0.5.5", refreshSeconds: "never" });
    world.setLoaded("binder", await expired(world));
    world.writeSecret("binder", await pair(world, 1), "webhookmanager");
    const run = await repair(world);
    expect(wrote(run)).toEqual([
      "replace mutatingwebhookconfigurations/kai-binder",
      "replace validatingwebhookconfigurations/kai-binder",
      "restart",
    ]);
    expect(isTrusted(world)).toBe(true);
  });

  it("does not restart a second time where a restart did not help", async () => {
    const world = await kaiWorld({ version: "v0.5.5", refreshSeconds: "never", restartLoads: "the old pair" });
    world.writeSecret("binder", await pair(world, 1), "webhookmanager");
    const run = await repair(world, { allowOutage: true });
    expect(wrote(run).filter((step) => step === "restart")).toHaveLength(1);
    expect(run.outcome.plan.advice).toMatchObject([{ sentence: expect.stringContaining("after a restart") as string }]);
  });

  it("restarts without an outage where the strategy is RollingUpdate and readiness is probed", async () => {
    const world = await kaiWorld({ version: "v0.5.5", refreshSeconds: "never", replicas: 2 });
    world.setStrategy("binder", "RollingUpdate");
    world.writeSecret("binder", await pair(world, 1), "webhookmanager");
    expect(wrote(await repair(world))).toContain("restart");
    expect(isTrusted(world)).toBe(true);
  });

  it("does not restart KAI's queue controller, which counts as ready before it listens", async () => {
    const world = await kaiWorld({ version: "v0.7.12", refreshSeconds: "never" });
    const { serverName } = world.workload("queuecontroller");
    world.writeSecret("queuecontroller", pairOf(await generation(serverName, 1)), "webhookmanager");
    const run = await repair(world);
    expect(wrote(run)).toEqual(["widen validatingwebhookconfigurations/kai-queuecontroller"]);
    expect(run.outcome.plan.advice).toMatchObject([{ sentence: expect.stringContaining("leaves a gap") as string }]);
  });

  it("explains an expired pair with the command and its price, and writes nothing", async () => {
    const world = await kaiWorld({ version: "v0.5.5" });
    const pairOfThePast = await expired(world);
    world.writeSecret("binder", pairOfThePast, "webhookmanager");
    world.pass(90);
    world.writeAllBundles("webhookmanager");
    const run = await repair(world);
    expect(wrote(run)).toEqual([]);
    expect(run.outcome.plan.advice.map(({ commands }) => commands.join(" "))).toContainEqual(
      expect.stringContaining("helm upgrade kai-scheduler"),
    );
  });

  it("writes nothing where no pod is ready: no certificate can help", async () => {
    const world = await kaiWorld({ version: "v0.5.5" });
    world.writeSecret("binder", await pair(world, 1), "webhookmanager");
    world.pass(90);
    for (const { name } of world.pods("binder")) world.setReady(name, false);
    const run = await repair(world);
    expect(wrote(run)).toEqual([]);
    expect(run.outcome.plan.advice).toMatchObject([{ about: "no-ready-endpoints" }]);
  });

  it("writes nothing from what the Secret alone says: without port-forward it explains", async () => {
    const world = await kaiWorld({ version: "v0.5.5" });
    world.writeSecret("binder", await pair(world, 1), "webhookmanager");
    world.pass(90);
    world.memory.allowedResources = ["pods", "services", "endpointslices", "deployments", "jobs", "secrets"];
    const run = await repair(world);
    expect(wrote(run)).toEqual([]);
    expect(writesOf(world)).toEqual([]);
  });

  it("keeps what a pod may need that cannot be read, and does not narrow while it is there", async () => {
    const world = await kaiWorld({ version: "v0.5.5", replicas: 2 });
    const [old, next] = [await pair(world, 0), await pair(world, 1)];
    const [first, second] = world.pods("binder").map(({ name }) => name);
    world.setReady(second ?? "", false);
    world.writeSecret("binder", next, "webhookmanager");
    world.refreshNow(first ?? "");
    expect(isTrusted(world)).toBe(false);
    await repair(world);
    expect(bundles(world)).toEqual([next.pem + old.pem, next.pem + old.pem]);
    world.setReady(second ?? "", true);
    expect(isTrusted(world)).toBe(true);
    await repair(world);
    expect(bundles(world)).toEqual([next.pem, next.pem]);
  });

  it("trusts both leaves while replicas differ", async () => {
    const world = await kaiWorld({ version: "v0.5.5", replicas: 2 });
    const [old, next] = [await pair(world, 0), await pair(world, 1)];
    world.writeSecret("binder", next, "webhookmanager");
    world.refreshNow(world.pods("binder")[0]?.name ?? "");
    const run = await repair(world);
    expect(firstBytes(run)).toBe(next.pem + old.pem);
    expect(bundles(world)).toEqual([next.pem, next.pem]);
  });

  it("never copies a private key that stands in tls.crt", async () => {
    const world = await kaiWorld({ version: "v0.5.5" });
    const next = await pair(world, 1);
    world.writeSecret("binder", { pem: next.pem + next.keyPem, keyPem: next.keyPem }, "kubectl");
    world.pass(90);
    const run = await repair(world);
    expect(bundles(world)).toEqual([next.pem, next.pem]);
    expect(JSON.stringify(run)).not.toContain(next.keyPem.split("\n")[3] ?? "no line");
  });

  it("repairs the same drift again after a repair, and the last writer of the bundle is fleetmend", async () => {
    const world = await kaiWorld({ version: "v0.5.5" });
    for (const round of [1, 2]) {
      setBundles(world, (await pair(world, 1)).pem);
      const run = await repair(world);
      expect(wrote(run), `round ${round}`).toHaveLength(2);
      expect(run.outcome.snapshot.hooks.map(({ bundleWriter }) => bundleWriter?.manager)).toEqual([
        "fleetmend",
        "fleetmend",
      ]);
    }
  });
});

describe("families D", () => {
  it("trusts the pods again through the Secret after a new pair was made, and never touches a bundle", async () => {
    const world = await kaiWorld({ version: "v0.17.0" });
    const [old, next] = [await pair(world, 0), await pair(world, 1)];
    world.writeSecret("admission", next, "operator");
    expect(isTrusted(world)).toBe(false);
    const run = await repair(world);
    expect(wrote(run)).toEqual(["widen Secret", "narrow Secret"]);
    expect(firstBytes(run)).toBe(next.pem + old.pem);
    expect(world.secretOf("admission")).toEqual(next);
    expect(bundles(world)).toEqual([next.pem, next.pem, next.pem]);
    expect(isTrusted(world)).toBe(true);
  });

  it("leaves no annotation that claims a block which is gone", async () => {
    const world = await kaiWorld({ version: "v0.17.0" });
    world.writeSecret("admission", await pair(world, 1), "operator");
    await repair(world);
    const secret = world.memory.objects.get(world.workload("admission").secretPath);
    expect(Object.keys(secret?.metadata.annotations ?? {})).not.toContain("fleetmend/added-certificates");
  });

  it("patches the bundles at once where the operator is ready but has long not followed, and says why it may be", async () => {
    const world = await kaiWorld({ version: "v0.20.1", operator: "blind" });
    world.writeSecret("admission", await pair(world, 1), "kubectl");
    world.pass(90);
    expect(isTrusted(world)).toBe(false);
    const { run, advice } = await repairWithAdvice(world);
    expect(wrote(run)).toEqual([
      "replace mutatingwebhookconfigurations/mutating-kai-admission",
      "replace validatingwebhookconfigurations/validating-kai-admission",
    ]);
    expect(secondsOf(run)).toBe(0);
    expect(advice).toContain("operator-blind");
    expect(isTrusted(world)).toBe(true);
  });

  it("asks an operator that has not had its time yet, and patches the bundles only when it does not follow", async () => {
    const world = await kaiWorld({ version: "v0.20.1", operator: "blind", refreshSeconds: 5 });
    world.writeSecret("admission", await pair(world, 1), "kubectl");
    world.pass(5);
    const { run, advice } = await repairWithAdvice(world);
    expect(wrote(run)).toEqual([
      "ask the operator",
      "replace mutatingwebhookconfigurations/mutating-kai-admission",
      "replace validatingwebhookconfigurations/validating-kai-admission",
    ]);
    expect(secondsOf(run)).toBe(10);
    expect(advice).toContain("operator-blind");
    expect(isTrusted(world)).toBe(true);
  });

  it("asks a working operator, and that is the whole repair", async () => {
    const world = await kaiWorld({ version: "v0.20.1", operator: "blind" });
    setBundles(world, (await pair(world, 1)).pem);
    // It works again, but nothing has happened since that would make it reconcile.
    world.operator = "healthy";
    expect(wrote(await repair(world))).toEqual(["ask the operator"]);
    expect(isTrusted(world)).toBe(true);
  });

  it("asks again about another drift, however recently it asked", async () => {
    const world = await kaiWorld({ version: "v0.20.1", operator: "blind" });
    setBundles(world, (await pair(world, 1)).pem);
    expect(wrote(await repair(world))[0]).toBe("ask the operator");
    setBundles(world, (await pair(world, 2)).pem);
    expect(wrote(await repair(world))[0]).toBe("ask the operator");
  });

  it("patches the bundles at once where the operator is down, and asks nobody", async () => {
    const world = await kaiWorld({ version: "v0.17.0", operator: "down" });
    setBundles(world, (await pair(world, 1)).pem);
    const run = await repair(world);
    expect(wrote(run)).toEqual([
      "replace mutatingwebhookconfigurations/mutating-kai-admission",
      "replace validatingwebhookconfigurations/validating-kai-admission",
    ]);
    expect(run.steps[1]?.action).toMatchObject({
      entries: [
        { hook: { name: "admission.kai-scheduler.svc" } },
        { hook: { name: "topology.admission.kai-scheduler.svc" } },
      ],
    });
  });

  it.each([
    { name: "has long not followed", seconds: 20, first: "widen mutatingwebhookconfigurations/mutating-kai-admission" },
    { name: "has not had its time yet", seconds: 2, first: "widen Secret" },
  ])(
    "keeps admission working where the operator $name and the pods lag behind the Secret",
    async ({ seconds, first }) => {
      const world = await kaiWorld({ version: "v0.20.1", operator: "blind", refreshSeconds: 30 });
      const next = await pair(world, 1);
      world.writeSecret("admission", next, "kubectl");
      world.pass(seconds);
      const run = await repair(world, {
        afterCall: () => {
          expect(isTrusted(world)).toBe(true);
        },
      });
      expect(wrote(run)[0]).toBe(first);
      expect(bundles(world)).toEqual([next.pem, next.pem]);
      expect(world.secretOf("admission")).toEqual(next);
    },
  );

  it("patches what the operator may not update, and leaves to it what it does", async () => {
    const world = await kaiWorld({ version: "v0.17.0", refreshSeconds: 60 });
    const holder = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/mutating-kai-admission";
    world.addUnmaintained(holder, "robotics-mutating");
    const next = await pair(world, 1);
    world.writeSecret("admission", next, "kubectl");
    world.pass(20);
    const run = await repair(world);
    expect(wrote(run)).toEqual([
      "widen mutatingwebhookconfigurations/robotics-mutating",
      "widen Secret",
      "narrow Secret",
      "ask the operator",
      "narrow mutatingwebhookconfigurations/robotics-mutating",
    ]);
    expect(bundles(world)).toEqual([next.pem, next.pem, next.pem, next.pem]);
  });

  it("puts the served leaf behind a certificate whose key does not match: admission works, and the Secret is explained", async () => {
    const world = await kaiWorld({ version: "v0.17.0" });
    const [served, wrong, other] = [await pair(world, 0), await pair(world, 1), await pair(world, 2)];
    world.writeSecret("admission", { pem: wrong.pem, keyPem: other.keyPem }, "kubectl");
    expect(isTrusted(world)).toBe(false);
    const run = await repair(world);
    expect(wrote(run)).toEqual(["widen Secret"]);
    expect(world.secretOf("admission")).toEqual({ pem: wrong.pem + served.pem, keyPem: other.keyPem });
    expect(isTrusted(world)).toBe(true);
    expect(run.outcome.plan.advice).toMatchObject([
      {
        about: "secret-key-mismatch",
        commands: [
          "kubectl get deployment kai-operator -n kai-scheduler",
          "kubectl delete secret kai-admission-webhook-tls-secret -n kai-scheduler",
          "fleetmend repair",
        ],
      },
    ]);
  });

  it("fills a tls.crt that was emptied with the leaf that the pods serve", async () => {
    const world = await kaiWorld({ version: "v0.17.0" });
    const served = await pair(world, 0);
    world.writeSecret("admission", { pem: "", keyPem: served.keyPem }, "kubectl");
    expect(isTrusted(world)).toBe(false);
    await repair(world);
    expect(world.secretOf("admission")).toEqual(served);
    expect(isTrusted(world)).toBe(true);
  });

  it("explains an expired pair, and does not delete the Secret", async () => {
    const world = await kaiWorld({ version: "v0.17.0" });
    world.writeSecret("admission", await expired(world), "kubectl");
    world.pass(90);
    const run = await repair(world);
    expect(wrote(run)).toEqual([]);
    expect(run.outcome.plan.advice.map(({ commands }) => commands.join(" "))).toContainEqual(
      expect.stringContaining("kubectl delete secret kai-admission-webhook-tls-secret"),
    );
  });

  it("stays widened where a pod with strategy Recreate never loads the new pair", async () => {
    const world = await kaiWorld({ version: "v0.17.0", refreshSeconds: "never" });
    const [old, next] = [await pair(world, 0), await pair(world, 1)];
    world.writeSecret("admission", next, "operator");
    const run = await repair(world);
    expect(wrote(run)).toEqual(["widen Secret"]);
    expect(world.secretOf("admission").pem).toBe(next.pem + old.pem);
    expect(run.outcome.plan.advice).toMatchObject([{ about: "pod-serves-older" }]);
    expect(wrote(await repair(world, { allowOutage: true }))).toEqual(["restart", "narrow Secret"]);
  });

  it("repairs pods that lag behind while the operator is down, so that its coming back at any moment breaks nothing", async () => {
    for (const returnsAfter of [0, 1, 2, 3, 4, 5, 6]) {
      const world = await kaiWorld({ version: "v0.17.0", operator: "down" });
      const next = await pair(world, 1);
      world.writeSecret("admission", next, "kubectl");
      let calls = 0;
      await repair(world, {
        afterCall: () => {
          calls += 1;
          // Before the third call the Secret alone would make it copy what the pods do not serve: that is not our doing.
          if (calls === returnsAfter && calls > 2) world.setOperator("healthy");
          expect(isTrusted(world), `after call ${calls}`).toBe(true);
        },
      });
      expect(bundles(world)).toEqual([next.pem, next.pem, next.pem]);
      expect(world.secretOf("admission")).toEqual(next);
    }
  });
});

describe("what a repair asks and says first", () => {
  it("tries nothing where a right of the plan is missing, and gives the manifest", async () => {
    const world = await kaiWorld({ version: "v0.5.5" });
    setBundles(world, undefined);
    world.memory.allows = ({ resource, verb }) => !(resource === "validatingwebhookconfigurations" && verb === "patch");
    const run = await repair(world);
    expect(run.outcome.because).toMatchObject({
      kind: "rights-missing",
      missing: [
        {
          group: "admissionregistration.k8s.io",
          resource: "validatingwebhookconfigurations",
          name: "kai-binder",
          verb: "patch",
        },
      ],
      manifest: expect.stringContaining('resourceNames: ["kai-binder"]') as string,
    });
    expect(writesOf(world)).toEqual([]);
  });

  it("only plans where it is told to: no question, no Lease, no write", async () => {
    const world = await kaiWorld({ version: "v0.5.5" });
    world.writeSecret("binder", await pair(world, 1), "webhookmanager");
    const run = await repair(world, { planOnly: true });
    expect(run.outcome.because).toEqual({ kind: "only-planned" });
    expect(run.outcome.plan.steps.map(({ summary }) => summary.replaceAll(/\([0-9a-f]{12}\)/g, "(…)"))).toEqual([
      "MutatingWebhookConfiguration kai-binder: trust the certificate made on 2026-11-22 (…) and the certificate made on 2026-11-21 (…) for binder.run.ai.",
      "ValidatingWebhookConfiguration kai-binder: trust the certificate made on 2026-11-22 (…) and the certificate made on 2026-11-21 (…) for binder.run.ai.",
      "MutatingWebhookConfiguration kai-binder: trust only the certificate made on 2026-11-22 (…) for binder.run.ai.",
      "ValidatingWebhookConfiguration kai-binder: trust only the certificate made on 2026-11-22 (…) for binder.run.ai.",
    ]);
    expect(writesOf(world)).toEqual([]);
  });

  it("waits for another repairer", async () => {
    const world = await kaiWorld({ version: "v0.5.5" });
    setBundles(world, undefined);
    const lease = "/apis/coordination.k8s.io/v1/namespaces/kai-scheduler/leases/fleetmend";
    const renewTime = "2026-12-01T03:10:00.000000Z";
    world.memory.put(lease, { spec: { holderIdentity: "bob", leaseDurationSeconds: 30, renewTime } }, "bob");
    const run = await repair(world);
    expect(secondsOf(run)).toBe(30);
    expect(world.memory.objects.get(lease)?.spec).toMatchObject({ holderIdentity: "", leaseTransitions: 1 });
  });

  it("repairs without a Lease where a broken hook refuses Leases, and says so", async () => {
    const world = await kaiWorld({ version: "v0.5.5" });
    setBundles(world, undefined);
    const notes: string[] = [];
    world.memory.intercept = ({ verb, path }) =>
      verb === "create" && path.endsWith("/leases")
        ? { kind: "server-error", message: "failed calling webhook" }
        : undefined;
    const run = await repair(world, {
      afterCall: (outcome) => {
        if (outcome !== "killed" && outcome.outcome === "wait") notes.push(...outcome.notes);
      },
    });
    expect(wrote(run)).toHaveLength(2);
    expect(notes[0]).toContain("Repairing without the Lease kai-scheduler/fleetmend");
  });
});

describe("a request that fails once", () => {
  it.each(["server-error", "unreachable"] as const)(
    "with %s, whichever it is of a call, ends in the same repair",
    async (kind) => {
      for (let atRequest = 1; atRequest <= 20; atRequest += 1) {
        const world = await kaiWorld({ version: "v0.5.5" });
        setBundles(world, (await pair(world, 1)).pem, /mutating/);
        const run = await repair(world, {
          fault: (call) => (call === 0 ? { atRequest, kind, delivered: false } : undefined),
        });
        expect(wrote(run), `request ${atRequest}`).toEqual(["replace mutatingwebhookconfigurations/kai-binder"]);
        expect(isTrusted(world)).toBe(true);
      }
    },
  );

  it("for good is not mistaken for nothing to do: it is looked at again and again", async () => {
    const world = await kaiWorld({ version: "v0.5.5" });
    world.memory.intercept = ({ verb, path }) =>
      verb === "list" && path.endsWith("/services") ? { kind: "server-error", message: "etcd is gone" } : undefined;
    await expect(repair(world)).rejects.toThrow("not done after");
  });

  it("for want of a login is said at once: waiting would not help", async () => {
    const world = await kaiWorld({ version: "v0.5.5" });
    world.memory.intercept = () => ({ kind: "unauthorized", message: "who are you?" });
    await expect(repair(world)).rejects.toThrow("the cluster could not be looked at: who are you?");
  });
});

describe("a value that is taken back", () => {
  /** Somebody writes a placeholder back as soon as fleetmend has written one. */
  function takingBack(world: KaiWorld, times: number): void {
    const { afterWrite } = world.memory;
    let left = times;
    world.memory.afterWrite = (path) => {
      afterWrite(path);
      if (!path.includes("/mutatingwebhook") || left === 0) return;
      left -= 1;
      world.writeBundle(path, 0, Buffer.from("placeholder"), "argocd-controller");
    };
  }

  it("once is written again", async () => {
    const world = await kaiWorld({ version: "v0.5.5" });
    setBundles(world, undefined, /mutating/);
    takingBack(world, 1);
    const run = await repair(world);
    expect(wrote(run)).toHaveLength(2);
    expect(run.outcome.because).toEqual({ kind: "nothing-left" });
    expect(isTrusted(world)).toBe(true);
  });

  it("twice is a fight: fleetmend stops, says with whom, and gives the Lease back", async () => {
    const world = await kaiWorld({ version: "v0.5.5" });
    setBundles(world, undefined, /mutating/);
    takingBack(world, 9);
    const run = await repair(world);
    expect(wrote(run)).toHaveLength(2);
    expect(run.outcome.because).toEqual({
      kind: "fight",
      object: "mutatingwebhookconfigurations/kai-binder",
      with: "argocd-controller",
      times: 2,
    });
    expect(run.outcome.why).toContain("kubectl annotate lease fleetmend -n kai-scheduler fleetmend/last-writes-");
    const lease = world.memory.objects.get("/apis/coordination.k8s.io/v1/namespaces/kai-scheduler/leases/fleetmend");
    expect(lease?.spec).toMatchObject({ holderIdentity: "" });
  });

  it("is remembered across processes, and forgotten after an hour", async () => {
    const world = await kaiWorld({ version: "v0.5.5" });
    for (const { pause, because } of [
      { pause: 0, because: "nothing-left" },
      { pause: 600, because: "nothing-left" },
      { pause: 600, because: "fight" },
      { pause: 3600, because: "nothing-left" },
    ]) {
      world.pass(pause);
      setBundles(world, undefined, /mutating/);
      expect((await repair(world)).outcome.because.kind, `after ${pause} s`).toBe(because);
    }
  });
});

async function repairWithAdvice(world: KaiWorld): Promise<{ readonly run: Run; readonly advice: readonly string[] }> {
  const advice: string[] = [];
  const run = await repair(world, {
    afterCall: (outcome) => {
      if (outcome !== "killed" && outcome.outcome === "wait") {
        advice.push(...outcome.plan.advice.map(({ about }) => about));
      }
    },
  });
  return { run, advice };
}

async function expired(world: KaiWorld): Promise<Pair> {
  const notAfter = new Date(startOfWorld.getTime() - 86_400_000);
  return pairOf(await generation(world.workload(world.podWebhookService).serverName, 3, { daysAgo: 400, notAfter }));
}
