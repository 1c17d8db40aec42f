// `fleetmend scan`: what is wrong with pod admission, on one screen. Writes nothing to the cluster.
import { headlineOf } from "../admission/judgement.ts";
import { type Result, success } from "../result.ts";
import type { CommandFailure } from "./command-failure.ts";
import type { ExitCode } from "./exit-code.ts";
import { scanDocument } from "./scan-document.ts";
import { examine } from "./examine.ts";
import { exitCodeFor } from "./exit-code.ts";
import { reportScan } from "./scan-screen.ts";
import { type Session, beforeDeadline, sameFlags } from "./session.ts";

/** Looks, shows, and answers 0, 1 or 2; a failure where the cluster could not be looked at at all, or not in time. */
export async function scan(session: Session, prove: boolean): Promise<Result<ExitCode, CommandFailure>> {
  const looked = await beforeDeadline(session, examine(session, prove));
  if (!looked.ok) return looked;
  const { context, terminal, options } = session;
  const code = exitCodeFor(looked.value.findings);
  if (options.output === "json") {
    const { text } = headlineOf(looked.value);
    terminal.showJson(scanDocument("scan", looked.value, { context, exitCode: code, headline: text }));
  } else {
    terminal.show(reportScan(looked.value, { context, sameFlags: (command) => sameFlags(session, command) }));
  }
  return success(code);
}
