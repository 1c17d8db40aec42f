// The report of one care: sentences are made here, once, so that whoever reads the row needs no fleetmend.
import type { CapabilityAnswer } from "../admission/capability.ts";
import { explainFinding } from "../admission/explain.ts";
import type { Finding } from "../admission/finding.ts";
import { hookInWords } from "../admission/finding-words.ts";
import { type Scan, headlineOf } from "../admission/judgement.ts";
import { manifestFor } from "../admission/mend-rights.ts";
import type { AccessNeeded } from "../admission/mend-outcome.ts";
import type { ProbeReport } from "../admission/probe-report.ts";
import type { Plan } from "../admission/repair-plan.ts";
import { earliestServedEnd } from "../admission/served-end.ts";
import type { Care } from "./care-of-cluster.ts";
import type { NotAssessed } from "./cluster-access.ts";
import type { ClusterReport, ClusterState, ReportedFinding, ReportedHook, ReportedRepair } from "./cluster-report.ts";

type Parts = Pick<ClusterReport, "pass" | "state" | "headline" | "requests"> & Partial<ClusterReport>;

/** Everything that follows from the care itself. */
function reportOf(care: Care, parts: Parts): ClusterReport {
  const { cluster, run, message, mode, previous } = care;
  const endedAt = care.parts.now().toISOString();
  return {
    version: 1,
    cluster: cluster.id,
    name: cluster.name,
    resourceGroup: cluster.resourceGroup,
    location: cluster.location,
    run: run.run,
    reason: run.reason,
    ...(run.caller !== undefined && { caller: run.caller }),
    ...(message.slot !== undefined && { slot: message.slot }),
    startedAt: run.startedAt,
    endedAt,
    mode: mode.mode,
    since: previous?.state === parts.state ? previous.since : endedAt,
    findings: [],
    hooks: [],
    advice: [],
    ...(cluster.kubernetesVersion !== undefined && { kubernetesVersion: cluster.kubernetesVersion }),
    ...parts,
    notes: distinct([...(mode.note === undefined ? [] : [mode.note]), ...run.notes, ...(parts.notes ?? [])]),
  };
}

const distinct = (texts: readonly string[]): readonly string[] => [...new Set(texts)];

export function reportOff(care: Care): ClusterReport {
  return reportOf(care, {
    pass: "none",
    state: "off",
    headline: "fleetmend is switched off for this cluster.",
    requests: 0,
  });
}

export function reportNotAssessed(care: Care, why: NotAssessed, repair?: ReportedRepair): ClusterReport {
  return reportOf(care, {
    pass: "none",
    state: "not-assessed",
    headline: `Not assessed: ${why.message}`,
    notAssessed: why,
    requests: 0,
    ...(repair !== undefined && { repair }),
  });
}

/** A sentinel pass that saw what the last full pass had seen: its report, by the time of this one. */
export function reportUnchanged(care: Care, previous: ClusterReport, requests: number): ClusterReport {
  const { findings, hooks, advice, capability, missingRights, apiServer, kubernetesVersion, certificateEnds } =
    previous;
  return reportOf(care, {
    pass: "sentinel",
    state: previous.state,
    headline: previous.headline,
    findings,
    hooks,
    advice,
    requests,
    ...(capability !== undefined && { capability }),
    ...(missingRights !== undefined && { missingRights }),
    ...(apiServer !== undefined && { apiServer }),
    ...(kubernetesVersion !== undefined && { kubernetesVersion }),
    ...(certificateEnds !== undefined && { certificateEnds }),
  });
}

export interface Looked {
  readonly scan: Scan;
  readonly plan: Plan;
  readonly requests: number;
  readonly rights?: CapabilityAnswer;
  readonly repair?: ReportedRepair;
  /** A repair of ours is under way: more steps follow by themselves. */
  readonly isRepairing?: boolean;
  readonly notes?: readonly string[];
}

/** The report of a full look. */
export function reportLook(care: Care, looked: Looked): ClusterReport {
  const { scan, plan, requests, rights, repair, notes = [] } = looked;
  const { snapshot, findings, probe } = scan;
  const ends = earliestServedEnd(snapshot);
  const version = snapshot.server.seen ? snapshot.server.value.gitVersion : undefined;
  return reportOf(care, {
    pass: "full",
    state: looked.isRepairing === true ? "repairing" : stateOf(scan),
    headline: looked.isRepairing === true ? repairingHeadline(repair) : headlineOf(scan).text,
    findings: findings.map(reportedFinding),
    hooks: reportedHooks(probe),
    advice: plan.advice.flatMap(({ sentence, commands }) => [sentence, ...commands]),
    notes,
    requests,
    apiServer: snapshot.apiServer,
    ...(version !== undefined && { kubernetesVersion: version }),
    ...(ends !== undefined && { certificateEnds: ends.toISOString() }),
    ...(rights !== undefined && { capability: rights.capability, ...missingRights(rights.missing) }),
    ...(repair !== undefined && { repair }),
  });
}

/** What was found decides; a cluster that could not be seen whole is not healthy. */
export function stateOf({ snapshot, findings }: Scan): ClusterState {
  const severities = new Set(findings.map(({ severity }) => severity));
  if (severities.has("broken")) return "broken";
  if (severities.has("warning") || severities.has("undetermined")) return "attention";
  if (snapshot.unseen.length > 0) return "attention";
  return snapshot.hooks.length === 0 ? "nothing-to-watch" : "healthy";
}

function repairingHeadline(repair: ReportedRepair | undefined): string {
  const steps = repair?.done.length ?? 0;
  const done = steps === 0 ? "no step yet" : steps === 1 ? "1 step done" : `${steps} steps done`;
  return `Being repaired, ${done}; it goes on by itself.`;
}

function reportedFinding(finding: Finding): ReportedFinding {
  const { kind, severity, object, fixableBy } = finding;
  return { kind, severity, object, fixableBy, ...explainFinding(finding) };
}

function reportedHooks(probe: ProbeReport | undefined): readonly ReportedHook[] {
  return (probe?.hooks ?? []).map((one) => ({
    hook: hookInWords(one.hook),
    result: one.result,
    ...("goText" in one && { goText: one.goText }),
  }));
}

function missingRights(missing: readonly AccessNeeded[]): Pick<ClusterReport, "missingRights"> {
  if (missing.length === 0) return {};
  const rights = missing.map(
    ({ verb, resource, name, namespace }) =>
      `${verb} ${resource}${name === undefined ? "" : ` ${name}`}${namespace === undefined ? "" : ` in ${namespace}`}`,
  );
  return { missingRights: { rights, manifest: manifestFor(missing) } };
}
