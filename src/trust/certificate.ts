// A certificate as Go's crypto/x509 reads it (parseCertificate of parser.go): in its order, as strict, with its errors. No
// judgement on whether to trust it.
import { createHash } from "node:crypto";
import { DerReader, constructedTag, contextTag, integerValue, sameBytes, tag } from "./der.ts";
import { type ExtensionFields, type RawExtension, parseExtensionFields } from "./extensions.ts";
import type { GoRules } from "./go-rules.ts";
import { quote, toText } from "./go-text.ts";
import { type GoTime, parseTime } from "./go-time.ts";
import { formatIp } from "./ip-address.ts";
import { Malformed } from "./malformed.ts";
import { type Name, parseName } from "./name.ts";
import { type PublicKey, parseAlgorithmIdentifier, parsePublicKey, rightAlign } from "./public-key.ts";
import { type SignatureAlgorithm, signatureAlgorithmOf } from "./signature-algorithm.ts";
import type { CertificateSummary } from "./verdict.ts";

export interface Certificate extends Readonly<ExtensionFields> {
  readonly raw: Uint8Array;
  /** SHA-256 of the DER, lower-case hexadecimal. */
  readonly fingerprint: string;
  /** The signed part, its identifier and length included. */
  readonly tbs: Uint8Array;
  readonly version: number;
  readonly serialNumber: bigint;
  /** Undefined for one that Go does not know. */
  readonly signatureAlgorithm: SignatureAlgorithm | undefined;
  readonly signature: Uint8Array;
  /** DER of the names: what Go compares. */
  readonly issuer: Uint8Array;
  readonly subject: Uint8Array;
  readonly issuerName: Name;
  readonly subjectName: Name;
  readonly notBefore: GoTime;
  readonly notAfter: GoTime;
  /** DER of the SubjectPublicKeyInfo. */
  readonly publicKeyInfo: Uint8Array;
  /** Undefined for an algorithm that Go does not know. */
  readonly publicKey: PublicKey | undefined;
}

/** x509.ParseCertificate: one certificate and nothing behind it. */
export function parseCertificate(der: Uint8Array, rules: GoRules): Certificate | Malformed {
  const outer = new DerReader(der).readElement(tag.sequence);
  if (outer === undefined) return new Malformed("x509: malformed certificate");
  const certificate = parseOuter(outer.raw, new DerReader(outer.content), rules);
  if (certificate instanceof Malformed) return certificate;
  return outer.raw.length === der.length ? certificate : new Malformed("x509: trailing data");
}

function parseOuter(raw: Uint8Array, outer: DerReader, rules: GoRules): Certificate | Malformed {
  const tbs = outer.readElement(tag.sequence);
  if (tbs === undefined) return new Malformed("x509: malformed tbs certificate");
  const reader = new DerReader(tbs.content);
  const head = parseHead(reader, outer, rules);
  if (head instanceof Malformed) return head;
  const names = parseNamesAndValidity(reader, rules);
  if (names instanceof Malformed) return names;
  const key = parseKeyInfo(reader, rules);
  if (key instanceof Malformed) return key;
  const fields = parseTail(reader, head.version, rules);
  if (fields instanceof Malformed) return fields;
  const signature = outer.readBitString();
  if (signature === undefined) return new Malformed("x509: malformed signature");
  const fingerprint = createHash("sha256").update(raw).digest("hex");
  return { raw, fingerprint, tbs: tbs.raw, ...head, ...names, ...key, ...fields, signature: rightAlign(signature) };
}

type Head = Pick<Certificate, "version" | "serialNumber" | "signatureAlgorithm">;

/** The outer algorithm is read here too, because Go compares it before it reads what follows. */
function parseHead(reader: DerReader, outer: DerReader, rules: GoRules): Head | Malformed {
  const version = parseVersion(reader);
  if (version instanceof Malformed) return version;
  const serial = reader.readInteger();
  if (serial === undefined) return new Malformed("x509: malformed serial number");
  const serialNumber = integerValue(serial);
  if (rules.negativeSerialRefused && serialNumber < 0n) return new Malformed("x509: negative serial number");
  const inner = reader.read(tag.sequence);
  if (inner === undefined) return new Malformed("x509: malformed signature algorithm identifier");
  const repeated = outer.read(tag.sequence);
  if (repeated === undefined) return new Malformed("x509: malformed algorithm identifier");
  if (!sameBytes(inner, repeated)) {
    return new Malformed("x509: inner and outer signature algorithm identifiers don't match");
  }
  const identifier = parseAlgorithmIdentifier(inner, rules);
  if (identifier instanceof Malformed) return identifier;
  return { version, serialNumber, signatureAlgorithm: signatureAlgorithmOf(identifier) };
}

/** 1 to 3. Below zero is malformed, and so is a number that no Go int holds. */
function parseVersion(reader: DerReader): number | Malformed {
  if (!reader.peek(constructedTag(0))) return 1;
  const explicit = reader.enter(constructedTag(0));
  const content = explicit?.readInteger();
  const isMalformed = explicit?.isEmpty !== true || content === undefined || content.length > 8;
  if (isMalformed || integerValue(content) < 0n) return new Malformed("x509: malformed version");
  // Go adds one to an int: the largest becomes the smallest, and passes.
  const version = Number(BigInt.asIntN(64, integerValue(content) + 1n));
  return version <= 3 ? version : new Malformed("x509: invalid version");
}

