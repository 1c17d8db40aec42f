// A full pass over one cluster: look, plan, at most one step of a repair, and the proof. Each way to its end gives the
// budget back; each wait keeps it.
import { changedOnly, withSnapshot, withStep } from "../admission/bundle-histories.ts";
import { askCapability } from "../admission/capability.ts";
import type { ClusterApi } from "../admission/cluster-api.ts";
import { defaultLeaseSeconds, releaseLease } from "../admission/lease.ts";
import { mend, type MendOptions } from "../admission/mend.ts";
import type { DoneBecause, MendOutcome, Observation } from "../admission/mend-outcome.ts";
import { accessDenied, accessNeededByPlan } from "../admission/mend-rights.ts";
import { identifyInstallations } from "../admission/owner.ts";
import { probe } from "../admission/probe.ts";
import { probeFindings } from "../admission/probe-findings.ts";
import { isProven } from "../admission/probe-standing.ts";
import { repairEvent } from "../admission/repair-event.ts";
import type { Step } from "../admission/repair-plan.ts";
import { mostSevereFirst } from "../admission/severity-order.ts";
import { endOfRun, mayRepair, whyOnlyPlanned, type Blind, type Care, type CareResult } from "./care-of-cluster.ts";
import { reportLook } from "./care-report.ts";
import type { ReportedRepair } from "./cluster-report.ts";
import type { BudgetRefusal } from "./budget-row.ts";
import { keepReservation, release, reserve } from "./repair-budget.ts";
import { packHistories, unpackHistories, type RunSoFar } from "./run-memory.ts";
import { rememberFullPass } from "./remember-full-pass.ts";

type Pass = Promise<CareResult | Blind>;

/** Goes on with the run, or begins it. Writes only where the care may, and only with a reservation of the budget. */
export async function fullPass(care: Care, api: ClusterApi): Pass {
  if (care.parts.now() >= endOfRun(care.run)) return endInTime(care, api);
  if (mayRepair(care)) {
    if (care.run.reserved) return goOnRepairing(care, api);
    if (care.run.isPutOff) {
      const answer = await reserve(care);
      return answer.reserved
        ? repairOnce({ ...care, run: { ...care.run, reserved: true } }, api)
        : putOff(care, answer);
    }
  }
  const seen = await look(care, api);
  if (seen.outcome === "blind") return { blind: seen.failure };
  const planned = withPlan(care, seen);
  if (!mayRepair(care)) return finish(planned, api, seen, plannedOnly(care, seen));
  switch (seen.plan.next.do) {
    case "nothing":
      return finish(planned, api, seen);
    case "wait":
      return goOn(planned, api, seen, seen.plan.next);
    case "step":
      return begin(planned, api, seen);
  }
}

const optionsFor = ({ parts, run }: Care): MendOptions => ({
  now: parts.now,
  probeNamespace: parts.policy.probeNamespace,
  allowOutage: false,
  holder: `functions/${run.run}`,
  // A continuation may come late: the queue is polled, and an instance may have to start first.
  leaseSeconds: 120,
});

const look = (care: Care, api: ClusterApi): Promise<MendOutcome> => mend(api, { ...optionsFor(care), planOnly: true });

/** What was planned first is what is told: later looks plan what is left. */
function withPlan(care: Care, { plan }: Observation): Care {
  if (care.run.planned.length > 0) return care;
  return { ...care, run: { ...care.run, planned: plan.steps.map(({ summary, undo }) => ({ summary, undo })) } };
}

function plannedOnly(care: Care, { plan }: Observation): Ending | undefined {
  return plan.steps.length === 0 ? undefined : { outcome: "planned", why: whyOnlyPlanned(care) };
}

/** Before the first write: the rights, which cost nothing, then the budget. */
async function begin(care: Care, api: ClusterApi, seen: Observation): Pass {
  const missing = await accessDenied(api, accessNeededByPlan(seen.plan));
  if (missing.length > 0) {
    return finish(care, api, seen, { outcome: "rights-missing", why: "A right is missing that the plan needs." });
  }
  const answer = await reserve(care);
  if (answer.reserved) return repairOnce({ ...care, run: { ...care.run, reserved: true } }, api);
  const seconds = secondsToWait(care, answer);
  if (seconds === undefined) return finish(care, api, seen, { outcome: "no-budget", why: answer.why });
  const report = reportLook(care, {
    scan: scanOf(seen),
    plan: seen.plan,
    requests: api.requestCount(),
    repair: reported(care, { outcome: "no-budget", why: answer.why }),
  });
  return { report, next: { seconds }, memory: { ...care.memory, run: { ...care.run, isPutOff: true } } };
}

