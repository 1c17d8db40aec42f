// Laws of a repair, on worlds that are put together at random: families, replicas, pairs, bundles, operators, kubelets, and a
// process that is killed at any request of any call.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ApiFailure } from "../../src/admission/cluster-api.ts";
import type { StepAction } from "../../src/admission/repair-plan.ts";
import { generation, kaiWorld, pairOf, startOfWorld, type KaiWorld, type Pair } from "./kai-world.ts";
import { repair, type RunOptions } from "./repair-run.ts";

type Generation = 0 | 1 | 2;
const generations = fc.constantFrom<Generation>(0, 1, 2);

/** What has happened to a healthy cluster before we look. Each hits the pod webhooks. */
type Event =
  | { readonly what: "new pair"; readonly of: Generation; readonly writer: string }
  | { readonly what: "wrong key"; readonly of: Generation; readonly key: Generation }
  | { readonly what: "expired pair" }
  | { readonly what: "bundle"; readonly at: number; readonly holds: readonly Generation[] | "junk" | undefined }
  | { readonly what: "post hook" }
  | { readonly what: "time"; readonly seconds: number }
  | { readonly what: "not ready"; readonly pod: number };

const event: fc.Arbitrary<Event> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ what: fc.constant("new pair"), of: generations, writer: fc.constant("helm") }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constant("wrong key"), of: generations, key: generations }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constant("expired pair") }) },
  {
    weight: 4,
    arbitrary: fc.record({
      what: fc.constant("bundle"),
      at: fc.nat(2),
      holds: fc.oneof(
        fc.array(generations, { minLength: 1, maxLength: 3 }),
        fc.constantFrom<"junk" | undefined>("junk", undefined),
      ),
    }),
  },
  { weight: 2, arbitrary: fc.record({ what: fc.constant("post hook") }) },
  { weight: 3, arbitrary: fc.record({ what: fc.constant("time"), seconds: fc.integer({ min: 1, max: 200 }) }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constant("not ready"), pod: fc.nat(1) }) },
);

const scene = fc.record({
  version: fc.constantFrom("v0.5.5", "v0.8.5", "v0.17.0", "v0.20.1"),
  replicas: fc.integer({ min: 1, max: 2 }),
  strategy: fc.constantFrom("Recreate", "RollingUpdate"),
  operator: fc.constantFrom("healthy", "blind", "down"),
  refreshSeconds: fc.constantFrom<(number | "never")[]>(30, 60, "never"),
  events: fc.array(event, { minLength: 1, maxLength: 5 }),
});
type Scene = typeof scene extends fc.Arbitrary<infer S> ? S : never;

const kills = fc.array(
  fc.option(fc.record({ atRequest: fc.integer({ min: 1, max: 24 }), when: fc.constantFrom("before", "after") })),
  { maxLength: 6 },
);

const failures = fc.array(
  fc.option(
    fc.record({
      atRequest: fc.integer({ min: 1, max: 26 }),
      kind: fc.constantFrom<ApiFailure["kind"][]>("conflict", "throttled", "server-error", "timeout", "unreachable"),
      delivered: fc.boolean(),
    }),
  ),
  { maxLength: 8 },
);

async function worldOf(one: Scene): Promise<KaiWorld> {
  const world = await kaiWorld(one);
  world.setStrategy(world.podWebhookService, one.strategy);
  for (const happened of one.events) await happen(world, happened);
  return world;
}

async function happen(world: KaiWorld, happened: Event): Promise<void> {
  const service = world.podWebhookService;
  const pair = async (number: Generation): Promise<Pair> =>
    pairOf(await generation(world.workload(service).serverName, number));
  switch (happened.what) {
    case "new pair":
      world.writeSecret(service, await pair(happened.of), happened.writer);
      return;
    case "wrong key":
      world.writeSecret(
        service,
        { pem: (await pair(happened.of)).pem, keyPem: (await pair(happened.key)).keyPem },
        "kubectl",
      );
      return;
    case "expired pair":
      world.writeSecret(service, await expiredPair(world), "kubectl");
      return;
    case "bundle": {
      const hooks = world.hooks().filter((hook) => hook.service === service);
      const hook = hooks[happened.at % hooks.length];
      const holds = happened.holds;
      const text =
        holds === undefined || holds === "junk"
          ? holds
          : (await Promise.all(holds.map(async (number) => (await pair(number)).pem))).join("");
      if (hook === undefined) return;
      world.writeBundle(hook.holder, hook.index, text === undefined ? undefined : Buffer.from(text), "kubectl");
      return;
    }
    case "post hook":
      world.writeAllBundles("webhookmanager");
      return;
    case "time":
      world.pass(happened.seconds);
      return;
    case "not ready": {
      const pods = world.pods(service);
      world.setReady(pods[happened.pod % pods.length]?.name ?? "", false);
      return;
    }
  }
}

