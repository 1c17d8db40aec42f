// The certificates of a bundle or a `tls.crt`, as the planner names and compares them. What they are worth is the verdict's
// business.
import { readBundle, summarizeDer, summarizePem } from "../trust/bundle.ts";
import { rulesOf } from "../trust/go-rules.ts";

/** The certificates that Go takes from these bytes, as DER, in order; none where it takes none. */
export function certificatesIn(pem: Uint8Array): readonly Uint8Array[] {
  const newest = rulesOf("1.26").at(-1);
  const bundle = newest && readBundle(pem, newest);
  return bundle?.kind === "pool" ? bundle.certificates.map(({ raw }) => raw) : [];
}

/** SHA-256 of the DER, lower-case hex; of a certificate that cannot be read, none (and such a one is never added). */
export function fingerprintOf(der: Uint8Array): string {
  return summarizeDer(der)?.fingerprint ?? "unreadable";
}

/** Enough of a fingerprint to tell two certificates of one cluster apart. */
export function shortFingerprint(der: Uint8Array): string {
  return fingerprintOf(der).slice(0, 12);
}

/** For people: `the certificate made on 2026-06-09 (483c3be74744)`, of several each. */
export function describeCertificates(pem: Uint8Array): string {
  const each = summarizePem(pem).map(
    ({ fingerprint, notBefore }) =>
      `the certificate made on ${notBefore.toISOString().slice(0, 10)} (${fingerprint.slice(0, 12)})`,
  );
  return each.length === 0 ? "nothing" : each.join(" and ");
}
