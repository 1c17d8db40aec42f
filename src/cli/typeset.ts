// Text for a terminal: paragraphs are data, and are wrapped, cleaned and coloured in this one place. Nothing here knows
// what the text is about.

export type Style = "strong" | "faint" | "good" | "bad" | "warning";

export interface Span {
  readonly text: string;
  readonly style: Style;
}

/** A piece of a line: plain text, or text with a style. */
export type Piece = string | Span;

export interface Paragraph {
  readonly pieces: readonly Piece[];
  /** Columns before the first line. */
  readonly indent: number;
  /** Columns before the following lines. */
  readonly hang: number;
  /** `command`: one line whatever its length, so that it can be copied. */
  readonly wrap: "words" | "command";
}

export interface Page {
  /** Columns of the terminal. */
  readonly width: number;
  readonly colour: boolean;
}

export function styled(style: Style, text: string): Span {
  return { text, style };
}

/** Text that is wrapped between words. `hang` is the indent of the second and later lines; the same as the first's if left out. */
export function paragraph(indent: number, pieces: readonly Piece[], hang = indent): Paragraph {
  return { pieces, indent, hang, wrap: "words" };
}

/** A command to copy: never broken into lines. What it does stands behind it, or below where there is no room. */
export function command(indent: number, text: string, does?: string): Paragraph {
  const aside = does === undefined ? [] : [styled("faint", does)];
  return { pieces: [text, ...aside], indent, hang: indent + 4, wrap: "command" };
}

export const blank: Paragraph = { pieces: [], indent: 0, hang: 0, wrap: "words" };

/** The text of the paragraphs, each ended by a newline. A word wider than the page stays whole on a line of its own. */
export function typeset(paragraphs: readonly Paragraph[], page: Page): string {
  return paragraphs.map((one) => `${layOut(one, page).trimEnd()}\n`).join("");
}

/**
 * Control characters made visible. Names and error texts come from certificates and clusters, and a terminal would obey
 * an escape sequence in them.
 */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu, (character) =>
    character === "\n" || character === "\t" ? " " : `\\u${hexOf(character)}`,
  );
}

function hexOf(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16).padStart(4, "0");
}

function layOut(one: Paragraph, page: Page): string {
  const pieces = one.pieces.map(asSpan);
  const indent = " ".repeat(one.indent);
  if (one.wrap === "command") return layOutCommand(one, pieces, page);
  return wrapWords(wordsOf(pieces), { ...one, width: page.width })
    .map((line, number) => (number === 0 ? indent : " ".repeat(one.hang)) + paintLine(line, page.colour))
    .join("\n");
}

function layOutCommand({ indent, hang }: Paragraph, [text, does]: readonly AnySpan[], page: Page): string {
  if (text === undefined) return "";
  const line = " ".repeat(indent) + paint(text, page.colour);
  if (does === undefined) return line;
  const aside = paint({ ...does, text: `# ${does.text}` }, page.colour);
  const isRoom = indent + columnsOf(text) + 4 + columnsOf(does) <= page.width;
  return isRoom ? `${line}  ${aside}` : `${line}\n${" ".repeat(hang)}${aside}`;
}

interface Word {
  /** What stands before the word on the same line. */
  readonly gap: string;
  readonly parts: readonly AnySpan[];
}

interface AnySpan {
  readonly text: string;
  readonly style?: Style;
}

function asSpan(piece: Piece): AnySpan {
  return typeof piece === "string" ? { text: printable(piece) } : { ...piece, text: printable(piece.text) };
}

/** Words may consist of several spans (`kai-binder` in bold, then a comma): only a space divides. */
function wordsOf(pieces: readonly AnySpan[]): Word[] {
  const words: { gap: string; parts: AnySpan[] }[] = [{ gap: "", parts: [] }];
  for (const piece of pieces) {
    for (const token of piece.text.match(/ +|[^ ]+/g) ?? []) {
      if (token.startsWith(" ")) words.push({ gap: token, parts: [] });
      else words.at(-1)?.parts.push({ ...piece, text: token });
    }
  }
  return words.filter((word) => word.parts.length > 0);
}

const columnsOf = ({ text }: AnySpan): number => Array.from(text).length;
const lengthOf = (word: Word): number => word.parts.reduce((sum, part) => sum + columnsOf(part), 0);

function wrapWords(
  words: readonly Word[],
  shape: { readonly indent: number; readonly hang: number; readonly width: number },
): Word[][] {
  const lines: Word[][] = [[]];
  let column = shape.indent;
  for (const word of words) {
    const line = lines.at(-1) ?? [];
    const needed = word.gap.length + lengthOf(word);
    if (line.length > 0 && column + needed > shape.width) {
      lines.push([{ ...word, gap: "" }]);
      column = shape.hang + lengthOf(word);
    } else {
      line.push(word);
      column += needed;
    }
  }
  return lines;
}

/** A space between two words of one style has it too, so that a styled sentence is one run. */
function paintLine(line: readonly Word[], colour: boolean): string {
  const runs: AnySpan[] = [];
  const add = (span: AnySpan): void => {
    const last = runs.at(-1);
    if (last !== undefined && last.style === span.style) runs.splice(-1, 1, { ...span, text: last.text + span.text });
    else runs.push(span);
  };
  for (const { gap, parts } of line) {
    const style = parts[0]?.style;
    add(style !== undefined && style === runs.at(-1)?.style ? { text: gap, style } : { text: gap });
    parts.forEach(add);
  }
  return runs.map((run) => paint(run, colour)).join("");
}

// Select Graphic Rendition, ECMA-48 §8.3.117: the 16 colours that every terminal's own theme keeps readable.
const sgr: Record<Style, string> = { strong: "1", faint: "2", good: "32", bad: "31;1", warning: "33" };

function paint(span: AnySpan, colour: boolean): string {
  return colour && span.style !== undefined ? `\u001b[${sgr[span.style]}m${span.text}\u001b[0m` : span.text;
}
