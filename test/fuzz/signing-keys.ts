// The keys that generated certificates have and are signed with: every kind that Go knows, weak and odd ones, and kinds that
// it does not know. Made anew in each run.
import { type KeyObject, constants, createHash, generateKeyPairSync, sign } from "node:crypto";
import { type DerNode, bits, bytes, integer, nothing, oid, parseDer, sequence } from "./der-tree.ts";
import { modularPower, unsigned } from "./modular.ts";

export type Scheme =
  "sha256" | "sha384" | "sha512" | "sha1" | "md5" | "pss-sha256" | "pss-sha384" | "pss-sha512" | "none";

export interface SigningKey {
  readonly kind: "ec" | "rsa" | "ed25519" | "other";
  /** A fresh tree of its SubjectPublicKeyInfo. */
  readonly keyInfo: () => DerNode;
  /** Bytes that mean nothing where the key cannot sign by the scheme. */
  readonly sign: (message: Uint8Array, scheme: Scheme) => Uint8Array;
  /** Where OpenSSL has one, so that a server can be started with it. */
  readonly privateKey?: KeyObject;
}

function usual(kind: SigningKey["kind"], pair: { publicKey: KeyObject; privateKey: KeyObject }): SigningKey {
  const der = pair.publicKey.export({ type: "spki", format: "der" });
  const { privateKey } = pair;
  return {
    kind,
    keyInfo: () => parseDer(der),
    sign: (message, scheme) => signWith(privateKey, message, scheme),
    privateKey,
  };
}

function signWith(key: KeyObject, message: Uint8Array, scheme: Scheme): Uint8Array {
  const isRsa = key.asymmetricKeyType === "rsa";
  try {
    if (key.asymmetricKeyType === "ed25519") return sign(null, message, key);
    if (!scheme.startsWith("pss-")) return sign(scheme === "none" ? "sha256" : scheme, message, key);
    const hash = scheme.slice("pss-".length);
    if (!isRsa) return sign(hash, message, key);
    return sign(hash, message, {
      key,
      padding: constants.RSA_PKCS1_PSS_PADDING,
      saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
    });
  } catch {
    // OpenSSL does not sign so: too small a key for the hash, a kind of key that signs nothing.
    return createHash("sha512").update(message).digest();
  }
}

const ec = (namedCurve: string): SigningKey => usual("ec", generateKeyPairSync("ec", { namedCurve }));
const rsa = (modulusLength: number, publicExponent = 65537): SigningKey =>
  usual("rsa", generateKeyPairSync("rsa", { modulusLength, publicExponent }));

const rsaInfo = (modulus: bigint, exponent: bigint): DerNode =>
  sequence(sequence(oid("1.2.840.113549.1.1.1"), nothing()), bits(sequence(integer(modulus), integer(exponent))));

/** An RSA key that no generator makes. Signed by arithmetic, PKCS #1 v1.5 with SHA-256 whatever the scheme. */
function oddRsa(modulus: bigint, exponent: bigint, privateExponent: bigint): SigningKey {
  const length = Math.ceil(modulus.toString(2).length / 8);
  return {
    kind: "rsa",
    keyInfo: () => rsaInfo(modulus, exponent),
    sign: (message) => {
      const power = modularPower(unsigned(padded(message, length)), privateExponent, modulus);
      return Buffer.from(power.toString(16).padStart(length * 2, "0"), "hex");
    },
  };
}

/** EMSA-PKCS1-v1_5 (RFC 8017 §9.2) with SHA-256. */
function padded(message: Uint8Array, length: number): Buffer {
  const digestInfo = Buffer.from("3031300d060960864801650304020105000420", "hex");
  const tail = Buffer.concat([Buffer.from([0]), digestInfo, createHash("sha256").update(message).digest()]);
  return Buffer.concat([Buffer.from([0, 1]), Buffer.alloc(length - 2 - tail.length, 0xff), tail]);
}

