// The extensions that Go's crypto/x509 understands, each to what verification needs of it (processExtensions of parser.go).
// An extension that Go reads and then does not use here (CRL distribution points, authority information access) is only
// checked for its form, because a bad one makes the certificate unreadable.
import { type AlternativeName, parseAlternativeNames } from "./alternative-names.ts";
import { DerReader, constructedTag, contextTag, integerValue, tag, toHex } from "./der.ts";
import type { GoRules } from "./go-rules.ts";
import { Malformed } from "./malformed.ts";
import { type NameConstraints, parseNameConstraints } from "./name-constraints.ts";

export interface RawExtension {
  readonly oid: string;
  readonly critical: boolean;
  /** What the OCTET STRING holds. */
  readonly value: Uint8Array;
}

export interface BasicConstraints {
  readonly isCa: boolean;
  /** -1 where there is none. */
  readonly maxPathLength: number;
}

export interface PolicyMapping {
  readonly issuerDomain: string;
  readonly subjectDomain: string;
}

/** What a certificate says in its extensions. A field is undefined where the extension is absent. */
export interface ExtensionFields {
  basicConstraints?: BasicConstraints;
  /** Bit n of the number is bit n of RFC 5280 §4.2.1.3. Zero where absent. */
  keyUsage: number;
  /** Dotted; empty where absent. */
  extendedKeyUsages: readonly string[];
  /** The value as it stands, for comparing. */
  subjectAltName?: Uint8Array;
  alternativeNames: readonly AlternativeName[];
  nameConstraints?: NameConstraints;
  /** Empty where absent. */
  subjectKeyId: Uint8Array;
  authorityKeyId: Uint8Array;
  /** Content of the object identifiers, hexadecimal; empty where absent. */
  policies: readonly string[];
  policyMappings: readonly PolicyMapping[];
  requireExplicitPolicy?: bigint;
  inhibitPolicyMapping?: bigint;
  inhibitAnyPolicy?: bigint;
  /** Critical ones that Go does not understand: any of them makes the certificate invalid. Dotted. */
  unhandledCritical: readonly string[];
}

export function parseExtensionFields(extensions: readonly RawExtension[], rules: GoRules): ExtensionFields | Malformed {
  const fields: ExtensionFields = {
    keyUsage: 0,
    extendedKeyUsages: [],
    alternativeNames: [],
    subjectKeyId: new Uint8Array(),
    authorityKeyId: new Uint8Array(),
    policies: [],
    policyMappings: [],
    unhandledCritical: [],
  };
  const unhandled: string[] = [];
  for (const extension of extensions) {
    const understood = readExtension(fields, extension, rules);
    if (understood instanceof Malformed) return understood;
    if (!understood && extension.critical) unhandled.push(extension.oid);
  }
  return { ...fields, unhandledCritical: unhandled };
}

/** Puts one extension into the fields. False where Go does not understand it. */
type ReadExtension = (fields: ExtensionFields, extension: RawExtension, rules: GoRules) => boolean | Malformed;

const readers: Readonly<Record<string, ReadExtension>> = {
  "2.5.29.14": readSubjectKeyId,
  "2.5.29.15": readKeyUsage,
  "2.5.29.17": readAlternativeNames,
  "2.5.29.19": readBasicConstraints,
  "2.5.29.30": readNameConstraints,
  "2.5.29.31": readCrlDistributionPoints,
  "2.5.29.32": readPolicies,
  "2.5.29.33": readPolicyMappings,
  "2.5.29.35": readAuthorityKeyId,
  "2.5.29.36": readPolicyConstraints,
  "2.5.29.37": readExtendedKeyUsages,
  "2.5.29.54": readInhibitAnyPolicy,
  "1.3.6.1.5.5.7.1.1": readAuthorityInfoAccess,
};

function readExtension(fields: ExtensionFields, extension: RawExtension, rules: GoRules): boolean | Malformed {
  const read = readers[extension.oid];
  return read === undefined ? false : read(fields, extension, rules);
}

function readKeyUsage(fields: ExtensionFields, { value }: RawExtension): boolean | Malformed {
  const bits = new DerReader(value).readBitString();
  if (bits === undefined) return new Malformed("x509: invalid key usage");
  const count = Math.min(bits.bitLength, 9);
  for (let bit = 0; bit < count; bit += 1) {
    if (((bits.bytes[bit >> 3] ?? 0) & (0x80 >> (bit & 7))) !== 0) fields.keyUsage |= 1 << bit;
  }
  return true;
}

