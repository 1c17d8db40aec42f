// Whether a leaf is good for a name: VerifyHostname and HostnameError of Go's crypto/x509/verify.go. The common name never
// counts; it only changes the words.
import type { Certificate } from "./certificate.ts";
import type { GoRules } from "./go-rules.ts";
import { type GoString, toLowerAscii } from "./go-text.ts";
import { type IpAddress, formatIp, parseIp, sameAddress } from "./ip-address.ts";

/** Above this HostnameError counts the names. From HostnameError of Go 1.24.11 and 1.25.5. */
const listedNames = 100;

export interface HostnameFault {
  readonly text: GoString;
  /** The name without the brackets of an IPv6 literal. */
  readonly wanted: GoString;
  readonly names: readonly string[];
  /** Where the common name would have matched and there is no subjectAltName: a certificate from before Go 1.15. */
  readonly legacyCommonName?: GoString;
}

/** Undefined where the certificate is good for the name. A name in brackets, or one that is an address, is an address. */
export function verifyHostname(certificate: Certificate, name: GoString, rules: GoRules): HostnameFault | undefined {
  const bare = name.length >= 3 && name.startsWith("[") && name.endsWith("]") ? name.slice(1, -1) : name;
  const address = parseIp(bare);
  if (address !== undefined) {
    const addresses = addressesOf(certificate);
    return addresses.some((own) => sameAddress(own, address)) ? undefined : fault(certificate, bare, rules);
  }
  return dnsNamesOf(certificate).some((pattern) => isMatch(pattern, toLowerAscii(name), rules))
    ? undefined
    : fault(certificate, name, rules);
}

export function dnsNamesOf({ alternativeNames }: Certificate): readonly GoString[] {
  return alternativeNames.flatMap((name) => (name.kind === "dns" ? [name.value] : []));
}

export function addressesOf({ alternativeNames }: Certificate): readonly IpAddress[] {
  return alternativeNames.flatMap((name) => (name.kind === "ip" ? [name.value] : []));
}

/** A wildcard counts only between names of valid syntax; a perfect match always does. */
function isMatch(pattern: GoString, name: GoString, rules: GoRules): boolean {
  if (isHostname(name.replace(/\.$/, ""), false, rules) && isHostname(pattern, true, rules)) {
    return matchesPattern(pattern, name);
  }
  return isMatchable(pattern) && isMatchable(name) && toLowerAscii(pattern) === name;
}

const isMatchable = (name: GoString): boolean => name !== "" && name !== ".";

/** validHostname: RFC 6125 §2.2 with underscores, and `*` as the whole first label of a pattern. */
function isHostname(name: GoString, isPattern: boolean, rules: GoRules): boolean {
  if (name === "*" && rules.bareWildcardRefused) return false;
  const labels = name.split(".");
  return labels.every(
    (label, at) => (isPattern && at === 0 && label === "*") || /^[a-zA-Z0-9_][a-zA-Z0-9_-]*$/.test(label),
  );
}

/** matchHostnames: label by label; `*` stands for exactly one first label. One trailing dot of the name is dropped. */
function matchesPattern(pattern: GoString, name: GoString): boolean {
  const host = toLowerAscii(name.replace(/\.$/, ""));
  if (pattern === "" || host === "") return false;
  const [labels, hostLabels] = [toLowerAscii(pattern).split("."), host.split(".")];
  return (
    labels.length === hostLabels.length &&
    labels.every((label, at) => (at === 0 && label === "*") || label === hostLabels[at])
  );
}

/** The words of HostnameError, in the order of its checks. */
function fault(certificate: Certificate, wanted: GoString, rules: GoRules): HostnameFault {
  const { commonName } = certificate.subjectName;
  if (certificate.subjectAltName === undefined && matchesPattern(commonName, wanted)) {
    const text = "x509: certificate relies on legacy Common Name field, use SANs instead";
    return { text, wanted, names: [], legacyCommonName: commonName };
  }
  const isAddress = parseIp(wanted) !== undefined;
  const names = isAddress ? addressesOf(certificate).map(formatIp) : dnsNamesOf(certificate);
  if (isAddress && names.length === 0) {
    const text = `x509: cannot validate certificate for ${wanted} because it doesn't contain any IP SANs`;
    return { text, wanted, names };
  }
  if (rules.manyNamesCounted && names.length >= listedNames) {
    const kind = isAddress ? "IP SANs" : "names";
    return {
      text: `x509: certificate is valid for ${names.length} ${kind}, but none matched ${wanted}`,
      wanted,
      names,
    };
  }
  const list = names.join(", ");
  const text =
    list === ""
      ? `x509: certificate is not valid for any names, but wanted to match ${wanted}`
      : `x509: certificate is valid for ${list}, not ${wanted}`;
  return { text, wanted, names };
}