function oddRsaKeys(): Readonly<Record<string, SigningKey>> {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 1024 });
  const jwk = privateKey.export({ format: "jwk" });
  const number = (text: string | undefined): bigint => unsigned(Buffer.from(text ?? "", "base64url"));
  const [p, q, n] = [number(jwk.p), number(jwk.q), number(jwk.n)];
  const order = (p - 1n) * (q - 1n);
  const withExponent = (exponent: bigint): SigningKey => oddRsa(n, exponent, inverse(exponent, order));
  const coprime = (from: bigint): bigint => {
    let exponent = from;
    while (greatestCommonDivisor(exponent, order) !== 1n) exponent += 2n;
    return exponent;
  };
  return {
    // The signature of an exponent of one is the padded hash itself, under any modulus.
    "rsa-one": oddRsa(n, 1n, 1n),
    "rsa-even": oddRsa(n + 1n, 1n, 1n),
    "rsa-even-usual": oddRsa(n + 1n, 65537n, 3n),
    "rsa-two": oddRsa(n, 2n, 1n),
    "rsa-31-bits": withExponent(coprime(2n ** 31n - 1n)),
    "rsa-33-bits": withExponent(coprime(2n ** 32n + 1n)),
    "rsa-63-bits": withExponent(coprime(2n ** 62n + 1n)),
    "rsa-tiny": oddRsa(n >> 530n, 3n, 3n),
  };
}

function greatestCommonDivisor(a: bigint, b: bigint): bigint {
  return b === 0n ? a : greatestCommonDivisor(b, a % b);
}

/** The extended Euclidean algorithm. */
function inverse(value: bigint, modulus: bigint): bigint {
  let [a, b, x, y] = [value, modulus, 1n, 0n];
  while (b !== 0n) [a, b, x, y] = [b, a % b, y, x - (a / b) * y];
  return ((x % modulus) + modulus) % modulus;
}

/** A kind that signs nothing: the info alone. */
function unsigning(keyInfo: () => DerNode): SigningKey {
  return { kind: "other", keyInfo, sign: (message) => createHash("sha256").update(message).digest() };
}

const dsaInfo = (): DerNode =>
  sequence(sequence(oid("1.2.840.10040.4.1"), sequence(integer(23n), integer(11n), integer(4n))), bits(integer(9n)));

const big = 2n ** 8200n + 1n;

const table: Readonly<Record<string, SigningKey>> = {
  "ec-a": ec("P-256"),
  "ec-b": ec("P-256"),
  "ec-c": ec("P-256"),
  "ec-224": ec("secp224r1"),
  "ec-384": ec("P-384"),
  "ec-521": ec("P-521"),
  "ec-unknown": ec("secp256k1"),
  ed25519: usual("ed25519", generateKeyPairSync("ed25519")),
  "rsa-2048": rsa(2048),
  "rsa-1024": rsa(1024),
  "rsa-1023": rsa(1023, 3),
  "rsa-1025": rsa(1025),
  "rsa-768": rsa(768),
  "rsa-512": rsa(512),
  ...oddRsaKeys(),
  "rsa-8201": unsigning(() => rsaInfo(big, 65537n)),
  "rsa-8192": unsigning(() => rsaInfo(big >> 9n, 65537n)),
  dsa: unsigning(dsaInfo),
  ed448: usual("other", generateKeyPairSync("ed448")),
  x25519: unsigning(() => sequence(sequence(oid("1.3.101.110")), bits(bytes(new Uint8Array(32).fill(7))))),
  "rsa-pss": unsigning(() => sequence(sequence(oid("1.2.840.113549.1.1.10")), bits(bytes([0x30, 0])))),
};

export const keyNames: readonly string[] = Object.keys(table);

export function signingKey(name: string): SigningKey {
  const key = table[name];
  if (key === undefined) throw new Error(`no key is called ${name}`);
  return key;
}
