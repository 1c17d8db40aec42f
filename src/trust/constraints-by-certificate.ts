// Name constraints as Go judges them until 1.25: while the chain is built, each candidate issuer against the certificates
// below it (isValid and checkNameConstraints of crypto/x509/verify.go). From 1.26 on: constraints-by-chain.ts.
import type { AlternativeName } from "./alternative-names.ts";
import type { Certificate } from "./certificate.ts";
import { isDomainName, parseMailbox, reverseLabels } from "./domain-name.ts";
import type { GoRules } from "./go-rules.ts";
import { type GoString, quote, toLowerAscii } from "./go-text.ts";
import { formatIp } from "./ip-address.ts";
import { formatRange, isIn } from "./ip-range.ts";
import type { IpRange, NameConstraints } from "./name-constraints.ts";
import { uriHostOf } from "./uri-host.ts";

/** Go's own limit of comparisons for one candidate (VerifyOptions.MaxConstraintComparisions). */
const maxComparisons = 250_000;

// Characters that one verification may compare. Real constraints need some thousands; Go itself has no such limit.
const maxCharacters = 20_000_000;

/** What Go says, or why we do not know it. */
export type ConstraintFault =
  { readonly kind: "refused"; readonly text: GoString } | { readonly kind: "unknown"; readonly reason: string };

export const notAuthorizedPrefix = "x509: a root or intermediate certificate is not authorized to sign for this name: ";

/** Counts for one verification, so that hostile constraints cannot hold us up. */
export interface ConstraintWork {
  characters: number;
}

interface Check {
  readonly rules: GoRules;
  readonly work: ConstraintWork;
  comparisons: number;
}

