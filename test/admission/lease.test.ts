import { describe, expect, it } from "vitest";
import { type LeaseOptions, acquireLease, releaseLease, renewOwnLease } from "../../src/admission/lease.ts";
import { MemoryApi } from "./memory-api.ts";

const path = "/apis/coordination.k8s.io/v1/namespaces/kai-scheduler/leases/fleetmend";
const start = new Date("2026-12-01T03:00:00Z");

function world() {
  const clock = { at: start };
  const memory = new MemoryApi(() => clock.at);
  const options = (holder: string): LeaseOptions => ({
    namespace: "kai-scheduler",
    holder,
    durationSeconds: 30,
    now: () => clock.at,
  });
  const later = (seconds: number): void => {
    clock.at = new Date(clock.at.getTime() + seconds * 1000);
  };
  const spec = (): unknown => memory.objects.get(path)?.spec;
  return { memory, api: memory.api(), options, later, spec };
}

describe("the Lease", () => {
  it("is made where there is none, in the namespace of the Service, with MicroTime of six digits", async () => {
    const { api, options, spec } = world();
    expect(await acquireLease(api, options("ann"))).toMatchObject({ lease: "held" });
    expect(spec()).toEqual({
      holderIdentity: "ann",
      leaseDurationSeconds: 30,
      acquireTime: "2026-12-01T03:00:00.000000Z",
      renewTime: "2026-12-01T03:00:00.000000Z",
      leaseTransitions: 0,
    });
  });

  it("is renewed by its holder, who keeps the time of acquiring", async () => {
    const { api, options, later, spec } = world();
    await acquireLease(api, options("ann"));
    later(10);
    expect(await acquireLease(api, options("ann"))).toMatchObject({ lease: "held" });
    expect(spec()).toMatchObject({
      acquireTime: "2026-12-01T03:00:00.000000Z",
      renewTime: "2026-12-01T03:00:10.000000Z",
      leaseTransitions: 0,
    });
  });

  it("keeps another out until it expires, and says who holds it since when", async () => {
    const { api, options, later } = world();
    await acquireLease(api, options("ann"));
    later(12);
    expect(await acquireLease(api, options("bob"))).toEqual({
      lease: "elsewhere",
      seconds: 18,
      why: "the Lease kai-scheduler/fleetmend is held by ann since 2026-12-01T03:00:00Z",
    });
  });

  it("is taken over once it has expired, which counts as a transition", async () => {
    const { api, options, later, spec } = world();
    await acquireLease(api, options("ann"));
    later(30);
    expect(await acquireLease(api, options("bob"))).toMatchObject({ lease: "held" });
    expect(spec()).toMatchObject({ holderIdentity: "bob", leaseTransitions: 1 });
  });

  it("is not waited for where its renewal lies further ahead than it lasts: that is a wrong clock", async () => {
    const { memory, api, options } = world();
    const renewTime = "2026-12-01T03:00:31.000000Z";
    memory.put(path, { spec: { holderIdentity: "ann", leaseDurationSeconds: 30, renewTime } }, "ann");
    expect(await acquireLease(api, options("bob"))).toMatchObject({ lease: "held" });
  });

  it("is waited for where the other clock is only a little ahead", async () => {
    const { memory, api, options } = world();
    const renewTime = "2026-12-01T03:00:05.000000Z";
    memory.put(path, { spec: { holderIdentity: "ann", leaseDurationSeconds: 30, renewTime } }, "ann");
    expect(await acquireLease(api, options("bob"))).toMatchObject({ lease: "elsewhere", seconds: 35 });
  });

  it("is free for others at once when it was given back", async () => {
    const { api, options, spec } = world();
    await acquireLease(api, options("ann"));
    expect(await releaseLease(api, options("ann"))).toBeUndefined();
    expect(spec()).toMatchObject({ holderIdentity: "", leaseDurationSeconds: 1 });
    expect(await acquireLease(api, options("bob"))).toMatchObject({ lease: "held" });
  });

  it("is neither given back nor renewed by one who does not hold it", async () => {
    const { memory, api, options, later } = world();
    await acquireLease(api, options("ann"));
    const before = memory.objects.get(path);
    later(5);
    await releaseLease(api, options("bob"));
    await renewOwnLease(api, options("bob"));
    expect(memory.objects.get(path)).toBe(before);
  });

  it("is not made only to be given back or renewed", async () => {
    const { memory, api, options } = world();
    await releaseLease(api, options("ann"));
    await renewOwnLease(api, options("ann"));
    expect(memory.requests.map(({ verb }) => verb)).toEqual(["get", "get"]);
  });

  it("goes to one of two who take it at once", async () => {
    const { memory, api, options } = world();
    memory.intercept = ({ verb }) => {
      if (verb === "create") memory.put(path, { spec: { holderIdentity: "bob" } }, "bob");
      return undefined;
    };
    expect(await acquireLease(api, options("ann"))).toEqual({
      lease: "again",
      seconds: 1,
      why: "the Lease kai-scheduler/fleetmend was taken by somebody else meanwhile",
    });
  });

  it.each(["forbidden", "server-error", "timeout", "unreachable", "invalid", "not-found"] as const)(
    "never stops a repair: %s on its write means going on without it, and saying so",
    async (kind) => {
      const { memory, api, options } = world();
      memory.intercept = ({ verb }) => (verb === "create" ? { kind, message: "no" } : undefined);
      expect(await acquireLease(api, options("ann"))).toEqual({
        lease: "without",
        note: "Repairing without the Lease kai-scheduler/fleetmend, which cannot be written (no). Each write carries its own precondition.",
      });
    },
  );

  it("is tried again where the API server asks for patience", async () => {
    const { memory, api, options } = world();
    memory.intercept = () => ({ kind: "throttled", message: "slow down", retryAfterSeconds: 7 });
    expect(await acquireLease(api, options("ann"))).toMatchObject({ lease: "again", seconds: 7 });
  });

  it("keeps what others have written beside the spec", async () => {
    const { memory, api, options } = world();
    memory.put(path, { metadata: { annotations: { team: "gpu" } }, spec: {} }, "kubectl");
    await acquireLease(api, options("ann"));
    expect(memory.objects.get(path)?.metadata).toMatchObject({ annotations: { team: "gpu" } });
  });
});
