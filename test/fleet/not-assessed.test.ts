// Why a cluster was not looked at: every cause, what it is called, and whether it is tried again.
import { describe, expect, it } from "vitest";
import type { ApiFailure } from "../../src/admission/cluster-api.ts";
import { isWorthTryingSoon, notAssessable, notAssessedByArm, notAssessedFor } from "../../src/fleet/not-assessed.ts";
import type { DirectoryFailure, ManagedCluster } from "../../src/fleet/managed-cluster.ts";
import { managedCluster, startWorld } from "./fleet-world.ts";

const failed = (kind: ApiFailure["kind"], cause?: ApiFailure["cause"]): ApiFailure => ({
  kind,
  message: "said so",
  ...(cause !== undefined && { cause }),
});

describe("what ARM tells of a cluster", () => {
  it.each<[Partial<ManagedCluster>, string | undefined, boolean]>([
    [{}, undefined, false],
    [{ provisioningState: "Updating" }, undefined, false],
    [{ provisioningState: "Failed" }, undefined, false],
    [{ provisioningState: "Creating" }, "creating", false],
    [{ provisioningState: "Deleting" }, "deleting", false],
    [{ provisioningState: "Starting" }, "stopped", false],
    [{ provisioningState: "Stopping" }, "stopped", false],
    [{ powerState: "Stopped" }, "stopped", false],
  ])("%o is %s, tried again soon: %s", (told, kind, soon) => {
    const why = notAssessable(managedCluster("a", told));
    expect(why?.kind).toBe(kind);
    expect(why !== undefined && isWorthTryingSoon(why)).toBe(soon);
  });
});

describe("how the first request failed", () => {
  it.each<[ApiFailure, Partial<ManagedCluster>, string, boolean]>([
    [failed("unreachable", "dns"), {}, "no-dns", false],
    [failed("unreachable", "connect"), {}, "no-route", false],
    [failed("timeout", "connect"), {}, "no-route", false],
    [failed("timeout", "connect"), { authorizedIpRanges: true }, "authorized-ip-ranges", false],
    [failed("unreachable", "tls"), {}, "tls-failed", false],
    [failed("timeout", "tls"), {}, "no-route", false],
    [failed("unauthorized"), {}, "unauthorized", false],
    [failed("forbidden"), {}, "forbidden", false],
    [failed("throttled"), {}, "throttled", true],
    [failed("server-error"), {}, "unavailable", true],
    [failed("timeout"), {}, "unavailable", true],
    [failed("unreachable"), {}, "unavailable", true],
    [failed("conflict"), {}, "unavailable", true],
    [failed("not-found"), {}, "unavailable", false],
    [failed("invalid"), {}, "unavailable", false],
  ])("%o of %o is %s, tried again soon: %s", (failure, cluster, kind, soon) => {
    const why = notAssessedFor(failure, managedCluster("a", cluster));
    expect(why).toMatchObject({ kind, message: expect.stringContaining("said so") as string });
    expect(why.todo).not.toBe("");
    expect(isWorthTryingSoon(why)).toBe(soon);
  });
});

describe("how ARM failed", () => {
  it.each<[DirectoryFailure["kind"], string, boolean]>([
    ["not-found", "removed", false],
    ["forbidden", "forbidden", false],
    ["throttled", "throttled", true],
    ["credentials", "unavailable", true],
    ["unavailable", "unavailable", true],
  ])("%s is %s, tried again soon: %s", (kind, expected, soon) => {
    const why = notAssessedByArm({ kind, message: "said so", todo: "Do this." });
    expect(why).toMatchObject({ kind: expected, message: "said so", todo: "Do this." });
    expect(isWorthTryingSoon(why)).toBe(soon);
  });
});

describe("a cluster that is not assessed", () => {
  it("is reported with its cause and costs one delivery where it is being created", async () => {
    await using world = await startWorld({ clusters: [{ name: "a", lab: false, provisioningState: "Creating" }] });
    await world.tick();
    expect(await world.report("a")).toMatchObject({ state: "not-assessed", notAssessed: { kind: "creating" } });
    expect(world.queue.sent).toHaveLength(1);
    expect(world.sent.filter(({ item }) => item === "notAssessed")).toHaveLength(1);
  });

  it("is looked at again soon where the cause passes, and reported in the end", async () => {
    await using world = await startWorld({ clusters: [{ name: "a", lab: false }] });
    const why = { kind: "unavailable", message: "said so", todo: "Nothing.", passing: true } as const;
    world.closed.set("a", why);
    await world.tick();
    expect(await world.report("a")).toMatchObject({ state: "not-assessed", notAssessed: { kind: "unavailable" } });
    expect(world.sent.filter(({ item }) => item === "notAssessed").length).toBeGreaterThan(1);
  });
});
