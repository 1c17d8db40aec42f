import { describe, expect, it } from "vitest";
import { type Certificate, parseCertificate, summarize } from "../../src/trust/certificate.ts";
import { type GoRules, rulesOf } from "../../src/trust/go-rules.ts";
import { Malformed } from "../../src/trust/malformed.ts";
import { mintCertificate, mintKaiCertificate } from "../../src/trust/mint.ts";
import type { GoRelease } from "../../src/trust/verdict.ts";
import {
  type Forgery,
  alternativeNames,
  bitString,
  commonName,
  dns,
  email,
  extension,
  forge,
  ip,
  nameConstraints,
  oid,
  sequence,
  small,
  text,
  tlv,
  uri,
  version,
} from "./forge.ts";

function rules(release: GoRelease, patch: number): GoRules {
  const [only] = rulesOf(release, patch);
  if (only === undefined) throw new Error(`no rules for Go ${release}.${patch}`);
  return only;
}

const go119 = rules("1.19", 8);
const go126 = rules("1.26", 8);

function errorOf(der: Uint8Array, go: GoRules): string {
  const parsed = parseCertificate(der, go);
  return parsed instanceof Malformed ? parsed.text : "OK";
}

const replaced = (der: Uint8Array, from: string, to: string): Uint8Array =>
  new Uint8Array(Buffer.from(Buffer.from(der).toString("hex").replace(from, to), "hex"));

interface Row {
  readonly name: string;
  readonly odd: Forgery;
  /** What both say, or what Go 1.19 says. */
  readonly says: string;
  readonly says126?: string;
}

const rsaKeyInfo = (key: Uint8Array, parameters: readonly number[] = [5, 0]): Uint8Array =>
  sequence(sequence(oid("1.2.840.113549.1.1.1"), parameters), bitString(key));
const ecKeyInfo = (curve: string, point: readonly number[]): Uint8Array =>
  sequence(sequence(oid("1.2.840.10045.2.1"), oid(curve)), bitString(point));
const p256 = "1.2.840.10045.3.1.7";
const zeros = (length: number): number[] => Array<number>(length).fill(0);
const validity = (from: Uint8Array, to = text(0x17, "270101000000Z")): Forgery => ({ validity: sequence(from, to) });
const extended = (...extensions: readonly Uint8Array[]): Forgery => ({ extensions });
const named = (tag: number, value: string): Forgery => ({ subject: commonName(value, tag) });

