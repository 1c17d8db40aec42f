import { describe, expect, it } from "vitest";
import { parseDeployment, parsePod } from "../../src/admission/parse-workload.ts";

const probed = { readinessProbe: { httpGet: { path: "/readyz", port: 8081 } } };

function keepsServing(replicas: number, strategy: object | undefined, containers: readonly object[]): unknown {
  const parsed = parseDeployment({
    metadata: { name: "admission", namespace: "kai-scheduler", uid: "1", generation: 1 },
    spec: { replicas, strategy, template: { spec: { containers } } },
  });
  return parsed.ok && parsed.value.state.keepsServing;
}

describe("a rollout of a Deployment", () => {
  it.each([
    { name: "the default strategy, one pod", replicas: 1, strategy: undefined, keeps: true },
    { name: "Recreate", replicas: 3, strategy: { type: "Recreate" }, keeps: false },
    {
      name: "one pod of which one may be missing",
      replicas: 1,
      strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 1 } },
      keeps: false,
    },
    {
      name: "two pods of which one may be missing",
      replicas: 2,
      strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 1 } },
      keeps: true,
    },
    {
      name: "three pods of which a quarter may be missing, rounded down",
      replicas: 3,
      strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: "25%", maxSurge: "25%" } },
      keeps: true,
    },
    {
      name: "one pod where none may be added, so that one must go first",
      replicas: 1,
      strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: "25%", maxSurge: 0 } },
      keeps: false,
    },
    {
      name: "a share that cannot be read",
      replicas: 2,
      strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: "some" } },
      keeps: false,
    },
  ])("keeps a pod serving: $keeps with $name", ({ replicas, strategy, keeps }) => {
    expect(keepsServing(replicas, strategy, [probed])).toBe(keeps);
  });

  it("does not keep a pod serving where a container is not probed for readiness", () => {
    expect(keepsServing(2, undefined, [probed, {}])).toBe(false);
  });
});

describe("a pod", () => {
  it.each([
    { phase: "Running", ended: false },
    { phase: "Pending", ended: false },
    { phase: "Failed", ended: true },
    { phase: "Succeeded", ended: true },
  ])("has ended: $ended, in phase $phase", ({ phase, ended }) => {
    const parsed = parsePod({ metadata: { name: "p", namespace: "n", uid: "1" }, spec: {}, status: { phase } });
    expect(parsed.ok && parsed.value.ended).toBe(ended);
  });
});
