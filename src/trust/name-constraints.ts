// nameConstraints as Go's crypto/x509 reads them (parseNameConstraintsExtension of parser.go). What they forbid is decided
// in constraints-by-certificate.ts (until 1.25) and constraints-by-chain.ts (from 1.26).
import { DerReader, constructedTag, contextTag, tag, toHex } from "./der.ts";
import { isDomainConstraint, parseMailbox } from "./domain-name.ts";
import type { GoRules } from "./go-rules.ts";
import { type GoString, fromBytes, isAscii, quote } from "./go-text.ts";
import { type IpAddress, parseIp } from "./ip-address.ts";
import { Malformed } from "./malformed.ts";

export interface IpRange {
  readonly address: IpAddress;
  readonly mask: Uint8Array;
}

/** In the order of the extension. */
export interface Subtrees {
  readonly dnsNames: readonly GoString[];
  readonly ipRanges: readonly IpRange[];
  readonly emails: readonly GoString[];
  readonly uriDomains: readonly GoString[];
}

export interface NameConstraints {
  readonly permitted: Subtrees;
  readonly excluded: Subtrees;
  /** Whether every subtree is of a kind that Go knows. Directory names are not. */
  readonly isUnderstood: boolean;
}

/** minimum and maximum of a subtree are not looked at, as in Go. */
export function parseNameConstraints(value: Uint8Array, rules: GoRules): NameConstraints | Malformed {
  const outer = new DerReader(value);
  const sequence = outer.enter(tag.sequence);
  if (sequence === undefined || !outer.isEmpty) return invalid();
  const permitted = sequence.peek(constructedTag(0)) ? sequence.read(constructedTag(0)) : new Uint8Array();
  const excluded = sequence.peek(constructedTag(1)) ? sequence.read(constructedTag(1)) : new Uint8Array();
  if (permitted === undefined || excluded === undefined || !sequence.isEmpty) return invalid();
  if (permitted.length === 0 && excluded.length === 0) {
    return new Malformed("x509: empty name constraints extension");
  }
  const first = parseSubtrees(permitted, rules);
  if (first instanceof Malformed) return first;
  const second = parseSubtrees(excluded, rules);
  if (second instanceof Malformed) return second;
  return { permitted: first, excluded: second, isUnderstood: first.isUnderstood && second.isUnderstood };
}

function invalid(): Malformed {
  return new Malformed("x509: invalid NameConstraints extension");
}

type Subtree =
  | { readonly kind: "dnsNames" | "emails" | "uriDomains"; readonly value: GoString }
  | { readonly kind: "ipRanges"; readonly value: IpRange };

function parseSubtrees(der: Uint8Array, rules: GoRules): (Subtrees & { isUnderstood: boolean }) | Malformed {
  const subtrees = { dnsNames: [] as GoString[], ipRanges: [] as IpRange[], emails: [] as GoString[] };
  const uriDomains: GoString[] = [];
  let isUnderstood = true;
  const reader = new DerReader(der);
  while (!reader.isEmpty) {
    const base = reader.enter(tag.sequence)?.readAny();
    if (base === undefined) return invalid();
    const subtree = parseSubtree(base.tag, base.content, rules);
    if (subtree instanceof Malformed) return subtree;
    if (subtree === undefined) isUnderstood = false;
    else if (subtree.kind === "ipRanges") subtrees.ipRanges.push(subtree.value);
    else if (subtree.kind === "uriDomains") uriDomains.push(subtree.value);
    else subtrees[subtree.kind].push(subtree.value);
  }
  return { ...subtrees, uriDomains, isUnderstood };
}

function parseSubtree(type: number, content: Uint8Array, rules: GoRules): Subtree | Malformed | undefined {
  if (type === contextTag(7)) return parseIpRange(content);
  if (type !== contextTag(1) && type !== contextTag(2) && type !== contextTag(6)) return undefined;
  const value = fromBytes(content);
  if (!isAscii(value)) {
    return new Malformed(
      `x509: invalid constraint value: x509: ${quote(value, rules.unicode15)} cannot be encoded as an IA5String`,
    );
  }
  const refuse = (name: string, why = ""): Malformed =>
    new Malformed(`x509: failed to parse ${name} constraint ${quote(value, rules.unicode15)}${why}`);
  if (type === contextTag(2)) {
    return isDomainConstraint(value, rules) ? { kind: "dnsNames", value } : refuse("dnsName");
  }
  if (type === contextTag(6)) {
    if (parseIp(value) !== undefined) return refuse("URI", ": cannot be IP address");
    return isDomainConstraint(value, rules) ? { kind: "uriDomains", value } : refuse("URI");
  }
  // With an @ it is one mailbox, else the domain of many (RFC 5280 §4.2.1.10).
  const isValid = value.includes("@") ? parseMailbox(value, rules) !== undefined : isDomainConstraint(value, rules);
  return isValid ? { kind: "emails", value } : refuse("rfc822Name");
}

function parseIpRange(content: Uint8Array): Subtree | Malformed {
  const { length } = content;
  if (length !== 8 && length !== 32) {
    return new Malformed(`x509: IP constraint contained value of length ${length}`);
  }
  const mask = content.subarray(length / 2);
  if (!/^1*0*$/.test(binary(mask))) return new Malformed(`x509: IP constraint contained invalid mask ${toHex(mask)}`);
  return { kind: "ipRanges", value: { address: content.subarray(0, length / 2), mask } };
}

function binary(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(2).padStart(8, "0")).join("");
}