async function expiredPair(world: KaiWorld): Promise<Pair> {
  const notAfter = new Date(startOfWorld.getTime() - 86_400_000);
  const { serverName } = world.workload(world.podWebhookService);
  return pairOf(await generation(serverName, 3, { daysAgo: 400, notAfter }));
}

/** Handshakes that are refused although a bundle could make them trusted. */
async function leftBroken(world: KaiWorld): Promise<string[]> {
  const expired = await expiredPair(world);
  const hopeless = world
    .pods(world.podWebhookService)
    .filter(({ loaded }) => loaded === undefined || loaded.pem.startsWith(expired.pem))
    .map(({ name }) => name);
  return [...world.trust()]
    .filter(([hookAndPod, trusted]) => !trusted && !hopeless.some((name) => hookAndPod.endsWith(` ${name}`)))
    .map(([hookAndPod]) => hookAndPod);
}

/** How many worlds are tried: few in every check, more by FLEETMEND_RUNS. */
const runs = { numRuns: Number(process.env.FLEETMEND_RUNS ?? 8) };

describe("a repair of any world", () => {
  it("ends with every handshake trusted that a bundle can make trusted, was never worse on the way, and leaves nothing to do", async () => {
    await fc.assert(
      fc.asyncProperty(scene, async (one) => {
        const world = await worldOf(one);
        const { steps } = await repair(world, { afterCall: refuseNeedlessOutage(world, one) });
        expect(await leftBroken(world)).toEqual([]);
        // Each step cures something that was found; only the end of our own widening in a Secret is no finding.
        const groundless = steps.filter(({ cures, action }) => cures.length === 0 && !isSecretNarrowed(action));
        expect(groundless.map(({ summary }) => summary)).toEqual([]);
        // A working operator takes bundles back: only its Secret is changed.
        const isOperated = one.operator === "healthy" && (one.version === "v0.17.0" || one.version === "v0.20.1");
        expect(steps.filter(({ action }) => isOperated && action.kind === "set-bundle")).toEqual([]);
        expect((await repair(world)).steps).toEqual([]);
      }),
      runs,
    );
  });

  it("keeps admission working where it worked and the Secret's pair can be used", async () => {
    await fc.assert(
      fc.asyncProperty(scene, async (one) => {
        const world = await worldOf({ ...one, events: one.events.filter(({ what }) => what !== "bundle") });
        fc.pre([...world.trust().values()].every(Boolean) && (await holdsUsablePair(world)));
        const check = refuseNeedlessOutage(world, one);
        await repair(world, {
          afterCall: (outcome) => {
            check(outcome);
            expect([...world.trust()].filter(([, trusted]) => !trusted)).toEqual([]);
          },
        });
      }),
      runs,
    );
  });

  it("ends the same where the process is killed at any request of any call", async () => {
    await fc.assert(
      fc.asyncProperty(scene, kills, async (one, killed) => {
        const world = await worldOf(one);
        await repair(world, { kill: (call) => killed[call] ?? undefined, afterCall: refuseNeedlessOutage(world, one) });
        expect(await leftBroken(world)).toEqual([]);
      }),
      runs,
    );
  });

  it("ends the same where any request of any call fails, acted upon or not", async () => {
    await fc.assert(
      fc.asyncProperty(scene, failures, async (one, failed) => {
        const world = await worldOf(one);
        // What was not delivered was answered by somebody in between; a 409 is never acted upon.
        const fault: RunOptions["fault"] = (call) => {
          const failure = failed[call] ?? undefined;
          const mayBeDelivered = failure?.kind === "timeout" || failure?.kind === "unreachable";
          return failure && { ...failure, delivered: failure.delivered && mayBeDelivered };
        };
        await repair(world, { fault, afterCall: refuseNeedlessOutage(world, one) });
        expect(await leftBroken(world)).toEqual([]);
      }),
      runs,
    );
  });
});

async function holdsUsablePair(world: KaiWorld): Promise<boolean> {
  const service = world.podWebhookService;
  const { serverName } = world.workload(service);
  const { pem, keyPem } = world.secretOf(service);
  const usable = await Promise.all(
    ([0, 1, 2] as const).map(async (number) => pairOf(await generation(serverName, number))),
  );
  return usable.some((pair) => pair.pem === pem && pair.keyPem === keyPem);
}

function isSecretNarrowed(action: StepAction): boolean {
  return action.kind === "set-secret-certificates" && action.phase === "narrow";
}

/** With strategy Recreate a restart is right only where no call of the hook works. */
function refuseNeedlessOutage(world: KaiWorld, one: Scene): NonNullable<RunOptions["afterCall"]> {
  let before = world.trust();
  return (outcome) => {
    const did = outcome !== "killed" && outcome.outcome === "wait" ? outcome.did : undefined;
    const service = `${world.podWebhookService}-`;
    if (did?.action.kind === "restart-deployment" && one.strategy === "Recreate") {
      expect([...before].filter(([pair, trusted]) => trusted && pair.includes(service))).toEqual([]);
    }
    before = world.trust();
  };
}
