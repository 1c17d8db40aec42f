// What the lab's stories have in common: a page, acts with headings, and an end that insists on how each act went.
import type { CliIo } from "../cli/cli-io.ts";
import { blank, paragraph, styled, typeset, type Paragraph } from "../cli/typeset.ts";

/** Something did not end as the story has it. The message says what. */
export class NotAsTold extends Error {}

export function insist(isSo: boolean, otherwise: string): asserts isSo {
  if (!isSo) throw new NotAsTold(otherwise);
}

export interface Page {
  /** Columns, 100 at the most. */
  readonly width: number;
  readonly say: (paragraphs: readonly Paragraph[]) => void;
}

export function createPage({ stdout, env }: Pick<CliIo, "stdout" | "env">): Page {
  const width = Math.min(stdout.columns ?? 80, 100);
  const page = { width, colour: stdout.isTTY === true && (env.NO_COLOR ?? "") === "" };
  return {
    width,
    say(paragraphs) {
      stdout.write(typeset(paragraphs, page));
    },
  };
}

export interface Act<Stage> {
  readonly title: string;
  readonly words: string;
  /** Throws `NotAsTold` where something does not end as told. */
  readonly play: (stage: Stage) => Promise<void>;
}

/** Plays the acts. False where one did not end as told, which is said. */
export async function tell<Stage>(page: Page, stage: Stage, acts: readonly Act<Stage>[]): Promise<boolean> {
  try {
    for (const [index, { title, words, play }] of acts.entries()) {
      const line = `── ${index + 1}. ${title} `.padEnd(78, "─");
      page.say([blank, blank, paragraph(0, [styled("strong", line)]), blank, paragraph(0, [words])]);
      await play(stage);
    }
    return true;
  } catch (error) {
    if (!(error instanceof NotAsTold)) throw error;
    page.say([blank, paragraph(0, [styled("bad", `The demo did not end as told: ${error.message}.`)])]);
    return false;
  }
}
