// PEM as Go's encoding/pem finds it in bytes that may be hostile. What the blocks hold is read in bundle.ts.
// Text is a GoString here: one character is one byte.
import type { GoRules } from "./go-rules.ts";
import { type GoString, fromBytes } from "./go-text.ts";

export interface PemBlock {
  readonly type: GoString;
  /** Whether there are `Key: value` lines between BEGIN and the body. Go's readers of certificates pass such a block over. */
  readonly hasHeaders: boolean;
  readonly bytes: Uint8Array;
}

export interface PemReading {
  readonly blocks: readonly PemBlock[];
  /**
   * How the walk ended: behind the last block with nothing left; at a point with no further block; or given up, because
   * Go's own way through these bytes is quadratic and would not end in time.
   */
  readonly end: "complete" | "no-further-block" | "too-costly";
}

const begin = "-----BEGIN ";
const lineBegin = `\n${begin}`;
const end = "-----END ";
const lineEnd = `\n${end}`;
const dashes = "-----";

// A bundle of 1 MB, the most that etcd takes, has fewer lines than this; only bytes made to be slow need more.
const maxHeaderLines = 100_000;

interface Walk {
  readonly data: GoString;
  readonly rules: GoRules;
  headerLines: number;
  /** Where the first END line at or behind the last asked place is; -1 where there is none. */
  nextEnd: number | undefined;
}

interface Found {
  readonly block: PemBlock;
  /** Where the next block is looked for. */
  readonly next: number;
}

/** All blocks, in order, by calling pem.Decode until the bytes are used up or it finds no more (encoding/pem/pem.go). */
export function readPem(bytes: Uint8Array, rules: GoRules): PemReading {
  const walk: Walk = { data: fromBytes(bytes), rules, headerLines: 0, nextEnd: undefined };
  const blocks: PemBlock[] = [];
  let at = 0;
  while (at < walk.data.length) {
    const found = rules.pemLastBegin ? decodeFromEnd(walk, at) : decodeFromBegin(walk, at);
    if (walk.headerLines > maxHeaderLines) return { blocks, end: "too-costly" };
    if (found === undefined) return { blocks, end: "no-further-block" };
    blocks.push(found.block);
    at = found.next;
  }
  return { blocks, end: "complete" };
}

/** pem.Decode until 1.24.7 and 1.25.1: find a BEGIN, then the first END behind it. */
function decodeFromBegin(walk: Walk, start: number): Found | undefined {
  const { data } = walk;
  let at = start;
  for (;;) {
    const beginAt = data.startsWith(begin, at) ? at : data.indexOf(lineBegin, at) + 1;
    if (beginAt < at || !data.startsWith(begin, beginAt)) return undefined;
    const opening = readLine(data, beginAt + begin.length);
    at = opening.next;
    if (!opening.line.endsWith(dashes)) continue;
    const body = skipHeaders(walk, at);
    if (body === undefined) return undefined;
    at = body.at;
    const isEmpty = !body.hasHeaders && data.startsWith(end, at);
    const endAt = isEmpty ? at : findEnd(walk, at);
    if (endAt < 0) continue;
    const trailerAt = endAt + (isEmpty ? end.length : lineEnd.length);
    const block = closeBlock(data, { type: opening.line.slice(0, -dashes.length), ...body, endAt, trailerAt });
    if (block !== undefined) return { block, next: readLine(data, endAt + end.length).next };
  }
}

