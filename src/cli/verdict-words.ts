// A verdict on two files in one sentence with both sides, and what to do about it. Findings of a cluster, where more is
// known (who owns the bundle, which pods serve what), are admission's explain.ts.
import type { CertificateSummary, Rejection, Verdict, VerifyInput } from "../trust/verdict.ts";
import { describeRejection, spokenDay, utc } from "./certificate-text.ts";
import { listed } from "./hook-words.ts";

export interface VerdictWords {
  readonly sentence: string;
  readonly todo: string;
}

/** Both end in a full stop. The verdict must be that of `input`. */
export function wordsFor(verdict: Verdict, input: VerifyInput): VerdictWords {
  switch (verdict.outcome) {
    case "trusted":
      return { sentence: trustedSentence(verdict), todo: trustedTodo };
    case "broken":
      return refusedWords(verdict.cause, verdict, input);
    case "undetermined":
      return { sentence: `It cannot be said: ${verdict.reason}.`, todo: undeterminedTodo };
  }
}

function trustedSentence({ leaf, anchor, earliestExpiry }: Extract<Verdict, { outcome: "trusted" }>): string {
  const how =
    leaf.fingerprint === anchor.fingerprint
      ? "the very certificate that is served is in the bundle"
      : `the bundle's ${anchor.name} vouches for it`;
  return `The API server accepts it until ${utc(earliestExpiry)}: ${how}.`;
}

const trustedTodo =
  "If calls fail all the same, the files are not what the cluster has: look at it with fleetmend scan.";
const undeterminedTodo = "Compare with what the API server itself says: kubectl create --dry-run=server of a pod.";
const bundleTodo =
  "Write the served certificate into the bundle; fleetmend repair does it in an order that keeps admission working.";
const certificateTodo = "Serve another certificate: no bundle can make this one accepted.";

type Broken = Extract<Verdict, { outcome: "broken" }>;

function refusedWords(cause: Rejection, verdict: Broken, { serverName }: VerifyInput): VerdictWords {
  switch (cause.kind) {
    case "same-name-other-key":
    case "issuer-cannot-sign":
    case "no-issuer-in-bundle":
      return { sentence: driftSentence(verdict), todo: bundleTodo };
    case "bundle-empty":
      return {
        sentence:
          "The bundle is empty: the API server asks its system roots, which do not know the served certificate.",
        todo: bundleTodo,
      };
    case "bundle-unparsable":
      return {
        sentence: `The bundle cannot be read (${cause.detail}), so the API server does not even connect.`,
        todo: "The field holds base64 of PEM, encoded once. Write the served certificate into it that way.",
      };
    case "expired":
      return {
        sentence: `${subjectOf(cause.subject, verdict)} expired on ${utc(cause.notAfter)}; the handshake is at ${utc(cause.at)}.`,
        todo: certificateTodo,
      };
    case "not-yet-valid":
      return {
        sentence: `${subjectOf(cause.subject, verdict)} is valid from ${utc(cause.notBefore)} on; the handshake is at ${utc(cause.at)}.`,
        todo: "Wait until then, or set the clock right; a new certificate from the same clock has the same fault.",
      };
    case "wrong-name":
    case "legacy-common-name":
      return {
        sentence: `The served certificate is for another name: ${describeRejection(cause)}.`,
        todo: `Serve one with the alternative name ${serverName}: no bundle can make this one accepted.`,
      };
    case "chain-unparsable":
    case "rsa-key-too-large":
    case "unsupported-public-key":
    case "unhandled-critical-extension":
    case "insecure-algorithm":
    case "unsupported-algorithm":
    case "not-a-ca":
    case "path-too-long":
    case "incompatible-key-usage":
    case "name-constraint":
    case "invalid-policies":
    case "already-in-chain":
    case "signature-limit-reached":
      return {
        sentence: `The API server refuses the served certificate: ${describeRejection(cause)}.`,
        todo: certificateTodo,
      };
  }
}

/** Two generations of a certificate look alike in everything but their dates and keys, so those are what is said. */
function driftSentence({ leaf, bundle }: Broken): string {
  if (leaf === undefined) return "The bundle does not vouch for what is served.";
  const isSameDay = bundle.some(({ notBefore }) => spokenDay(notBefore) === spokenDay(leaf.notBefore));
  const made = ({ notBefore }: CertificateSummary): string =>
    `made on ${isSameDay ? utc(notBefore) : spokenDay(notBefore)}`;
  const held = bundle.length === 1 ? "the certificate" : `${bundle.length} certificates`;
  const isSameName = bundle.some(({ name }) => name === leaf.name);
  const holds = `The bundle holds ${held} ${isSameName ? "" : `of ${listed(bundle.map(({ name }) => name))} `}${listed(bundle.map(made))}`;
  const serves = `served is the one of ${leaf.name} ${made(leaf)}`;
  return `${holds}; ${serves}: ${isSameName ? "same name, different key" : "the bundle does not vouch for it"}.`;
}

function subjectOf({ fingerprint, name }: CertificateSummary, { leaf }: Broken): string {
  return fingerprint === leaf?.fingerprint
    ? "The served certificate"
    : `The certificate ${name}, which vouches for the served one,`;
}
