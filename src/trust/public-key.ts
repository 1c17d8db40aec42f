// The public key of a certificate as Go's crypto/x509 reads it (parsePublicKey of parser.go). What a key signs is checked
// in signature.ts.
import { type BitString, DerReader, integerValue, sameBytes, tag } from "./der.ts";
import { type Curve, curveOf, pointFault } from "./elliptic-curve.ts";
import type { GoRules } from "./go-rules.ts";
import { Malformed } from "./malformed.ts";

export type PublicKey =
  | { readonly kind: "rsa"; readonly modulus: Uint8Array; readonly exponent: bigint; readonly bits: number }
  | { readonly kind: "ecdsa"; readonly curve: Curve; readonly point: Uint8Array }
  | { readonly kind: "ed25519"; readonly bytes: Uint8Array }
  | { readonly kind: "dsa" };

export interface AlgorithmIdentifier {
  readonly oid: string;
  /** DER of the parameters; empty where there are none. */
  readonly parameters: Uint8Array;
}

/** parseAI: what follows the parameters is ignored. */
export function parseAlgorithmIdentifier(der: Uint8Array, rules: GoRules): AlgorithmIdentifier | Malformed {
  const reader = new DerReader(der);
  const oid = reader.readObjectIdentifier(rules.shortestOid);
  if (oid === undefined) return new Malformed("x509: malformed OID");
  if (reader.isEmpty) return { oid, parameters: new Uint8Array() };
  const parameters = reader.readAny();
  return parameters === undefined ? new Malformed("x509: malformed parameters") : { oid, parameters: parameters.raw };
}

/** The key; undefined for an algorithm that Go does not know, which it leaves unread (Ed448, X25519, RSASSA-PSS, …). */
export function parsePublicKey(
  { oid, parameters }: AlgorithmIdentifier,
  bits: BitString,
  rules: GoRules,
): PublicKey | Malformed | undefined {
  const bytes = rightAlign(bits);
  switch (oid) {
    case "1.2.840.113549.1.1.1":
      return parseRsaKey(parameters, bytes);
    case "1.2.840.10045.2.1":
      return parseEcKey(parameters, bytes, rules);
    case "1.3.101.112":
      return parseEd25519Key(parameters, bytes);
    case "1.2.840.10040.4.1":
      return parseDsaKey(parameters, bytes);
    default:
      return undefined;
  }
}

/** asn1.BitString.RightAlign: the bits moved so that the unused ones are first, not last. */
export function rightAlign({ bytes, bitLength }: BitString): Uint8Array {
  const shift = bytes.length * 8 - bitLength;
  if (shift === 0) return bytes;
  return bytes.map((byte, at) => (byte >> shift) | ((bytes[at - 1] ?? 0) << (8 - shift)));
}

/** RFC 3279 §2.3.1: the parameters are NULL. */
function parseRsaKey(parameters: Uint8Array, bytes: Uint8Array): PublicKey | Malformed {
  if (!sameBytes(parameters, new Uint8Array([tag.null, 0])))
    return new Malformed("x509: RSA key missing NULL parameters");
  const reader = new DerReader(bytes).enter(tag.sequence);
  if (reader === undefined) return new Malformed("x509: invalid RSA public key");
  const modulus = reader.readInteger();
  if (modulus === undefined) return new Malformed("x509: invalid RSA modulus");
  const exponent = reader.readInteger();
  // Go reads it into an int.
  if (exponent === undefined || exponent.length > 8) return new Malformed("x509: invalid RSA public exponent");
  if (integerValue(modulus) <= 0n) return new Malformed("x509: RSA modulus is not a positive number");
  if (integerValue(exponent) <= 0n) return new Malformed("x509: RSA public exponent is not a positive number");
  const unsigned = modulus[0] === 0 ? modulus.subarray(1) : modulus;
  const first = unsigned[0] ?? 0;
  return {
    kind: "rsa",
    modulus: unsigned,
    exponent: integerValue(exponent),
    bits: unsigned.length * 8 - (Math.clz32(first) - 24),
  };
}

function parseEcKey(parameters: Uint8Array, bytes: Uint8Array, rules: GoRules): PublicKey | Malformed {
  const oid = new DerReader(parameters).readObjectIdentifier(rules.shortestOid);
  if (oid === undefined) return new Malformed("x509: invalid ECDSA parameters");
  const curve = curveOf(oid);
  if (curve === undefined) return new Malformed("x509: unsupported elliptic curve");
  const fault = pointFault(curve, bytes);
  if (fault === undefined) return { kind: "ecdsa", curve, point: bytes };
  if (!rules.pointErrorsOfNistec) return new Malformed("x509: failed to unmarshal elliptic curve point");
  const elementName = curve.name === "P256" ? "P256 element" : `${curve.name}Element`;
  const texts = {
    form: "ecdsa: invalid uncompressed public key",
    length: `invalid ${curve.name} point encoding`,
    // The words of the assembly of amd64 and arm64; other machines say P256Element.
    range: `invalid ${elementName} encoding`,
    "off-curve": `${curve.name} point not on curve`,
  };
  return new Malformed(texts[fault]);
}

/** RFC 8410 §3: no parameters. */
function parseEd25519Key(parameters: Uint8Array, bytes: Uint8Array): PublicKey | Malformed {
  if (parameters.length !== 0) return new Malformed("x509: Ed25519 key encoded with illegal parameters");
  return bytes.length === 32 ? { kind: "ed25519", bytes } : new Malformed("x509: wrong Ed25519 public key size");
}

function parseDsaKey(parameters: Uint8Array, bytes: Uint8Array): PublicKey | Malformed {
  const y = new DerReader(bytes).readInteger();
  if (y === undefined) return new Malformed("x509: invalid DSA public key");
  const reader = new DerReader(parameters).enter(tag.sequence);
  const numbers = [y];
  for (let count = 0; count < 3; count += 1) {
    const number = reader?.readInteger();
    if (number === undefined) return new Malformed("x509: invalid DSA parameters");
    numbers.push(number);
  }
  if (numbers.some((number) => integerValue(number) <= 0n))
    return new Malformed("x509: zero or negative DSA parameter");
  return { kind: "dsa" };
}

/** Whether two keys are equal as Go's PublicKey.Equal sees it. */
export function sameKey(a: PublicKey, b: PublicKey): boolean {
  if (a.kind === "rsa" && b.kind === "rsa") return sameBytes(a.modulus, b.modulus) && a.exponent === b.exponent;
  if (a.kind === "ecdsa" && b.kind === "ecdsa") return a.curve === b.curve && sameBytes(a.point, b.point);
  return a.kind === "ed25519" && b.kind === "ed25519" && sameBytes(a.bytes, b.bytes);
}
