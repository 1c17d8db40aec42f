// The verdict: what a kube-apiserver, a Go TLS client, says to a served chain for a `caBundle`, word for word. Follows
// verifyServerCertificate of crypto/tls/handshake_client.go and Verify of crypto/x509/verify.go step by step.
// Not checked: that the server holds the leaf's key, revocation, anything of TLS beside certificates.
import { type Bundle, readBundle } from "./bundle.ts";
import { type Certificate, parseCertificate, summarize } from "./certificate.ts";
import { keepValidChains } from "./chain-filter.ts";
import { isInPool, makePool } from "./certificate-pool.ts";
import { type Chain, type Search, type SearchOutcome, type SignatureMemory, findChains } from "./chain-search.ts";
import { type GoRules, rulesOf } from "./go-rules.ts";
import { type GoString, toGoString, toText } from "./go-text.ts";
import { type HostnameFault, verifyHostname } from "./hostname.ts";
import { Malformed } from "./malformed.ts";
import type { Refusal, Stop } from "./refusal.ts";
import { rsaKeyFault } from "./rsa-key.ts";
import { checkAlone } from "./validity.ts";
import type { Candidate, Rejection, Verdict, VerifyInput } from "./verdict.ts";

/**
 * Judges a served chain as the API server's Go release does. Never throws for bytes, however hostile; throws a RangeError
 * for a time that is no time. `trusted` and `broken` are exact; where Go's answer is not known, or differs between the
 * patches of the release and no patch is given, it is `undetermined` with what Go may print.
 */
export function verifyServed(input: VerifyInput): Verdict {
  if (Number.isNaN(input.at.getTime())) throw new RangeError("verifyServed: the time of the handshake is not a time");
  const signatures: SignatureMemory = new Map();
  const verdicts = rulesOf(input.go, input.patch).map((rules) => judge({ ...input, rules, signatures }));
  const newest = verdicts.at(-1);
  if (newest === undefined) throw new RangeError(`verifyServed: no rules are known for Go ${input.go}`);
  const possible = [...new Set(verdicts.flatMap(answersOf))];
  if (possible.length <= 1 && verdicts.every(({ outcome }) => outcome === newest.outcome)) return newest;
  const open = verdicts.find(({ outcome }) => outcome === "undetermined");
  const reason =
    open?.outcome === "undetermined"
      ? open.reason
      : `the patches of Go ${input.go} answer differently: give the patch that the API server was built with`;
  const { bundle, candidates } = newest;
  return { ...leafOf(newest), outcome: "undetermined", reason, possible, bundle, candidates };
}

function answersOf(verdict: Verdict): readonly string[] {
  switch (verdict.outcome) {
    case "trusted":
      return ["OK"];
    case "broken":
      return [verdict.goText];
    case "undetermined":
      return verdict.possible ?? [];
  }
}

function leafOf({ leaf }: Verdict): Pick<Verdict, "leaf"> {
  return leaf === undefined ? {} : { leaf };
}

interface Case extends VerifyInput {
  readonly rules: GoRules;
  readonly signatures: SignatureMemory;
}

/** What has been looked at when the verdict falls. */
interface Seen {
  readonly leaf?: Certificate;
  readonly bundle: readonly Certificate[];
  readonly candidates: readonly Candidate[];
}

function judge(input: Case): Verdict {
  const bundle: Bundle =
    input.caBundle.length === 0 ? { kind: "pool", certificates: [] } : readBundle(input.caBundle, input.rules);
  const nothing: Seen = { bundle: [], candidates: [] };
  if (bundle.kind === "unknown") return undetermined(nothing, bundle.reason);
  if (bundle.kind === "unusable") {
    const detail = toText(bundle.reason);
    const goText = `unable to load root certificates: ${detail}`;
    return broken(nothing, { goText, stage: "config", cause: { kind: "bundle-unparsable", detail } });
  }
  return judgeServed(input, bundle.certificates);
}

