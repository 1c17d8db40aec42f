// Whether the verdict says what the oracle says.
import type { GoRelease, Verdict } from "../../src/trust/verdict.ts";
import { verifyServed } from "../../src/trust/verify.ts";
import type { Question } from "./case-recipe.ts";
import type { Oracle, OracleAnswer } from "./oracle.ts";

export interface Compared {
  readonly isSame: boolean;
  readonly ours: string;
  readonly go: string;
}

export interface Release {
  readonly go: GoRelease;
  readonly patch: number;
}

/** `go1.26.8` as `verifyServed` takes it. */
export function releaseOf(version: string): Release {
  const match = /^go(1\.(?:19|2[0-6]))(?:\.(\d+))?$/.exec(version);
  if (match === null) throw new Error(`the verdict knows no rules for ${version}`);
  return { go: match[1] as GoRelease, patch: Number(match[2] ?? 0) };
}

/** Text for text. A verdict that throws is a difference like any other. */
export async function compare(question: Question, oracle: Oracle): Promise<Compared> {
  const answered = oracle.ask(question);
  const ours = judge(question, releaseOf(oracle.version));
  const go = await answered;
  return { isSame: isSame(question, ours, go), ours: textOf(ours), go: go.text };
}

function judge(question: Question, release: Release): Verdict | Error {
  try {
    return verifyServed({ ...question, ...release });
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

function isSame(question: Question, ours: Verdict | Error, go: OracleAnswer): boolean {
  if (ours instanceof Error) return false;
  switch (ours.outcome) {
    case "trusted":
      return go.text === "OK";
    case "broken":
      return go.text === ours.goText && go.stage === ours.stage;
    case "undetermined":
      // Only where the system's roots decide, which nobody told us. The oracle has none.
      return question.caBundle.length === 0 && ours.possible?.includes(go.text) === true;
  }
}

function textOf(ours: Verdict | Error): string {
  if (ours instanceof Error) return `throws ${ours.stack ?? ours.message}`;
  if (ours.outcome === "undetermined")
    return `undetermined: ${ours.reason} (${ours.possible?.join(" | ") ?? "anything"})`;
  return ours.outcome === "trusted" ? "OK" : ours.goText;
}
