// A verdict in plain words: one sentence with both sides of the comparison that failed, and what to do about it. Who owns
// a bundle, and how a cluster is repaired, is not known here.
import type { Candidate, CertificateSummary, Rejection, Verdict } from "./verdict.ts";

/** Who the two sides are, as the openings of clauses. */
export interface ExplainContext {
  /** `both pods serve`, `the file served.pem holds`. */
  readonly serves: string;
  /** `the bundle`, `the file bundle.pem`. */
  readonly bundle: string;
  /** The name that the API server verifies. */
  readonly serverName: string;
}

export interface Explanation {
  /** One sentence, from a capital letter to a full stop. */
  readonly sentence: string;
  /** What to do, likewise. */
  readonly todo: string;
}

/** What was compared. All of it is in a verdict; a finding carries it too. */
export interface Sides {
  readonly leaf?: CertificateSummary;
  readonly bundle: readonly CertificateSummary[];
  readonly candidates?: readonly Candidate[];
}

export function explainVerdict(verdict: Verdict, context: ExplainContext): Explanation {
  switch (verdict.outcome) {
    case "trusted":
      return explainTrust(verdict, context);
    case "broken":
      return explainRejection(verdict.cause, verdict, context);
    case "undetermined":
      return {
        sentence: `It cannot be said whether the API server accepts what ${context.serves}: ${verdict.reason}.`,
        todo: "Ask the API server itself: create something that the webhook must see, with --dry-run=server.",
      };
  }
}

function explainTrust(
  { leaf, anchor, earliestExpiry }: Extract<Verdict, { outcome: "trusted" }>,
  { serves, bundle }: ExplainContext,
): Explanation {
  const anchored =
    anchor.fingerprint === leaf.fingerprint
      ? `${bundle} holds that very certificate`
      : `${bundle} holds ${named(anchor)}, which vouches for it`;
  return sentenceAndTodo(
    `the API server accepts it until ${day(earliestExpiry)}: ${serves} ${madeOn(leaf)}, and ${anchored}`,
    "Nothing.",
  );
}

const renewBundle =
  "Put the certificate that is served, or the CA that issued it, into the bundle beside what is there; fleetmend repair does it without an outage.";
const renewCertificate = "Serve another certificate: no bundle makes the API server accept this one.";

