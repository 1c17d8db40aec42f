// The search for chains from a leaf to the bundle: buildChains of Go's crypto/x509/verify.go, which tries every candidate
// and keeps one reason. Ours keeps all reasons beside it.
import { type Certificate, hintName, summarize } from "./certificate.ts";
import { type CertificatePool, potentialParents } from "./certificate-pool.ts";
import { sameBytes } from "./der.ts";
import type { GoRules } from "./go-rules.ts";
import { quote, toText } from "./go-text.ts";
import { type PublicKey, sameKey } from "./public-key.ts";
import type { Refusal, Stop } from "./refusal.ts";
import { type SignatureOutcome, checkSignatureFrom } from "./signature.ts";
import { type Moment, checkIssuer } from "./validity.ts";
import type { Candidate, CertificateSummary, Rejection } from "./verdict.ts";

/** maxChainSignatureChecks: Go 1.16 took it as the remedy for CVE-2018-16875. */
const maxSignatureChecks = 100;

// More candidates than a person reads, and a bound for hostile bundles; the search itself goes on.
const maxRecorded = 1000;

/** Signatures already checked for this input, by fingerprints. The arithmetic is the costly part. */
export type SignatureMemory = Map<string, SignatureOutcome>;

export interface Search {
  readonly roots: CertificatePool;
  readonly intermediates: CertificatePool;
  readonly moment: Moment;
  readonly signatures: SignatureMemory;
  /** Filled by the search, in the order of judging. */
  readonly candidates: Candidate[];
  checks: number;
}

export type Chain = readonly Certificate[];

export type SearchOutcome =
  /** Leaf first, an entry of the bundle last; in the order found. */
  | { readonly kind: "found"; readonly chains: readonly Chain[] }
  | { readonly kind: "refused"; readonly refusal: Refusal };

/** What became of one level of the search: Go's `err`, `hintErr` and `chains`. */
interface Level {
  readonly child: Certificate;
  readonly chain: Chain;
  readonly found: Chain[];
  /** Of the last candidate whose signature held; hides hints and earlier errors of the level. */
  error: Refusal | undefined;
  /** Of the first candidate whose signature did not hold. */
  hint: { readonly refusal: Refusal; readonly candidate: Certificate } | undefined;
  wasSkipped: boolean;
}

/** All chains above the last certificate of `chain`. */
export function findChains(chain: Chain, child: Certificate, search: Search): SearchOutcome | Stop {
  const level: Level = { child, chain, found: [], error: undefined, hint: undefined, wasSkipped: false };
  const parents = [
    ...potentialParents(search.roots, child).map((candidate) => ({ candidate, from: "bundle" as const })),
    ...potentialParents(search.intermediates, child).map((candidate) => ({ candidate, from: "served" as const })),
  ];
  for (const { candidate, from } of parents) {
    const stop = considerCandidate(level, candidate, from, search);
    if (stop !== undefined) return stop;
    if (search.moment.rules.everyCandidateCounts && level.error?.rejection.kind === "signature-limit-reached") break;
  }
  if (level.found.length > 0) return { kind: "found", chains: level.found };
  return { kind: "refused", refusal: level.error ?? unknownAuthority(level, search.moment.rules) };
}

function considerCandidate(
  level: Level,
  candidate: Certificate,
  from: "bundle" | "served",
  search: Search,
): Stop | undefined {
  const { child, chain } = level;
  const { rules } = search.moment;
  const note = noteOf(search, candidate, from, child);
  if (rules.everyCandidateCounts && isOverLimit(level, search, note)) return undefined;
  const skipped = isSkipped(candidate, chain, rules);
  if (typeof skipped === "object") return skipped;
  if (skipped) {
    level.wasSkipped = true;
    note({ kind: "already-in-chain" });
    return undefined;
  }
  if (!rules.everyCandidateCounts && isOverLimit(level, search, note)) return undefined;
  const signature = checkOnce(child, candidate, search);
  if (signature.kind === "unknown") return { stop: "unknown", reason: signature.reason };
  if (signature.kind === "refused") {
    const rejection = namesakeRejection(child, candidate, signature.rejection);
    level.hint ??= { refusal: { text: signature.text, rejection }, candidate };
    note(rejection);
    return undefined;
  }
  return considerIssuer(level, candidate, from, search, note);
}

/** A candidate that did sign the child: is it valid here, and does it lead to the bundle. */
function considerIssuer(
  level: Level,
  candidate: Certificate,
  from: "bundle" | "served",
  search: Search,
  note: Note,
): Stop | undefined {
  const refusal = checkIssuer(candidate, from, level.chain, search.moment);
  if (refusal !== undefined && "stop" in refusal) return refusal;
  level.error = refusal;
  if (refusal !== undefined) {
    note(refusal.rejection);
    return undefined;
  }
  const chain = [...level.chain, candidate];
  const settle = note();
  if (from === "bundle") {
    level.found.push(chain);
    return undefined;
  }
  const outcome = findChains(chain, candidate, search);
  if ("stop" in outcome) return outcome;
  if (outcome.kind === "found") {
    level.error = undefined;
    level.found.push(...outcome.chains);
  } else {
    level.error = outcome.refusal;
    settle(outcome.refusal.rejection);
  }
  return undefined;
}

