// A strict DER reader over bytes that may be hostile: as strict as golang.org/x/crypto/cryptobyte, which Go's crypto/x509
// reads certificates with. It knows ASN.1, not certificates. Nothing here throws.

/** Identifier octets (X.690 §8.1.2), low tag numbers only, as cryptobyte. */
export const tag = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  objectIdentifier: 0x06,
  utf8String: 0x0c,
  numericString: 0x12,
  printableString: 0x13,
  t61String: 0x14,
  ia5String: 0x16,
  utcTime: 0x17,
  generalizedTime: 0x18,
  bmpString: 0x1e,
  sequence: 0x30,
  set: 0x31,
} as const;

/** `[n]` of a primitive value. */
export const contextTag = (number: number): number => 0x80 | number;
/** `[n]` of a constructed value. */
export const constructedTag = (number: number): number => 0xa0 | number;

export interface Element {
  readonly tag: number;
  /** Identifier, length and content: a view of the input, not a copy. */
  readonly raw: Uint8Array;
  readonly content: Uint8Array;
}

export interface BitString {
  readonly bytes: Uint8Array;
  readonly bitLength: number;
}

/**
 * A place in DER bytes. Each `read…` gives what stands there and moves behind it, or gives undefined where that is not
 * what was asked for or not DER; after that the reader must not be used any more.
 */
export class DerReader {
  #rest: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.#rest = bytes;
  }

  get isEmpty(): boolean {
    return this.#rest.length === 0;
  }

  /** Whether the next element has this identifier octet. */
  peek(wanted: number): boolean {
    return this.#rest[0] === wanted;
  }

  /** Any element. Lengths must be definite and shortest (X.690 §10.1), at most four octets of length. */
  readAny(): Element | undefined {
    const bytes = this.#rest;
    const identifier = bytes[0] ?? 0;
    const first = bytes[1];
    if (first === undefined || (identifier & 0x1f) === 0x1f) return undefined;
    const length = readLength(bytes, first);
    if (length === undefined || length.header + length.content > bytes.length) return undefined;
    const end = length.header + length.content;
    this.#rest = bytes.subarray(end);
    return { tag: identifier, raw: bytes.subarray(0, end), content: bytes.subarray(length.header, end) };
  }

  readElement(wanted: number): Element | undefined {
    const element = this.readAny();
    return element?.tag === wanted ? element : undefined;
  }

  /** The content of an element. */
  read(wanted: number): Uint8Array | undefined {
    return this.readElement(wanted)?.content;
  }

  /** A reader of the content of an element. */
  enter(wanted: number): DerReader | undefined {
    const content = this.read(wanted);
    return content && new DerReader(content);
  }

  /** DER allows 00 and FF only (X.690 §11.1). */
  readBoolean(): boolean | undefined {
    const content = this.read(tag.boolean);
    if (content?.length !== 1 || (content[0] !== 0 && content[0] !== 0xff)) return undefined;
    return content[0] === 0xff;
  }

  /** The content of an INTEGER in its shortest form (X.690 §8.3.2). `wanted` is another tag where it is implicit. */
  readInteger(wanted: number = tag.integer): Uint8Array | undefined {
    const content = this.read(wanted);
    return content !== undefined && isShortestInteger(content) ? content : undefined;
  }

  /** A BIT STRING whose unused bits are zero (X.690 §11.2.1). */
  readBitString(): BitString | undefined {
    const content = this.read(tag.bitString);
    const unused = content?.[0];
    if (content === undefined || unused === undefined || unused > 7) return undefined;
    const bytes = content.subarray(1);
    const last = bytes.at(-1);
    if (last === undefined ? unused !== 0 : (last & ((1 << unused) - 1)) !== 0) return undefined;
    return { bytes, bitLength: bytes.length * 8 - unused };
  }

  /** An OBJECT IDENTIFIER in dotted form. `shortest`: refuse a component with a leading 80 (X.690 §8.19.2). */
  readObjectIdentifier(shortest: boolean): string | undefined {
    const content = this.read(tag.objectIdentifier);
    return content && dottedOid(content, shortest);
  }
}

interface Length {
  readonly header: number;
  readonly content: number;
}

function readLength(bytes: Uint8Array, first: number): Length | undefined {
  if (first < 0x80) return { header: 2, content: first };
  const octets = first & 0x7f;
  if (octets === 0 || octets > 4 || bytes.length < 2 + octets) return undefined;
  let content = 0;
  for (const octet of bytes.subarray(2, 2 + octets)) content = content * 256 + octet;
  const isShortest = content >= 0x80 && content >= 256 ** (octets - 1);
  return isShortest ? { header: 2 + octets, content } : undefined;
}

/** The content of an INTEGER in its shortest form (X.690 §8.3.2). */
export function isShortestInteger(content: Uint8Array): boolean {
  const [first, second] = content;
  if (first === undefined) return false;
  if (second === undefined) return true;
  return !(first === 0 && second < 0x80) && !(first === 0xff && second >= 0x80);
}

/** The value of an INTEGER's content, two's complement. */
export function integerValue(content: Uint8Array): bigint {
  let value = unsignedValue(content);
  if ((content[0] ?? 0) >= 0x80) value -= 1n << BigInt(content.length * 8);
  return value;
}

/** Bytes as a big-endian number that is not negative. */
export function unsignedValue(bytes: Uint8Array): bigint {
  return bytes.length === 0 ? 0n : BigInt(`0x${toHex(bytes)}`);
}

export function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex");
}

/** Components above 31 bits are refused, as in cryptobyte's readBase128Int. */
function dottedOid(content: Uint8Array, shortest: boolean): string | undefined {
  const components = base128(content, shortest);
  const [first, ...others] = components ?? [];
  if (first === undefined) return undefined;
  // X.690 §8.19.4: the first number holds two components.
  const root = first < 80 ? [Math.floor(first / 40), first % 40] : [2, first - 80];
  return [...root, ...others].join(".");
}

function base128(content: Uint8Array, shortest: boolean): number[] | undefined {
  const numbers: number[] = [];
  let value = 0;
  let octets = 0;
  for (const octet of content) {
    if (octets === 5 || value >= 2 ** 24 || (shortest && octets === 0 && octet === 0x80)) return undefined;
    value = value * 128 + (octet & 0x7f);
    octets += 1;
    if (octet < 0x80) {
      numbers.push(value);
      value = 0;
      octets = 0;
    }
  }
  return octets === 0 ? numbers : undefined;
}

/** Whether two runs of bytes are the same. */
export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && Buffer.compare(a, b) === 0;
}
