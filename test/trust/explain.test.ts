import { describe, expect, it } from "vitest";
import { type ExplainContext, type Sides, explainRejection, explainVerdict } from "../../src/trust/explain.ts";
import type { CertificateSummary, Rejection } from "../../src/trust/verdict.ts";

const summary = (made: string, fingerprint: string, name = "binder.kai-scheduler.svc"): CertificateSummary => ({
  fingerprint,
  keyFingerprint: "00",
  name,
  issuerName: name,
  notBefore: new Date(made),
  notAfter: new Date("2036-06-09T00:00:00Z"),
  dnsNames: ["binder.kai-scheduler.svc"],
  ipAddresses: [],
});

const old = summary("2026-05-03T10:00:00Z", "ab12cd34ef");
const leaf = summary("2026-06-09T10:00:00Z", "0011223344");
const ca = summary("2025-01-01T00:00:00Z", "caca0000ff", "test-ca");
const at = new Date("2026-06-10T08:30:00Z");

const context: ExplainContext = {
  serves: "both pods serve",
  bundle: "the bundle",
  serverName: "binder.kai-scheduler.svc",
};
const generations: Sides = { leaf, bundle: [old] };
const issued: Sides = { leaf, bundle: [ca] };

interface Row {
  readonly cause: Rejection;
  readonly sides?: Sides;
  readonly sentence: string;
  readonly todo: string;
}

const renewBundle =
  "Put the certificate that is served, or the CA that issued it, into the bundle beside what is there; fleetmend repair does it without an outage.";
const renewCertificate = "Serve another certificate: no bundle makes the API server accept this one.";