/** Writes a candidate down; the function that it gives adds the reason when that is known only later. */
type Note = (rejection?: Rejection) => (rejection: Rejection) => void;

function noteOf(search: Search, candidate: Certificate, from: "bundle" | "served", child: Certificate): Note {
  return (rejection) => {
    const at = search.candidates.length;
    if (at >= maxRecorded) return () => undefined;
    const entry = { certificate: summaryOf(candidate), from, child: child.fingerprint };
    search.candidates.push(rejection === undefined ? entry : { ...entry, rejection });
    return (later) => {
      search.candidates[at] = { ...entry, rejection: later };
    };
  };
}

const summaries = new WeakMap<Certificate, CertificateSummary>();

function summaryOf(certificate: Certificate): CertificateSummary {
  const known = summaries.get(certificate) ?? summarize(certificate);
  summaries.set(certificate, known);
  return known;
}

function isOverLimit(level: Level, search: Search, note: Note): boolean {
  search.checks += 1;
  if (search.checks <= maxSignatureChecks) return false;
  const rejection: Rejection = { kind: "signature-limit-reached", limit: maxSignatureChecks };
  level.error = {
    text: "x509: signature check attempts limit reached while verifying certificate chain",
    rejection,
  };
  note(rejection);
  return true;
}

/**
 * Whether Go passes a candidate over in silence: one whose key it cannot read, or one that is in the chain already in that
 * subject, key and subjectAltName are the same (alreadyInChain; guards against loops of cross-signatures).
 */
function isSkipped(candidate: Certificate, chain: Chain, rules: GoRules): boolean | Stop {
  if (rules.unknownKeysSkipped && candidate.publicKey === undefined) return true;
  for (const certificate of chain) {
    if (!sameBytes(candidate.subject, certificate.subject)) continue;
    const isSame = isSameKey(candidate, certificate, rules);
    if (typeof isSame === "object") return isSame;
    if (!isSame) continue;
    const [own, other] = [candidate.subjectAltName, certificate.subjectAltName];
    if (own === undefined || other === undefined) return own === other;
    if (sameBytes(own, other)) return true;
  }
  return false;
}

function isSameKey(candidate: Certificate, certificate: Certificate, rules: GoRules): boolean | Stop {
  if (rules.keysComparedAsBytes) return sameBytes(candidate.publicKeyInfo, certificate.publicKeyInfo);
  const { publicKey } = candidate;
  if (publicKey === undefined || publicKey.kind === "dsa") return { stop: "panic", text: noEqual(publicKey) };
  return certificate.publicKey !== undefined && sameKey(publicKey, certificate.publicKey);
}

/** DSA keys of Go have no Equal, and neither has a key that it did not read: alreadyInChain asks both for it. */
function noEqual(key: PublicKey | undefined): string {
  return key === undefined
    ? "interface conversion: interface is nil, not x509.pubKeyEqual"
    : "interface conversion: *dsa.PublicKey is not x509.pubKeyEqual: missing method Equal";
}

function checkOnce(child: Certificate, candidate: Certificate, { signatures, moment }: Search): SignatureOutcome {
  // What the rules say to a signature is the same for all patches of a release line.
  const key = `${child.fingerprint} ${candidate.fingerprint}`;
  const known = signatures.get(key);
  if (known !== undefined) return known;
  const outcome = checkSignatureFrom(child, candidate, moment.rules);
  signatures.set(key, outcome);
  return outcome;
}

/**
 * A self-issued child was signed by its own key. A candidate of the same name with another key is then another
 * generation, whatever else is wrong with it: that is what a person has to know.
 */
function namesakeRejection(child: Certificate, candidate: Certificate, rejection: Rejection): Rejection {
  const isSelfIssued = sameBytes(child.issuer, child.subject);
  const isOtherKey = !sameBytes(child.publicKeyInfo, candidate.publicKeyInfo);
  return rejection.kind === "issuer-cannot-sign" && isSelfIssued && isOtherKey
    ? { kind: "same-name-other-key", detail: rejection.detail }
    : rejection;
}

/** UnknownAuthorityError. */
function unknownAuthority({ child, hint, wasSkipped }: Level, rules: GoRules): Refusal {
  const text = "x509: certificate signed by unknown authority";
  if (hint === undefined) {
    const issuerName = toText(child.issuerName.commonName || (child.issuerName.organization ?? ""));
    return { text, rejection: wasSkipped ? { kind: "already-in-chain" } : { kind: "no-issuer-in-bundle", issuerName } };
  }
  const { refusal, candidate } = hint;
  const why = quote(refusal.text, rules.unicode15);
  const name = quote(hintName(candidate.subjectName, candidate.serialNumber), rules.unicode15);
  return {
    text: `${text} (possibly because of ${why} while trying to verify candidate authority certificate ${name})`,
    rejection: refusal.rejection,
  };
}