/** The words for each reason. `cause` is what Go's one error stands for; what else was tried is in the candidates. */
export function explainRejection(cause: Rejection, sides: Sides, context: ExplainContext): Explanation {
  const { serves, bundle, serverName } = context;
  const served = sides.leaf === undefined ? `a certificate` : madeOn(sides.leaf);
  switch (cause.kind) {
    case "bundle-empty":
      return sentenceAndTodo(
        `${bundle} is empty, so the API server asks the root certificates of its own system, and none of them issued what ${serves}: ${served}`,
        renewBundle,
      );
    case "bundle-unparsable":
      return sentenceAndTodo(
        `${bundle} cannot be read (${cause.detail}), so the API server does not even connect`,
        "Write PEM into it, base64-encoded once; fleetmend repair does it.",
      );
    case "chain-unparsable":
      return sentenceAndTodo(
        `${serves} a chain whose ${ordinal(cause.index)} certificate Go cannot read: ${cause.detail}`,
        renewCertificate,
      );
    case "rsa-key-too-large":
      return sentenceAndTodo(
        `${serves} a chain whose ${ordinal(cause.index)} certificate has an RSA key of ${cause.bits} bits, and Go takes no more than 8192`,
        renewCertificate,
      );
    case "unsupported-public-key":
      return sentenceAndTodo(
        `${serves} a certificate whose key is of a kind that Go cannot use (${cause.algorithm})`,
        "Serve a certificate with an RSA, ECDSA or Ed25519 key.",
      );
    case "chain-too-long":
      return sentenceAndTodo(
        `${serves} certificates that take ${cause.length} bytes of the handshake, and Go reads no more than ${cause.limit}`,
        "Serve the leaf and the certificates between it and the bundle, and nothing else.",
      );
    case "refused-public-key":
      return sentenceAndTodo(
        `${serves} ${served}, whose key Go refuses (${cause.detail})`,
        "Serve a certificate with an RSA key of 2048 bits, or an ECDSA or Ed25519 key.",
      );
    case "go-panic":
      return sentenceAndTodo(
        `${serves} ${served}, and an issuer of its name has a key at which the API server's Go stops with a panic (${cause.detail})`,
        "Take that certificate out of the bundle and out of what is served, and update the API server.",
      );
    case "unhandled-critical-extension":
      return sentenceAndTodo(
        `a certificate between what ${serves} and ${bundle} has a critical extension that Go does not understand: ${cause.oids.join(", ")}`,
        "Issue it again without that extension, or with the extension not critical.",
      );
    case "expired":
    case "not-yet-valid":
      return explainTime(cause, sides, context);
    case "wrong-name":
      return sentenceAndTodo(
        `the API server asks for ${cause.wanted}, and ${serves} a certificate for ${listed(cause.names)}`,
        `Serve a certificate with the alternative name ${serverName}: no bundle makes the API server accept this one.`,
      );
    case "legacy-common-name":
      return sentenceAndTodo(
        `the API server asks for ${cause.wanted}, and ${serves} a certificate that has the name in its common name (${cause.commonName}) only, where Go has not looked since 1.15`,
        `Serve a certificate with the alternative name ${serverName}.`,
      );
    case "no-issuer-in-bundle":
      return sentenceAndTodo(
        `${bundle} holds ${listed(sides.bundle.map(named))}, and ${serves} ${served}, issued by ${quoted(cause.issuerName)}: nothing in ${bundle} bears that name`,
        renewBundle,
      );
    case "same-name-other-key":
    case "issuer-cannot-sign":
    case "already-in-chain":
    case "insecure-algorithm":
    case "unsupported-algorithm":
      return explainCandidate(cause, sides, context);
    case "not-a-ca":
      return sentenceAndTodo(
        `${serves} a chain with an issuer that is no CA: it is an X.509 certificate of version 1 or 2`,
        "Issue the chain again, the issuer with basicConstraints CA:TRUE, or put that issuer into the bundle.",
      );
    case "path-too-long":
      return sentenceAndTodo(
        `a CA allows ${counted(cause.pathLen, "CA")} below it, and between it and what ${serves} there ${cause.intermediates === 1 ? "is" : "are"} ${cause.intermediates}`,
        "Issue the CA again with a longer path, or put one of the CAs below it into the bundle.",
      );
    case "incompatible-key-usage":
      return sentenceAndTodo(
        `a certificate between what ${serves} and ${bundle} lists extended key usages without serverAuth, which the API server asks for`,
        "Issue that certificate, or the CA above it, again with serverAuth or with no extended key usage.",
      );
    case "name-constraint":
      return sentenceAndTodo(
        `a CA may not issue for a name of the certificate that ${serves}: ${cause.detail}`,
        "Have the certificate issued by a CA that may, or serve one without that name.",
      );
    case "invalid-policies":
      return sentenceAndTodo(
        `the certificate policies of the chain that ${serves} do not fit those that ${bundle} asks for`,
        "Issue the chain again with policies that fit, or with none.",
      );
    case "signature-limit-reached":
      return sentenceAndTodo(
        `Go gave up after ${cause.limit} signatures: ${bundle} and what ${serves} hold too many certificates of the same name`,
        "Take those that nothing serves any more out of the bundle.",
      );
  }
}

type TimeFault = Extract<Rejection, { kind: "expired" | "not-yet-valid" }>;

function explainTime(cause: TimeFault, { leaf }: Sides, { serves, bundle }: ExplainContext): Explanation {
  const isLeaf = leaf === undefined || cause.subject.fingerprint === leaf.fingerprint;
  const what = isLeaf
    ? `${serves} ${madeOn(cause.subject)}, which`
    : `what ${serves} leads to ${named(cause.subject)} in ${bundle} or beside it, which`;
  if (cause.kind === "expired") {
    return sentenceAndTodo(
      `${what} expired on ${instant(cause.notAfter)}, and the handshake is at ${instant(cause.at)}`,
      isLeaf ? renewCertificate : "Renew that CA, and put the new one into the bundle beside the old one.",
    );
  }
  return sentenceAndTodo(
    `${what} is valid from ${instant(cause.notBefore)} on, and the handshake is at ${instant(cause.at)}`,
    "Wait until then, or set the clock right of the machine that is wrong: a new certificate would have the same fault.",
  );
}

type CandidateFault = Extract<
  Rejection,
  {
    kind:
      | "same-name-other-key"
      | "issuer-cannot-sign"
      | "already-in-chain"
      | "insecure-algorithm"
      | "unsupported-algorithm";
  }
