// Name constraints as Go judges them from 1.26 on: after the chain is built, over sorted and pruned sets
// (crypto/x509/constraints.go). Until 1.25: constraints-by-certificate.ts. The sets are kept because the search in them is
// what decides which constraint the error names.
import type { AlternativeName } from "./alternative-names.ts";
import type { Certificate } from "./certificate.ts";
import { type ConstraintFault, notAuthorizedPrefix } from "./constraints-by-certificate.ts";
import { type Mailbox, isDomainName, parseMailbox } from "./domain-name.ts";
import type { GoRules } from "./go-rules.ts";
import { type GoString, quote, toLowerAscii } from "./go-text.ts";
import { type IpAddress, formatIp } from "./ip-address.ts";
import { contains, formatRange } from "./ip-range.ts";
import type { IpRange, NameConstraints, Subtrees } from "./name-constraints.ts";
import { uriHostOf } from "./uri-host.ts";

/** checkChainConstraints: undefined where every certificate's names are permitted by all constraints above it. */
export function checkChainConstraints(chain: readonly Certificate[], rules: GoRules): ConstraintFault | undefined {
  const constrained = chain.flatMap(({ nameConstraints }, index) =>
    nameConstraints === undefined ? [] : [{ index, constraints: compile(nameConstraints, rules) }],
  );
  for (const [at, certificate] of chain.entries()) {
    if (certificate.subjectAltName === undefined) continue;
    const above = constrained.filter(({ index }) => index > at);
    if (above.length === 0) return undefined;
    const names = prepareNames(certificate.alternativeNames, rules);
    if ("kind" in names) return names;
    for (const { constraints } of above) {
      const fault = checkNames(names, constraints, rules);
      if (fault !== undefined) return fault;
    }
  }
  return undefined;
}

function refused(detail: string): ConstraintFault {
  return { kind: "refused", text: notAuthorizedPrefix + detail };
}

/** A name in the form that is held against constraints, and as the error prints it. */
interface Prepared<T> {
  readonly value: T;
  readonly text: GoString;
}

interface PreparedNames {
  readonly addresses: readonly Prepared<IpAddress>[];
  readonly dnsNames: readonly Prepared<GoString>[];
  readonly uriHosts: readonly Prepared<GoString>[];
  readonly mailboxes: readonly Prepared<Mailbox>[];
}

/** parseURIs, then parseMailboxes: a URI without a host name is refused, whatever the constraints are about. */
function prepareNames(names: readonly AlternativeName[], rules: GoRules): PreparedNames | ConstraintFault {
  const prepared = {
    addresses: [] as Prepared<IpAddress>[],
    dnsNames: [] as Prepared<GoString>[],
    uriHosts: [] as Prepared<GoString>[],
    mailboxes: [] as Prepared<Mailbox>[],
  };
  const emails: GoString[] = [];
  for (const name of names) {
    if (name.kind === "ip") prepared.addresses.push({ value: name.value, text: formatIp(name.value) });
    if (name.kind === "dns") prepared.dnsNames.push({ value: name.value, text: name.value });
    if (name.kind === "email") emails.push(name.value);
    if (name.kind === "uri") {
      const { url } = name;
      const uri = uriHostOf(url, rules);
      if ("fault" in uri) return refused(uri.fault);
      if ("where" in uri) return refused(`cannot parse URI host ${quote(url.host, rules.unicode15)}: ${uri.where}`);
      // Lower case, but not where a port was cut off.
      const hasPort = url.host.includes(":") && !url.host.endsWith("]");
      prepared.uriHosts.push({ value: hasPort ? uri.host : toLowerAscii(uri.host), text: url.text });
    }
  }
  for (const email of emails) {
    const mailbox = parseMailbox(email, rules);
    if (mailbox === undefined) return refused(`cannot parse rfc822Name ${quote(email, rules.unicode15)}`);
    const value = { local: mailbox.local, domain: toLowerAscii(mailbox.domain) };
    prepared.mailboxes.push({ value, text: `${value.local}@${value.domain}` });
  }
  return prepared;
}

/** What a set says to a name: the text of the constraint that matches; nothing; or that we do not know. */
type Answer = { readonly constraint: GoString } | { readonly unknown: string } | undefined;
type Query<T> = (value: T) => Answer;

/** The two sides for one kind of name; a side without constraints of the kind is undefined. */
interface Sides<T> {
  readonly type: string;
  readonly permitted: Query<T> | undefined;
  readonly excluded: Query<T> | undefined;
}

interface Compiled {
  readonly addresses: Sides<IpAddress>;
  readonly dnsNames: Sides<GoString>;
  readonly uriHosts: Sides<GoString>;
  readonly mailboxes: Sides<Mailbox>;
}

