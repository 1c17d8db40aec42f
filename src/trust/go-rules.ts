// Where Go's TLS client changed its mind from release to release, as a table, each row read in the sources of the
// releases before and after. What a rule does stands with the code that follows it.
import type { GoRelease } from "./verdict.ts";

/** The first patch of each release line that has a change: `[24, 8]` is Go 1.24.8. Later lines have it from their start. */
type Since = readonly (readonly [minor: number, patch: number])[];

const changes = {
  /** crypto/tls: every error of Verify becomes `tls: failed to verify certificate: …`. */
  verifyPrefix: [[20, 0]],
  /** crypto/tls: a served RSA key above 8192 bits is refused (CVE-2023-29409). */
  servedRsaKeyLimit: [
    [19, 12],
    [20, 7],
    [21, 0],
  ],
  /** crypto/tls: a Certificate message may be of 256 KiB, four times as long as others. */
  longCertificateMessages: [[22, 0]],
  /** crypto/rsa on crypto/internal/bigmod: a signature that is not below the modulus is refused; a modulus must be odd. */
  rsaByBigmod: [[20, 0]],
  /** crypto/rsa: keys below 1024 bits, even or very large exponents and even moduli have errors of their own. */
  rsaKeyChecks: [[24, 0]],
  /** x509: the hint about SHA-1 no longer says how to switch it on. */
  sha1WithoutAdvice: [[24, 0]],
  /** x509: a candidate whose key is of an unknown kind is passed over in silence (CVE-2024-24783). */
  unknownKeysSkipped: [
    [21, 8],
    [22, 1],
  ],
  /** x509: two keys are the same if their SubjectPublicKeyInfo is, byte for byte (CVE-2025-58188). */
  keysComparedAsBytes: [
    [24, 8],
    [25, 2],
  ],
  /** x509: every candidate counts against the 100 signature checks, and the search stops there. */
  everyCandidateCounts: [
    [25, 9],
    [26, 2],
  ],
  /** x509: RFC 5280 policies are evaluated, and policyConstraints, policyMappings and inhibitAnyPolicy are understood. */
  policies: [[24, 0]],
  /** x509: policies are judged before extended key usages (CVE-2025-22874). */
  policiesBeforeUsages: [[24, 4]],
  /** x509: the policy graph is pruned once after all mappings that delete, not after each. */
  policyPrunedOnce: [
    [25, 9],
    [26, 2],
  ],
  /** x509: the error about chains that were all dropped says "candidate chains". */
  candidateChainsNamed: [[26, 0]],
  /** x509: chains with a key that the Go project distrusts are dropped. */
  distrustedKeys: [[26, 10]],

  /** cryptobyte: an object identifier must be in its shortest form. */
  shortestOid: [[21, 0]],
  /** x509: a certificate policy may have components of any size. */
  policyOidOfAnySize: [[22, 0]],
  duplicatePolicyRefused: [[24, 0]],
  /** x509: `invalid basic constraints` without the letter of the place. */
  basicConstraintsWithoutLetter: [[21, 0]],
  /** x509: a negative pathLenConstraint is refused. */
  pathLengthUnsigned: [[25, 0]],
  negativeSerialRefused: [[23, 0]],
  /** x509: the error about an extension that stands twice names it. */
  duplicateExtensionNamed: [[23, 0]],
  /** x509: key identifiers and authorityInfoAccess must not be critical. */
  criticalIdentifiersRefused: [[23, 0]],
  /** x509: T61String is read as Latin-1 and BMPString must not hold surrogates or noncharacters. */
  stringsAsBoringssl: [[25, 0]],
  /** time.Parse: a zone is at most 24 hours from UTC. */
  zoneHoursLimited: [[23, 0]],
  /** x509 through crypto/ecdsa.ParseUncompressedPublicKey: other words for a bad point. */
  pointErrorsOfNistec: [[26, 0]],

  /** x509: domainToReverseLabels sees the empty label of a leading dot. */
  leadingDotIsLabel: [[23, 0]],
  /** x509: domainNameValid checks constraints and the host of a URI (CVE-2025-58187). */
  domainNameValid: [
    [24, 8],
    [25, 2],
  ],
  /** x509: the same without the checks of length, and with those of characters (issue 75835). */
  domainNameLenient: [
    [24, 9],
    [25, 3],
  ],
  /** x509: an IPv6 address with a zone counts as an address in a URI (CVE-2024-45341). */
  zonedAddressIsAddress: [
    [22, 11],
    [23, 5],
    [24, 0],
  ],
  /** net/url: brackets hold a valid IPv6 address (CVE-2025-47912). */
  bracketsHoldIpv6: [
    [24, 8],
    [25, 2],
  ],
  /** net/url: an IPv4-mapped address may stand in them. */
  bracketsHoldMapped: [
    [24, 10],
    [25, 4],
  ],
  /** net/url: nothing may stand before them. */
  bracketsFirst: [
    [25, 8],
    [26, 1],
  ],
  /** net/url: one colon in a host, except for databases. */
  oneColonInHost: [[26, 0]],
  /** net/url: one colon in a host, for http and https only. */
  oneColonInHttpHost: [[26, 2]],

  /** x509: a bare `*` matches nothing. */
  bareWildcardRefused: [[23, 0]],
  /** x509: 100 names and more are counted, not listed (CVE-2025-61729). */
  manyNamesCounted: [
    [24, 11],
    [25, 5],
  ],

  /** x509: name constraints bind all certificates below, and no longer those of the issuer's own subjectAltName. */
  constraintsBindWholeChain: [[21, 0]],
  /** x509: an excluded subtree refuses a wildcard that reaches into it (CVE-2025-61727). */
  wildcardExclusion: [
    [24, 11],
    [25, 5],
  ],
  /** x509: the same, and no longer every wildcard where a single label is excluded. */
  wildcardExclusionOfLabels: [
    [24, 13],
    [25, 7],
  ],
  /** x509: the same, and only where both have as many labels. */
  wildcardExclusionSameDepth: [[25, 9]],
  /** x509/constraints.go: name constraints are sorted, and judged after the chains are built. */
  constraintsAfterSearch: [[26, 0]],
  /** x509/constraints.go: full mailboxes are compared with their local part. */
  constraintMailboxes: [[26, 1]],
  /** x509/constraints.go: wildcards are held against exclusions regardless of case. */
  wildcardExclusionAnyCase: [[26, 2]],

  /** encoding/pem: the last BEGIN before an END counts (CVE-2025-61723). */
  pemLastBegin: [
    [24, 8],
    [25, 2],
  ],
  /** encoding/pem: after a bad block the search goes on behind its END. */
  pemBehindEnd: [
    [24, 10],
    [25, 4],
  ],
  /** strconv.IsPrint knows Unicode 15. */
  unicode15: [[21, 0]],
} as const satisfies Record<string, Since>;

