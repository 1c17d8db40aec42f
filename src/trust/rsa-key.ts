// What Go's crypto/rsa has against an RSA key, and RSA verification for keys that OpenSSL does not take.
import { createHash } from "node:crypto";
import { unsignedValue } from "./der.ts";
import type { PublicKey } from "./public-key.ts";
import type { SignatureAlgorithm } from "./signature-algorithm.ts";

type RsaKey = PublicKey & { readonly kind: "rsa" };

/**
 * From Go 1.24 on: checkKeySize of crypto/rsa/rsa.go, then checkPublicKey of crypto/internal/fips140/rsa/rsa.go. Undefined
 * for a key that is taken. In Go's words.
 */
export function rsaKeyFault(key: RsaKey): string | undefined {
  const isEvenModulus = ((key.modulus.at(-1) ?? 0) & 1) === 0;
  if (key.bits < 1024) {
    return `crypto/rsa: ${key.bits}-bit keys are insecure (see https://go.dev/pkg/crypto/rsa#hdr-Minimum_key_size)`;
  }
  if (isEvenModulus) return "crypto/rsa: public modulus is even";
  if (key.exponent < 2n) return "crypto/rsa: public exponent too small or negative";
  if (key.exponent % 2n === 0n) return "crypto/rsa: public exponent is even";
  return key.exponent >= 1n << 31n ? "crypto/rsa: public exponent too large" : undefined;
}

/**
 * Whether OpenSSL verifies with such a key as Go does. It refuses others: a modulus of few or very many bits, an even one,
 * an exponent of one, an even or a large one.
 */
export function isForOpenssl({ bits, modulus, exponent }: RsaKey): boolean {
  const isOdd = ((modulus.at(-1) ?? 0) & 1) === 1;
  return isOdd && bits >= 512 && bits <= 16_384 && exponent >= 3n && exponent < 1n << 31n && exponent % 2n === 1n;
}

/** VerifyPKCS1v15 and VerifyPSS of crypto/rsa until Go 1.23, for any key: they look at the result of the power only. */
export function verifyOddRsa(
  message: Uint8Array,
  signature: Uint8Array,
  key: RsaKey,
  { hash, isPss }: SignatureAlgorithm,
): boolean {
  if (hash === undefined || signature.length !== key.modulus.length) return false;
  const digest = createHash(hash).update(message).digest();
  const power = modularPower(unsignedValue(signature), key.exponent, unsignedValue(key.modulus));
  if (isPss !== true)
    return padPkcs1(digest, hash, signature.length)?.equals(toLength(power, signature.length)) === true;
  const length = Math.ceil((key.bits - 1) / 8);
  return power < 1n << BigInt(length * 8) && isPssOf(digest, hash, toLength(power, length), key.bits - 1);
}

/** By squaring. */
function modularPower(base: bigint, exponent: bigint, modulus: bigint): bigint {
  let result = 1n % modulus;
  for (const bit of exponent.toString(2)) {
    result = (result * result) % modulus;
    if (bit === "1") result = (result * base) % modulus;
  }
  return result;
}

function toLength(value: bigint, length: number): Buffer {
  return Buffer.from(value.toString(16).padStart(length * 2, "0"), "hex");
}

/** The DigestInfo before the hash (RFC 8017 §9.2, note 1). */
const digestInfo: Readonly<Record<string, string>> = {
  sha256: "3031300d060960864801650304020105000420",
  sha384: "3041300d060960864801650304020205000430",
  sha512: "3051300d060960864801650304020305000440",
};

/** EMSA-PKCS1-v1_5 (RFC 8017 §9.2); undefined where the modulus is too short for it. */
function padPkcs1(digest: Buffer, hash: string, length: number): Buffer | undefined {
  const tail = Buffer.concat([Buffer.from(`00${digestInfo[hash] ?? ""}`, "hex"), digest]);
  const filling = length - 2 - tail.length;
  return filling < 8 ? undefined : Buffer.concat([Buffer.from([0, 1]), Buffer.alloc(filling, 0xff), tail]);
}

/** EMSA-PSS-VERIFY (RFC 8017 §9.1.2) with a salt as long as the hash. */
function isPssOf(digest: Buffer, hash: string, encoded: Buffer, bits: number): boolean {
  const { length } = encoded;
  const size = digest.length;
  if (length < 2 * size + 2 || encoded[length - 1] !== 0xbc) return false;
  const spare = 0xff >> (length * 8 - bits);
  if (((encoded[0] ?? 0) & ~spare & 0xff) !== 0) return false;
  const stated = encoded.subarray(length - size - 1, length - 1);
  const mask = mgf1(stated, hash, length - size - 1);
  const block = encoded.subarray(0, length - size - 1).map((byte, at) => byte ^ (mask[at] ?? 0));
  block[0] = (block[0] ?? 0) & spare;
  const salt = block.subarray(block.length - size);
  const isPadded = block.subarray(0, -size - 1).every((byte) => byte === 0) && block.at(-size - 1) === 1;
  const again = createHash(hash).update(Buffer.alloc(8)).update(digest).update(salt).digest();
  return isPadded && again.equals(stated);
}

/** MGF1 (RFC 8017 §B.2.1). */
function mgf1(seed: Uint8Array, hash: string, length: number): Buffer {
  const blocks: Buffer[] = [];
  for (let counter = 0, sum = 0; sum < length; counter += 1) {
    const number = Buffer.alloc(4);
    number.writeUInt32BE(counter);
    const block = createHash(hash).update(seed).update(number).digest();
    blocks.push(block);
    sum += block.length;
  }
  return Buffer.concat(blocks).subarray(0, length);
}
