// Whether one certificate is valid in its place: isValid of Go's crypto/x509/verify.go, in its order.
import { type Certificate, summarize } from "./certificate.ts";
import { type ConstraintWork, checkCertificateConstraints, notAuthorizedPrefix } from "./constraints-by-certificate.ts";
import type { GoRules } from "./go-rules.ts";
import { rfc3339, toText } from "./go-text.ts";
import { formatTime } from "./go-time.ts";
import type { Refusal, Stop } from "./refusal.ts";

export interface Moment {
  readonly at: Date;
  readonly rules: GoRules;
  readonly work: ConstraintWork;
}

/** The checks that a leaf and every issuer must pass: critical extensions, then time. A moment on either edge is valid. */
export function checkAlone(certificate: Certificate, { at }: Moment): Refusal | undefined {
  if (certificate.unhandledCritical.length > 0) {
    const oids = certificate.unhandledCritical;
    return { text: "x509: unhandled critical extension", rejection: { kind: "unhandled-critical-extension", oids } };
  }
  const { notBefore, notAfter } = certificate;
  const expired = "x509: certificate has expired or is not yet valid: current time";
  if (at < notBefore.date) {
    return {
      text: `${expired} ${rfc3339(at)} is before ${formatTime(notBefore)}`,
      rejection: { kind: "not-yet-valid", subject: summarize(certificate), at, notBefore: notBefore.date },
    };
  }
  if (at > notAfter.date) {
    return {
      text: `${expired} ${rfc3339(at)} is after ${formatTime(notAfter)}`,
      rejection: { kind: "expired", subject: summarize(certificate), at, notAfter: notAfter.date },
    };
  }
  return undefined;
}

/**
 * Those and the checks of an issuer: name constraints (until 1.25), CA or not (of served ones: only versions 1 and 2 come
 * this far without basicConstraints), path length. Every certificate between it and the leaf counts, self-issued ones too.
 */
export function checkIssuer(
  issuer: Certificate,
  from: "bundle" | "served",
  chain: readonly Certificate[],
  moment: Moment,
): Refusal | Stop | undefined {
  const alone = checkAlone(issuer, moment);
  if (alone !== undefined) return alone;
  const { rules, work } = moment;
  const constraint = rules.constraintsAfterSearch ? undefined : checkCertificateConstraints(issuer, chain, rules, work);
  if (constraint?.kind === "unknown") return { stop: "unknown", reason: constraint.reason };
  if (constraint !== undefined) return refuseName(constraint.text);
  const { basicConstraints } = issuer;
  if (from === "served" && basicConstraints?.isCa !== true) {
    return { text: "x509: certificate is not authorized to sign other certificates", rejection: { kind: "not-a-ca" } };
  }
  const pathLen = basicConstraints?.maxPathLength ?? -1;
  const intermediates = chain.length - 1;
  if (pathLen >= 0 && intermediates > pathLen) {
    const text = "x509: too many intermediates for path length constraint";
    return { text, rejection: { kind: "path-too-long", pathLen, intermediates } };
  }
  return undefined;
}

export function refuseName(text: string): Refusal {
  const detail = text.startsWith(notAuthorizedPrefix) ? text.slice(notAuthorizedPrefix.length) : text;
  return { text, rejection: { kind: "name-constraint", detail: toText(detail) } };
}