const rows: readonly Row[] = [
  {
    cause: { kind: "same-name-other-key", detail: "it has no basicConstraints" },
    sentence:
      "The bundle holds the certificate made on 3 May 2026 (sha256 ab12cd34…), and both pods serve the one made on 9 June 2026 (sha256 00112233…): same name, different key.",
    todo: renewBundle,
  },
  {
    cause: { kind: "same-name-other-key", detail: "crypto/rsa: verification error" },
    sides: {
      ...issued,
      candidates: [
        {
          certificate: ca,
          from: "bundle",
          child: leaf.fingerprint,
          rejection: { kind: "same-name-other-key", detail: "crypto/rsa: verification error" },
        },
      ],
    },
    sentence:
      "The bundle holds “test-ca”, made on 1 January 2025 (sha256 caca0000…), and both pods serve the certificate made on 9 June 2026 (sha256 00112233…): same name, different key from the one that signed it.",
    todo: renewBundle,
  },
  {
    cause: { kind: "issuer-cannot-sign", detail: "its key usage lacks keyCertSign" },
    sides: issued,
    sentence:
      "The bundle holds “test-ca”, made on 1 January 2025 (sha256 caca0000…), which bears the issuer's name but may not sign certificates (its key usage lacks keyCertSign), and both pods serve the certificate made on 9 June 2026 (sha256 00112233…).",
    todo: renewBundle,
  },
  {
    cause: { kind: "already-in-chain" },
    sentence:
      "The bundle holds “binder.kai-scheduler.svc”, made on 3 May 2026 (sha256 ab12cd34…), which has the name and the key of what both pods serve, the certificate made on 9 June 2026 (sha256 00112233…), but is another certificate: Go takes it for the same and looks no further.",
    todo: renewBundle,
  },
  {
    cause: { kind: "no-issuer-in-bundle", issuerName: "test-ca" },
    sides: { leaf, bundle: [old, ca, old, ca, old] },
    sentence:
      "The bundle holds “binder.kai-scheduler.svc”, made on 3 May 2026 (sha256 ab12cd34…); “test-ca”, made on 1 January 2025 (sha256 caca0000…); “binder.kai-scheduler.svc”, made on 3 May 2026 (sha256 ab12cd34…); 2 more, and both pods serve the certificate made on 9 June 2026 (sha256 00112233…), issued by “test-ca”: nothing in the bundle bears that name.",
    todo: renewBundle,
  },
  {
    cause: { kind: "bundle-empty" },
    sides: { leaf, bundle: [] },
    sentence:
      "The bundle is empty, so the API server asks the root certificates of its own system, and none of them issued what both pods serve: the certificate made on 9 June 2026 (sha256 00112233…).",
    todo: renewBundle,
  },
  {
    cause: { kind: "bundle-unparsable", detail: "unable to parse bytes as PEM block" },
    sides: { bundle: [] },
    sentence:
      "The bundle cannot be read (unable to parse bytes as PEM block), so the API server does not even connect.",
    todo: "Write PEM into it, base64-encoded once; fleetmend repair does it.",
  },
  {
    cause: { kind: "chain-unparsable", index: 1, detail: "x509: malformed tbs certificate" },
    sentence: "Both pods serve a chain whose second certificate Go cannot read: x509: malformed tbs certificate.",
    todo: renewCertificate,
  },
  {
    cause: { kind: "rsa-key-too-large", index: 0, bits: 9216 },
    sentence:
      "Both pods serve a chain whose first certificate has an RSA key of 9216 bits, and Go takes no more than 8192.",
    todo: renewCertificate,
  },
  {
    cause: { kind: "unsupported-public-key", algorithm: "<nil>" },
    sentence: "Both pods serve a certificate whose key is of a kind that Go cannot use (<nil>).",
    todo: "Serve a certificate with an RSA, ECDSA or Ed25519 key.",
  },
  {
    cause: { kind: "chain-too-long", length: 300_000, limit: 262_144 },
    sentence: "Both pods serve certificates that take 300000 bytes of the handshake, and Go reads no more than 262144.",
    todo: "Serve the leaf and the certificates between it and the bundle, and nothing else.",
  },
  {
    cause: { kind: "refused-public-key", detail: "crypto/rsa: 768-bit keys are insecure" },
    sentence:
      "Both pods serve the certificate made on 9 June 2026 (sha256 00112233…), whose key Go refuses (crypto/rsa: 768-bit keys are insecure).",
    todo: "Serve a certificate with an RSA key of 2048 bits, or an ECDSA or Ed25519 key.",
  },
  {
    cause: { kind: "go-panic", detail: "interface conversion: interface is nil, not x509.pubKeyEqual" },
    sentence:
      "Both pods serve the certificate made on 9 June 2026 (sha256 00112233…), and an issuer of its name has a key at which the API server's Go stops with a panic (interface conversion: interface is nil, not x509.pubKeyEqual).",
    todo: "Take that certificate out of the bundle and out of what is served, and update the API server.",
  },
  {
    cause: { kind: "unhandled-critical-extension", oids: ["1.2.3"] },
    sentence:
      "A certificate between what both pods serve and the bundle has a critical extension that Go does not understand: 1.2.3.",
    todo: "Issue it again without that extension, or with the extension not critical.",
  },
  {
    cause: { kind: "expired", subject: leaf, at, notAfter: new Date("2026-06-10T08:00:00Z") },
    sentence:
      "Both pods serve the certificate made on 9 June 2026 (sha256 00112233…), which expired on 10 June 2026 08:00:00 UTC, and the handshake is at 10 June 2026 08:30:00 UTC.",
    todo: renewCertificate,
  },
  {
    cause: { kind: "expired", subject: ca, at, notAfter: new Date("2026-06-10T08:00:00Z") },
    sides: issued,
    sentence:
      "What both pods serve leads to “test-ca”, made on 1 January 2025 (sha256 caca0000…) in the bundle or beside it, which expired on 10 June 2026 08:00:00 UTC, and the handshake is at 10 June 2026 08:30:00 UTC.",
    todo: "Renew that CA, and put the new one into the bundle beside the old one.",
  },
  {
    cause: { kind: "not-yet-valid", subject: leaf, at, notBefore: new Date("2026-06-10T08:31:00Z") },
    sentence:
      "Both pods serve the certificate made on 9 June 2026 (sha256 00112233…), which is valid from 10 June 2026 08:31:00 UTC on, and the handshake is at 10 June 2026 08:30:00 UTC.",
    todo: "Wait until then, or set the clock right of the machine that is wrong: a new certificate would have the same fault.",
  },
  {
    cause: { kind: "wrong-name", wanted: "binder.kai-scheduler.svc", names: ["a.svc", "b.svc"] },
    sentence: "The API server asks for binder.kai-scheduler.svc, and both pods serve a certificate for a.svc; b.svc.",
    todo: "Serve a certificate with the alternative name binder.kai-scheduler.svc: no bundle makes the API server accept this one.",
  },
  {
    cause: { kind: "legacy-common-name", wanted: "binder.kai-scheduler.svc", commonName: "*.kai-scheduler.svc" },
    sentence:
      "The API server asks for binder.kai-scheduler.svc, and both pods serve a certificate that has the name in its common name (*.kai-scheduler.svc) only, where Go has not looked since 1.15.",
    todo: "Serve a certificate with the alternative name binder.kai-scheduler.svc.",
  },
  {
    cause: { kind: "insecure-algorithm", algorithm: "SHA1-RSA" },
    sides: issued,
    sentence:
      "Both pods serve the certificate made on 9 June 2026 (sha256 00112233…), signed with SHA1-RSA, which Go does not trust; only the identical certificate in the bundle would do.",
    todo: "Have it signed again with SHA-256, or put it into the bundle itself.",
  },
  {
    cause: { kind: "unsupported-algorithm", algorithm: "unknown" },
    sides: issued,
    sentence:
      "Both pods serve the certificate made on 9 June 2026 (sha256 00112233…), and Go cannot check that “test-ca”, made on 1 January 2025 (sha256 caca0000…) signed it (unknown).",
    todo: "Have it signed again with RSA, ECDSA or Ed25519 and SHA-256, or put it into the bundle itself.",
  },
  {
    cause: { kind: "not-a-ca" },
    sentence: "Both pods serve a chain with an issuer that is no CA: it is an X.509 certificate of version 1 or 2.",
    todo: "Issue the chain again, the issuer with basicConstraints CA:TRUE, or put that issuer into the bundle.",
  },
  {
    cause: { kind: "path-too-long", pathLen: 0, intermediates: 1 },
    sentence: "A CA allows no CAs below it, and between it and what both pods serve there is 1.",
    todo: "Issue the CA again with a longer path, or put one of the CAs below it into the bundle.",
  },
  {
    cause: { kind: "incompatible-key-usage" },
    sentence:
      "A certificate between what both pods serve and the bundle lists extended key usages without serverAuth, which the API server asks for.",
    todo: "Issue that certificate, or the CA above it, again with serverAuth or with no extended key usage.",
  },
  {
    cause: { kind: "name-constraint", detail: 'DNS name "a.svc" is not permitted by any constraint' },
    sentence:
      'A CA may not issue for a name of the certificate that both pods serve: DNS name "a.svc" is not permitted by any constraint.',
    todo: "Have the certificate issued by a CA that may, or serve one without that name.",
  },
  {
    cause: { kind: "invalid-policies" },
    sentence: "The certificate policies of the chain that both pods serve do not fit those that the bundle asks for.",
    todo: "Issue the chain again with policies that fit, or with none.",
  },
  {
    cause: { kind: "signature-limit-reached", limit: 100 },
    sentence:
      "Go gave up after 100 signatures: the bundle and what both pods serve hold too many certificates of the same name.",
    todo: "Take those that nothing serves any more out of the bundle.",
  },
];

