// A snapshot of a cluster whose rights allow everything and where nothing but these hooks was found.
import type { ClusterSnapshot, Hook } from "../../src/admission/snapshot.ts";

export function snapshotOf(hooks: readonly Hook[], changes: Partial<ClusterSnapshot> = {}): ClusterSnapshot {
  return {
    at: new Date("2026-06-01T12:00:00Z"),
    apiServer: "https://cluster.example:443",
    server: { seen: true, value: { gitVersion: "v1.34.0", goVersion: "go1.24.6", go: "1.24" } },
    capability: { portForward: true, secrets: [], dryRunPods: true },
    hooks,
    otherHooks: [],
    backends: [],
    namespaces: ["kai-scheduler"],
    deployments: [],
    leftovers: [],
    unseen: [],
    requests: 0,
    ...changes,
  };
}
