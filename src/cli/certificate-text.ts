// Certificates and their faults in words, for people. Sentences about a whole finding are admission's explain.ts.
import type { CertificateSummary, Rejection } from "../trust/verdict.ts";

/** `2026-05-03 10:00 UTC`: one form for all times on a screen, so that they can be compared by eye. */
export function utc(time: Date): string {
  return `${time.toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

/** `2026-05-03`, in UTC. */
export function utcDay(time: Date): string {
  return time.toISOString().slice(0, 10);
}

/** Enough of a SHA-256 to tell the certificates of one cluster apart. The JSON output has all of it. */
export function shortFingerprint(fingerprint: string): string {
  return fingerprint.slice(0, 16);
}

/**
 * One certificate in one phrase. It names what tells generations apart (fingerprints and dates): KAI's have the same
 * subject and the same serial for ever.
 */
export function describeCertificate(certificate: CertificateSummary): string {
  const { name, notBefore, notAfter, fingerprint, keyFingerprint } = certificate;
  return (
    `${name}, made ${utc(notBefore)}, valid until ${utcDay(notAfter)}, ` +
    `sha256 ${shortFingerprint(fingerprint)}, key ${shortFingerprint(keyFingerprint)}`
  );
}

/** Why a certificate, a candidate issuer or a bundle was refused, as a clause without a full stop. */
export function describeRejection(rejection: Rejection): string {
  switch (rejection.kind) {
    case "bundle-empty":
      return "the bundle is empty, so the API server's system roots are asked instead";
    case "bundle-unparsable":
      return `the bundle cannot be read: ${rejection.detail}`;
    case "chain-unparsable":
      return `served certificate ${rejection.index + 1} cannot be read: ${rejection.detail}`;
    case "rsa-key-too-large":
      return `the RSA key of served certificate ${rejection.index + 1} has ${rejection.bits} bits, more than Go accepts`;
    case "chain-too-long":
      return `the certificates take ${rejection.length} bytes of the handshake, and Go reads ${rejection.limit}`;
    case "refused-public-key":
      return `Go refuses its public key: ${rejection.detail}`;
    case "go-panic":
      return `the API server's Go stops with a panic: ${rejection.detail}`;
    case "unsupported-public-key":
      return `Go's TLS does not support its public key: ${rejection.algorithm}`;
    case "unhandled-critical-extension":
      return `it has critical extensions that Go does not know: ${rejection.oids.join(", ")}`;
    case "expired":
      return `it expired on ${utc(rejection.notAfter)}; the time of the handshake is ${utc(rejection.at)}`;
    case "not-yet-valid":
      return `it is valid from ${utc(rejection.notBefore)} only; the time of the handshake is ${utc(rejection.at)}`;
    case "wrong-name":
      return `it is for ${rejection.names.join(", ") || "no name at all"}, not for ${rejection.wanted}`;
    case "legacy-common-name":
      return `it carries its name only as common name (${rejection.commonName}), and Go reads alternative names only`;
    case "no-issuer-in-bundle":
      return `no certificate of the bundle has its issuer's name, ${rejection.issuerName}`;
    case "same-name-other-key":
      return `same name, other key (${rejection.detail})`;
    case "issuer-cannot-sign":
      return `it may not sign certificates (${rejection.detail})`;
    case "insecure-algorithm":
      return `it is signed with ${rejection.algorithm}, which Go refuses as insecure`;
    case "unsupported-algorithm":
      return `it is signed with ${rejection.algorithm}, which Go does not support`;
    case "not-a-ca":
      return "it is not a CA";
    case "path-too-long":
      return `it allows ${rejection.pathLen} intermediates below it, and there are ${rejection.intermediates}`;
    case "incompatible-key-usage":
      return "its extended key usage does not allow server authentication";
    case "name-constraint":
      return `a name constraint excludes it: ${rejection.detail}`;
    case "invalid-policies":
      return "its certificate policies exclude the path";
    case "already-in-chain":
      return "it is already on the path";
    case "signature-limit-reached":
      return `Go gave up after ${rejection.limit} signature checks`;
  }
}
