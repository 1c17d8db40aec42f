// The host of a URI that name constraints are held against (matchURIConstraint and parseURIs of Go's crypto/x509).
import type { GoRules } from "./go-rules.ts";
import { quote } from "./go-text.ts";
import type { GoUrl } from "./go-url.ts";
import { parseAddress } from "./ip-address.ts";

/** Why there is none. `where`: in the words of net.SplitHostPort, which the two callers wrap differently. */
export type UriHost = { readonly host: string } | { readonly fault: string } | { readonly where: string };

/** RFC 5280 §4.2.1.10: a URI without a host name, or with an address, cannot be matched and is refused. */
export function uriHostOf(url: GoUrl, rules: GoRules): UriHost {
  const cannot = (what: string): UriHost => ({
    fault: `URI with ${what} (${quote(url.text, rules.unicode15)}) cannot be matched against constraints`,
  });
  if (url.host === "") return cannot("empty host");
  const split = url.host.includes(":") && !url.host.endsWith("]") ? splitHostPort(url.host) : { host: url.host };
  if ("where" in split) return split;
  const { host } = split;
  const parsed = parseAddress(host);
  const isAddress = !("error" in parsed) && (rules.zonedAddressIsAddress || parsed.zone === "");
  return isAddress || (host.startsWith("[") && host.endsWith("]")) ? cannot("IP") : { host };
}

/** net.SplitHostPort. */
function splitHostPort(text: string): { readonly host: string } | { readonly where: string } {
  const refuse = (why: string): { where: string } => ({ where: `address ${text}: ${why}` });
  const colon = text.lastIndexOf(":");
  if (!text.startsWith("[")) {
    const host = text.slice(0, colon);
    if (host.includes(":")) return refuse("too many colons in address");
    if (text.includes("[")) return refuse("unexpected '[' in address");
    return text.includes("]") ? refuse("unexpected ']' in address") : { host };
  }
  const close = text.indexOf("]");
  if (close < 0) return refuse("missing ']' in address");
  if (close + 1 === text.length) return refuse("missing port in address");
  if (close + 1 !== colon) {
    return refuse(text[close + 1] === ":" ? "too many colons in address" : "missing port in address");
  }
  if (text.includes("[", 1)) return refuse("unexpected '[' in address");
  return text.includes("]", close + 1) ? refuse("unexpected ']' in address") : { host: text.slice(1, close) };
}
