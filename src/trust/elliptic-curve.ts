// The NIST curves that Go's crypto/x509 knows (namedCurveFromOID), and whether a point is on one. Constants: FIPS 186-5 and
// SP 800-186 §3.2.1. No signatures here.
import { unsignedValue } from "./der.ts";

export interface Curve {
  readonly name: "P224" | "P256" | "P384" | "P521";
  readonly oid: string;
  /** DER of the AlgorithmIdentifier of a key on this curve. */
  readonly algorithmDer: Uint8Array;
  readonly coordinateLength: number;
  /** The prime of the field. */
  readonly p: bigint;
  /** y² = x³ - 3x + b. */
  readonly b: bigint;
}

const hex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, "hex"));

const curves: readonly Curve[] = [
  {
    name: "P224",
    oid: "1.3.132.0.33",
    algorithmDer: hex("301006072a8648ce3d020106052b81040021"),
    coordinateLength: 28,
    p: 2n ** 224n - 2n ** 96n + 1n,
    b: 0xb4050a850c04b3abf54132565044b0b7d7bfd8ba270b39432355ffb4n,
  },
  {
    name: "P256",
    oid: "1.2.840.10045.3.1.7",
    algorithmDer: hex("301306072a8648ce3d020106082a8648ce3d030107"),
    coordinateLength: 32,
    p: 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n,
    b: 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn,
  },
  {
    name: "P384",
    oid: "1.3.132.0.34",
    algorithmDer: hex("301006072a8648ce3d020106052b81040022"),
    coordinateLength: 48,
    p: 2n ** 384n - 2n ** 128n - 2n ** 96n + 2n ** 32n - 1n,
    b: 0xb3312fa7e23ee7e4988e056be3f82d19181d9c6efe8141120314088f5013875ac656398d8a2ed19d2a85c8edd3ec2aefn,
  },
  {
    name: "P521",
    oid: "1.3.132.0.35",
    algorithmDer: hex("301006072a8648ce3d020106052b81040023"),
    coordinateLength: 66,
    p: 2n ** 521n - 1n,
    b: 0x051953eb9618e1c9a1f929a21a0b68540eea2da725b99b315f3b8b489918ef109e156193951ec7e937b1652c0bd3bb1bf073573df883d2c34f1ef451fd46b503f00n,
  },
];

export function curveOf(oid: string): Curve | undefined {
  return curves.find((curve) => curve.oid === oid);
}

/** What is wrong with the bytes of an uncompressed point (SEC 1 §2.3.4); undefined where nothing is. */
export function pointFault(curve: Curve, point: Uint8Array): "form" | "length" | "range" | "off-curve" | undefined {
  if (point[0] !== 4) return "form";
  if (point.length !== 1 + 2 * curve.coordinateLength) return "length";
  const x = unsignedValue(point.subarray(1, 1 + curve.coordinateLength));
  const y = unsignedValue(point.subarray(1 + curve.coordinateLength));
  const { p, b } = curve;
  if (x >= p || y >= p) return "range";
  return (y * y - (x * x * x - 3n * x + b)) % p === 0n ? undefined : "off-curve";
}
