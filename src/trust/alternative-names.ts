// subjectAltName as Go's crypto/x509 reads it (parseSANExtension of parser.go). Matching is done in hostname.ts and
// name-constraints.ts.
import { DerReader, contextTag, tag } from "./der.ts";
import { isDomainName, isStrictDomainName, parseMailbox } from "./domain-name.ts";
import type { GoRules } from "./go-rules.ts";
import { type GoString, fromBytes, isAscii, quote } from "./go-text.ts";
import { type GoUrl, parseUrl } from "./go-url.ts";
import type { IpAddress } from "./ip-address.ts";
import { Malformed } from "./malformed.ts";

/** A name of a kind that Go knows; those of other kinds are passed over. */
export type AlternativeName =
  | { readonly kind: "email"; readonly value: GoString }
  | { readonly kind: "dns"; readonly value: GoString }
  | { readonly kind: "uri"; readonly value: GoString; readonly url: GoUrl }
  | { readonly kind: "ip"; readonly value: IpAddress };

/** In the order of the extension. Its value is the DER inside the OCTET STRING; what follows the SEQUENCE is ignored. */
export function parseAlternativeNames(value: Uint8Array, rules: GoRules): readonly AlternativeName[] | Malformed {
  const sequence = new DerReader(value).enter(tag.sequence);
  if (sequence === undefined) return new Malformed("x509: invalid subject alternative names");
  const names: AlternativeName[] = [];
  while (!sequence.isEmpty) {
    const element = sequence.readAny();
    if (element === undefined) return new Malformed("x509: invalid subject alternative name");
    const name = parseAlternativeName(element.tag, element.content, rules);
    if (name instanceof Malformed) return name;
    if (name !== undefined) names.push(name);
  }
  return names;
}

function parseAlternativeName(
  type: number,
  content: Uint8Array,
  rules: GoRules,
): AlternativeName | Malformed | undefined {
  switch (type) {
    case contextTag(1):
      return parseEmail(fromBytes(content), rules);
    case contextTag(2):
      return parseDnsName(fromBytes(content), rules);
    case contextTag(6):
      return parseUri(fromBytes(content), rules);
    case contextTag(7):
      if (content.length === 4 || content.length === 16) return { kind: "ip", value: content };
      return new Malformed(`x509: cannot parse IP address of length ${content.length}`);
    default:
      return undefined;
  }
}

function parseEmail(value: GoString, rules: GoRules): AlternativeName | Malformed {
  const mailbox = rules.namesWellFormed ? parseMailbox(value, rules) : undefined;
  const isWellFormed = !rules.namesWellFormed || (mailbox !== undefined && isStrictDomainName(mailbox.domain, false));
  return isAscii(value) && isWellFormed ? { kind: "email", value } : new Malformed("x509: SAN rfc822Name is malformed");
}

function parseDnsName(value: GoString, rules: GoRules): AlternativeName | Malformed {
  const isWellFormed = !rules.namesWellFormed || isStrictDomainName(value, false);
  return isAscii(value) && isWellFormed ? { kind: "dns", value } : new Malformed("x509: SAN dNSName is malformed");
}

function parseUri(value: GoString, rules: GoRules): AlternativeName | Malformed {
  if (!isAscii(value)) return new Malformed("x509: SAN uniformResourceIdentifier is malformed");
  const refuse = (why: string): Malformed =>
    new Malformed(`x509: cannot parse URI ${quote(value, rules.unicode15)}: ${why}`);
  const url = parseUrl(value, rules);
  if (url instanceof Malformed) return refuse(url.text);
  if (url.host === "") return { kind: "uri", value, url };
  // What 1.24.8 and 1.25.2 print for the host: fmt's words for an error that is nil.
  if (rules.namesWellFormed)
    return isStrictDomainName(url.host, false) ? { kind: "uri", value, url } : refuse("%!s(<nil>)");
  return isDomainName(url.host, rules) ? { kind: "uri", value, url } : refuse("invalid domain");
}