// The compiler sees to it that this list is whole.
const kinds: Record<Rejection["kind"], true> = {
  "already-in-chain": true,
  "bundle-empty": true,
  "bundle-unparsable": true,
  "chain-unparsable": true,
  "chain-too-long": true,
  expired: true,
  "go-panic": true,
  "incompatible-key-usage": true,
  "insecure-algorithm": true,
  "invalid-policies": true,
  "issuer-cannot-sign": true,
  "legacy-common-name": true,
  "name-constraint": true,
  "no-issuer-in-bundle": true,
  "not-a-ca": true,
  "not-yet-valid": true,
  "path-too-long": true,
  "refused-public-key": true,
  "rsa-key-too-large": true,
  "same-name-other-key": true,
  "signature-limit-reached": true,
  "unhandled-critical-extension": true,
  "unsupported-algorithm": true,
  "unsupported-public-key": true,
  "wrong-name": true,
};

describe("explainRejection", () => {
  it("is tested for every kind of rejection", () => {
    expect([...new Set(rows.map(({ cause }) => cause.kind))].sort()).toEqual(Object.keys(kinds).sort());
  });

  it.each(rows)("says $cause.kind in one sentence and what to do", ({ cause, sides = generations, sentence, todo }) => {
    expect(explainRejection(cause, sides, context)).toEqual({ sentence, todo });
  });
});

