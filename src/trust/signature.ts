// Whether one certificate signed another: CheckSignatureFrom and checkSignature of Go's crypto/x509/x509.go, with the
// arithmetic done by node:crypto. Validity and chains are judged elsewhere.
import { type KeyObject, constants, createPublicKey, verify } from "node:crypto";
import type { Certificate } from "./certificate.ts";
import { unsignedValue } from "./der.ts";
import type { GoRules } from "./go-rules.ts";
import type { PublicKey } from "./public-key.ts";
import { isForOpenssl, rsaKeyFault, verifyOddRsa } from "./rsa-key.ts";
import type { SignatureAlgorithm } from "./signature-algorithm.ts";
import type { Rejection } from "./verdict.ts";

/** `unknown`: node:crypto cannot answer, or Go's answer is not known. */
export type SignatureOutcome =
  | { readonly kind: "valid" }
  | { readonly kind: "refused"; readonly text: string; readonly rejection: Rejection }
  | { readonly kind: "unknown"; readonly reason: string };

/** Bit 5 of keyUsage (RFC 5280 §4.2.1.3). */
const keyCertSign = 1 << 5;

/**
 * CheckSignatureFrom: may the parent sign certificates, and did it sign this one. The parent's validity, names and path
 * length are not looked at; its key usage counts only where one bit is set; versions 1 and 2 need no basicConstraints.
 */
export function checkSignatureFrom(child: Certificate, parent: Certificate, rules: GoRules): SignatureOutcome {
  const { basicConstraints, keyUsage, version, publicKey } = parent;
  if (basicConstraints === undefined ? version === 3 : !basicConstraints.isCa) {
    const why =
      basicConstraints === undefined ? "it has no basicConstraints" : "its basicConstraints say that it is no CA";
    return cannotSign(why);
  }
  if (keyUsage !== 0 && (keyUsage & keyCertSign) === 0) return cannotSign("its key usage lacks keyCertSign");
  const { signatureAlgorithm: algorithm } = child;
  if (publicKey === undefined || algorithm === undefined) return unsupported(algorithm?.name ?? "unknown");
  if (algorithm.hash === "md5" || algorithm.hash === "sha1") return insecure(algorithm, rules);
  const keyKind = keyKinds[publicKey.kind];
  // Go knows no DSA signatures: the switch of checkSignature has no branch for such a key.
  if (keyKind === undefined) return unsupported("DSA");
  if (algorithm.key !== keyKind.algorithm) return otherKeyKind(algorithm, keyKind.goType);
  return checkBytes(child, publicKey, algorithm, rules);
}

function cannotSign(detail: string): SignatureOutcome {
  const text = "x509: invalid signature: parent certificate cannot sign this kind of certificate";
  return { kind: "refused", text, rejection: { kind: "issuer-cannot-sign", detail } };
}

function unsupported(algorithm: string): SignatureOutcome {
  const text = "x509: cannot verify signature: algorithm unimplemented";
  return { kind: "refused", text, rejection: { kind: "unsupported-algorithm", algorithm } };
}

/** Before the key is tried. RFC 6194, and Go 1.18's release notes. */
function insecure({ name, key, hash }: SignatureAlgorithm, rules: GoRules): SignatureOutcome {
  const isOverridable = hash === "sha1" && key !== "DSA" && !rules.sha1WithoutAdvice;
  const advice = isOverridable ? " (temporarily override with GODEBUG=x509sha1=1)" : "";
  const text = `x509: cannot verify signature: insecure algorithm ${name}${advice}`;
  return { kind: "refused", text, rejection: { kind: "insecure-algorithm", algorithm: name } };
}

const keyKinds: Readonly<
  Record<PublicKey["kind"], { readonly algorithm: SignatureAlgorithm["key"]; readonly goType: string } | undefined>
> = {
  rsa: { algorithm: "RSA", goType: "*rsa.PublicKey" },
  ecdsa: { algorithm: "ECDSA", goType: "*ecdsa.PublicKey" },
  ed25519: { algorithm: "Ed25519", goType: "ed25519.PublicKey" },
  dsa: undefined,
};

function otherKeyKind({ key }: SignatureAlgorithm, goType: string): SignatureOutcome {
  return otherKey(`x509: signature algorithm specifies an ${key} public key, but have public key of type ${goType}`);
}