/** The budget is still not free: nothing is looked at again, and what was reported stays. */
function putOff(care: Care, answer: BudgetRefusal): CareResult {
  const seconds = secondsToWait(care, answer);
  if (seconds !== undefined) return { next: { seconds }, memory: { ...care.memory, run: care.run } };
  return { memory: { ...care.memory, run: undefined } };
}

/** While all that may run are running, who waits asks less and less often: 15 s, 30 s, 60 s, two minutes. */
const mostDoublings = 3;

/** Spread, so that those who wait do not come all at once. Undefined where the run would be over by then. */
function secondsToWait({ parts, run, message }: Care, refusal: BudgetRefusal): number | undefined {
  const doublings = refusal.reason === "concurrent" ? Math.min(message.attempt, mostDoublings) : 0;
  const seconds = Math.ceil(refusal.retryAfterSeconds * 2 ** doublings * (1 + parts.random() / 2));
  return parts.now().getTime() + seconds * 1000 < endOfRun(run).getTime() ? seconds : undefined;
}

async function goOnRepairing(care: Care, api: ClusterApi): Pass {
  const answer = await keepReservation(care);
  if (answer.reserved) return repairOnce(care, api);
  return putOff({ ...care, run: { ...care.run, reserved: false, isPutOff: true } }, answer);
}

/** One call of mend: it looks, and does the step that is due. The reservation is held. */
async function repairOnce(care: Care, api: ClusterApi): Pass {
  const outcome = await mend(api, optionsFor(care));
  if (outcome.outcome === "blind") return { blind: outcome.failure };
  const noted = { ...care, run: withOutcome(care, outcome) };
  if (outcome.outcome === "done") return finish(noted, api, outcome, endingOf(outcome.because, outcome.why));
  const told = outcome.did === undefined ? noted : await tellCluster(noted, api, { step: outcome.did, seen: outcome });
  return goOn(told, api, outcome, outcome);
}

/** What the run remembers of one call of mend. */
function withOutcome(care: Care, outcome: Exclude<MendOutcome, { readonly outcome: "blind" }>): RunSoFar {
  const { run } = withPlan(care, outcome);
  const at = care.parts.now();
  const seen = withSnapshot(unpackHistories(run.histories), outcome.snapshot);
  const next = { ...run, isPutOff: false, notes: distinct([...run.notes, ...outcome.notes]) };
  if (outcome.outcome === "done") return { ...next, histories: packHistories(seen) };
  const { did, tried } = outcome;
  const step = did ?? tried?.step;
  const result = tried === undefined ? "written" : tried.failure.message;
  const done =
    step === undefined
      ? []
      : [{ at: at.toISOString(), summary: step.summary, object: objectOf(step), outcome: result }];
  return {
    ...next,
    done: [...run.done, ...done],
    hasWritten: run.hasWritten || step !== undefined,
    histories: packHistories(did === undefined ? seen : withStep(seen, did, at)),
  };
}

const distinct = (texts: readonly string[]): string[] => [...new Set(texts)];

/** The object's path, as findings name it. */
function objectOf({ action }: Step): string {
  const path =
    action.kind === "set-bundle"
      ? action.holderPath
      : action.kind === "restart-deployment"
        ? action.deploymentPath
        : action.secretPath;
  return path.replace(/^\/apis?\/(?:[^/]+\.k8s\.io\/|apps\/)?v1\/(?:namespaces\/)?/, "");
}

/** An Event for who looks with kubectl. Failing is no reason to do anything but say so once. */
async function tellCluster(
  care: Care,
  api: ClusterApi,
  { step, seen }: { readonly step: Step; readonly seen: Observation },
): Promise<Care> {
  const { path, body } = repairEvent(step, seen.snapshot, { at: care.parts.now(), instance: care.parts.instance });
  const answer = await api.create(path, body);
  if (answer.ok) return care;
  const why = answer.error.kind === "forbidden" ? "that is not allowed" : answer.error.message;
  const note = `No Kubernetes Event tells of the repair in the cluster: ${why}.`;
  return { ...care, run: { ...care.run, notes: distinct([...care.run.notes, note]) } };
}