/** verifyServerCertificate of crypto/tls: every served certificate is read before one is judged. */
function judgeServed(input: Case, bundle: readonly Certificate[]): Verdict {
  const { rules } = input;
  const seen: Seen = { bundle, candidates: [] };
  if (input.chain.length === 0) return undetermined(seen, "the backend presented no certificate", emptyChainTexts);
  if (input.serverName === "") return broken(seen, withoutName);
  const tooLong = chainTooLong(input.chain, rules);
  if (tooLong !== undefined) return broken(seen, inHandshake(tooLong.text, tooLong.rejection));
  const served: Certificate[] = [];
  for (const [index, der] of input.chain.entries()) {
    const certificate = parseCertificate(der, rules);
    const refusal =
      certificate instanceof Malformed ? unparsable(index, certificate) : tooLarge(index, certificate, rules);
    if (refusal !== undefined) return broken(withLeaf(seen, served[0]), inHandshake(refusal.text, refusal.rejection));
    if (!(certificate instanceof Malformed)) served.push(certificate);
  }
  const [leaf, ...intermediates] = served;
  if (leaf === undefined) throw new Error("verifyServed: a chain of at least one certificate has no leaf");
  return judgeLeaf(input, leaf, intermediates, bundle);
}

// Of TLS 1.3 and TLS 1.2: readServerCertificate of handshake_client_tls13.go, doFullHandshake of handshake_client.go.
const emptyChainTexts = [
  "tls: received empty certificates message",
  "tls: received unexpected handshake message of type *tls.certificateMsg when waiting for *tls.certificateMsg",
];

const withoutName: Refused = {
  goText: "tls: either ServerName or InsecureSkipVerify must be specified in the tls.Config",
  stage: "handshake",
  cause: { kind: "wrong-name", wanted: "", names: [] },
};

/**
 * readHandshakeBytes of crypto/tls/conn.go: no longer message is read (maxHandshake, maxHandshakeCertificateMsg). The length
 * is that of TLS 1.3 without extensions (RFC 8446 §4.4.2), which Go's servers and OpenSSL's send; of TLS 1.2 it is less by
 * one, and by two for each certificate.
 */
function chainTooLong(chain: readonly Uint8Array[], rules: GoRules): Refusal | undefined {
  const limit = rules.longCertificateMessages ? 262_144 : 65_536;
  const length = chain.reduce((sum, der) => sum + 3 + der.length + 2, 1 + 3);
  if (length <= limit) return undefined;
  const text = `tls: handshake message of length ${length} bytes exceeds maximum of ${limit} bytes`;
  return { text, rejection: { kind: "chain-too-long", length, limit } };
}

function unparsable(index: number, { text }: Malformed): Refusal {
  const rejection: Rejection = { kind: "chain-unparsable", index, detail: toText(text) };
  return { text: `tls: failed to parse certificate from server: ${text}`, rejection };
}

/** defaultMaxRSAKeySize of crypto/tls. */
const maxServedRsaBits = 8192;

function tooLarge(index: number, { publicKey }: Certificate, rules: GoRules): Refusal | undefined {
  if (!rules.servedRsaKeyLimit || publicKey?.kind !== "rsa" || publicKey.bits <= maxServedRsaBits) return undefined;
  const text = `tls: server sent certificate containing RSA key larger than ${maxServedRsaBits} bits`;
  return { text, rejection: { kind: "rsa-key-too-large", index, bits: publicKey.bits } };
}

/** Verify: leaf by itself, host name, then chains. */
function judgeLeaf(
  input: Case,
  leaf: Certificate,
  intermediates: readonly Certificate[],
  bundle: readonly Certificate[],
): Verdict {
  const { rules, at, signatures } = input;
  const moment = { at, rules, work: { characters: 0 } };
  const roots = makePool(bundle);
  const search: Search = {
    roots,
    intermediates: makePool(intermediates),
    moment,
    signatures,
    candidates: [],
    checks: 0,
  };
  const seen: Seen = { leaf, bundle, candidates: search.candidates };
  const hostname = verifyHostname(leaf, toGoString(input.serverName), rules);
  const refusal = checkAlone(leaf, moment) ?? (hostname && refuseHostname(hostname));
  if (refusal !== undefined) return broken(seen, refusedByVerify(refusal, rules));
  const found: SearchOutcome | Stop = isInPool(roots, leaf)
    ? { kind: "found", chains: [[leaf]] }
    : findChains([leaf], leaf, search);
  if ("stop" in found) return stopped(seen, found);
  const kept = found.kind === "found" ? keepValidChains(found.chains, rules) : found;
  if ("stop" in kept) return stopped(seen, kept);
  if (kept.kind === "found") return judgeKey(seen, leaf, kept.chains, rules);
  return input.caBundle.length === 0
    ? withoutBundle(input, seen, kept.refusal)
    : broken(seen, refusedByVerify(kept.refusal, rules));
}

/**
 * An absent bundle means the system's roots, which we are not told. No public CA may issue for `.svc` (an internal
 * name, which the CA/Browser Forum Baseline Requirements forbid), so none of them can have issued such a leaf.
 */