// Each says what Go 1.19.8 and Go 1.26.8 say.
const rows: readonly Row[] = [
  { name: "is a good one", odd: {}, says: "OK" },
  { name: "is of version 1 with extensions, which are ignored", odd: { version: new Uint8Array() }, says: "OK" },
  { name: "is of version 4", odd: { version: version(4) }, says: "x509: invalid version" },
  { name: "has a negative version", odd: { version: version(0) }, says: "x509: malformed version" },
  {
    name: "has a negative serial number",
    odd: { serial: small(-5) },
    says: "OK",
    says126: "x509: negative serial number",
  },
  { name: "has the serial number 0", odd: { serial: small(0) }, says: "OK" },
  { name: "pads its serial number", odd: { serial: tlv(2, [0, 1]) }, says: "x509: malformed serial number" },
  {
    name: "names two signature algorithms",
    odd: { outerAlgorithm: sequence(oid("1.2.840.10045.4.3.3")) },
    says: "x509: inner and outer signature algorithm identifiers don't match",
  },
  { name: "has trailing bytes in the signed part", odd: { tail: new Uint8Array([5, 0]) }, says: "OK" },
  { name: "has trailing bytes behind the signature", odd: { end: new Uint8Array([5, 0]) }, says: "OK" },
  // Names.
  {
    name: "has an @ in a PrintableString",
    odd: named(0x13, "a@b"),
    says: "x509: invalid RDNSequence: invalid attribute value: invalid PrintableString",
  },
  { name: "has * and & in a PrintableString", odd: named(0x13, "*&"), says: "OK" },
  {
    name: "has bytes that are not UTF-8 in a UTF8String",
    odd: named(0x0c, "\xe9"),
    says: "x509: invalid RDNSequence: invalid attribute value: invalid UTF-8 string",
  },
  {
    name: "has a byte beyond ASCII in an IA5String",
    odd: named(0x16, "\xe9"),
    says: "x509: invalid RDNSequence: invalid attribute value: invalid IA5String",
  },
  {
    name: "has a letter in a NumericString",
    odd: named(0x12, "1a"),
    says: "x509: invalid RDNSequence: invalid attribute value: invalid NumericString",
  },
  {
    name: "has a BMPString of odd length",
    odd: named(0x1e, "\0a\0"),
    says: "x509: invalid RDNSequence: invalid attribute value: invalid BMPString",
  },
  {
    name: "has a surrogate in a BMPString",
    odd: named(0x1e, "\xd8\x00"),
    says: "OK",
    says126: "x509: invalid RDNSequence: invalid attribute value: invalid BMPString",
  },
  {
    name: "has an INTEGER in a name",
    odd: named(0x02, "\x01"),
    says: "x509: invalid RDNSequence: invalid attribute value: unsupported string type: 2",
  },
  { name: "has an empty subject", odd: { subject: sequence() }, says: "OK" },
  // Times.
  { name: "has a UTCTime without seconds", odd: validity(text(0x17, "2601010000Z")), says: "OK" },
  { name: "has a GeneralizedTime with a zone", odd: validity(text(0x18, "20260101000000+0100")), says: "OK" },
  {
    name: "has a UTCTime with a zone of zero",
    odd: validity(text(0x17, "260101000000+0000")),
    says: "x509: malformed UTCTime",
  },
  {
    name: "has a GeneralizedTime with a fraction",
    odd: validity(text(0x18, "20260101000000.5Z")),
    says: "x509: malformed GeneralizedTime",
  },
  {
    name: "has a day that no month has",
    odd: validity(text(0x17, "260230000000Z")),
    says: "x509: malformed UTCTime",
  },
  {
    name: "has a zone of more than 24 hours",
    odd: validity(text(0x17, "260101000000+2500")),
    says: "OK",
    says126: "x509: malformed UTCTime",
  },
  { name: "has a string for a time", odd: validity(text(0x13, "2026")), says: "x509: unsupported time format" },
  // Keys.
  {
    name: "has an RSA key without NULL parameters",
    odd: { keyInfo: rsaKeyInfo(sequence(small(3), small(3)), []) },
    says: "x509: RSA key missing NULL parameters",
  },
  {
    name: "has an RSA modulus below zero",
    odd: { keyInfo: rsaKeyInfo(sequence(small(-3), small(3))) },
    says: "x509: RSA modulus is not a positive number",
  },
  {
    name: "has an RSA exponent of zero",
    odd: { keyInfo: rsaKeyInfo(sequence(small(3), small(0))) },
    says: "x509: RSA public exponent is not a positive number",
  },
  {
    name: "has an RSA exponent beyond an int",
    odd: { keyInfo: rsaKeyInfo(sequence(small(3), tlv(2, [1, ...zeros(8)]))) },
    says: "x509: invalid RSA public exponent",
  },
  {
    name: "has a key on a curve that Go does not know",
    odd: { keyInfo: ecKeyInfo("1.3.132.0.10", [4]) },
    says: "x509: unsupported elliptic curve",
  },
  {
    name: "has a point off its curve",
    odd: { keyInfo: ecKeyInfo(p256, [4, ...zeros(64)]) },
    says: "x509: failed to unmarshal elliptic curve point",
    says126: "P256 point not on curve",
  },
  {
    name: "has a compressed point",
    odd: { keyInfo: ecKeyInfo(p256, [2, ...zeros(32)]) },
    says: "x509: failed to unmarshal elliptic curve point",
    says126: "ecdsa: invalid uncompressed public key",
  },
  {
    name: "has an Ed25519 key of the wrong size",
    odd: { keyInfo: sequence(sequence(oid("1.3.101.112")), bitString(zeros(31))) },
    says: "x509: wrong Ed25519 public key size",
  },
  {
    name: "has a key of a kind that Go does not know, which it leaves unread",
    odd: { keyInfo: sequence(sequence(oid("1.3.101.113")), bitString(zeros(57))) },
    says: "OK",
  },
  // Extensions.
  {
    name: "has an extension twice",
    odd: extended(alternativeNames(dns("a")), alternativeNames(dns("a"))),
    says: "x509: certificate contains duplicate extensions",
    says126: 'x509: certificate contains duplicate extension with OID "2.5.29.17"',
  },
  {
    name: "has a boolean that is neither 00 nor FF",
    odd: extended(sequence(oid("1.2.3"), [1, 1, 1], tlv(4))),
    says: "x509: malformed extension critical field",
  },
  {
    name: "has a DNS name that is not ASCII",
    odd: extended(alternativeNames(dns("é"))),
    says: "x509: SAN dNSName is malformed",
  },
  {
    name: "has odd DNS names that Go takes",
    odd: extended(alternativeNames(dns("a b"), dns(""), dns("a."))),
    says: "OK",
  },
  { name: "has a mailbox without @", odd: extended(alternativeNames(email("nobody"))), says: "OK" },
  {
    name: "has an address of five bytes",
    odd: extended(alternativeNames(ip(1, 2, 3, 4, 5))),
    says: "x509: cannot parse IP address of length 5",
  },
  {
    name: "has a URI whose host has an empty label",
    odd: extended(alternativeNames(uri("https://a..b/"))),
    says: 'x509: cannot parse URI "https://a..b/": invalid domain',
  },
  {
    name: "has a URI with a bad port",
    odd: extended(alternativeNames(uri("https://a:b/"))),
    says: 'x509: cannot parse URI "https://a:b/": parse "https://a:b/": invalid port ":b" after host',
  },
  {
    name: "has a URI with two ports",
    odd: extended(alternativeNames(uri("http://a:80:80/"))),
    says: "OK",
    says126: 'x509: cannot parse URI "http://a:80:80/": parse "http://a:80:80/": invalid port ":80:80" after host',
  },
  {
    name: "has alternative names that are no SEQUENCE",
    odd: extended(extension("2.5.29.17", [5, 0])),
    says: "x509: invalid subject alternative names",
  },
  {
    name: "has basicConstraints that are no SEQUENCE",
    odd: extended(extension("2.5.29.19", [5, 0])),
    says: "x509: invalid basic constraints a",
    says126: "x509: invalid basic constraints",
  },
  {
    name: "has a negative path length",
    odd: extended(extension("2.5.29.19", sequence([1, 1, 0xff], small(-1)))),
    says: "OK",
    says126: "x509: invalid basic constraints",
  },
  {
    name: "has a critical authority key identifier",
    odd: extended(extension("2.5.29.35", sequence(tlv(0x80, [1])), true)),
    says: "OK",
    says126: "x509: authority key identifier incorrectly marked critical",
  },
  {
    name: "has a critical subject key identifier",
    odd: extended(extension("2.5.29.14", tlv(4, [1]), true)),
    says: "OK",
    says126: "x509: subject key identifier incorrectly marked critical",
  },
  {
    name: "has critical authority information access",
    odd: extended(extension("1.3.6.1.5.5.7.1.1", sequence(), true)),
    says: "OK",
    says126: "x509: authority info access incorrectly marked critical",
  },
  {
    name: "has a policy twice",
    odd: extended(extension("2.5.29.32", sequence(sequence(oid("1.2.3")), sequence(oid("1.2.3"))))),
    says: "OK",
    says126: "x509: invalid certificate policies",
  },
  {
    name: "has key usage that is no BIT STRING",
    odd: extended(extension("2.5.29.15", [5, 0])),
    says: "x509: invalid key usage",
  },
  { name: "has an empty list of extended key usages", odd: extended(extension("2.5.29.37", sequence())), says: "OK" },
  {
    name: "has extended key usages that are no identifiers",
    odd: extended(extension("2.5.29.37", sequence(small(1)))),
    says: "x509: invalid extended key usages",
  },
  {
    name: "has empty name constraints",
    odd: extended(nameConstraints({})),
    says: "x509: empty name constraints extension",
  },
  {
    name: "has an address constraint with holes in its mask",
    odd: extended(nameConstraints({ permitted: [ip(10, 0, 0, 0, 255, 0, 255, 0)] })),
    says: "x509: IP constraint contained invalid mask ff00ff00",
  },
  {
    name: "has a name constraint with an empty label",
    odd: extended(nameConstraints({ permitted: [dns("a..b")] })),
    says: 'x509: failed to parse dnsName constraint "a..b"',
  },
  {
    name: "has a mailbox constraint without a domain part",
    odd: extended(nameConstraints({ excluded: [email("@")] })),
    says: 'x509: failed to parse rfc822Name constraint "@"',
  },
  {
    name: "has an address for a URI constraint",
    odd: extended(nameConstraints({ excluded: [uri("10.0.0.1")] })),
    says: 'x509: failed to parse URI constraint "10.0.0.1": cannot be IP address',
  },
  {
    name: "has a CRL distribution point that is none",
    odd: extended(extension("2.5.29.31", sequence(small(1)))),
    says: "x509: invalid CRL distribution point",
  },
];

