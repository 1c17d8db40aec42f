// The certificates that Go takes from a `caBundle`, or why it takes none: client-go's rootCertPool and
// createErrorParsingCAData (transport/transport.go), over AppendCertsFromPEM of crypto/x509/cert_pool.go.
import { type Certificate, parseCertificate, summarize } from "./certificate.ts";
import { type GoRules, rulesOf } from "./go-rules.ts";
import { Malformed } from "./malformed.ts";
import { type PemBlock, readPem } from "./pem.ts";
import type { CertificateSummary } from "./verdict.ts";

export type Bundle =
  | { readonly kind: "pool"; readonly certificates: readonly Certificate[] }
  /** The client cannot be built. The reason is in client-go's words, without `unable to load root certificates: `. */
  | { readonly kind: "unusable"; readonly reason: string }
  | { readonly kind: "unknown"; readonly reason: string };

/**
 * Every CERTIFICATE block without headers that parses, in order, exact duplicates once. One is enough: the others may be
 * anything. An empty bundle is the caller's to decide, because client-go then uses the system's roots.
 */
export function readBundle(caBundle: Uint8Array, rules: GoRules): Bundle {
  const reading = readPem(caBundle, rules);
  const certificates = new Map<string, Certificate>();
  let firstFault: Malformed | undefined;
  for (const block of reading.blocks.filter(isCertificate)) {
    const certificate = parseCertificate(block.bytes, rules);
    if (certificate instanceof Malformed) firstFault ??= certificate;
    else if (!certificates.has(certificate.fingerprint)) certificates.set(certificate.fingerprint, certificate);
  }
  if (reading.end === "too-costly") {
    return {
      kind: "unknown",
      reason: "the bundle is made of so many PEM header lines that reading it as Go does takes too long",
    };
  }
  if (certificates.size > 0) return { kind: "pool", certificates: [...certificates.values()] };
  if (firstFault !== undefined) return { kind: "unusable", reason: `failed to parse certificate: ${firstFault.text}` };
  const isJunk = reading.end === "no-further-block";
  return {
    kind: "unusable",
    reason: isJunk ? "unable to parse bytes as PEM block" : "no valid certificate authority data seen",
  };
}

function isCertificate({ type, hasHeaders }: PemBlock): boolean {
  return type === "CERTIFICATE" && !hasHeaders;
}

/** The certificates of PEM text as the newest Go takes them, for people. Empty where it takes none. */
export function summarizePem(pem: Uint8Array): readonly CertificateSummary[] {
  const [newest] = rulesOf("1.26").slice(-1);
  const bundle = newest && readBundle(pem, newest);
  return bundle?.kind === "pool" ? bundle.certificates.map(summarize) : [];
}

/** One certificate in DER, as the newest Go reads it, for people. Undefined where it cannot. */
export function summarizeDer(der: Uint8Array): CertificateSummary | undefined {
  const [newest] = rulesOf("1.26").slice(-1);
  const certificate = newest && parseCertificate(der, newest);
  return certificate === undefined || certificate instanceof Malformed ? undefined : summarize(certificate);
}