/** The run waits. `seconds` may be 0: the next look is a message of its own, so that each invocation is short. */
function goOn(
  care: Care,
  api: ClusterApi,
  seen: Observation,
  { seconds, why }: { readonly seconds: number; readonly why: string },
): CareResult {
  const { run, memory } = care;
  const report = reportLook(care, {
    scan: scanOf(seen),
    plan: seen.plan,
    requests: api.requestCount(),
    isRepairing: run.hasWritten,
    repair: reported(care, { outcome: "waiting", why: sentence(why) }),
  });
  return { report, next: { seconds }, memory: { ...memory, run } };
}

/** The run has not come to its end in time: it is ended, with a last look and the proof. */
async function endInTime(care: Care, api: ClusterApi): Pass {
  const seen = await look(care, api);
  if (seen.outcome === "blind") return { blind: seen.failure };
  const why = "The repair has not come to its end within 30 minutes.";
  const planned = withPlan(care, seen);
  return finish(planned, api, seen, mayRepair(care) ? { outcome: "timeout", why } : plannedOnly(care, seen));
}

interface Ending {
  /** `ended`: nothing is left to do, and the proof decides. */
  readonly outcome: ReportedRepair["outcome"] | "ended";
  readonly why: string;
}

function endingOf(because: DoneBecause, why: string): Ending {
  switch (because.kind) {
    case "nothing-left":
      return { outcome: "ended", why };
    case "only-planned":
      return { outcome: "planned", why: sentence(why) };
    case "rights-missing":
    case "refused":
    case "fight":
      return { outcome: because.kind, why: sentence(why) };
  }
}

/** The end of a run: proof, rights, the budget given back, and the report. */
async function finish(care: Care, api: ClusterApi, seen: Observation, ending?: Ending): Promise<CareResult> {
  const { parts, run } = care;
  const { policy } = parts;
  const changedBundles = changedOnly(unpackHistories(run.histories));
  const proof =
    seen.snapshot.hooks.length === 0
      ? undefined
      : await probe(api, seen.snapshot, {
          now: parts.now,
          namespace: policy.probeNamespace,
          changedBundles,
          sleep: parts.sleep,
        });
  const found = proof === undefined ? [] : probeFindings(proof, seen.snapshot);
  const scan = {
    ...scanOf(seen),
    findings: mostSevereFirst([...seen.findings, ...found]),
    ...(proof !== undefined && { probe: proof }),
  };
  const rights = await askCapability(api, seen.snapshot, {
    capability: care.mode.mode === "repair" ? "repair" : "prove",
    probeNamespace: policy.probeNamespace,
  });
  const isGood =
    !scan.findings.some(({ severity }) => severity === "broken") && (proof === undefined || isProven(proof));
  const repair = repairOf(care, ending, isGood);
  const notes = run.reserved ? await giveBack(care, api, seen, repair) : [];
  return {
    report: reportLook(care, {
      scan,
      plan: seen.plan,
      requests: api.requestCount(),
      rights,
      notes,
      ...(repair && { repair }),
    }),
    memory: { ...care.memory, run: undefined, full: rememberFullPass(care, scan) },
  };
}

function repairOf(care: Care, ending: Ending | undefined, isGood: boolean): ReportedRepair | undefined {
  if (ending === undefined) return undefined;
  if (ending.outcome !== "ended") return reported(care, { ...ending, outcome: ending.outcome });
  if (!care.run.hasWritten) return undefined;
  return isGood
    ? reported(care, { outcome: "proven", why: "Every hook is accepted again." })
    : reported(care, { outcome: "not-proven", why: "What could be done is done, and not every hook is accepted." });
}

/** The budget, and the Lease where mend was stopped before it gave it back itself. */
async function giveBack(
  care: Care,
  api: ClusterApi,
  { snapshot }: Observation,
  repair: ReportedRepair | undefined,
): Promise<readonly string[]> {
  const { holder, now, leaseSeconds = defaultLeaseSeconds } = optionsFor(care);
  const namespaces = [...new Set(snapshot.backends.map(({ namespace }) => namespace))];
  const notes = await Promise.all(
    namespaces.map((namespace) => releaseLease(api, { namespace, holder, now, durationSeconds: leaseSeconds })),
  );
  await release(care, repair?.outcome === "proven" ? "proven" : care.run.hasWritten ? "failed" : "unused");
  return notes.filter((note) => note !== undefined);
}

function reported(
  { run }: Care,
  { outcome, why }: { outcome: ReportedRepair["outcome"]; why: string },
): ReportedRepair {
  return { outcome, why, planned: run.planned, done: run.done };
}

const scanOf = ({ snapshot, findings }: Observation) => ({
  snapshot,
  findings,
  installations: identifyInstallations(snapshot),
});

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${text.endsWith(".") ? "" : "."}`;
}
