// One run's part of the fleet's budget, and what is told of it.
import { releaseReservation, renewReservation, reserveRepair, type ReserveAnswer } from "./budget.ts";
import type { RepairOutcome } from "./budget-row.ts";
import type { Care } from "./care-of-cluster.ts";

/** Longer than a redelivery takes (ten minutes' lease of the message), so that a run that is alive keeps it. */
const reservedSeconds = 1800;

/** Reserves, or lengthens what the run has reserved before. Throws StoreError. */
export async function reserve(care: Care): Promise<ReserveAnswer> {
  const { parts, cluster, run } = care;
  const answer = await reserveRepair(parts, { cluster: cluster.id, run: run.run, seconds: reservedSeconds });
  if (!answer.reserved) {
    parts.telemetry.event("budget", { ...who(care), outcome: "refused", kind: answer.reason, why: answer.why });
  } else if (!run.reserved) {
    const why = `Reserved until ${answer.until.toISOString()}.`;
    parts.telemetry.event("budget", { ...who(care), outcome: "granted", why });
  }
  return answer;
}

/**
 * Lengthens what the run has reserved. Where it was lost, or the run itself is only known from the budget, it is reserved
 * anew, and counts as begun now. Throws StoreError.
 */
export async function keepReservation(care: Care): Promise<ReserveAnswer> {
  const { parts, cluster, run, memory } = care;
  if (memory.run?.run !== run.run) return reserve(care);
  const renewed = await renewReservation(parts, { cluster: cluster.id, run: run.run, seconds: reservedSeconds });
  return renewed === "lost" ? reserve(care) : { reserved: true, until: renewed.until };
}

/** Gives it back; what another run of this cluster has left there, too. Nothing reserved: nothing happens. */
export async function release(care: Care, outcome: RepairOutcome, run: string = care.run.run): Promise<void> {
  const { parts, cluster } = care;
  const { budget, tripped } = await releaseReservation(parts, { cluster: cluster.id, run, outcome });
  parts.telemetry.event("budget", { ...who(care), outcome: "released", kind: outcome, why: words[outcome] });
  if (!tripped) return;
  const { until } = budget.breaker;
  const why = `The breaker is open until ${until ?? "later"}: ${budget.breaker.why ?? ""}.`;
  parts.telemetry.event("budget", {
    ...who(care),
    outcome: "breaker-opened",
    ...(until !== undefined && { until }),
    why,
  });
  parts.log(why);
}

const words: Readonly<Record<RepairOutcome, string>> = {
  proven: "The repair is proven.",
  failed: "Something was written, and the repair could not be proven.",
  unused: "Nothing was written.",
};

const who = ({ cluster, run }: Care) =>
  ({ cluster: cluster.name, resourceGroup: cluster.resourceGroup, run: run.run }) as const;