describe("parseCertificate", () => {
  it.each(rows)("says what Go says to a certificate that $name", ({ odd, says, says126 }) => {
    const der = forge(odd);
    expect([errorOf(der, go119), errorOf(der, go126)]).toEqual([says, says126 ?? says]);
  });

  const good = forge();

  it.each([
    { name: "nothing", der: new Uint8Array(), says: "x509: malformed certificate" },
    { name: "a PEM text", der: new TextEncoder().encode("-----BEGIN"), says: "x509: malformed certificate" },
    { name: "one cut short", der: good.subarray(0, 100), says: "x509: malformed certificate" },
    { name: "one with a byte behind it", der: Buffer.concat([good, Buffer.from([0])]), says: "x509: trailing data" },
    { name: "one of indefinite length", der: replaced(good, "3082", "3080"), says: "x509: malformed certificate" },
    {
      name: "one with a length longer than needed",
      der: replaced(good, "a003020102", "a08103020102"),
      says: "x509: malformed version",
    },
    { name: "an empty SEQUENCE", der: sequence(), says: "x509: malformed tbs certificate" },
    { name: "a SEQUENCE in a SEQUENCE", der: sequence(sequence()), says: "x509: malformed serial number" },
  ])("refuses $name", ({ der, says }) => {
    expect(errorOf(der, go126)).toBe(says);
  });

  it("reads of KAI's certificate what verification needs", async () => {
    const { der } = await mintKaiCertificate({
      serverName: "binder.kai-scheduler.svc",
      notBefore: new Date("2026-05-03T10:11:12Z"),
    });
    const certificate = parseCertificate(der, go126) as Certificate;
    expect(certificate).toMatchObject({
      version: 3,
      serialNumber: 2019n,
      signatureAlgorithm: { name: "SHA256-RSA" },
      subjectName: { commonName: "binder.kai-scheduler.svc" },
      keyUsage: 0,
      extendedKeyUsages: [],
      alternativeNames: [{ kind: "dns", value: "binder.kai-scheduler.svc" }],
      unhandledCritical: [],
      publicKey: { kind: "rsa", bits: 2048, exponent: 65537n },
    });
    expect(certificate.basicConstraints).toBeUndefined();
    expect(certificate.issuer).toEqual(certificate.subject);
  });

  it("keeps the last common name and the first organization", () => {
    const subject = sequence(
      ...["2.5.4.10:Acme", "2.5.4.3:first", "2.5.4.10:Other", "2.5.4.3:last"].map((pair) => {
        const [id = "", value = ""] = pair.split(":");
        return tlv(0x31, sequence(oid(id), text(0x13, value)));
      }),
    );
    const certificate = parseCertificate(forge({ subject }), go126) as Certificate;
    expect(certificate.subjectName).toEqual({ commonName: "last", organization: "Acme" });
  });

  it("reads T61String as Latin-1 from Go 1.25 on, and as raw bytes before", () => {
    const der = forge({ subject: commonName("c\xe9", 0x14) });
    expect((parseCertificate(der, rules("1.24", 13)) as Certificate).subjectName.commonName).toBe("c\xe9");
    expect((parseCertificate(der, rules("1.25", 0)) as Certificate).subjectName.commonName).toBe("c\xc3\xa9");
  });

  it("takes two-digit years from 50 on for the twentieth century", () => {
    const der = forge(validity(text(0x17, "500101000000Z"), text(0x17, "491231235959Z")));
    const certificate = parseCertificate(der, go126) as Certificate;
    expect(certificate.notBefore.date).toEqual(new Date("1950-01-01T00:00:00Z"));
    expect(certificate.notAfter.date).toEqual(new Date("2049-12-31T23:59:59Z"));
  });
});

