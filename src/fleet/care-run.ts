// One care of a cluster that is held: whether it may be looked at, the connection, and which pass.
import { boundedApi } from "./bounded-api.ts";
import { careSeconds, endOfRun, type Blind, type Care, type CareResult } from "./care-of-cluster.ts";
import { reportNotAssessed, reportOff, reportUnchanged } from "./care-report.ts";
import type { NotAssessed } from "./cluster-access.ts";
import { fullPass } from "./full-pass.ts";
import { isWorthTryingSoon, notAssessable, notAssessedFor } from "./not-assessed.ts";
import { release } from "./repair-budget.ts";
import { noticeChange, sentinelFor } from "./sentinel.ts";

/** Never fails for a reason of the cluster's: what could not be looked at is a report. Throws StoreError. */
export async function careOnce(care: Care): Promise<CareResult> {
  if (care.mode.mode === "off") return stop(care, { report: reportOff(care), memory: { version: 1 } });
  const reason = care.unknown ?? notAssessable(care.cluster);
  if (reason !== undefined) return unseen(care, reason);
  const first = await withCluster(care);
  if (!("blind" in first)) return first;
  if (first.blind.cause !== "tls" || first.blind.kind === "timeout")
    return unseen(care, notAssessedFor(first.blind, care.cluster));
  // The CA that was learnt may be old: the cluster's certificates were rotated, or it was made anew under its name.
  await care.parts.access.forget(care.cluster.id);
  const second = await withCluster(care);
  return "blind" in second ? unseen(care, notAssessedFor(second.blind, care.cluster)) : second;
}

async function withCluster(care: Care): Promise<CareResult | Blind> {
  const { access, now } = care.parts;
  const opened = await access.open(care.cluster);
  if (!opened.ok) return unseen(care, opened.error);
  try {
    const api = boundedApi(opened.value.api, new Date(now().getTime() + careSeconds * 1000), now);
    const full = sentinelFor(care);
    if (full === undefined || care.previous === undefined) return await fullPass(care, api);
    const change = await noticeChange(api, full);
    if (change === undefined) {
      return { report: reportUnchanged(care, care.previous, api.requestCount()), memory: care.memory };
    }
    const note = `A full pass, because ${change}.`;
    return await fullPass({ ...care, run: { ...care.run, notes: [...care.run.notes, note] } }, api);
  } finally {
    opened.value.close();
  }
}

/** A cluster that could not be looked at. A run that holds a reservation comes again while that may help. */
async function unseen(care: Care, why: NotAssessed): Promise<CareResult> {
  const { run, parts, memory } = care;
  const isOver = parts.now() >= endOfRun(run);
  const seconds = why.retryAfterSeconds ?? (run.reserved ? 10 : undefined);
  if (why.passing && !isOver && seconds !== undefined) {
    const report = reportNotAssessed(care, why, waiting(care));
    return { report, next: { seconds: Math.ceil(seconds * (1 + parts.random() / 4)) }, memory: { ...memory, run } };
  }
  const report = reportNotAssessed(care, why, run.hasWritten ? lost(care) : undefined);
  return stop(care, { report, memory: { ...memory, run: undefined }, again: isWorthTryingSoon(why) });
}

/** Ends a run: what it has reserved is given back, and a repair that cannot be proven any more has failed. */
async function stop(care: Care, result: CareResult): Promise<CareResult> {
  if (care.run.reserved) await release(care, care.run.hasWritten ? "failed" : "unused");
  return result;
}

function waiting({ run }: Care) {
  if (!run.hasWritten) return undefined;
  const why = "The cluster cannot be looked at now; it goes on by itself.";
  return { outcome: "waiting", why, planned: run.planned, done: run.done } as const;
}

function lost({ run }: Care) {
  const why = "The cluster could not be looked at any more.";
  return { outcome: "not-proven", why, planned: run.planned, done: run.done } as const;
}
