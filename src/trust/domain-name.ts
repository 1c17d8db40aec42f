// Domain names and mailboxes as Go's crypto/x509 takes them apart for name constraints (verify.go, parser.go). Host names
// of a handshake are matched in hostname.ts, by other rules.
import type { GoRules } from "./go-rules.ts";
import type { GoString } from "./go-text.ts";

/** domainToReverseLabels: `a.b.c` gives `c`, `b`, `a`; undefined for what is no domain name to Go. */
export function reverseLabels(domain: GoString, rules: GoRules): readonly string[] | undefined {
  if (domain === "") return [];
  const labels = domain.split(".").reverse();
  if (labels.at(-1) === "" && !rules.leadingDotIsLabel) labels.pop();
  return labels.every((label) => label !== "" && /^[!-~]+$/.test(label)) ? labels : undefined;
}

/** Whether Go takes a name as a DNS name, a URI's host or a mailbox's domain, in the words of its release. */
export function isDomainName(name: GoString, rules: GoRules): boolean {
  return rules.domainNameLenient ? isLenientDomainName(name) : reverseLabels(name, rules) !== undefined;
}

/** The same for a constraint, which may start with a dot. */
export function isDomainConstraint(constraint: GoString, rules: GoRules): boolean {
  if (rules.domainNameLenient) return constraint !== "." && isLenientDomainName(withoutLeadingDot(constraint));
  if (rules.domainNameValid) return constraint === "" || isStrictDomainName(constraint, true);
  return reverseLabels(withoutLeadingDot(constraint), rules) !== undefined;
}

export function withoutLeadingDot(constraint: GoString): GoString {
  return constraint.startsWith(".") ? constraint.slice(1) : constraint;
}

/** domainNameValid of 1.24.9, 1.25.3 and later. */
function isLenientDomainName(name: GoString): boolean {
  return name === "" || name.split(".").every((label) => /^[!-~]+$/.test(label));
}

/** domainNameValid of 1.24.8 and 1.25.2 alone: lengths are checked, characters are not. */
export function isStrictDomainName(name: GoString, isConstraint: boolean): boolean {
  if (name === "" || name.endsWith(".") || name.length > 253 || (!isConstraint && name.startsWith("."))) return false;
  const labels = withoutLeadingDot(name).split(".");
  return labels.every((label) => label.length >= 1 && label.length <= 63);
}

export interface Mailbox {
  readonly local: GoString;
  readonly domain: GoString;
}

/**
 * parseRFC2821Mailbox: the two sides of a mailbox, its local part without quotes and backslashes; undefined where Go sees
 * none. Accepts, as Go, spaces in quotes and escapes outside of them (RFC 3696 errata).
 */
export function parseMailbox(text: GoString, rules: GoRules): Mailbox | undefined {
  const local = text.startsWith('"') ? quotedLocalPart(text) : atomLocalPart(text);
  if (local === undefined || text[local.length] !== "@") return undefined;
  const domain = text.slice(local.length + 1);
  return reverseLabels(domain, rules) === undefined ? undefined : { local: local.value, domain };
}

interface LocalPart {
  readonly value: GoString;
  /** How much of the text it takes. */
  readonly length: number;
}

function quotedLocalPart(text: GoString): LocalPart | undefined {
  const match = /^"((?:[\x01-\x08\x0b\x0c\x0e-!#-[\]-\x7f]|\\[\x01-\x09\x0b\x0c\x0e-\x7f])*)"/.exec(text);
  if (match === null) return undefined;
  return { value: unescapeBackslashes(match[1] ?? ""), length: match[0].length };
}

function atomLocalPart(text: GoString): LocalPart | undefined {
  const match = /^(?:[0-9a-zA-Z!#$%&'*+\-/=?^_`{|}~.]|\\[^])+/.exec(text);
  if (match === null) return undefined;
  const value = unescapeBackslashes(match[0]);
  if (value.startsWith(".") || value.endsWith(".") || value.includes("..")) return undefined;
  return { value, length: match[0].length };
}

function unescapeBackslashes(text: GoString): GoString {
  return text.replaceAll(/\\([^])/g, "$1");
}
