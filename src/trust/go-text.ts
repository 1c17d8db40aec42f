// How Go writes what it says: strings as bytes, `%q`, RFC 3339 times. No texts of errors here.
import { isPrintable } from "./go-printable.ts";

/**
 * A Go string, which is bytes: each character of this JavaScript string is one byte (U+0000 to U+00FF). For ASCII the two
 * are the same. A name from a certificate may hold any bytes, and Go compares and quotes them as bytes.
 */
export type GoString = string;

export function toGoString(text: string): GoString {
  if (isAscii(text)) return text;
  return fromBytes(new TextEncoder().encode(text));
}

/** What a person reads; bytes that are not UTF-8 become U+FFFD. */
export function toText(text: GoString): string {
  return isAscii(text) ? text : new TextDecoder().decode(toBytes(text));
}

export function fromBytes(bytes: Uint8Array): GoString {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}

export function toBytes(text: GoString): Uint8Array {
  return Buffer.from(text, "latin1");
}

/** isIA5String of Go's crypto/x509: every byte is ASCII. */
export function isAscii(text: GoString): boolean {
  return /^[\x00-\x7f]*$/.test(text);
}

/** strings.ToLower for ASCII; other bytes stay, as in toLowerCaseASCII of Go's crypto/x509/verify.go. */
export function toLowerAscii(text: GoString): GoString {
  return text.replaceAll(/[A-Z]+/g, (upper) => upper.toLowerCase());
}

/** `%q` of a string: strconv.Quote. `unicode15`: Go 1.21 or later. */
export function quote(text: GoString, unicode15: boolean): GoString {
  // Printable ASCII that needs no escape, which is nearly every name.
  if (/^[ !#-[\]-~]*$/.test(text)) return `"${text}"`;
  const bytes = toBytes(text);
  let quoted = '"';
  for (let at = 0; at < bytes.length;) {
    const { codePoint, size } = decodeRune(bytes, at);
    quoted += codePoint === undefined ? hexEscape(bytes[at] ?? 0) : quoteRune(codePoint, unicode15);
    at += size;
  }
  return `${quoted}"`;
}

const namedEscapes: Readonly<Record<number, string>> = {
  0x07: "\\a",
  0x08: "\\b",
  0x09: "\\t",
  0x0a: "\\n",
  0x0b: "\\v",
  0x0c: "\\f",
  0x0d: "\\r",
  0x22: '\\"',
  0x5c: "\\\\",
};

/** appendEscapedRune of Go's strconv/quote.go. */
function quoteRune(codePoint: number, unicode15: boolean): GoString {
  const named = namedEscapes[codePoint];
  if (named !== undefined) return named;
  if (isPrintable(codePoint, unicode15)) return toGoString(String.fromCodePoint(codePoint));
  if (codePoint < 0x80) return hexEscape(codePoint);
  const hex = codePoint.toString(16);
  return codePoint < 0x10000 ? `\\u${hex.padStart(4, "0")}` : `\\U${hex.padStart(8, "0")}`;
}

function hexEscape(byte: number): string {
  return `\\x${byte.toString(16).padStart(2, "0")}`;
}

/**
 * utf8.DecodeRune: the code point at an offset; none, and one byte, where the bytes are not UTF-8 (shortest form, no
 * surrogates, at most U+10FFFF).
 */
function decodeRune(bytes: Uint8Array, at: number): { readonly codePoint?: number; readonly size: number } {
  const first = bytes[at] ?? 0;
  if (first < 0x80) return { codePoint: first, size: 1 };
  const size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || at + size > bytes.length) return { size: 1 };
  let codePoint = first & (0xff >> (size + 1));
  for (const next of bytes.subarray(at + 1, at + size)) {
    if ((next & 0xc0) !== 0x80) return { size: 1 };
    codePoint = (codePoint << 6) | (next & 0x3f);
  }
  const smallest = [0, 0, 0x80, 0x800, 0x10000][size] ?? 0;
  const isSurrogate = codePoint >= 0xd800 && codePoint <= 0xdfff;
  return codePoint < smallest || isSurrogate || codePoint > 0x10ffff ? { size: 1 } : { codePoint, size };
}

/** utf8.Valid. */
export function isUtf8(bytes: Uint8Array): boolean {
  for (let at = 0; at < bytes.length;) {
    const { codePoint, size } = decodeRune(bytes, at);
    if (codePoint === undefined) return false;
    at += size;
  }
  return true;
}

/** time.RFC3339 of a moment in a zone: whole seconds, `Z` for an offset of zero. The offset is in minutes. */
export function rfc3339(moment: Date, offsetMinutes = 0): string {
  const local = new Date(Math.floor(moment.getTime() / 1000) * 1000 + offsetMinutes * 60_000);
  const digits = local.toISOString().replace(/\.\d{3}Z$/, "");
  if (offsetMinutes === 0) return `${digits}Z`;
  const two = (value: number): string => String(value).padStart(2, "0");
  const size = Math.abs(offsetMinutes);
  return `${digits}${offsetMinutes < 0 ? "-" : "+"}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}