/** Undefined where the candidate's constraints permit every name of the chain that it would be appended to. */
export function checkCertificateConstraints(
  candidate: Certificate,
  chain: readonly Certificate[],
  rules: GoRules,
  work: ConstraintWork,
): ConstraintFault | undefined {
  const { nameConstraints } = candidate;
  if (nameConstraints === undefined) return undefined;
  const check: Check = { rules, work, comparisons: 0 };
  const bound = rules.constraintsBindWholeChain ? chain : [...chain.slice(0, 1), candidate];
  for (const name of bound.flatMap(({ alternativeNames }) => alternativeNames)) {
    const fault = checkName(name, nameConstraints, check);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

const refused = (text: GoString): ConstraintFault => ({ kind: "refused", text });

/** What a kind of name needs to be held against constraints of its kind. */
interface Comparison<T> {
  readonly type: string;
  /** As the error prints it. */
  readonly name: GoString;
  readonly excluded: readonly T[];
  readonly permitted: readonly T[];
  readonly print: (constraint: T) => GoString;
  readonly matches: (constraint: T, isExcluded: boolean) => boolean | { readonly fault: string };
}

function checkName(
  name: AlternativeName,
  { permitted, excluded }: NameConstraints,
  check: Check,
): ConstraintFault | undefined {
  const { rules } = check;
  const quoted = (text: GoString): GoString => quote(text, rules.unicode15);
  switch (name.kind) {
    case "email": {
      const mailbox = parseMailbox(name.value, rules);
      // Go prints an empty struct here, not the name.
      if (mailbox === undefined) return refused('x509: cannot parse rfc822Name {"" ""}');
      return compare(check, {
        type: "email address",
        name: name.value,
        excluded: excluded.emails,
        permitted: permitted.emails,
        print: quoted,
        matches: (constraint, isExcluded) => {
          if (!constraint.includes("@")) return matchesDomain(mailbox.domain, constraint, isExcluded, check);
          const wanted = parseMailbox(constraint, rules);
          return wanted?.local === mailbox.local && toLowerAscii(wanted.domain) === toLowerAscii(mailbox.domain);
        },
      });
    }
    case "dns":
      if (!isDomainName(name.value, rules)) return refused(`x509: cannot parse dnsName ${quoted(name.value)}`);
      return compare(check, {
        type: "DNS name",
        name: name.value,
        excluded: excluded.dnsNames,
        permitted: permitted.dnsNames,
        print: quoted,
        matches: (constraint, isExcluded) => matchesDomain(name.value, constraint, isExcluded, check),
      });
    case "uri":
      return compare(check, {
        type: "URI",
        name: name.value,
        excluded: excluded.uriDomains,
        permitted: permitted.uriDomains,
        print: quoted,
        matches: (constraint, isExcluded) => {
          const uri = uriHostOf(name.url, rules);
          if (!("host" in uri)) return { fault: "fault" in uri ? uri.fault : uri.where };
          return matchesDomain(uri.host, constraint, isExcluded, check);
        },
      });
    case "ip":
      return compare<IpRange>(check, {
        type: "IP address",
        name: formatIp(name.value),
        excluded: excluded.ipRanges,
        permitted: permitted.ipRanges,
        print: (constraint) => quoted(formatRange(constraint)),
        matches: (constraint) => isIn(name.value, constraint),
      });
  }
}

/** checkNameConstraints: excluded before permitted; a kind without permitted subtrees is free. */
function compare<T>(check: Check, comparison: Comparison<T>): ConstraintFault | undefined {
  const { excluded, permitted } = comparison;
  const name = quote(comparison.name, check.rules.unicode15);
  check.comparisons += excluded.length;
  if (check.comparisons > maxComparisons) return refused("x509: unknown error");
  for (const constraint of excluded) {
    const isMatch = comparison.matches(constraint, true);
    if (typeof isMatch === "object") return refused(notAuthorizedPrefix + isMatch.fault);
    if (isMatch) {
      const by = comparison.print(constraint);
      return refused(`${notAuthorizedPrefix}${comparison.type} ${name} is excluded by constraint ${by}`);
    }
  }
  check.comparisons += permitted.length;
  if (check.comparisons > maxComparisons) return refused("x509: unknown error");
  let isPermitted = permitted.length === 0;
  for (const constraint of permitted) {
    const isMatch = comparison.matches(constraint, false);
    if (typeof isMatch === "object") return refused(notAuthorizedPrefix + isMatch.fault);
    isPermitted = isMatch;
    if (isPermitted) break;
  }
  if (check.work.characters > maxCharacters) {
    return { kind: "unknown", reason: "the name constraints need more comparisons than a real CA's do" };
  }
  return isPermitted
    ? undefined
    : refused(`${notAuthorizedPrefix}${comparison.type} ${name} is not permitted by any constraint`);
}

/** matchDomainConstraint: an empty constraint matches all; with a leading dot it wants one label more. */
function matchesDomain(
  domain: GoString,
  constraint: GoString,
  isExcluded: boolean,
  check: Check,
): boolean | { readonly fault: string } {
  const { rules, work } = check;
  if (constraint === "") return true;
  if (work.characters > maxCharacters) return false;
  work.characters += domain.length + constraint.length;
  const wantsMore = constraint.startsWith(".");
  const suffix = wantsMore ? constraint.slice(1) : constraint;
  const labels = reverseLabels(domain, rules);
  const wanted = reverseLabels(suffix, rules);
  const unparsed = labels === undefined ? domain : wanted === undefined ? suffix : undefined;
  if (labels === undefined || wanted === undefined) {
    return { fault: `x509: internal error: cannot parse domain ${quote(unparsed ?? "", rules.unicode15)}` };
  }
  if (labels.length < wanted.length || (wantsMore && labels.length === wanted.length)) return false;
  const skip = isExcluded && domain.startsWith("*") && reachesInto(labels, wanted, rules) ? 1 : 0;
  return wanted
    .slice(0, wanted.length - skip)
    .every((label, at) => at < labels.length - skip && toLowerAscii(label) === toLowerAscii(labels[at] ?? ""));
}

/** Whether the first label of a wildcard stands for the first label of an excluded subtree. */
function reachesInto(labels: readonly string[], wanted: readonly string[], rules: GoRules): boolean {
  if (!rules.wildcardExclusion || labels.length <= 1) return false;
  if (rules.wildcardExclusionSameDepth) return wanted.length > 1 && labels.length === wanted.length;
  return wanted.length > (rules.wildcardExclusionOfLabels ? 1 : 0);
}