function readBasicConstraints(fields: ExtensionFields, { value }: RawExtension, rules: GoRules): boolean | Malformed {
  const invalid = (letter: string): Malformed =>
    new Malformed(`x509: invalid basic constraints${rules.basicConstraintsWithoutLetter ? "" : ` ${letter}`}`);
  const reader = new DerReader(value).enter(tag.sequence);
  if (reader === undefined) return invalid("a");
  const isCa = reader.peek(tag.boolean) ? reader.readBoolean() : false;
  if (isCa === undefined) return invalid("b");
  let maxPathLength = -1n;
  if (reader.peek(tag.integer)) {
    const length = readInt64(reader);
    if (length === undefined || (rules.pathLengthUnsigned && length < 0n)) return invalid("c");
    maxPathLength = length;
  }
  fields.basicConstraints = { isCa, maxPathLength: Number(maxPathLength) };
  return true;
}

/** An INTEGER that fits Go's int on the 64-bit machines that API servers run on. */
function readInt64(reader: DerReader, wanted?: number): bigint | undefined {
  const content = reader.readInteger(wanted);
  return content === undefined || content.length > 8 ? undefined : integerValue(content);
}

function readAlternativeNames(fields: ExtensionFields, { value }: RawExtension, rules: GoRules): boolean | Malformed {
  const names = parseAlternativeNames(value, rules);
  if (names instanceof Malformed) return names;
  fields.subjectAltName = value;
  fields.alternativeNames = names;
  return names.length > 0;
}

function readNameConstraints(fields: ExtensionFields, { value }: RawExtension, rules: GoRules): boolean | Malformed {
  const constraints = parseNameConstraints(value, rules);
  if (constraints instanceof Malformed) return constraints;
  fields.nameConstraints = constraints;
  return constraints.isUnderstood;
}

function readExtendedKeyUsages(fields: ExtensionFields, { value }: RawExtension, rules: GoRules): boolean | Malformed {
  const invalid = new Malformed("x509: invalid extended key usages");
  const reader = new DerReader(value).enter(tag.sequence);
  if (reader === undefined) return invalid;
  const usages: string[] = [];
  while (!reader.isEmpty) {
    const usage = reader.readObjectIdentifier(rules.shortestOid);
    if (usage === undefined) return invalid;
    usages.push(usage);
  }
  fields.extendedKeyUsages = usages;
  return true;
}

function readSubjectKeyId(
  fields: ExtensionFields,
  { value, critical }: RawExtension,
  rules: GoRules,
): boolean | Malformed {
  if (critical && rules.criticalIdentifiersRefused) {
    return new Malformed("x509: subject key identifier incorrectly marked critical");
  }
  const identifier = new DerReader(value).read(tag.octetString);
  if (identifier === undefined) return new Malformed("x509: invalid subject key identifier");
  fields.subjectKeyId = identifier;
  return true;
}

function readAuthorityKeyId(
  fields: ExtensionFields,
  { value, critical }: RawExtension,
  rules: GoRules,
): boolean | Malformed {
  if (critical && rules.criticalIdentifiersRefused) {
    return new Malformed("x509: authority key identifier incorrectly marked critical");
  }
  const reader = new DerReader(value).enter(tag.sequence);
  const identifier = reader?.peek(contextTag(0)) === true ? reader.read(contextTag(0)) : new Uint8Array();
  if (reader === undefined || identifier === undefined) return new Malformed("x509: invalid authority key identifier");
  fields.authorityKeyId = identifier;
  return true;
}

/** RFC 5280 §4.2.1.13. Only the form, down to the URIs of the full names. */
function readCrlDistributionPoints(_fields: ExtensionFields, { value }: RawExtension): boolean | Malformed {
  const points = new DerReader(value).enter(tag.sequence);
  if (points === undefined) return new Malformed("x509: invalid CRL distribution points");
  while (!points.isEmpty) {
    const point = points.enter(tag.sequence);
    if (point === undefined || !isDistributionPoint(point))
      return new Malformed("x509: invalid CRL distribution point");
  }
  return true;
}

function isDistributionPoint(point: DerReader): boolean {
  if (!point.peek(constructedTag(0))) return true;
  const names = point.enter(constructedTag(0))?.enter(constructedTag(0));
  while (names?.peek(contextTag(6)) === true) {
    if (names.read(contextTag(6)) === undefined) return false;
  }
  return names !== undefined;
}

