// The signature algorithms that Go's crypto/x509 has names for (signatureAlgorithmDetails of x509.go), and which of them an
// AlgorithmIdentifier is. Signatures are checked in signature.ts.
import { tag } from "./der.ts";
import { parseHashIdentifier, parsePssParameters } from "./pss-parameters.ts";
import type { AlgorithmIdentifier } from "./public-key.ts";

export interface SignatureAlgorithm {
  /** As Go prints it. */
  readonly name: string;
  readonly key: "RSA" | "DSA" | "ECDSA" | "Ed25519";
  /** node:crypto's name; undefined for Ed25519, which has its own. */
  readonly hash?: "md5" | "sha1" | "sha256" | "sha384" | "sha512";
  readonly isPss?: true;
}

const rsaSha1: SignatureAlgorithm = { name: "SHA1-RSA", key: "RSA", hash: "sha1" };
const ed25519 = "1.3.101.112";
const rsaPss = "1.2.840.113549.1.1.10";

const byOid: Readonly<Record<string, SignatureAlgorithm>> = {
  "1.2.840.113549.1.1.4": { name: "MD5-RSA", key: "RSA", hash: "md5" },
  "1.2.840.113549.1.1.5": rsaSha1,
  // ISO's number for the same, which Microsoft's makecert wrote.
  "1.3.14.3.2.29": rsaSha1,
  "1.2.840.113549.1.1.11": { name: "SHA256-RSA", key: "RSA", hash: "sha256" },
  "1.2.840.113549.1.1.12": { name: "SHA384-RSA", key: "RSA", hash: "sha384" },
  "1.2.840.113549.1.1.13": { name: "SHA512-RSA", key: "RSA", hash: "sha512" },
  "1.2.840.10040.4.3": { name: "DSA-SHA1", key: "DSA", hash: "sha1" },
  "2.16.840.1.101.3.4.3.2": { name: "DSA-SHA256", key: "DSA", hash: "sha256" },
  "1.2.840.10045.4.1": { name: "ECDSA-SHA1", key: "ECDSA", hash: "sha1" },
  "1.2.840.10045.4.3.2": { name: "ECDSA-SHA256", key: "ECDSA", hash: "sha256" },
  "1.2.840.10045.4.3.3": { name: "ECDSA-SHA384", key: "ECDSA", hash: "sha384" },
  "1.2.840.10045.4.3.4": { name: "ECDSA-SHA512", key: "ECDSA", hash: "sha512" },
  [ed25519]: { name: "Ed25519", key: "Ed25519" },
};

/** getSignatureAlgorithmFromAI; undefined for one that Go does not know. */
export function signatureAlgorithmOf(identifier: AlgorithmIdentifier): SignatureAlgorithm | undefined {
  // RFC 8410 §3: no parameters. Those of the others are not looked at.
  if (identifier.oid === ed25519 && identifier.parameters.length !== 0) return undefined;
  return identifier.oid === rsaPss ? pssAlgorithm(identifier.parameters) : byOid[identifier.oid];
}

const pssByHash: Readonly<Record<string, { readonly algorithm: SignatureAlgorithm; readonly salt: bigint }>> = {
  "2.16.840.1.101.3.4.2.1": {
    algorithm: { name: "SHA256-RSAPSS", key: "RSA", hash: "sha256", isPss: true },
    salt: 32n,
  },
  "2.16.840.1.101.3.4.2.2": {
    algorithm: { name: "SHA384-RSAPSS", key: "RSA", hash: "sha384", isPss: true },
    salt: 48n,
  },
  "2.16.840.1.101.3.4.2.3": {
    algorithm: { name: "SHA512-RSAPSS", key: "RSA", hash: "sha512", isPss: true },
    salt: 64n,
  },
};

/** RFC 4055 §3.1, of which Go takes: MGF1 with the same hash, a salt as long as the hash, the default trailer. */
function pssAlgorithm(der: Uint8Array): SignatureAlgorithm | undefined {
  const parameters = parsePssParameters(der);
  const maskHash = parameters && parseHashIdentifier(parameters.mask.parameters);
  const pss = parameters && pssByHash[parameters.hash.oid];
  if (parameters === undefined || maskHash === undefined || pss === undefined) return undefined;
  const { hash, mask, saltLength, trailerField } = parameters;
  const isExpected =
    mask.oid === "1.2.840.113549.1.1.8" &&
    maskHash.oid === hash.oid &&
    isNullOrAbsent(hash.parameters) &&
    isNullOrAbsent(maskHash.parameters);
  return isExpected && saltLength === pss.salt && trailerField === 1n ? pss.algorithm : undefined;
}

function isNullOrAbsent(parameters: Uint8Array): boolean {
  return parameters.length === 0 || (parameters.length === 2 && parameters[0] === tag.null && parameters[1] === 0);
}
