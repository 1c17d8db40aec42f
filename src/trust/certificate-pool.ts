// A set of certificates by their subject: CertPool of Go's crypto/x509/cert_pool.go.
import type { Certificate } from "./certificate.ts";
import { sameBytes } from "./der.ts";
import { fromBytes } from "./go-text.ts";

export interface CertificatePool {
  /** In order, exact duplicates once. */
  readonly certificates: readonly Certificate[];
  readonly bySubject: ReadonlyMap<string, readonly Certificate[]>;
}

export function makePool(certificates: readonly Certificate[]): CertificatePool {
  const distinct = [...new Map(certificates.map((certificate) => [certificate.fingerprint, certificate])).values()];
  const bySubject = Map.groupBy(distinct, ({ subject }) => fromBytes(subject));
  return { certificates: distinct, bySubject };
}

/**
 * findPotentialParents: those whose subject is the issuer, DER for DER; first those whose key identifier fits (two absent
 * ones fit), then those where one of the two is missing, then the rest. No identifier excludes.
 */
export function potentialParents(pool: CertificatePool, child: Certificate): readonly Certificate[] {
  const namesakes = pool.bySubject.get(fromBytes(child.issuer)) ?? [];
  const { fit, half, differ } = Object.groupBy(namesakes, ({ subjectKeyId }) => {
    if (sameBytes(subjectKeyId, child.authorityKeyId)) return "fit";
    return subjectKeyId.length === 0 || child.authorityKeyId.length === 0 ? "half" : "differ";
  });
  return [...(fit ?? []), ...(half ?? []), ...(differ ?? [])];
}

/** Whether the very same certificate, byte for byte, is in the pool. Go compares SHA-224 of the DER. */
export function isInPool(pool: CertificatePool, { fingerprint }: Certificate): boolean {
  return pool.certificates.some((certificate) => certificate.fingerprint === fingerprint);
}