function otherKey(text: string): SignatureOutcome {
  return { kind: "refused", text, rejection: { kind: "same-name-other-key", detail: text } };
}

const verificationFailure: Readonly<Record<Exclude<PublicKey["kind"], "dsa">, string>> = {
  rsa: "crypto/rsa: verification error",
  ecdsa: "x509: ECDSA verification failure",
  ed25519: "x509: Ed25519 verification failure",
};

function checkBytes(
  child: Certificate,
  key: PublicKey,
  algorithm: SignatureAlgorithm,
  rules: GoRules,
): SignatureOutcome {
  if (key.kind === "dsa") return unsupported("DSA");
  const fault = key.kind === "rsa" && rules.rsaKeyChecks ? rsaKeyFault(key) : undefined;
  if (fault !== undefined) return otherKey(fault);
  if (key.kind === "rsa" && key.bits > maxRsaBits) {
    return { kind: "unknown", reason: `an issuer has an RSA key of ${key.bits} bits, which takes too long to try` };
  }
  const isValid =
    key.kind === "rsa" && !isForOpenssl(key)
      ? verifyOddRsa(child.tbs, child.signature, key, algorithm)
      : verifyByOpenssl(child, key, algorithm, rules);
  return isValid ? { kind: "valid" } : otherKey(verificationFailure[key.kind]);
}

/** Go has no such limit, but would not be done before its 10 seconds for a handshake are over. */
const maxRsaBits = 65_536;

function verifyByOpenssl(
  child: Certificate,
  key: Exclude<PublicKey, { kind: "dsa" }>,
  algorithm: SignatureAlgorithm,
  rules: GoRules,
): boolean {
  const padding =
    algorithm.isPss === true
      ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
      : {};
  const signature = key.kind === "rsa" ? reduceSignature(child.signature, key, rules) : child.signature;
  return verify(algorithm.hash, child.tbs, { key: keyObjectOf(key), ...padding }, signature);
}

/** Before crypto/rsa used bigmod, a signature of the right length counted even where it was not below the modulus. */
function reduceSignature(signature: Uint8Array, key: PublicKey & { kind: "rsa" }, rules: GoRules): Uint8Array {
  const isCandidate = !rules.rsaByBigmod && signature.length === key.modulus.length;
  if (!isCandidate || Buffer.compare(signature, key.modulus) < 0) return signature;
  const hex = (unsignedValue(signature) % unsignedValue(key.modulus)).toString(16).padStart(signature.length * 2, "0");
  return new Uint8Array(Buffer.from(hex, "hex"));
}

const keyObjects = new WeakMap<PublicKey, KeyObject>();

/** Built from what Go reads of a key, not from its DER: OpenSSL reads other things out of odd DER. */
function keyObjectOf(key: Exclude<PublicKey, { kind: "dsa" }>): KeyObject {
  const known = keyObjects.get(key);
  if (known !== undefined) return known;
  const made = makeKeyObject(key);
  keyObjects.set(key, made);
  return made;
}

function makeKeyObject(key: Exclude<PublicKey, { kind: "dsa" }>): KeyObject {
  switch (key.kind) {
    case "rsa": {
      const exponent = key.exponent.toString(16);
      const n = Buffer.from(key.modulus).toString("base64url");
      const e = Buffer.from(exponent.padStart(exponent.length + (exponent.length % 2), "0"), "hex").toString(
        "base64url",
      );
      return createPublicKey({ key: { kty: "RSA", n, e }, format: "jwk" });
    }
    case "ecdsa":
      return fromKeyInfo(key.curve.algorithmDer, key.point);
    case "ed25519":
      // RFC 8410 §4: the identifier of Ed25519, without parameters.
      return fromKeyInfo(new Uint8Array([0x30, 5, 6, 3, 0x2b, 0x65, 0x70]), key.bytes);
  }
}

/** SubjectPublicKeyInfo of a key of less than 256 bytes, which those of all curves are. */
function fromKeyInfo(algorithm: Uint8Array, bytes: Uint8Array): KeyObject {
  const bitString = [3, ...derLength(bytes.length + 1), 0, ...bytes];
  const content = [...algorithm, ...bitString];
  return createPublicKey({
    key: Buffer.from([0x30, ...derLength(content.length), ...content]),
    format: "der",
    type: "spki",
  });
}

function derLength(length: number): number[] {
  return length < 0x80 ? [length] : [0x81, length];
}