function compile({ permitted, excluded }: NameConstraints, rules: GoRules): Compiled {
  const domains = (
    side: Subtrees,
    kind: "dnsNames" | "uriDomains",
    isPermitted: boolean,
  ): Query<GoString> | undefined => domainQuery(side[kind], isPermitted, rules);
  return {
    addresses: {
      type: "IP address",
      permitted: rangeQuery(permitted.ipRanges),
      excluded: rangeQuery(excluded.ipRanges),
    },
    dnsNames: {
      type: "DNS name",
      permitted: domains(permitted, "dnsNames", true),
      excluded: domains(excluded, "dnsNames", false),
    },
    uriHosts: {
      type: "URI",
      permitted: domains(permitted, "uriDomains", true),
      excluded: domains(excluded, "uriDomains", false),
    },
    mailboxes: {
      type: "email address",
      permitted: mailboxQuery(permitted.emails, true, rules),
      excluded: mailboxQuery(excluded.emails, false, rules),
    },
  };
}

/** (*chainConstraints).check. */
function checkNames(names: PreparedNames, compiled: Compiled, rules: GoRules): ConstraintFault | undefined {
  return (
    firstFault(names.addresses, (name) => checkSides(name, compiled.addresses, rules)) ??
    firstFault(names.dnsNames, (name) =>
      isDomainName(name.value, rules)
        ? checkSides(name, compiled.dnsNames, rules)
        : refused(`x509: cannot parse dnsName ${quote(name.value, rules.unicode15)}`),
    ) ??
    firstFault(names.uriHosts, (name) =>
      isDomainName(name.value, rules)
        ? checkSides(name, compiled.uriHosts, rules)
        : refused(`x509: internal error: URI SAN ${quote(name.text, rules.unicode15)} failed to parse`),
    ) ??
    firstFault(names.mailboxes, (name) => checkSides(name, compiled.mailboxes, rules))
  );
}

