// The crash matrix: the process of a rotation is ended before and after every single request that it makes, and a new one
// goes on. After each request of any of them, every credential that a consumer holds is tried. `npm test` ends it at every write
// of OSMO 6.2 and at every 25th read; `npm run test:crash` at every request of all releases (some minutes).
import { describe, expect, it } from "vitest";
import type { TokenCredential } from "../../src/osmo/token-credential.ts";
import { admin, backend, RotationWorld } from "./rotation-world.ts";

const t0 = "operatorTokenT0operatorTokenT0operatorTok00";
const a0 = "apiTokenA0apiTokenA0apiTokenA0apiTokenA0ap0";
const isFull = process.env.FLEETMEND_CRASH === "full";
const releases = isFull ? (["6.0", "6.2", "6.3"] as const) : (["6.2"] as const);
const timeout = isFull ? 900_000 : 30_000;

interface Scenario {
  readonly name: string;
  readonly credential: TokenCredential;
  readonly start: (release: (typeof releases)[number]) => Promise<RotationWorld>;
}

const scenarios: readonly Scenario[] = [
  {
    name: "the admin's token is replaced",
    credential: admin,
    start: (release) => RotationWorld.start(release, { apiToken: a0, operatorToken: t0 }),
  },
  {
    name: "the first admin's token is made",
    credential: admin,
    start: (release) => RotationWorld.start(release, { operatorToken: t0 }),
  },
  {
    name: "the backend's token is adopted and replaced",
    credential: backend,
    start: (release) => RotationWorld.start(release, { apiToken: a0, operatorToken: t0 }),
  },
  {
    name: "a dead backend's token is healed",
    credential: backend,
    start: async (release) => {
      const world = await RotationWorld.start(release, { apiToken: a0 });
      world.watch.backend = false;
      return world;
    },
  },
];

/** Ends well, with one token of the role that matters and no orphan once a day has passed. */
async function converged(world: RotationWorld, credential: TokenCredential): Promise<void> {
  expect(await world.run(credential)).toMatchObject({ answer: "done" });
  world.pass(25 * 3600);
  expect(await world.run(credential)).toMatchObject({ answer: "done" });
  expect(world.orphans(credential)).toEqual([]);
  expect(world.vault.enabledValues(credential.vaultSecret)).toHaveLength(1);
  expect(world.isGood(world.vault.enabledValues(credential.vaultSecret)[0] ?? "", credential.role)).toBe(true);
  expect(world.failures).toEqual([]);
  expect(world.canaries()).toEqual([]);
  if (credential === backend) expect(world.isGood(world.operatorToken(), "osmo-backend")).toBe(true);
}

describe.each(releases)("on OSMO %s, killed at every request,", (release) => {
  it.each(scenarios)(
    "$name",
    async ({ name, credential, start }) => {
      const whole = await start(release);
      await whole.run(credential);
      const all = Array.from({ length: whole.requests }, (_, index) => index + 1);
      const chosen = isFull ? all : all.filter((request) => whole.writes.includes(request) || request % 25 === 0);
      let kills = 0;
      let requests = 0;
      for (const request of chosen) {
        for (const when of ["before", "after"] as const) {
          const world = await start(release);
          world.killAt = { request, when };
          await converged(world, credential);
          kills += 1;
          requests += world.requests;
        }
      }
      if (isFull) console.log(`OSMO ${release}, ${name}: ${kills} kills, ${requests} requests, 0 failures`);
      expect(kills).toBe(2 * chosen.length);
      expect(whole.writes.length).toBeGreaterThan(2);
    },
    timeout,
  );
});