type Names = Pick<Certificate, "issuer" | "issuerName" | "notBefore" | "notAfter" | "subject" | "subjectName">;

function parseNamesAndValidity(reader: DerReader, rules: GoRules): Names | Malformed {
  const issuer = reader.readElement(tag.sequence);
  if (issuer === undefined) return new Malformed("x509: malformed issuer");
  const issuerName = parseName(issuer.raw, rules);
  if (issuerName instanceof Malformed) return issuerName;
  const validity = reader.enter(tag.sequence);
  if (validity === undefined) return new Malformed("x509: malformed validity");
  const notBefore = parseTime(validity, rules);
  if (notBefore instanceof Malformed) return notBefore;
  const notAfter = parseTime(validity, rules);
  if (notAfter instanceof Malformed) return notAfter;
  // Go says "issuer" for the subject too.
  const subject = reader.readElement(tag.sequence);
  if (subject === undefined) return new Malformed("x509: malformed issuer");
  const subjectName = parseName(subject.raw, rules);
  if (subjectName instanceof Malformed) return subjectName;
  return { issuer: issuer.raw, issuerName, notBefore, notAfter, subject: subject.raw, subjectName };
}

function parseKeyInfo(reader: DerReader, rules: GoRules): Pick<Certificate, "publicKeyInfo" | "publicKey"> | Malformed {
  const element = reader.readElement(tag.sequence);
  if (element === undefined) return new Malformed("x509: malformed spki");
  const info = new DerReader(element.content);
  const algorithm = info.read(tag.sequence);
  if (algorithm === undefined) return new Malformed("x509: malformed public key algorithm identifier");
  const identifier = parseAlgorithmIdentifier(algorithm, rules);
  if (identifier instanceof Malformed) return identifier;
  const bits = info.readBitString();
  if (bits === undefined) return new Malformed("x509: malformed subjectPublicKey");
  const publicKey = parsePublicKey(identifier, bits, rules);
  if (publicKey instanceof Malformed) return publicKey;
  return { publicKeyInfo: element.raw, publicKey };
}

/** Unique identifiers from version 2 on, extensions in version 3. In lower versions what stands there is ignored. */
function parseTail(reader: DerReader, version: number, rules: GoRules): ExtensionFields | Malformed {
  if (version > 1) {
    if (reader.peek(contextTag(1)) && reader.read(contextTag(1)) === undefined) {
      return new Malformed("x509: malformed issuerUniqueID");
    }
    if (reader.peek(contextTag(2)) && reader.read(contextTag(2)) === undefined) {
      return new Malformed("x509: malformed subjectUniqueID");
    }
  }
  if (version !== 3 || !reader.peek(constructedTag(3))) return parseExtensionFields([], rules);
  const list = reader.enter(constructedTag(3))?.enter(tag.sequence);
  if (list === undefined) return new Malformed("x509: malformed extensions");
  const extensions = parseExtensionList(list, rules);
  return extensions instanceof Malformed ? extensions : parseExtensionFields(extensions, rules);
}

function parseExtensionList(list: DerReader, rules: GoRules): readonly RawExtension[] | Malformed {
  const extensions = new Map<string, RawExtension>();
  while (!list.isEmpty) {
    const reader = list.enter(tag.sequence);
    if (reader === undefined) return new Malformed("x509: malformed extension");
    const extension = parseExtension(reader, rules);
    if (extension instanceof Malformed) return extension;
    if (extensions.has(extension.oid)) {
      const name = rules.duplicateExtensionNamed ? ` with OID ${quote(extension.oid, true)}` : "s";
      return new Malformed(`x509: certificate contains duplicate extension${name}`);
    }
    extensions.set(extension.oid, extension);
  }
  return [...extensions.values()];
}

function parseExtension(reader: DerReader, rules: GoRules): RawExtension | Malformed {
  const oid = reader.readObjectIdentifier(rules.shortestOid);
  if (oid === undefined) return new Malformed("x509: malformed extension OID field");
  const critical = reader.peek(tag.boolean) ? reader.readBoolean() : false;
  if (critical === undefined) return new Malformed("x509: malformed extension critical field");
  const value = reader.read(tag.octetString);
  return value === undefined ? new Malformed("x509: malformed extension value field") : { oid, critical, value };
}

/** What a person needs to tell the certificate from another. */
export function summarize(certificate: Certificate): CertificateSummary {
  const { alternativeNames } = certificate;
  return {
    fingerprint: certificate.fingerprint,
    keyFingerprint: createHash("sha256").update(certificate.publicKeyInfo).digest("hex"),
    name: toText(hintName(certificate.subjectName, certificate.serialNumber)),
    issuerName: toText(certificate.issuerName.commonName || (certificate.issuerName.organization ?? "")),
    notBefore: certificate.notBefore.date,
    notAfter: certificate.notAfter.date,
    dnsNames: alternativeNames.flatMap((name) => (name.kind === "dns" ? [name.value] : [])),
    ipAddresses: alternativeNames.flatMap((name) => (name.kind === "ip" ? [formatIp(name.value)] : [])),
  };
}

/** The name in Go's hint (UnknownAuthorityError of verify.go): the last CN, else the first O, else the serial number. */
export function hintName(subject: Name, serialNumber: bigint): string {
  return subject.commonName || (subject.organization ?? `serial:${serialNumber.toString()}`);
}
