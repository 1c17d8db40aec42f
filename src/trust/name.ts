// Distinguished names: what of them Go's crypto/x509 reads (parseName and parseASN1String of parser.go). Comparing names
// is not done here: Go compares their DER.
import { DerReader, tag } from "./der.ts";
import type { GoRules } from "./go-rules.ts";
import { type GoString, fromBytes, isAscii, isUtf8, toGoString } from "./go-text.ts";
import { Malformed } from "./malformed.ts";

export interface Name {
  /** The last one, as FillFromRDNSequence of crypto/x509/pkix keeps it; empty where there is none. */
  readonly commonName: GoString;
  /** The first one. */
  readonly organization?: GoString;
}

interface Attribute {
  readonly type: string;
  readonly value: GoString;
}

export function parseName(der: Uint8Array, rules: GoRules): Name | Malformed {
  const sequence = new DerReader(der).enter(tag.sequence);
  if (sequence === undefined) return new Malformed("x509: invalid RDNSequence");
  let commonName: GoString = "";
  let organization: GoString | undefined;
  while (!sequence.isEmpty) {
    const set = sequence.enter(tag.set);
    if (set === undefined) return new Malformed("x509: invalid RDNSequence");
    while (!set.isEmpty) {
      const attribute = parseAttribute(set, rules);
      if (attribute instanceof Malformed) return attribute;
      if (attribute.type === "2.5.4.3") commonName = attribute.value;
      if (attribute.type === "2.5.4.10") organization ??= attribute.value;
    }
  }
  return organization === undefined ? { commonName } : { commonName, organization };
}

function parseAttribute(set: DerReader, rules: GoRules): Attribute | Malformed {
  const attribute = set.enter(tag.sequence);
  if (attribute === undefined) return new Malformed("x509: invalid RDNSequence: invalid attribute");
  const type = attribute.readObjectIdentifier(rules.shortestOid);
  if (type === undefined) return new Malformed("x509: invalid RDNSequence: invalid attribute type");
  const element = attribute.readAny();
  if (element === undefined) return new Malformed("x509: invalid RDNSequence: invalid attribute value");
  const value = parseString(element.tag, element.content, rules);
  if (value instanceof Malformed) {
    return new Malformed(`x509: invalid RDNSequence: invalid attribute value: ${value.text}`);
  }
  return { type, value };
}

/** parseASN1String. Go takes `*` and `&` in a PrintableString, which X.680 §41.4 does not. */
function parseString(type: number, content: Uint8Array, rules: GoRules): GoString | Malformed {
  const text = fromBytes(content);
  switch (type) {
    case tag.t61String:
      return rules.stringsAsBoringssl ? toGoString(text) : text;
    case tag.printableString:
      return /^[A-Za-z0-9'()+,\-./ :=?*&]*$/.test(text) ? text : new Malformed("invalid PrintableString");
    case tag.utf8String:
      return isUtf8(content) ? text : new Malformed("invalid UTF-8 string");
    case tag.bmpString:
      return parseBmpString(content, rules);
    case tag.ia5String:
      return isAscii(text) ? text : new Malformed("invalid IA5String");
    case tag.numericString:
      return /^[0-9 ]*$/.test(text) ? text : new Malformed("invalid NumericString");
    default:
      return new Malformed(`unsupported string type: ${type}`);
  }
}

function parseBmpString(content: Uint8Array, rules: GoRules): GoString | Malformed {
  if (content.length % 2 !== 0) return new Malformed("invalid BMPString");
  const units = Array.from(
    { length: content.length / 2 },
    (_, at) => (content[at * 2] ?? 0) * 256 + (content[at * 2 + 1] ?? 0),
  );
  if (units.at(-1) === 0) units.pop();
  if (rules.stringsAsBoringssl && units.some(isReserved)) return new Malformed("invalid BMPString");
  // A lone surrogate becomes U+FFFD, in utf16.Decode as in the encoder.
  return toGoString(units.map((unit) => String.fromCharCode(unit)).join(""));
}

/** Code points that never stand for a character: surrogates and noncharacters. */
function isReserved(unit: number): boolean {
  return unit >= 0xfffe || (unit >= 0xfdd0 && unit <= 0xfdef) || (unit >= 0xd800 && unit <= 0xdfff);
}