/** pem.Decode from 1.24.8 and 1.25.2: find the first END, then the last BEGIN before it. */
function decodeFromEnd(walk: Walk, start: number): Found | undefined {
  const { data, rules } = walk;
  let at = start;
  let resume = start;
  for (;;) {
    if (rules.pemBehindEnd) {
      if (resume < at) return undefined;
      at = resume;
    }
    const endAt = findEnd(walk, at);
    if (endAt < 0) return undefined;
    resume = endAt + lineEnd.length;
    const beginIn = data.slice(at, endAt).lastIndexOf(begin);
    if (beginIn < 0 || (beginIn > 0 && data[at + beginIn - 1] !== "\n")) {
      if (rules.pemBehindEnd) continue;
      return undefined;
    }
    const opening = readLine(data, at + beginIn + begin.length);
    at = opening.next;
    if (!opening.line.endsWith(dashes)) continue;
    const body = skipHeaders(walk, at);
    if (body === undefined) return undefined;
    at = body.at;
    if (body.hasHeaders && endAt < at) continue;
    const block = closeBlock(data, { type: opening.line.slice(0, -dashes.length), ...body, endAt, trailerAt: resume });
    if (block !== undefined) return { block, next: readLine(data, endAt + end.length).next };
  }
}

interface Body {
  readonly at: number;
  readonly hasHeaders: boolean;
}

/** Lines with a colon are headers. None where the bytes end among them. */
function skipHeaders(walk: Walk, start: number): Body | undefined {
  let at = start;
  while (at < walk.data.length) {
    const { line, next } = readLine(walk.data, at);
    if (!line.includes(":")) return { at, hasHeaders: at > start };
    walk.headerLines += 1;
    if (walk.headerLines > maxHeaderLines) return undefined;
    at = next;
  }
  return undefined;
}

interface Bounds extends Body {
  readonly type: GoString;
  /** Where the END line starts, its line feed included; just before the body where that is empty. */
  readonly endAt: number;
  /** Behind `-----END `. */
  readonly trailerAt: number;
}

function closeBlock(data: GoString, { type, at, hasHeaders, endAt, trailerAt }: Bounds): PemBlock | undefined {
  const trailer = data.slice(trailerAt, trailerAt + type.length + dashes.length);
  const isClosed = trailer.length === type.length + dashes.length && trailer === type + dashes;
  if (!isClosed || readLine(data, trailerAt + trailer.length).line !== "") return undefined;
  const bytes = endAt > at ? decodeBase64(data, at, endAt) : new Uint8Array();
  return bytes && { type, hasHeaders, bytes };
}

/** The first END line at or behind a place. Places only grow, so that the search goes through the bytes once. */
function findEnd(walk: Walk, at: number): number {
  if (walk.nextEnd === undefined || (walk.nextEnd >= 0 && walk.nextEnd < at)) {
    walk.nextEnd = walk.data.indexOf(lineEnd, at);
  }
  return walk.nextEnd;
}

/** getLine: the line without its end and without spaces and tabs before that, and where the next line starts. */
function readLine(data: GoString, at: number): { readonly line: GoString; readonly next: number } {
  const feed = data.indexOf("\n", at);
  if (feed < 0) return { line: trimRight(data.slice(at)), next: data.length };
  const isCrlf = feed > at && data[feed - 1] === "\r";
  return { line: trimRight(data.slice(at, isCrlf ? feed - 1 : feed)), next: feed + 1 };
}

/** Not a regular expression: those are quadratic in runs of blanks. */
function trimRight(line: GoString): GoString {
  let length = line.length;
  while (length > 0 && (line[length - 1] === " " || line[length - 1] === "\t")) length -= 1;
  return line.slice(0, length);
}

/**
 * base64.StdEncoding with blanks and line ends taken out: exact padding, and bits that are left over are ignored. The
 * first byte that cannot be is found before anything is copied, or many BEGIN lines before one END would be quadratic.
 */
function decodeBase64(data: GoString, at: number, endAt: number): Uint8Array | undefined {
  const alien = /[^A-Za-z0-9+/=\r\n\t ]/g;
  alien.lastIndex = at;
  const first = alien.exec(data);
  if (first !== null && first.index < endAt) return undefined;
  const digits = data.slice(at, endAt).replaceAll(/[\r\n\t ]+/g, "");
  const padding = digits.indexOf("=");
  const isPadded = padding < 0 || (padding >= digits.length - 2 && digits.endsWith("="));
  return digits.length % 4 === 0 && isPadded ? new Uint8Array(Buffer.from(digits, "base64")) : undefined;
}
