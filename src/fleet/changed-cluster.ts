// A cluster has changed, says Event Grid: what was learnt of it is old, and it is looked at in a minute.
import type { ClusterAccess } from "./cluster-access.ts";
import { readClusterEvents, type ClusterChange } from "./cluster-event.ts";
import { announceCare, type QuietParts } from "./quiet-minute.ts";

export interface ChangedParts extends QuietParts {
  readonly access: Pick<ClusterAccess, "forget">;
  /** The subscription that we look after: events of others are not ours. */
  readonly subscription: string;
  /** Names the run of a message that is sent. */
  readonly newRun: () => string;
  /** One line for people; never anything of the raw event but its type and operation. */
  readonly log: (line: string) => void;
}

/**
 * Takes what Event Grid delivered. Throws StoreError where it could not be passed on: delivered again, it does no harm. What
 * is not about one of our clusters is dropped with a line in the log, and never fails: it would be delivered for a day.
 */
export async function changedCluster(parts: ChangedParts, delivered: unknown): Promise<void> {
  const changed = new Map<string, ClusterChange>();
  for (const event of readClusterEvents(delivered, parts.subscription)) {
    if (event.kind === "ignored") parts.log(`Event ignored: ${event.why}.`);
    else changed.set(event.cluster, event.change);
  }
  for (const [cluster, change] of changed) {
    await parts.access.forget(cluster);
    const answer = await announceCare(parts, cluster, parts.newRun());
    const then = answer === "sent" ? "it is looked at in a minute" : "a look is on its way already";
    parts.log(`Event: ${cluster} (${change}); ${then}.`);
  }
}