function withoutBundle({ serverName, rules }: Case, seen: Seen, refusal: Refusal): Verdict {
  const refused = refusedByVerify(refusal, rules);
  if (/\.svc\.?$/i.test(serverName)) return broken(seen, { ...refused, cause: { kind: "bundle-empty" } });
  const reason =
    "the bundle is empty: the API server then uses the root certificates of its system, which we are not told";
  return undetermined(seen, reason, ["OK", refused.goText]);
}

/**
 * What crypto/tls asks of the leaf's key after Verify, as far as the certificate alone tells. Where a server shows such a
 * leaf, Go says this; a server may fail before it does, and then Go repeats the server's alert.
 */
function judgeKey(seen: Seen, leaf: Certificate, chains: readonly Chain[], rules: GoRules): Verdict {
  const { publicKey } = leaf;
  const unsupported = "tls: server's certificate contains an unsupported type of public key: ";
  if (publicKey === undefined || publicKey.kind === "dsa") {
    const algorithm = publicKey === undefined ? "<nil>" : "*dsa.PublicKey";
    return broken(seen, inHandshake(unsupported + algorithm, { kind: "unsupported-public-key", algorithm }));
  }
  const detail = publicKey.kind === "rsa" && rules.rsaKeyChecks ? rsaKeyFault(publicKey) : undefined;
  if (detail !== undefined) {
    const text = `tls: invalid signature by the server certificate: ${detail}`;
    return broken(seen, inHandshake(text, { kind: "refused-public-key", detail }));
  }
  return trusted(seen, leaf, chains);
}

function refuseHostname({ text, wanted, names, legacyCommonName }: HostnameFault): Refusal {
  const rejection: Rejection =
    legacyCommonName === undefined
      ? { kind: "wrong-name", wanted: toText(wanted), names }
      : { kind: "legacy-common-name", wanted: toText(wanted), commonName: toText(legacyCommonName) };
  return { text, rejection };
}

interface Refused {
  readonly goText: string;
  readonly stage: "config" | "handshake";
  readonly cause: Rejection;
}

/** The one place where what is said in a handshake becomes text for people: certificates' own bytes may be quoted in it. */
function inHandshake(goText: GoString, cause: Rejection): Refused {
  return { goText: toText(goText), stage: "handshake", cause };
}

/** From 1.20 on crypto/tls wraps what Verify says (CertificateVerificationError). */
function refusedByVerify({ text, rejection }: Refusal, rules: GoRules): Refused {
  return inHandshake(`${rules.verifyPrefix ? "tls: failed to verify certificate: " : ""}${text}`, rejection);
}

function withLeaf(seen: Seen, leaf: Certificate | undefined): Seen {
  return leaf === undefined ? seen : { ...seen, leaf };
}

function considered({ leaf, bundle, candidates }: Seen) {
  const shown = { bundle: bundle.map(summarize), candidates };
  return leaf === undefined ? shown : { ...shown, leaf: summarize(leaf) };
}

/** A panic in crypto/tls is in a goroutine of its own, so that nothing recovers it: the API server ends. */
function stopped(seen: Seen, stop: Stop): Verdict {
  if (stop.stop === "unknown") return undetermined(seen, stop.reason);
  return broken(seen, inHandshake(`panic: ${stop.text}`, { kind: "go-panic", detail: stop.text }));
}

function broken(seen: Seen, refused: Refused): Verdict {
  return { ...considered(seen), outcome: "broken", ...refused };
}

function undetermined(seen: Seen, reason: string, possible?: readonly string[]): Verdict {
  const verdict = { ...considered(seen), outcome: "undetermined" as const, reason };
  return possible === undefined ? verdict : { ...verdict, possible };
}

/** Of several chains the one that holds longest: as long as one is left, Go accepts. */
function trusted(seen: Seen, leaf: Certificate, chains: readonly Chain[]): Verdict {
  const expiries = chains.map((chain) => Math.min(...chain.map(({ notAfter }) => notAfter.date.getTime())));
  const longest = Math.max(...expiries);
  const path = chains[expiries.indexOf(longest)] ?? [leaf];
  const anchor = path.at(-1) ?? leaf;
  return {
    ...considered(seen),
    outcome: "trusted",
    leaf: summarize(leaf),
    path: path.map(summarize),
    anchor: summarize(anchor),
    earliestExpiry: new Date(longest),
  };
}
