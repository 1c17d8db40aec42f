// How a repair ended, as data, and its last screen. Pure.
import type { AccessNeeded, MendOutcome, Observation } from "../admission/mend-outcome.ts";
import { manifestFor } from "../admission/mend-rights.ts";
import type { ProbeReport } from "../admission/probe-report.ts";
import type { Plan, Step } from "../admission/repair-plan.ts";
import { count } from "../admission/hook-words.ts";
import { type ExitCode, exitCode } from "./exit-code.ts";
import { reportProbe } from "./probe-screen.ts";
import {
  describeDone,
  reportAdvice,
  reportDone,
  reportMissingRights,
  reportNotes,
  reportPlan,
} from "./repair-screen.ts";
import { type Paragraph, blank, command, paragraph, styled } from "./typeset.ts";

export interface RepairEnd {
  readonly outcome:
    | "planned" // --dry-run, or nothing to write
    | "declined" // the answer to the question was no
    | "nothing-left" // all is done that fleetmend does by itself
    | "stopped" // by a missing right, a refused write, or a fight over a value
    | "timeout"
    | "interrupted"
    | "blind"; // the cluster could not be looked at any more
  /** The plan that was shown. */
  readonly planned: Plan;
  /** What was seen last. */
  readonly seen: Observation;
  /** What mend answered last; absent where it was not asked to write. */
  readonly last?: MendOutcome;
  readonly missing: readonly AccessNeeded[];
  readonly done: readonly { readonly at: Date; readonly step: Step }[];
  readonly notes: readonly string[];
  readonly probe?: ProbeReport;
}

export interface EndWords {
  readonly code: ExitCode;
  readonly sameFlags: (command: string) => string;
}

/** Why it ended, in one sentence. */
export function describeEnd({ outcome, last, missing, done }: RepairEnd): string {
  switch (outcome) {
    case "planned":
      return "Only planned; nothing was written.";
    case "declined":
      return "Nothing was written.";
    case "nothing-left":
      return done.length > 0 ? `Repaired in ${count(done.length, "step")}.` : "There was nothing to write.";
    case "stopped":
      if (last?.outcome === "done") return describeDone(last.because, last.why);
      return `Not allowed: ${count(missing.length, "right")} that the plan needs. Nothing was tried.`;
    case "timeout":
      return "The time given by --timeout is over; the repair has not come to its end.";
    case "interrupted":
      return "Interrupted; the repair has not come to its end.";
    case "blind":
      return `Stopped: ${last?.outcome === "blind" ? last.why : "the cluster could not be looked at"}.`;
  }
}

/** The last screen: what it came to, the proof, what is left, and what to type. */
export function reportRepair(end: RepairEnd, words: EndWords): readonly Paragraph[] {
  switch (end.outcome) {
    case "planned":
      return [...reportPlan(end.planned), ...deniedHeadline(end), ...rightsOf(end), ...nextAfterPlan(end, words)];
    case "declined":
      return [paragraph(0, [describeEnd(end)])];
    case "timeout":
    case "interrupted":
    case "blind":
      return [headline(end), ...reportDone(end.done), ...reportNotes(end.notes), ...goOn(words)];
    case "stopped":
    case "nothing-left":
      return [
        headline(end),
        ...reportNotes(end.notes),
        ...rightsOf(end),
        ...(end.probe === undefined ? [] : [blank, ...reportProbe(end.probe, end.seen.snapshot)]),
        ...reportAdvice(end.seen.plan.advice),
        ...whatIsLeft(words),
      ];
  }
}

function headline(end: RepairEnd): Paragraph {
  return paragraph(0, [styled(end.outcome === "nothing-left" ? "good" : "bad", describeEnd(end))]);
}

/** A plan that was only shown says what would be in its way. */
function deniedHeadline({ missing }: RepairEnd): readonly Paragraph[] {
  if (missing.length === 0) return [];
  return [blank, paragraph(0, [styled("bad", `Not allowed: ${count(missing.length, "right")} that the plan needs.`)])];
}

function rightsOf({ missing, last }: RepairEnd): readonly Paragraph[] {
  const lost = last?.outcome === "done" && last.because.kind === "rights-missing" ? last.because.missing : missing;
  return lost.length === 0 ? [] : reportMissingRights(lost, manifestFor(lost));
}

function nextAfterPlan({ planned, missing }: RepairEnd, { sameFlags }: EndWords): readonly Paragraph[] {
  if (planned.steps.length === 0 || missing.length > 0) return [];
  return [blank, paragraph(0, ["Nothing was written. To do it, type:"]), command(2, sameFlags("repair"))];
}

function goOn({ sameFlags }: EndWords): readonly Paragraph[] {
  return [
    blank,
    paragraph(0, ["Admission is no worse than before: every step leaves it so. To go on from here, type:"]),
    command(2, sameFlags("repair")),
  ];
}

function whatIsLeft({ code, sameFlags }: EndWords): readonly Paragraph[] {
  if (code === exitCode.nothingWrong) return [];
  return [blank, paragraph(0, ["Something is left. To see it, type:"]), command(2, sameFlags("scan"))];
}