/** Changes that one patch had and the next took back. */
const shortLived = {
  /** x509: a DNS name or mailbox in subjectAltName must be well formed (taken back for issue 75828). */
  namesWellFormed: [
    [24, 8],
    [25, 2],
  ],
} as const satisfies Record<string, Since>;

/** What one Go version does: each change of the tables above, made or not. */
export type GoRules = Readonly<Record<keyof typeof changes | keyof typeof shortLived, boolean>>;

/**
 * The rules of a release. With the patch (`go1.24.13` has 13) they are one set. Without it they are those of every patch
 * of that line, oldest first, equal ones once, because they differ and we are not told; except for the two ends of the
 * range, whose answers are those of the patch that Go itself was asked in (test/fuzz): 1.19.8, which Debian carries, and
 * 1.26.8.
 */
export function rulesOf(release: GoRelease, patch?: number): readonly GoRules[] {
  const minor = Number(release.slice(2));
  if (patch !== undefined) return [rulesAt(minor, patch)];
  return ofUnknownPatch.get(minor) ?? [];
}

function rulesAt(minor: number, patch: number): GoRules {
  const made = Object.entries(changes).map(([name, since]) => [name, isMade(since, minor, patch)]);
  const brief = Object.entries(shortLived).map(([name, at]) => [
    name,
    at.some(([atMinor, atPatch]) => atMinor === minor && atPatch === patch),
  ]);
  return Object.fromEntries([...made, ...brief]) as GoRules;
}

function isMade(since: Since, minor: number, patch: number): boolean {
  const line = since.find(([lineMinor]) => lineMinor === minor);
  if (line !== undefined) return patch >= line[1];
  return minor > Math.max(...since.map(([lineMinor]) => lineMinor));
}

const newestMinor = 26;

const everyPatch: Readonly<Record<number, readonly GoRules[]>> = Object.fromEntries(
  Array.from({ length: newestMinor - 18 }, (_, index) => index + 19).map((minor) => [minor, distinctRules(minor)]),
);

const ofUnknownPatch: ReadonlyMap<number, readonly GoRules[]> = new Map(
  Object.entries(everyPatch).map(([name, rules]) => {
    const minor = Number(name);
    return [minor, minor === 19 || minor === newestMinor ? [rulesAt(minor, 8)] : rules];
  }),
);

function distinctRules(minor: number): readonly GoRules[] {
  const boundaries = [...Object.values(changes), ...Object.values(shortLived)]
    .flatMap((since: Since) => since.filter(([lineMinor]) => lineMinor === minor).map(([, patch]) => patch))
    .flatMap((patch) => [patch, patch + 1]);
  const patches = [...new Set([0, ...boundaries])].sort((a, b) => a - b);
  const sets = new Map(patches.map((patch) => [JSON.stringify(rulesAt(minor, patch)), rulesAt(minor, patch)]));
  return [...sets.values()];
}
