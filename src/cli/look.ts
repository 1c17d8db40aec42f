// Looking at one cluster through admission's eyes, for every command that does. Writes nothing.
import { collect } from "../admission/collect.ts";
import type { BundleHistory } from "../admission/fresh-connection.ts";
import { probe } from "../admission/probe.ts";
import type { ProbeReport } from "../admission/probe-report.ts";
import type { ClusterSnapshot } from "../admission/snapshot.ts";
import { type Result, failure } from "../result.ts";
import { type CommandFailure, apiFailure } from "./command-failure.ts";
import type { Session } from "./session.ts";

/** The snapshot; a failure where the cluster cannot be looked at at all. */
export async function takeSnapshot(session: Session): Promise<Result<ClusterSnapshot, CommandFailure>> {
  const { cluster, io, options, context } = session;
  const { namespace, probeNamespace } = options.cluster;
  const collected = await collect(cluster, {
    now: io.now,
    probeNamespace,
    ...(namespace !== undefined && { namespace }),
  });
  return collected.ok ? collected : failure(apiFailure(collected.error, context));
}

/** The probe of all hooks of this snapshot, in --probe-namespace. `changed`: what this run wrote before. */
export async function proveHooks(
  { cluster, io, options, deadline }: Session,
  snapshot: ClusterSnapshot,
  changed: readonly BundleHistory[] = [],
): Promise<ProbeReport> {
  const { probeNamespace, probeImage } = options.cluster;
  return probe(cluster, snapshot, {
    now: io.now,
    namespace: probeNamespace,
    changedBundles: changed,
    sleep: (milliseconds) => io.sleep(milliseconds, deadline),
    ...(probeImage !== undefined && { image: probeImage }),
  });
}