>;

/** A certificate of the right name that is not the issuer. The candidate is the first that fell for this reason. */
function explainCandidate(cause: CandidateFault, sides: Sides, { serves, bundle }: ExplainContext): Explanation {
  const fallen = sides.candidates?.find(({ rejection }) => rejection?.kind === cause.kind);
  const candidate = fallen?.certificate ?? sides.bundle[0];
  const held = candidate === undefined ? "a certificate of the issuer's name" : named(candidate);
  const served = sides.leaf === undefined ? "a certificate" : madeOn(sides.leaf);
  switch (cause.kind) {
    case "same-name-other-key": {
      // Of one name on both sides: two generations of one self-signed certificate, as KAI makes them.
      const isGeneration = candidate !== undefined && candidate.name === sides.leaf?.name;
      const holds = isGeneration ? madeOn(candidate, sides.leaf) : held;
      const one = isGeneration
        ? madeOn(sides.leaf ?? candidate, candidate).replace("the certificate", "the one")
        : served;
      return sentenceAndTodo(
        `${bundle} holds ${holds}, and ${serves} ${one}: same name, different key${isGeneration ? "" : " from the one that signed it"}`,
        renewBundle,
      );
    }
    case "issuer-cannot-sign":
      return sentenceAndTodo(
        `${bundle} holds ${held}, which bears the issuer's name but may not sign certificates (${cause.detail}), and ${serves} ${served}`,
        renewBundle,
      );
    case "already-in-chain":
      return sentenceAndTodo(
        `${bundle} holds ${held}, which has the name and the key of what ${serves}, ${served}, but is another certificate: Go takes it for the same and looks no further`,
        renewBundle,
      );
    case "insecure-algorithm":
      return sentenceAndTodo(
        `${serves} ${served}, signed with ${cause.algorithm}, which Go does not trust; only the identical certificate in ${bundle} would do`,
        "Have it signed again with SHA-256, or put it into the bundle itself.",
      );
    case "unsupported-algorithm":
      return sentenceAndTodo(
        `${serves} ${served}, and Go cannot check that ${held} signed it (${cause.algorithm})`,
        "Have it signed again with RSA, ECDSA or Ed25519 and SHA-256, or put it into the bundle itself.",
      );
  }
}

function sentenceAndTodo(words: string, todo: string): Explanation {
  return { sentence: `${words.charAt(0).toUpperCase()}${words.slice(1)}.`, todo };
}

/**
 * `the certificate made on 3 May 2026 (sha256 ab12cd34…)`: what tells KAI's generations apart. With the time of day where
 * the other one was made on the same: two helm upgrades in a row make two.
 */
function madeOn(certificate: CertificateSummary, other?: CertificateSummary): string {
  const isSameDay = other !== undefined && day(other.notBefore) === day(certificate.notBefore);
  const made = isSameDay ? instant(certificate.notBefore) : day(certificate.notBefore);
  return `the certificate made on ${made} (${shortFingerprint(certificate)})`;
}

function named(certificate: CertificateSummary): string {
  return `${quoted(certificate.name)}, made on ${day(certificate.notBefore)} (${shortFingerprint(certificate)})`;
}

function shortFingerprint({ fingerprint }: CertificateSummary): string {
  return `sha256 ${fingerprint.slice(0, 8)}…`;
}

function quoted(name: string): string {
  return name === "" ? "no name" : `“${name}”`;
}

const months = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
] as const;

function day(date: Date): string {
  return `${date.getUTCDate()} ${months[date.getUTCMonth()] ?? ""} ${date.getUTCFullYear()}`;
}

function instant(date: Date): string {
  return `${day(date)} ${date.toISOString().slice(11, 19)} UTC`;
}

/** At most three, and how many more. */
function listed(items: readonly string[]): string {
  if (items.length === 0) return "no name at all";
  const shown = items.slice(0, 3);
  const more = items.length - shown.length;
  return [...shown, ...(more > 0 ? [`${more} more`] : [])].join("; ");
}

function counted(count: number, noun: string): string {
  return count === 1 ? `1 ${noun}` : `${count === 0 ? "no" : count} ${noun}s`;
}

const ordinals = ["first", "second", "third", "fourth", "fifth"] as const;

function ordinal(index: number): string {
  return ordinals[index] ?? `${index + 1}th`;
}
