// What a report sends to Application Insights: one place, so that docs/telemetry.md has one counterpart.
import type { ClusterReport, ReportedFinding } from "./cluster-report.ts";
import type { FullPass } from "./run-memory.ts";
import type { Telemetry } from "./telemetry.ts";

const dayMs = 86_400_000;

/** `before`: what the full pass before found. The run has ended, or goes on (`repairing`). */
export function sendReport(telemetry: Telemetry, report: ClusterReport, before: FullPass["findings"]): void {
  const { name: cluster, resourceGroup, run, state, since, reason } = report;
  const who = { cluster, resourceGroup, run } as const;
  if (report.notAssessed !== undefined) {
    const { kind, message: why, todo, passing } = report.notAssessed;
    telemetry.event("notAssessed", { ...who, kind, since, why, todo, passing, reason });
    return;
  }
  if (report.pass === "none") return;
  telemetry.availability({
    name: `${resourceGroup}/${cluster}`,
    success: state !== "broken" && state !== "repairing",
    durationMs: Date.parse(report.endedAt) - Date.parse(report.startedAt),
    message: report.headline,
    properties: { ...who, state, since, mode: report.mode, reason },
  });
  if (report.pass === "full") sendFullPass(telemetry, report, before);
}

function sendFullPass(telemetry: Telemetry, report: ClusterReport, before: FullPass["findings"]): void {
  const { name: cluster, resourceGroup, run, state, reason, findings, repair, certificateEnds } = report;
  const who = { cluster, resourceGroup, run, state, reason } as const;
  for (const { kind, severity, object, fixableBy, sentence: why, todo } of findings) {
    const change = before.some((one) => isSame(one, { kind, object })) ? "still" : "new";
    telemetry.event("finding", { ...who, kind, severity, object, fixableBy, change, why, todo });
  }
  for (const { kind, severity, object } of before.filter((one) => !findings.some((now) => isSame(now, one)))) {
    telemetry.event("finding", { ...who, kind, severity, object, change: "gone" });
  }
  if (repair !== undefined && repair.outcome !== "waiting") {
    const { outcome, why, done } = repair;
    const object = done.at(-1)?.object;
    telemetry.event("repair", { ...who, outcome, why, steps: done.length, ...(object !== undefined && { object }) });
  }
  if (certificateEnds !== undefined) {
    const days = (Date.parse(certificateEnds) - Date.parse(report.endedAt)) / dayMs;
    telemetry.metric("daysToExpiry", Math.round(days * 100) / 100, { cluster, resourceGroup, run });
  }
}

type Named = Pick<ReportedFinding, "object"> & { readonly kind: string };

const isSame = (one: Named, other: Named): boolean => one.kind === other.kind && one.object === other.object;