describe("summarize", () => {
  it("gives what tells one certificate from another", async () => {
    const ca = await mintCertificate({
      subject: [{ type: "O", value: "Acme" }],
      ca: true,
      notBefore: new Date("2026-01-01T00:00:00Z"),
      notAfter: new Date("2027-01-01T00:00:00Z"),
    });
    const leaf = await mintCertificate({
      subject: [],
      serialNumber: 77n,
      issuer: ca,
      dnsNames: ["a.b.svc", "*.b.svc"],
      ipAddresses: ["10.0.0.1", "fd00:0:0::1"],
      notBefore: new Date("2026-02-01T00:00:00Z"),
      notAfter: new Date("2026-12-01T00:00:00Z"),
    });
    const summary = summarize(parseCertificate(leaf.der, go126) as Certificate);
    expect(summary).toMatchObject({
      name: "serial:77",
      issuerName: "Acme",
      notBefore: new Date("2026-02-01T00:00:00Z"),
      notAfter: new Date("2026-12-01T00:00:00Z"),
      dnsNames: ["a.b.svc", "*.b.svc"],
      ipAddresses: ["10.0.0.1", "fd00::1"],
    });
    expect([summary.fingerprint, summary.keyFingerprint]).toEqual([
      expect.stringMatching(/^[0-9a-f]{64}$/),
      expect.stringMatching(/^[0-9a-f]{64}$/),
    ]);
  });

  it("has the fingerprints of the certificate and of its key", () => {
    const summaries = [forge(), forge()].map((der) => summarize(parseCertificate(der, go126) as Certificate));
    // ECDSA signatures differ each time; the key is the same.
    expect(summaries[0]?.fingerprint).not.toBe(summaries[1]?.fingerprint);
    expect(summaries[0]?.keyFingerprint).toBe(summaries[1]?.keyFingerprint);
  });
});
