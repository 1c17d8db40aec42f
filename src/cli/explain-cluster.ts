// `fleetmend explain` on a cluster: the findings of a scan at length, with every verdict and every refused candidate.
import { headlineOf } from "../admission/judgement.ts";
import { type Result, success } from "../result.ts";
import type { CommandFailure } from "./command-failure.ts";
import type { ExitCode } from "./exit-code.ts";
import { judgeHooks, reportExplanation } from "./explain-screen.ts";
import { scanDocument } from "./scan-document.ts";
import { examine } from "./examine.ts";
import { exitCodeFor } from "./exit-code.ts";
import { type Session, beforeDeadline, sameFlags } from "./session.ts";

/** Looks, shows all of it, and answers as `scan` does. No dry-run pod is asked for. */
export async function explainCluster(session: Session): Promise<Result<ExitCode, CommandFailure>> {
  const looked = await beforeDeadline(session, examine(session, false));
  if (!looked.ok) return looked;
  const { context, terminal, options } = session;
  const scan = looked.value;
  const verdicts = judgeHooks(scan.snapshot);
  const code = exitCodeFor(scan.findings);
  if (options.output === "json") {
    const { text } = headlineOf(scan);
    terminal.showJson(scanDocument("explain", scan, { context, exitCode: code, headline: text }, verdicts));
  } else {
    terminal.show(reportExplanation(scan, verdicts, { context, sameFlags: (words) => sameFlags(session, words) }));
  }
  return success(code);
}
