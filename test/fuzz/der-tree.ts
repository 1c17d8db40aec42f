// DER as a tree that can be changed anywhere and written again, right or wrong. The tree of a certificate holds a node twice
// where two places must stay the same (the two algorithm identifiers).

export interface DerBytes {
  bytes: Uint8Array;
}

export interface DerElement {
  tag: number;
  parts: DerNode[];
  /** How its length is written. Default: as DER asks. */
  length?: OddLength;
}

export type DerNode = DerBytes | DerElement;

/** One octet more than needed; two more; indefinite (with and without an end); by so many bytes off; any octets. */
export type OddLength =
  "long" | "longer" | "indefinite" | "open" | { readonly off: number } | { readonly octets: readonly number[] };

export const bytes = (content: Uint8Array | readonly number[] | string): DerBytes => ({
  bytes: typeof content === "string" ? Buffer.from(content, "latin1") : Uint8Array.from(content),
});

export const element = (tag: number, ...parts: DerNode[]): DerElement => ({ tag, parts });
export const primitive = (tag: number, content: Uint8Array | readonly number[] | string): DerElement =>
  element(tag, bytes(content));

export const sequence = (...parts: DerNode[]): DerElement => element(0x30, ...parts);
export const set = (...parts: DerNode[]): DerElement => element(0x31, ...parts);
export const octets = (...parts: DerNode[]): DerElement => element(0x04, ...parts);
export const bits = (...parts: DerNode[]): DerElement => element(0x03, bytes([0]), ...parts);
export const boolean = (value: boolean): DerElement => primitive(0x01, [value ? 0xff : 0]);
export const nothing = (): DerElement => primitive(0x05, []);

/** The shortest two's complement. */
export function integer(value: bigint | number, tag = 0x02): DerElement {
  const number = BigInt(value);
  let length = 1;
  while (BigInt.asIntN(length * 8, number) !== number) length += 1;
  const hex = BigInt.asUintN(length * 8, number)
    .toString(16)
    .padStart(length * 2, "0");
  return primitive(tag, Buffer.from(hex, "hex"));
}

export function oid(dotted: string): DerElement {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  return primitive(0x06, [first * 40 + second, ...rest].flatMap(base128));
}

function base128(value: number): number[] {
  const digits = [value % 128];
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) digits.unshift((rest % 128) + 128);
  return digits;
}

/** Reads DER that is right into a tree: key infos that node:crypto wrote. */
export function parseDer(der: Uint8Array): DerElement {
  const [tag = 0, first = 0] = der;
  const octetCount = first < 0x80 ? 0 : first & 0x7f;
  const content = der.subarray(2 + octetCount);
  if ((tag & 0x20) === 0) return primitive(tag, content);
  const parts: DerNode[] = [];
  for (let at = 0; at < content.length;) {
    const part = content.subarray(at, at + elementLength(content.subarray(at)));
    parts.push(parseDer(part));
    at += part.length;
  }
  return element(tag, ...parts);
}

function elementLength(der: Uint8Array): number {
  const first = der[1] ?? 0;
  if (first < 0x80) return 2 + first;
  const lengthOctets = der.subarray(2, 2 + (first & 0x7f));
  return 2 + lengthOctets.length + lengthOctets.reduce((sum, octet) => sum * 256 + octet, 0);
}

export function encode(node: DerNode): Buffer {
  if ("bytes" in node) return Buffer.from(node.bytes);
  const content = Buffer.concat(node.parts.map(encode));
  const end = node.length === "indefinite" ? [0, 0] : [];
  return Buffer.concat([
    Buffer.from([node.tag, ...lengthOctets(content.length, node.length)]),
    content,
    Buffer.from(end),
  ]);
}

function lengthOctets(length: number, odd: OddLength | undefined): readonly number[] {
  if (odd === undefined) return shortest(length);
  if (odd === "indefinite" || odd === "open") return [0x80];
  if (typeof odd === "object") return "octets" in odd ? odd.octets : shortest(Math.max(0, length + odd.off));
  const padding = odd === "long" ? [0] : [0, 0];
  const digits = length < 0x80 ? [length] : shortest(length).slice(1);
  return [
    0x80 | (padding.length - (length < 0x80 ? 1 : 0) + digits.length),
    ...padding.slice(length < 0x80 ? 1 : 0),
    ...digits,
  ];
}

function shortest(length: number): number[] {
  if (length < 0x80) return [length];
  const digits: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) digits.unshift(rest % 256);
  return [0x80 | digits.length, ...digits];
}

/** Every element of a tree, from the root down. One that stands in two places comes twice. */
export function elementsOf(node: DerNode): readonly DerElement[] {
  return "bytes" in node ? [] : [node, ...node.parts.flatMap(elementsOf)];
}