/** RFC 5280 §4.2.2.1. Only the form. */
function readAuthorityInfoAccess(
  _fields: ExtensionFields,
  { value, critical }: RawExtension,
  rules: GoRules,
): boolean | Malformed {
  if (critical && rules.criticalIdentifiersRefused) {
    return new Malformed("x509: authority info access incorrectly marked critical");
  }
  const invalid = new Malformed("x509: invalid authority info access");
  const descriptions = new DerReader(value).enter(tag.sequence);
  if (descriptions === undefined) return invalid;
  while (!descriptions.isEmpty) {
    const description = descriptions.enter(tag.sequence);
    if (description?.readObjectIdentifier(rules.shortestOid) === undefined) return invalid;
    if (description.peek(contextTag(6)) && description.read(contextTag(6)) === undefined) return invalid;
  }
  return true;
}

function readPolicies(fields: ExtensionFields, { value }: RawExtension, rules: GoRules): boolean | Malformed {
  const invalid = new Malformed("x509: invalid certificate policies");
  const reader = new DerReader(value).enter(tag.sequence);
  if (reader === undefined) return invalid;
  const policies: string[] = [];
  while (!reader.isEmpty) {
    const information = reader.enter(tag.sequence);
    const policy = information && readPolicy(information, rules);
    if (policy === undefined || (rules.duplicatePolicyRefused && policies.includes(policy))) return invalid;
    policies.push(policy);
  }
  fields.policies = policies;
  return true;
}

/** newOIDFromDER of crypto/x509/oid.go from 1.22 on, cryptobyte's reader of identifiers before. */
function readPolicy(information: DerReader, rules: GoRules): string | undefined {
  const element = information.readElement(tag.objectIdentifier);
  if (element === undefined) return undefined;
  const isValid = rules.policyOidOfAnySize
    ? isShortestOid(element.content)
    : new DerReader(element.raw).readObjectIdentifier(rules.shortestOid) !== undefined;
  return isValid ? toHex(element.content) : undefined;
}

function isShortestOid(content: Uint8Array): boolean {
  const startsWith80 = content.some((octet, at) => octet === 0x80 && (at === 0 || (content[at - 1] ?? 0) < 0x80));
  return content.length > 0 && (content.at(-1) ?? 0) < 0x80 && !startsWith80;
}

function readPolicyMappings(fields: ExtensionFields, { value }: RawExtension, rules: GoRules): boolean | Malformed {
  if (!rules.policies) return false;
  const invalid = new Malformed("x509: invalid policy mappings extension");
  const reader = new DerReader(value).enter(tag.sequence);
  if (reader === undefined) return invalid;
  const mappings: PolicyMapping[] = [];
  while (!reader.isEmpty) {
    const pair = reader.enter(tag.sequence);
    const issuerDomain = pair?.read(tag.objectIdentifier);
    const subjectDomain = issuerDomain && pair?.read(tag.objectIdentifier);
    if (issuerDomain === undefined || subjectDomain === undefined) return invalid;
    mappings.push({ issuerDomain: toHex(issuerDomain), subjectDomain: toHex(subjectDomain) });
  }
  fields.policyMappings = mappings;
  return true;
}

function readPolicyConstraints(fields: ExtensionFields, { value }: RawExtension, rules: GoRules): boolean | Malformed {
  if (!rules.policies) return false;
  const invalid = new Malformed("x509: invalid policy constraints extension");
  const reader = new DerReader(value).enter(tag.sequence);
  if (reader === undefined) return invalid;
  if (reader.peek(contextTag(0))) {
    const skip = readInt64(reader, contextTag(0));
    if (skip === undefined) return invalid;
    fields.requireExplicitPolicy = skip;
  }
  if (reader.peek(contextTag(1))) {
    const skip = readInt64(reader, contextTag(1));
    if (skip === undefined) return invalid;
    fields.inhibitPolicyMapping = skip;
  }
  return true;
}

function readInhibitAnyPolicy(fields: ExtensionFields, { value }: RawExtension, rules: GoRules): boolean | Malformed {
  if (!rules.policies) return false;
  const skip = readInt64(new DerReader(value));
  if (skip === undefined) return new Malformed("x509: invalid inhibit any policy extension");
  fields.inhibitAnyPolicy = skip;
  return true;
}
