// Certificates that src/trust/mint.ts will not make: older versions, odd encodings, extensions of any bytes. DER is put
// together by hand, and signed with one key pair for all.
import { type KeyObject, generateKeyPairSync, sign } from "node:crypto";

type Part = Uint8Array | readonly number[];

export function tlv(tag: number, ...parts: readonly Part[]): Uint8Array {
  const content = Buffer.concat(parts.map((part) => Buffer.from(part)));
  return Buffer.concat([Buffer.from([tag, ...lengthOf(content.length)]), content]);
}

function lengthOf(length: number): number[] {
  if (length < 0x80) return [length];
  return length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
}

export const sequence = (...parts: readonly Part[]): Uint8Array => tlv(0x30, ...parts);
export const text = (tag: number, value: string): Uint8Array => tlv(tag, Buffer.from(value, "latin1"));
export const bitString = (bytes: Part, unused = 0): Uint8Array => tlv(3, [unused], bytes);
export const small = (value: number): Uint8Array => tlv(2, [value & 0xff]);

export function oid(dotted: string): Uint8Array {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  return tlv(6, [first * 40 + second], rest.flatMap(base128));
}

function base128(value: number): number[] {
  const octets = [value & 0x7f];
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) octets.unshift((rest & 0x7f) | 0x80);
  return octets;
}

export const commonName = (value: string, tag = 0x13): Uint8Array =>
  sequence(tlv(0x31, sequence(oid("2.5.4.3"), text(tag, value))));

export function extension(id: string, value: Part, isCritical = false): Uint8Array {
  return sequence(oid(id), ...(isCritical ? [[1, 1, 0xff]] : []), tlv(4, value));
}

export const alternativeNames = (...names: readonly Uint8Array[]): Uint8Array =>
  extension("2.5.29.17", sequence(...names));
export const dns = (name: string): Uint8Array => text(0x82, name);
export const uri = (name: string): Uint8Array => text(0x86, name);
export const email = (name: string): Uint8Array => text(0x81, name);
export const ip = (...octets: readonly number[]): Uint8Array => tlv(0x87, octets);

/** basicConstraints CA:TRUE. */
export const isCa = extension("2.5.29.19", sequence([1, 1, 0xff]), true);

interface NameConstraintSubtrees {
  readonly permitted?: readonly Uint8Array[];
  readonly excluded?: readonly Uint8Array[];
}

export function nameConstraints({ permitted = [], excluded = [] }: NameConstraintSubtrees): Uint8Array {
  const side = (tag: number, bases: readonly Uint8Array[]): Uint8Array[] =>
    bases.length === 0 ? [] : [tlv(tag, ...bases.map((base) => sequence(base)))];
  return extension("2.5.29.30", sequence(...side(0xa0, permitted), ...side(0xa1, excluded)), true);
}

const keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
const otherKeys = generateKeyPairSync("ec", { namedCurve: "P-256" });
export const forgeKeyInfo: Uint8Array = keys.publicKey.export({ type: "spki", format: "der" });
export const otherKeyInfo: Uint8Array = otherKeys.publicKey.export({ type: "spki", format: "der" });
export const forgeKey: KeyObject = keys.privateKey;

export const ecdsaWithSha256 = sequence(oid("1.2.840.10045.4.3.2"));
const ecdsaWithSha1 = sequence(oid("1.2.840.10045.4.1"));

/** What may be odd; everything else is as it should be. */
export interface Forgery {
  /** `[0] EXPLICIT`, ready made; an empty one gives version 1. Default: version 3. */
  readonly version?: Uint8Array;
  readonly serial?: Uint8Array;
  readonly algorithm?: Uint8Array;
  readonly outerAlgorithm?: Uint8Array;
  readonly issuer?: Uint8Array;
  readonly validity?: Uint8Array;
  readonly subject?: Uint8Array;
  readonly keyInfo?: Uint8Array;
  /** Default: the alternative name `a.b.svc`. */
  readonly extensions?: readonly Uint8Array[];
  /** Behind the extensions. */
  readonly tail?: Uint8Array;
  /** Behind the signature. */
  readonly end?: Uint8Array;
}

export const version = (number: number): Uint8Array => tlv(0xa0, small(number - 1));
export const validity2026 = sequence(text(0x17, "260101000000Z"), text(0x17, "270101000000Z"));

export function forge(odd: Forgery = {}): Uint8Array {
  const algorithm = odd.algorithm ?? ecdsaWithSha256;
  const extensions = odd.extensions ?? [alternativeNames(dns("a.b.svc"))];
  const signed = sequence(
    odd.version ?? version(3),
    odd.serial ?? small(1),
    algorithm,
    odd.issuer ?? commonName("issuer"),
    odd.validity ?? validity2026,
    odd.subject ?? commonName("subject"),
    odd.keyInfo ?? forgeKeyInfo,
    ...(extensions.length === 0 ? [] : [tlv(0xa3, sequence(...extensions))]),
    odd.tail ?? [],
  );
  const hash = Buffer.compare(algorithm, ecdsaWithSha1) === 0 ? "sha1" : "sha256";
  const signature = sign(hash, signed, keys.privateKey);
  return sequence(signed, odd.outerAlgorithm ?? algorithm, bitString(signature), odd.end ?? []);
}
