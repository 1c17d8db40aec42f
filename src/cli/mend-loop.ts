// Calls mend until it is done: it does one step at a time and says how long to wait, and a person watches. Ends between
// two calls, never within one, so that what was begun is always finished.
import type { BundleHistory } from "../admission/fresh-connection.ts";
import { mend, type MendOptions } from "../admission/mend.ts";
import type { MendOutcome } from "../admission/mend-outcome.ts";
import type { Step } from "../admission/repair-plan.ts";
import { changedOnly, withSnapshot, withStep } from "../admission/bundle-histories.ts";
import { reportMoment, reportNotes } from "./repair-screen.ts";
import type { Session } from "./session.ts";

export interface DoneStep {
  readonly at: Date;
  readonly step: Step;
}

export interface LoopEnd {
  readonly ended: "done" | "timeout" | "interrupted" | "blind";
  /** What the last call answered. */
  readonly last: MendOutcome;
  readonly done: readonly DoneStep[];
  readonly notes: readonly string[];
  /** The bundles that changed meanwhile. */
  readonly changedBundles: readonly BundleHistory[];
}

/** A cluster that could not be looked at this many times in a row is given up. */
const blindTries = 5;

/** Repairs until nothing is left to do, the deadline, or `interrupted`. Each step and each new reason to wait is told. */
export async function mendUntilDone(
  session: Session,
  options: MendOptions,
  interrupted: AbortSignal,
): Promise<LoopEnd> {
  const { cluster, io, deadline } = session;
  const stop = AbortSignal.any([deadline, interrupted]);
  const done: DoneStep[] = [];
  const notes: string[] = [];
  let bundles: readonly BundleHistory[] = [];
  const tell = teller(session);
  for (let blind = 0; ;) {
    const last = await mend(cluster, options);
    if (last.outcome !== "blind") {
      notes.push(...last.notes);
      bundles = withSnapshot(bundles, last.snapshot);
    }
    if (last.outcome === "wait" && last.did !== undefined) {
      const one = { at: io.now(), step: last.did };
      done.push(one);
      bundles = withStep(bundles, one.step, one.at);
    }
    tell(last);
    const end = (ended: LoopEnd["ended"]): LoopEnd => ({
      ended,
      last,
      done,
      notes,
      changedBundles: changedOnly(bundles),
    });
    if (last.outcome === "done") return end("done");
    blind = last.outcome === "blind" ? blind + 1 : 0;
    if (last.seconds === undefined || blind === blindTries) return end("blind");
    if (!stop.aborted) await io.sleep(last.seconds * 1000, stop);
    if (interrupted.aborted) return end("interrupted");
    if (deadline.aborted) return end("timeout");
  }
}

/** Tells each step, each write that failed, and a reason to wait only when it is another than before. */
function teller({ terminal, io }: Session): (outcome: MendOutcome) => void {
  let lastWhy = "";
  const toldNotes = new Set<string>();
  return (outcome) => {
    const fresh = outcome.outcome === "blind" ? [] : outcome.notes.filter((note) => !toldNotes.has(note));
    for (const note of fresh) toldNotes.add(note);
    const moments = momentsOf(outcome, lastWhy);
    lastWhy = outcome.why;
    terminal.tell([...reportNotes(fresh), ...moments.map((text) => reportMoment(io.now(), text))]);
  };
}

/** A step is followed by a look at what it did, which needs no word; any other wait has its reason, told once. */
function momentsOf(outcome: MendOutcome, lastWhy: string): readonly string[] {
  if (outcome.outcome === "wait" && outcome.did !== undefined) return [`✓ ${outcome.did.summary}`];
  const isTold = outcome.outcome === "done" || outcome.seconds === undefined || outcome.why === lastWhy;
  return isTold ? [] : [`waiting: ${outcome.why}`];
}
