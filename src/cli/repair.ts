// `fleetmend repair`: shows the plan, asks, has mend do it step by step, gives the Lease back, and proves the result.
import { defaultLeaseSeconds, releaseLease } from "../admission/lease.ts";
import { type MendOptions, mend } from "../admission/mend.ts";
import type { AccessNeeded, Observation } from "../admission/mend-outcome.ts";
import { accessDenied, accessNeededByPlan } from "../admission/mend-rights.ts";
import { type Result, failure, success } from "../result.ts";
import { type CommandFailure, apiFailure, wrongUse } from "./command-failure.ts";
import { type ExitCode, exitCode, exitCodeFor } from "./exit-code.ts";
import { repairDocument } from "./repair-document.ts";
import { proveHooks } from "./look.ts";
import { type LoopEnd, mendUntilDone } from "./mend-loop.ts";
import { exitCodeAfterRepair } from "./probe-screen.ts";
import { type RepairEnd, describeEnd, reportRepair } from "./repair-end.ts";
import { reportPlan } from "./repair-screen.ts";
import { type Session, beforeDeadline, sameFlags } from "./session.ts";
import { paragraph, styled } from "./typeset.ts";

export interface RepairChoices {
  readonly yes: boolean;
  readonly dryRun: boolean;
  readonly allowOutage: boolean;
}

/**
 * Repairs what can be repaired, and answers the exit code by what remains: 0 everything is accepted and proven, 1
 * findings, 2 not known. Wrong use where nobody can be asked and --yes was not given. After Ctrl-C or --timeout the call
 * in flight is finished, the Lease given back, and what was done is said.
 */
export async function repair(session: Session, choices: RepairChoices): Promise<Result<ExitCode, CommandFailure>> {
  const options = mendOptions(session, choices);
  const planned = await beforeDeadline(session, planOnly(session, options));
  if (!planned.ok) return planned;
  const { seen, missing } = planned.value;
  const end = (rest: Partial<RepairEnd> & Pick<RepairEnd, "outcome">): Result<ExitCode, CommandFailure> =>
    show(session, { planned: seen.plan, seen, done: [], notes: [], missing, ...rest });
  if (choices.dryRun || seen.plan.next.do === "nothing") return end({ outcome: "planned" });
  if (missing.length > 0) return end({ outcome: "stopped" });
  session.terminal.tell(reportPlan(seen.plan));
  if (!choices.yes) {
    if (!session.terminal.canAsk) return failure(cannotAsk(session));
    if (!(await session.terminal.ask("Proceed? [y/N]"))) return end({ outcome: "declined" });
  }
  return end(await carryOut(session, options, seen));
}

function cannotAsk(session: Session): CommandFailure {
  return wrongUse(
    "Nobody can be asked whether to proceed: this is no terminal.",
    `To go ahead with the plan above type: ${sameFlags(session, "repair --yes")}`,
  );
}

function mendOptions({ io, options }: Session, { allowOutage }: RepairChoices): MendOptions {
  const { namespace, probeNamespace } = options.cluster;
  return {
    now: io.now,
    probeNamespace,
    allowOutage,
    holder: io.identity,
    ...(namespace === undefined ? {} : { namespace }),
  };
}

interface Planned {
  readonly seen: Observation;
  /** Rights that the plan needs and that we do not have: better said before the question than after it. */
  readonly missing: readonly AccessNeeded[];
}

async function planOnly(session: Session, options: MendOptions): Promise<Result<Planned, CommandFailure>> {
  const outcome = await mend(session.cluster, { ...options, planOnly: true });
  if (outcome.outcome === "blind") return failure(apiFailure(outcome.failure, session.context));
  const missing = await accessDenied(session.cluster, accessNeededByPlan(outcome.plan));
  return success({ seen: outcome, missing });
}

async function carryOut(
  session: Session,
  options: MendOptions,
  first: Observation,
): Promise<Partial<RepairEnd> & Pick<RepairEnd, "outcome">> {
  const { io, terminal } = session;
  const interruption = new AbortController();
  const stopListening = io.onInterrupt(() => {
    terminal.tell([paragraph(0, [styled("warning", interruptedText)])]);
    stopListening();
    interruption.abort();
  });
  try {
    const loop = await mendUntilDone(session, options, interruption.signal);
    const seen = loop.last.outcome === "blind" ? first : loop.last;
    const notes = [...loop.notes, ...(await giveBack(session, options, seen))];
    const proof = loop.ended === "done" ? { probe: await proveHooks(session, seen.snapshot, loop.changedBundles) } : {};
    return { outcome: outcomeOf(loop), last: loop.last, seen, done: loop.done, notes, ...proof };
  } finally {
    stopListening();
  }
}

const interruptedText =
  "Stopping after the request in flight. Ctrl-C again ends at once, which is safe: the next repair goes on from what it finds.";

function outcomeOf({ ended, last }: LoopEnd): RepairEnd["outcome"] {
  if (ended !== "done") return ended;
  return last.outcome === "done" && last.because.kind === "nothing-left" ? "nothing-left" : "stopped";
}

/** mend gives the Lease back when it is done; where it was stopped, or stopped us, we do. Not ours: left alone. */
async function giveBack(session: Session, options: MendOptions, { snapshot }: Observation): Promise<readonly string[]> {
  const namespaces = [...new Set(snapshot.backends.map(({ namespace }) => namespace))];
  const { holder, now } = options;
  const notes = await Promise.all(
    namespaces.map((namespace) =>
      releaseLease(session.cluster, { namespace, holder, now, durationSeconds: defaultLeaseSeconds }),
    ),
  );
  return notes.filter((note) => note !== undefined);
}

function show(session: Session, end: RepairEnd): Result<ExitCode, CommandFailure> {
  const { terminal, options } = session;
  const code = codeOf(end);
  if (options.output === "json") {
    const { context, cluster } = session;
    terminal.showJson(
      repairDocument(end, { context, apiServer: cluster.server, exitCode: code, because: describeEnd(end) }),
    );
  } else terminal.show(reportRepair(end, { code, sameFlags: (words) => sameFlags(session, words) }));
  return success(code);
}

function codeOf({ outcome, seen, probe }: RepairEnd): ExitCode {
  if (outcome === "blind") return exitCode.couldNotLook;
  // A repair that was broken off has left something to do, however well admission works meanwhile.
  if (outcome === "timeout" || outcome === "interrupted") return exitCode.findings;
  const codes = [exitCodeFor(seen.findings), ...(probe === undefined ? [] : [exitCodeAfterRepair(probe)])];
  return (
    ([exitCode.findings, exitCode.couldNotLook] as const).find((code) => codes.includes(code)) ?? exitCode.nothingWrong
  );
}
