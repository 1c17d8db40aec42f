// The parameters of RSASSA-PSS (RFC 4055 §3.1) as Go's encoding/asn1 reads them (parseField and parseTagAndLength of
// asn1.go), which is not how it reads the rest of a certificate: of an explicit tag only the tag counts, its length does
// not, and what follows the last field is ignored.
import { integerValue, isShortestInteger } from "./der.ts";

export interface HashIdentifier {
  /** Dotted. */
  readonly oid: string;
  /** DER of the parameters; empty where there are none. */
  readonly parameters: Uint8Array;
}

export interface PssParameters {
  readonly hash: HashIdentifier;
  readonly mask: HashIdentifier;
  readonly saltLength: bigint;
  readonly trailerField: bigint;
}

interface Header {
  /** 0 universal, 2 context-specific. */
  readonly class: number;
  readonly isConstructed: boolean;
  readonly tag: number;
  readonly length: number;
  /** Where the content starts. */
  readonly at: number;
}

/** Undefined where Go cannot read them. */
export function parsePssParameters(der: Uint8Array): PssParameters | undefined {
  const sequence = readUniversal(der, readHeader(der, 0), sequenceTag);
  if (sequence === undefined) return undefined;
  const { content } = sequence;
  const hash = readExplicit(content, 0, 0, readIdentifier);
  if (hash === undefined) return undefined;
  const mask = readExplicit(content, hash.next, 1, readIdentifier);
  if (mask === undefined) return undefined;
  const salt = readExplicit(content, mask.next, 2, readInt);
  if (salt === undefined) return undefined;
  const trailerField = readTrailer(content, salt.next);
  if (trailerField === undefined) return undefined;
  return { hash: hash.value, mask: mask.value, saltLength: salt.value, trailerField };
}

/** The identifier of the hash of MGF1, which is in the parameters of the mask. */
export function parseHashIdentifier(der: Uint8Array): HashIdentifier | undefined {
  return readIdentifier(der, readHeader(der, 0))?.value;
}

interface Read<T> {
  readonly value: T;
  readonly next: number;
}

type ReadValue<T> = (bytes: Uint8Array, header: Header | undefined) => Read<T> | undefined;

function readExplicit<T>(bytes: Uint8Array, at: number, tag: number, read: ReadValue<T>): Read<T> | undefined {
  const outer = readHeader(bytes, at);
  if (outer === undefined || !isExplicit(outer, tag) || outer.length === 0) return undefined;
  return read(bytes, readHeader(bytes, outer.at));
}

function isExplicit(header: Header, tag: number): boolean {
  return header.class === 2 && header.tag === tag && (header.length === 0 || header.isConstructed);
}

/** Optional, 1 where it is absent; something else in its place is ignored, but what is no element at all is an error. */
function readTrailer(bytes: Uint8Array, at: number): bigint | undefined {
  if (at === bytes.length) return 1n;
  const outer = readHeader(bytes, at);
  if (outer === undefined || outer.at === bytes.length) return undefined;
  if (!isExplicit(outer, 3)) return 1n;
  if (outer.length === 0) return undefined;
  const inner = readHeader(bytes, outer.at);
  if (inner === undefined) return undefined;
  return isUniversal(inner, integerTag) ? readInt(bytes, inner)?.value : 1n;
}

const integerTag = 2;
const oidTag = 6;
const sequenceTag = 16;

function isUniversal(header: Header, tag: number): boolean {
  return header.class === 0 && header.tag === tag && header.isConstructed === (tag === sequenceTag);
}

function readUniversal(
  bytes: Uint8Array,
  header: Header | undefined,
  tag: number,
): { readonly content: Uint8Array; readonly next: number } | undefined {
  if (header === undefined || !isUniversal(header, tag)) return undefined;
  const next = header.at + header.length;
  return next > bytes.length ? undefined : { content: bytes.subarray(header.at, next), next };
}

function readInt(bytes: Uint8Array, header: Header | undefined): Read<bigint> | undefined {
  const integer = readUniversal(bytes, header, integerTag);
  if (integer === undefined || !isShortestInteger(integer.content) || integer.content.length > 8) return undefined;
  return { value: integerValue(integer.content), next: integer.next };
}

/** pkix.AlgorithmIdentifier. */
function readIdentifier(bytes: Uint8Array, header: Header | undefined): Read<HashIdentifier> | undefined {
  const sequence = readUniversal(bytes, header, sequenceTag);
  const { content = new Uint8Array(), next = 0 } = sequence ?? {};
  const identifier = sequence && readUniversal(content, readHeader(content, 0), oidTag);
  const oid = identifier && dottedOid(identifier.content);
  if (identifier === undefined || oid === undefined) return undefined;
  if (identifier.next === content.length) return { value: { oid, parameters: new Uint8Array() }, next };
  const any = readHeader(content, identifier.next);
  if (any === undefined || any.at + any.length > content.length) return undefined;
  return { value: { oid, parameters: content.subarray(identifier.next, any.at + any.length) }, next };
}

/** parseTagAndLength. Unlike cryptobyte it knows tags above 30. */
function readHeader(bytes: Uint8Array, start: number): Header | undefined {
  const identifier = bytes[start];
  if (identifier === undefined) return undefined;
  const isHigh = (identifier & 0x1f) === 0x1f;
  const number = isHigh ? readBase128(bytes, start + 1) : { value: identifier & 0x1f, next: start + 1 };
  const first = number && bytes[number.next];
  if (number === undefined || first === undefined || (isHigh && number.value < 0x1f)) return undefined;
  const lengthAt = number.next + 1;
  const octets = first < 0x80 ? 0 : first & 0x7f;
  const length = first < 0x80 ? first : longLength(bytes.subarray(lengthAt, lengthAt + octets), octets);
  if (length === undefined) return undefined;
  const isConstructed = (identifier & 0x20) !== 0;
  return { class: identifier >> 6, isConstructed, tag: number.value, length, at: lengthAt + octets };
}

function longLength(octets: Uint8Array, wanted: number): number | undefined {
  if (wanted === 0 || octets.length < wanted || octets[0] === 0) return undefined;
  let length = 0;
  for (const octet of octets) {
    if (length >= 2 ** 23) return undefined;
    length = length * 256 + octet;
  }
  return length < 0x80 ? undefined : length;
}

/** parseBase128Int: shortest form, at most 31 bits. */
function readBase128(bytes: Uint8Array, start: number): Read<number> | undefined {
  let value = 0;
  for (let at = start; at < Math.min(bytes.length, start + 5); at += 1) {
    const octet = bytes[at] ?? 0;
    if (at === start && octet === 0x80) return undefined;
    value = value * 128 + (octet & 0x7f);
    if (octet < 0x80) return value < 2 ** 31 ? { value, next: at + 1 } : undefined;
  }
  return undefined;
}

function dottedOid(content: Uint8Array): string | undefined {
  const first = readBase128(content, 0);
  if (first === undefined) return undefined;
  const components = first.value < 80 ? [Math.floor(first.value / 40), first.value % 40] : [2, first.value - 80];
  for (let at = first.next; at < content.length;) {
    const component = readBase128(content, at);
    if (component === undefined) return undefined;
    components.push(component.value);
    at = component.next;
  }
  return components.join(".");
}
