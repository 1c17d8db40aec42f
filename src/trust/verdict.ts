// The types of the trust verdict: what `verifyServed` takes and gives. No logic here.

/** A Go release whose crypto/x509 rules are known. A later release is judged as the newest one here. */
export type GoRelease = "1.19" | "1.20" | "1.21" | "1.22" | "1.23" | "1.24" | "1.25" | "1.26";

export interface VerifyInput {
  /** The decoded bytes of the `caBundle` field. Empty means absent: Go then uses the system roots. */
  readonly caBundle: Uint8Array;
  /** What the backend presents in the handshake: DER, leaf first, in the order served. */
  readonly chain: readonly Uint8Array[];
  /** The name that the API server verifies: `<service>.<namespace>.svc`, or the host of `clientConfig.url`. */
  readonly serverName: string;
  /** The time of the handshake. Sub-second precision counts, as in Go. */
  readonly at: Date;
  /** The Go release that the API server was built with (`goVersion` of `GET /version`). */
  readonly go: GoRelease;
  /**
   * Its patch: 13 for `go1.24.13`. Without it, a chain that the patches of the release judge differently is undetermined
   * (few are); 1.19 is then 1.19.8, and 1.26 is 1.26.8.
   */
  readonly patch?: number;
}

/** What a person needs to tell one certificate from another. Serial and subject do not: KAI never changes them. */
export interface CertificateSummary {
  /** SHA-256 of the DER, lower-case hex. The identity of a certificate. */
  readonly fingerprint: string;
  /** SHA-256 of the SubjectPublicKeyInfo, lower-case hex. */
  readonly keyFingerprint: string;
  /** The name as Go's hint prints it: the last CN, else the first O, else `serial:N`. For people, never for comparing. */
  readonly name: string;
  readonly issuerName: string;
  readonly notBefore: Date;
  readonly notAfter: Date;
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
}

/** Why a certificate, a candidate issuer or a bundle was refused; every kind carries both sides of what failed. */
export type Rejection =
  | { readonly kind: "bundle-empty" }
  | { readonly kind: "bundle-unparsable"; readonly detail: string }
  | { readonly kind: "chain-unparsable"; readonly index: number; readonly detail: string }
  | { readonly kind: "rsa-key-too-large"; readonly index: number; readonly bits: number }
  /** Lengths in bytes. */
  | { readonly kind: "chain-too-long"; readonly length: number; readonly limit: number }
  | { readonly kind: "unsupported-public-key"; readonly algorithm: string }
  /** The leaf's key is of a kind that Go knows, and too weak or too odd for it. */
  | { readonly kind: "refused-public-key"; readonly detail: string }
  /** Go's verifier has a bug at this: the API server ends, and starts again. */
  | { readonly kind: "go-panic"; readonly detail: string }
  | { readonly kind: "unhandled-critical-extension"; readonly oids: readonly string[] }
  | { readonly kind: "expired"; readonly subject: CertificateSummary; readonly at: Date; readonly notAfter: Date }
  | {
      readonly kind: "not-yet-valid";
      readonly subject: CertificateSummary;
      readonly at: Date;
      readonly notBefore: Date;
    }
  | { readonly kind: "wrong-name"; readonly wanted: string; readonly names: readonly string[] }
  | { readonly kind: "legacy-common-name"; readonly wanted: string; readonly commonName: string }
  | { readonly kind: "no-issuer-in-bundle"; readonly issuerName: string }
  | { readonly kind: "same-name-other-key"; readonly detail: string }
  | { readonly kind: "issuer-cannot-sign"; readonly detail: string }
  | { readonly kind: "insecure-algorithm"; readonly algorithm: string }
  | { readonly kind: "unsupported-algorithm"; readonly algorithm: string }
  | { readonly kind: "not-a-ca" }
  | { readonly kind: "path-too-long"; readonly pathLen: number; readonly intermediates: number }
  | { readonly kind: "incompatible-key-usage" }
  | { readonly kind: "name-constraint"; readonly detail: string }
  | { readonly kind: "invalid-policies" }
  | { readonly kind: "already-in-chain" }
  | { readonly kind: "signature-limit-reached"; readonly limit: number };

/** A certificate that was considered as the issuer of `child`, and what became of it. */
export interface Candidate {
  readonly certificate: CertificateSummary;
  readonly from: "bundle" | "served";
  /** Fingerprint of the certificate whose issuer was looked for. */
  readonly child: string;
  /** Absent for the candidate on the accepted path. */
  readonly rejection?: Rejection;
}

interface Considered {
  /** The leaf as parsed, where it could be parsed. */
  readonly leaf?: CertificateSummary;
  /** The certificates that Go would take from the bundle, in order, exact duplicates once. */
  readonly bundle: readonly CertificateSummary[];
  /** Every candidate issuer that was judged, in the order of judging. */
  readonly candidates: readonly Candidate[];
}

export type Verdict =
  | (Considered & {
      readonly outcome: "trusted";
      readonly leaf: CertificateSummary;
      /** Leaf first, anchor last. Length one where the leaf itself is in the bundle. */
      readonly path: readonly CertificateSummary[];
      readonly anchor: CertificateSummary;
      /** The first moment at which a certificate of the accepted path expires. */
      readonly earliestExpiry: Date;
    })
  | (Considered & {
      readonly outcome: "broken";
      /**
       * Exactly what Go prints after `Post "…": `, or, where `stage` is `config`, after `could not get REST client: `.
       * Times are in UTC.
       */
      readonly goText: string;
      /** `config`: the client cannot be built and nothing is dialled. `handshake`: the connection is refused. */
      readonly stage: "config" | "handshake";
      readonly cause: Rejection;
    })
  | (Considered & {
      readonly outcome: "undetermined";
      readonly reason: string;
      /** Where releases differ or a rule is not decided: the texts that Go may print, `OK` for accepted. */
      readonly possible?: readonly string[];
    });
