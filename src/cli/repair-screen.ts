// What a repair shows: the plan before it, each thing as it happens, and what it came to. Pure.
import type { AccessNeeded, DoneBecause } from "../admission/mend-outcome.ts";
import type { Advice, Plan, Step } from "../admission/repair-plan.ts";
import { count, distinct } from "../admission/hook-words.ts";
import { type Paragraph, blank, command, paragraph, styled } from "./typeset.ts";

/** The steps, each with why and undo, and what is left to a person. */
export function reportPlan(plan: Plan): readonly Paragraph[] {
  return [...stepsOf(plan), ...reportAdvice(plan.advice)];
}

function stepsOf({ steps, next }: Plan): readonly Paragraph[] {
  if (steps.length > 0) {
    return [
      paragraph(0, [styled("strong", `The plan, ${count(steps.length, "step")}:`)]),
      ...steps.flatMap(reportStep),
      ...(steps.some(({ undo }) => undo !== shortened(undo)) ? [paragraph(0, [styled("faint", cutText)])] : []),
      ...(next.do === "wait" ? [paragraph(0, [`First it waits: ${next.why}.`])] : []),
      paragraph(0, [styled("faint", leaseOnly)]),
    ];
  }
  const text =
    next.do === "wait"
      ? `Nothing to write now. It waits: ${next.why}.`
      : "There is nothing that fleetmend repairs by itself.";
  return [paragraph(0, [styled("strong", text)])];
}

/** The budget is a row in the Functions app's table, which a person's kubeconfig does not lead to. */
export const leaseOnly =
  "This command keeps others out with the cluster's Lease only: it knows no budget of the fleet, and uses none of it up.";

const cutText = "'…' stands for the old bundle: --dry-run --output json has each undo command in full.";

/** A reason that is the same as that of the step before is not repeated. */
function reportStep({ summary, why, undo }: Step, index: number, steps: readonly Step[]): readonly Paragraph[] {
  const number = `${index + 1}. `;
  const indent = 2 + number.length;
  return [
    paragraph(2, [styled("strong", number), summary], indent),
    ...(why === steps[index - 1]?.why ? [] : [paragraph(indent, [styled("faint", "why   "), why], indent + 6)]),
    paragraph(indent, [styled("faint", "undo  "), shortened(undo)], indent + 6),
  ];
}

/** An undo command may hold the old bundle in base64, which is a page long and tells nobody anything. */
function shortened(text: string): string {
  return text.replaceAll(/'[^']*[A-Za-z0-9+/=]{100,}[^']*'/g, "'…'");
}

/** What fleetmend does not do by itself, with the commands. */
export function reportAdvice(advice: readonly Advice[]): readonly Paragraph[] {
  if (advice.length === 0) return [];
  return [
    blank,
    paragraph(0, [styled("strong", "For a person to do")]),
    ...advice.flatMap(({ object, sentence, commands }) => [
      paragraph(2, ["→ ", styled("strong", object), ": ", sentence], 4),
      ...commands.map((one) => command(6, one)),
    ]),
  ];
}

/** The rights that the plan needs and we do not have, and the manifest that grants exactly those. */
export function reportMissingRights(missing: readonly AccessNeeded[], manifest: string): readonly Paragraph[] {
  return [
    ...missing.map((access) => paragraph(2, ["- ", describeAccess(access)], 4)),
    blank,
    paragraph(0, ["Let an administrator apply this, and bind it to you:"]),
    ...manifest
      .trimEnd()
      .split("\n")
      .map((line) => command(2, line)),
  ];
}

function describeAccess({ verb, resource, group, name, namespace }: AccessNeeded): string {
  const object = `${resource}${group === "" ? "" : `.${group}`}${name === undefined ? "" : `/${name}`}`;
  return `${verb} ${object}${namespace === undefined ? "" : ` in ${namespace}`}`;
}

/** Why the loop ended, in a sentence for the last screen. */
export function describeDone(because: DoneBecause, why: string): string {
  switch (because.kind) {
    case "nothing-left":
      return "Nothing is left that fleetmend repairs by itself.";
    case "only-planned":
      return "Only planned; nothing was written.";
    case "rights-missing":
      return `Stopped: ${count(because.missing.length, "right is", "rights are")} missing, and nothing was tried.`;
    case "refused":
      return `Stopped: the API server refused this step: ${because.step.summary} ${because.failure.message}`;
    case "fight":
      return (
        `Stopped: ${because.with} took our value in ${because.object} back ${because.times} times. ` +
        `Find out why it does, then type the same again. ${why}`
      );
  }
}

/** A moment of the repair, on one line with its time. */
export function reportMoment(at: Date, text: string): Paragraph {
  const time = at.toISOString().slice(11, 19);
  return paragraph(0, [styled("faint", time), "  ", text], 10);
}

/** The steps that were done, for the end of a repair that did not get all the way. */
export function reportDone(done: readonly { readonly at: Date; readonly step: Step }[]): readonly Paragraph[] {
  if (done.length === 0) return [paragraph(0, ["Nothing was written."])];
  return [
    paragraph(0, [`Done so far, ${count(done.length, "step")}:`]),
    ...done.flatMap(({ at, step }) => [
      reportMoment(at, step.summary),
      paragraph(10, [styled("faint", "undo  "), shortened(step.undo)], 16),
    ]),
  ];
}

/** Notes of several calls, each once. */
export function reportNotes(notes: readonly string[]): readonly Paragraph[] {
  return distinct(notes).map((note) => paragraph(0, [styled("warning", "! "), note], 2));
}
