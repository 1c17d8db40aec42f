// The fault matrix: each request of a rotation fails once, in every way that its server knows, and each time the rotation
// still ends well. And two rotators at once, with and without the Lease between them.
import { describe, expect, it } from "vitest";
import type { ApiFailure } from "../../src/admission/cluster-api.ts";
import type { OsmoRequest, TransportFailure } from "../../src/osmo/osmo-transport.ts";
import { rotateToken } from "../../src/osmo/rotate-token.ts";
import type { TokenCredential } from "../../src/osmo/token-credential.ts";
import type { VaultFailure } from "../../src/osmo/vault-api.ts";
import type { Fault } from "./lab-osmo.ts";
import type { VaultCall } from "./memory-vault.ts";
import { admin, backend, RotationWorld } from "./rotation-world.ts";

const t0 = "operatorTokenT0operatorTokenT0operatorTok00";
const a0 = "apiTokenA0apiTokenA0apiTokenA0apiTokenA0ap0";
const start = (): Promise<RotationWorld> => RotationWorld.start("6.2", { apiToken: a0, operatorToken: t0 });

const refusal = (message: string, code: string): Fault["answer"] => ({
  status: 400,
  body: JSON.stringify({ message, error_code: code, workflow_id: null }),
});
const lost = (kind: TransportFailure["kind"]): Fault["answer"] => ({ kind, message: kind });
const osmoFaults: readonly Fault[] = [
  ...[400, 401, 403, 404, 405, 409, 422, 429, 500, 503].map((status) => ({
    when: "before" as const,
    answer: { status, body: "" },
  })),
  { when: "before", answer: refusal("Error: connection pool is closed", "DATABASE") },
  { when: "after", answer: refusal("Token name x already exists.", "USER") },
  { when: "after", answer: { status: 500, body: "Internal Server Error" } },
  { when: "after", answer: lost("timeout") },
  { when: "before", answer: lost("unreachable") },
  { when: "after", answer: lost("unreachable") },
];
const vaultFaults: readonly (readonly ["before" | "after", VaultFailure["kind"]])[] = [
  ["before", "forbidden"],
  ["before", "not-found"],
  ["before", "soft-deleted"],
  ["before", "throttled"],
  ["before", "server-error"],
  ["after", "server-error"],
  ["after", "timeout"],
  ["before", "unreachable"],
  ["after", "unreachable"],
];
const clusterFaults: readonly (readonly ["before" | "after", ApiFailure["kind"]])[] = [
  ["before", "unauthorized"],
  ["before", "forbidden"],
  ["before", "conflict"],
  ["before", "invalid"],
  ["before", "throttled"],
  ["before", "server-error"],
  ["after", "timeout"],
  ["before", "unreachable"],
];

/** Until done, a stop (for a person) taken as tomorrow's timer, and the day after for orphans. */
async function converged(world: RotationWorld, credential: TokenCredential): Promise<void> {
  for (let day = 0; (await world.run(credential)).answer !== "done"; day += 1) {
    if (day > 3) throw new Error(`no end: ${world.told.at(-2) ?? ""}`);
    world.pass(24 * 3600);
  }
  world.pass(25 * 3600);
  expect(await world.run(credential)).toMatchObject({ answer: "done" });
  expect(world.orphans(credential)).toEqual([]);
  expect(world.isGood(world.vault.enabledValues(credential.vaultSecret)[0] ?? "", credential.role)).toBe(true);
  expect(world.failures).toEqual([]);
  expect(world.canaries()).toEqual([]);
}

/** The numbers of the requests that are let fail: `npm test` takes the writes, FLEETMEND_CRASH=full all of them. */
function chosen<T>(requests: readonly T[], isWrite: (request: T) => boolean): number[] {
  return requests.flatMap((request, index) => (isFull || isWrite(request) ? [index + 1] : []));
}

const isFull = process.env.FLEETMEND_CRASH === "full";
const timeout = isFull ? 900_000 : 30_000;
const nothing = (): undefined => undefined;

describe.each([admin, backend])("a rotation of the $id token", (credential) => {
  it(
    "outlasts every failure of OSMO",
    async () => {
      const whole = await start();
      await whole.run(credential);
      const isWrite = ({ method, path }: OsmoRequest): boolean =>
        method !== "GET" && !path.endsWith("/jwt/access_token");
      const numbers = chosen(whole.osmo.requests, isWrite);
      for (const request of numbers) {
        for (const fault of osmoFaults) {
          const world = await start();
          world.osmo.fault = (_, number) => (number === request ? fault : undefined);
          await converged(world, credential);
        }
      }
      expect(numbers.length).toBeGreaterThanOrEqual(2);
    },
    timeout,
  );

  it(
    "outlasts every failure of Key Vault",
    async () => {
      const whole = await start();
      const calls: VaultCall[] = [];
      failOnce(whole, { number: 0, note: (call) => calls.push(call) });
      await whole.run(credential);
      const numbers = chosen(calls, (call) => call !== "look" && call !== "value");
      for (const number of numbers) {
        for (const [when, kind] of vaultFaults) {
          const world = await start();
          failOnce(world, { number, fault: { when, kind }, note: nothing });
          await converged(world, credential);
        }
      }
      expect(numbers.length).toBeGreaterThanOrEqual(2);
    },
    timeout,
  );

  it(
    "outlasts every failure of the cluster",
    async () => {
      const whole = await start();
      await whole.run(credential);
      const numbers = chosen(whole.cluster.requests, ({ verb }) => verb === "patch");
      for (const number of numbers) {
        for (const [when, kind] of clusterFaults) {
          const world = await start();
          const around = world.cluster.around;
          world.cluster.around = (act, verb) => {
            if (world.cluster.requests.length !== number) return around(act, verb);
            around(when === "after" ? act : nothing, verb);
            return { kind, message: kind };
          };
          await converged(world, credential);
        }
      }
      expect(numbers.length).toBeGreaterThanOrEqual(credential === backend || isFull ? 3 : 0);
    },
    timeout,
  );

  it.each([true, false])("is safe with two rotators at once (Lease: %s)", async (hasLease) => {
    const world = await start();
    if (!hasLease) {
      const refused: ApiFailure = { kind: "forbidden", message: "leases are not allowed" };
      world.cluster.intercept = ({ path }) => (path.includes("/leases") ? refused : undefined);
    }
    for (let round = 0; round < 40; round += 1) {
      const parts = await Promise.all([world.parts("one/1"), world.parts("two/2")]);
      const answers = await Promise.all(parts.map((each) => rotateToken(each, credential)));
      if (answers.every(({ answer }) => answer === "done")) break;
      world.pass(Math.max(...answers.map((answer) => (answer.answer === "wait" ? answer.seconds : 1))));
    }
    await converged(world, credential);
    expect(world.vault.enabledValues(credential.vaultSecret)).toHaveLength(1);
  });
});

interface VaultFault {
  readonly number: number;
  readonly fault?: { readonly when: "before" | "after"; readonly kind: VaultFailure["kind"] };
  readonly note: (call: VaultCall) => unknown;
}

/** Lets the numbered call to Key Vault fail. */
function failOnce(world: RotationWorld, { number, fault, note }: VaultFault): void {
  const around = world.vault.around;
  let calls = 0;
  world.vault.around = (act, call) => {
    calls += 1;
    note(call);
    if (calls !== number || fault === undefined) return around(act, call);
    around(fault.when === "after" ? act : nothing, call);
    return { kind: fault.kind, message: fault.kind };
  };
}