function firstFault<T>(
  names: readonly Prepared<T>[],
  check: (name: Prepared<T>) => ConstraintFault | undefined,
): ConstraintFault | undefined {
  for (const name of names) {
    const fault = check(name);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** checkConstraints: permitted before excluded. */
function checkSides<T>({ value, text }: Prepared<T>, sides: Sides<T>, rules: GoRules): ConstraintFault | undefined {
  const name = `${sides.type} ${quote(text, rules.unicode15)}`;
  const permitted = sides.permitted === undefined ? { constraint: "" } : sides.permitted(value);
  if (permitted === undefined) return refused(`${name} is not permitted by any constraint`);
  if ("unknown" in permitted) return { kind: "unknown", reason: permitted.unknown };
  const excluded = sides.excluded?.(value);
  if (excluded === undefined) return undefined;
  if ("unknown" in excluded) return { kind: "unknown", reason: excluded.unknown };
  return refused(`${name} is excluded by constraint ${quote(excluded.constraint, rules.unicode15)}`);
}

/** sortAndPrune: sorts, and drops each that the last kept one contains. */
function sortAndPrune<T>(
  constraints: readonly T[],
  order: (a: T, b: T) => number,
  isSubset: (wide: T, narrow: T) => boolean,
): readonly T[] {
  const kept: T[] = [];
  for (const constraint of constraints.toSorted(order)) {
    const last = kept.at(-1);
    if (last === undefined || !isSubset(last, constraint)) kept.push(constraint);
  }
  return kept;
}

/** search: an equal one, else the one before the place where the value would stand, if that matches. */
function search<T>(
  set: readonly T[],
  order: (constraint: T) => number,
  isMatch: (constraint: T) => boolean,
): T | undefined {
  let low = 0;
  let high = set.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const constraint = set[middle];
    if (constraint !== undefined && order(constraint) < 0) low = middle + 1;
    else high = middle;
  }
  const found = set[low];
  if (found !== undefined && order(found) === 0) return found;
  const before = set[Math.max(low - 1, 0)];
  return before !== undefined && isMatch(before) ? before : undefined;
}

function rangeQuery(ranges: readonly IpRange[]): Query<IpAddress> | undefined {
  if (ranges.length === 0) return undefined;
  const ofLength = (length: number): readonly IpRange[] =>
    sortAndPrune(
      ranges.filter(({ address }) => address.length === length),
      (a, b) => Buffer.compare(a.address, b.address) || Buffer.compare(a.mask, b.mask),
      isRangeSubset,
    );
  const [ipv4, ipv6] = [ofLength(4), ofLength(16)];
  return (address) => {
    const set = address.length === 4 ? ipv4 : ipv6;
    const found = search(
      set,
      (range) => Buffer.compare(range.address, address),
      (range) => contains(range, address),
    );
    return found && { constraint: formatRange(found) };
  };
}

/** ipNetworkSubset: both ends of the narrow range lie in the wide one. */
function isRangeSubset(wide: IpRange, narrow: IpRange): boolean {
  const last = narrow.address.map((byte, at) => byte | (~(narrow.mask[at] ?? 0) & 0xff));
  return contains(wide, narrow.address) && contains(wide, last);
}

// Sorting is stable in JavaScript. Go's is up to this length, and beyond it where no two are equal but for case.
const stablySorted = 12;

/** newDNSConstraints and its query. */
function domainQuery(domains: readonly GoString[], isPermitted: boolean, rules: GoRules): Query<GoString> | undefined {
  if (domains.length === 0) return undefined;
  if (domains.includes("")) return () => ({ constraint: "" });
  const set = sortAndPrune(domains, compareDomains, hasDomainSuffix);
  const distinct = new Set(domains);
  const isAmbiguous =
    domains.length > stablySorted && new Set([...distinct].map((domain) => toLowerAscii(domain))).size < distinct.size;
  const parents = new Map<GoString, GoString>();
  for (const domain of isPermitted ? [] : set) {
    const name = rules.wildcardExclusionAnyCase ? toLowerAscii(domain) : domain;
    if (trimFirstLabel(name) !== "") parents.set(trimFirstLabel(name), name);
  }
  return (name) => {
    const found = search(
      set,
      (domain) => compareDomains(domain, name),
      (domain) => hasDomainSuffix(domain, name),
    );
    if (found !== undefined) return isAmbiguous ? ambiguous : { constraint: found };
    if (isPermitted) return undefined;
    // Go 1.26.0 reads the first character of an empty name.
    if (name === "" && !rules.constraintMailboxes)
      return { unknown: "Go 1.26.0 stops with a panic at an empty DNS name" };
    if (!name.startsWith("*")) return undefined;
    const parent = parents.get(trimFirstLabel(rules.wildcardExclusionAnyCase ? toLowerAscii(name) : name));
    return parent === undefined ? undefined : { constraint: parent };
  };
}

const ambiguous = { unknown: "name constraints that differ only in case are sorted by Go in no fixed order" };

/** From the first dot on; empty where there is none. */
function trimFirstLabel(name: GoString): GoString {
  const dot = name.indexOf(".");
  return dot < 0 ? "" : name.slice(dot);
}

/** dnsCompare: from the end, regardless of case, a dot before every other character. */
function compareDomains(a: GoString, b: GoString): number {
  const shared = Math.min(a.length, b.length);
  for (let back = 1; back <= shared; back += 1) {
    const difference = sortWeight(a.charCodeAt(a.length - back)) - sortWeight(b.charCodeAt(b.length - back));
    if (difference !== 0) return Math.sign(difference);
  }
  return Math.sign(a.length - b.length);
}

function sortWeight(code: number): number {
  if (code === 0x2e) return 0;
  return code >= 0x41 && code <= 0x5a ? code + 0x20 : code;
}

/** dnsHasSuffix: whether a constraint is the end of a name, at a dot. With a leading dot it wants one label more. */
function hasDomainSuffix(suffix: GoString, name: GoString): boolean {
  if (suffix.length > name.length || toLowerAscii(name.slice(name.length - suffix.length)) !== toLowerAscii(suffix)) {
    return false;
  }
  return suffix.startsWith(".") || suffix.length === name.length || name[name.length - suffix.length - 1] === ".";
}

/** newEmailConstraints and its query: whole mailboxes first, then the domain. */
function mailboxQuery(emails: readonly GoString[], isPermitted: boolean, rules: GoRules): Query<Mailbox> | undefined {
  if (emails.length === 0) return undefined;
  const domains = domainQuery(
    emails.filter((email) => !email.includes("@")),
    isPermitted,
    rules,
  );
  const whole = emails.flatMap((email) => {
    const mailbox = email.includes("@") ? parseMailbox(email, rules) : undefined;
    return mailbox === undefined ? [] : [{ local: mailbox.local, domain: toLowerAscii(mailbox.domain) }];
  });
  return (mailbox) => {
    const isSame = rules.constraintMailboxes
      ? whole.some(({ local, domain }) => local === mailbox.local && domain === mailbox.domain)
      : // Go 1.26.0 keeps one domain for each local part, the last.
        whole.findLast(({ local }) => local === mailbox.local)?.domain === mailbox.domain;
    // The same release looks the local part up under a wrong key and prints none.
    if (isSame) return { constraint: `${rules.constraintMailboxes ? mailbox.local : ""}@${mailbox.domain}` };
    return domains?.(mailbox.domain);
  };
}