describe("explainVerdict", () => {
  const considered = { leaf, bundle: [leaf], candidates: [] };

  it("names the very certificate where it is in the bundle", () => {
    const verdict = {
      ...considered,
      outcome: "trusted",
      path: [leaf],
      anchor: leaf,
      earliestExpiry: leaf.notAfter,
    } as const;
    expect(explainVerdict(verdict, context)).toEqual({
      sentence:
        "The API server accepts it until 9 June 2036: both pods serve the certificate made on 9 June 2026 (sha256 00112233…), and the bundle holds that very certificate.",
      todo: "Nothing.",
    });
  });

  it("names the anchor where a CA in the bundle vouches", () => {
    const verdict = {
      ...considered,
      outcome: "trusted",
      path: [leaf, ca],
      anchor: ca,
      earliestExpiry: new Date("2027-01-01T00:00:00Z"),
    } as const;
    expect(explainVerdict(verdict, { ...context, serves: "the file served.pem holds" }).sentence).toBe(
      "The API server accepts it until 1 January 2027: the file served.pem holds the certificate made on 9 June 2026 (sha256 00112233…), and the bundle holds “test-ca”, made on 1 January 2025 (sha256 caca0000…), which vouches for it.",
    );
  });

  it("says why where it cannot be said", () => {
    const verdict = { ...considered, outcome: "undetermined", reason: "the bundle is empty" } as const;
    expect(explainVerdict(verdict, context)).toEqual({
      sentence: "It cannot be said whether the API server accepts what both pods serve: the bundle is empty.",
      todo: "Ask the API server itself: create something that the webhook must see, with --dry-run=server.",
    });
  });

  it("explains a refusal by its cause", () => {
    const verdict = {
      leaf,
      bundle: [old],
      candidates: [],
      outcome: "broken",
      goText: "x509: certificate signed by unknown authority",
      stage: "handshake",
      cause: { kind: "same-name-other-key", detail: "it has no basicConstraints" },
    } as const;
    expect(explainVerdict(verdict, context).sentence).toBe(
      "The bundle holds the certificate made on 3 May 2026 (sha256 ab12cd34…), and both pods serve the one made on 9 June 2026 (sha256 00112233…): same name, different key.",
    );
  });

  it("tells two generations of one day apart by the time of day", () => {
    const cause = { kind: "same-name-other-key", detail: "it has no basicConstraints" } as const;
    const before = { ...old, notBefore: new Date("2026-06-09T08:12:41Z") };
    const after = { ...leaf, notBefore: new Date("2026-06-09T08:30:05Z") };
    expect(explainRejection(cause, { leaf: after, bundle: [before] }, context).sentence).toBe(
      "The bundle holds the certificate made on 9 June 2026 08:12:41 UTC (sha256 ab12cd34…), and both pods serve the one made on 9 June 2026 08:30:05 UTC (sha256 00112233…): same name, different key.",
    );
  });
});
