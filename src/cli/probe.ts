// `fleetmend probe`: what can be proven of each hook right now. Nothing is left in the cluster: the pod is a dry run.
import { type Result, success } from "../result.ts";
import type { ProbeReport } from "../admission/probe-report.ts";
import type { ClusterSnapshot } from "../admission/snapshot.ts";
import type { CommandFailure } from "./command-failure.ts";
import { type ExitCode, exitCode } from "./exit-code.ts";
import { probeDocument } from "./json-document.ts";
import { proveHooks, takeSnapshot } from "./look.ts";
import { exitCodeOfProbe, reportProbe } from "./probe-screen.ts";
import { type Session, beforeDeadline } from "./session.ts";

/** Proves, shows, and answers 0, 1 or 2. A cluster without hooks has nothing to prove, and that is no proof: 2. */
export async function probeHooks(session: Session): Promise<Result<ExitCode, CommandFailure>> {
  const proven = await beforeDeadline(session, prove(session));
  if (!proven.ok) return proven;
  const { snapshot, report } = proven.value;
  const { context, terminal, options } = session;
  const code = report.hooks.length === 0 ? exitCode.couldNotLook : exitCodeOfProbe(report);
  if (options.output === "json") terminal.showJson(probeDocument(report, { context, exitCode: code }));
  else terminal.show(reportProbe(report, snapshot));
  return success(code);
}

async function prove(
  session: Session,
): Promise<Result<{ readonly snapshot: ClusterSnapshot; readonly report: ProbeReport }, CommandFailure>> {
  const taken = await takeSnapshot(session);
  if (!taken.ok) return taken;
  return success({ snapshot: taken.value, report: await proveHooks(session, taken.value) });
}
