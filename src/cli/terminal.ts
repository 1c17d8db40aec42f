// How a command speaks: the result to stdout, everything else to stderr, colours only where somebody sees them.
import { createInterface } from "node:readline";
import type { CliIo, OutputStream } from "./cli-io.ts";
import type { OutputOptions } from "./invocation.ts";
import { type Page, type Paragraph, printable, typeset } from "./typeset.ts";

export interface Terminal {
  /** The result, for people. */
  readonly show: (paragraphs: readonly Paragraph[]) => void;
  /** The result, for programs: one JSON document. */
  readonly showJson: (document: unknown) => void;
  /** What is being done, on stderr. */
  readonly tell: (paragraphs: readonly Paragraph[]) => void;
  /** Whether a question would reach a person. */
  readonly canAsk: boolean;
  /** Whether the answer is yes. Anything but `y` and `yes`, the end of the input included, is no. */
  readonly ask: (question: string) => Promise<boolean>;
}

/** The terminal of this invocation. NO_COLOR counts where it is set and not empty (no-color.org). */
export function openTerminal(io: CliIo, options: OutputOptions): Terminal {
  const pageOf = (stream: OutputStream): Page => ({
    width: widthOf(stream),
    colour: options.colour && stream.isTTY === true && (io.env.NO_COLOR ?? "") === "" && io.env.TERM !== "dumb",
  });
  return {
    show: (paragraphs) => io.stdout.write(typeset(paragraphs, pageOf(io.stdout))),
    showJson: (document) => io.stdout.write(`${JSON.stringify(document, null, 2)}\n`),
    tell: (paragraphs) => io.stderr.write(typeset(paragraphs, pageOf(io.stderr))),
    canAsk: io.stdin.isTTY === true,
    ask: (question) => ask(io, question),
  };
}

/** Prose is hard to read in lines over 100 columns, and impossible below 40. */
function widthOf(stream: OutputStream): number {
  return Math.min(Math.max(stream.columns ?? 80, 40), 100);
}

async function ask(io: CliIo, question: string): Promise<boolean> {
  io.stderr.write(`\n${printable(question)} `);
  const lines = createInterface({ input: io.stdin });
  const answer = await new Promise<string>((resolve) => {
    lines.once("line", resolve);
    lines.once("close", () => {
      resolve("");
    });
  });
  lines.close();
  return /^y(es)?$/i.test(answer.trim());
}
