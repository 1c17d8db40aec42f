// URIs as Go's net/url reads and writes them, because crypto/x509 refuses a certificate with a URI that net/url does not
// read, and prints the URI as net/url writes it. Only what that needs: no queries, no resolving.
import type { GoRules } from "./go-rules.ts";
import { type GoString, quote, toLowerAscii } from "./go-text.ts";
import { parseAddress } from "./ip-address.ts";
import { Malformed } from "./malformed.ts";

export interface GoUrl {
  /** Host and port, unescaped; empty where there is no authority. */
  readonly host: GoString;
  /** What `(*URL).String` writes. */
  readonly text: GoString;
}

/** url.Parse. The text of a Malformed is that of Go's `*url.Error`: `parse "…": …`. */
export function parseUrl(raw: GoString, rules: GoRules): GoUrl | Malformed {
  const [withoutFragment, rawFragment] = cut(raw, "#");
  const parts = parseParts(withoutFragment, rules);
  if (parts instanceof Malformed) return inError(withoutFragment, parts, rules);
  const fragment = rawFragment === "" ? "" : unescape(rawFragment, "fragment", rules);
  if (fragment instanceof Malformed) return inError(raw, fragment, rules);
  const suffix = fragment === "" ? "" : `#${canonical(rawFragment, fragment, "fragment")}`;
  return { host: parts.host, text: parts.text + suffix };
}

function inError(url: GoString, error: Malformed, rules: GoRules): Malformed {
  return new Malformed(`parse ${quote(url, rules.unicode15)}: ${error.text}`);
}

/** strings.Cut, with an empty second part where the separator is missing. */
function cut(text: GoString, separator: string): readonly [before: GoString, after: GoString] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + separator.length)];
}

/** url.parse, and String of what it gives, without the fragment. */
function parseParts(raw: GoString, rules: GoRules): GoUrl | Malformed {
  if (/[\x00-\x1f\x7f]/.test(raw)) return new Malformed("net/url: invalid control character in URL");
  if (raw === "*") return { host: "", text: "*" };
  const schemed = splitScheme(raw);
  if (schemed instanceof Malformed) return schemed;
  const { scheme } = schemed;
  const { rest, query } = splitQuery(schemed.rest);
  if (!rest.startsWith("/")) {
    if (scheme !== "") return { host: "", text: `${scheme}:${rest}${query}` };
    if (cut(rest, "/")[0].includes(":")) return new Malformed("first path segment in URL cannot contain colon");
  }
  // Without a scheme, `///` starts a path (golang.org/issue/46059).
  const hasAuthority = rest.startsWith("//") && (scheme !== "" || !rest.startsWith("///"));
  const slash = hasAuthority ? rest.indexOf("/", 2) : 0;
  const pathAt = slash < 0 ? rest.length : slash;
  const authority = hasAuthority ? parseAuthority(rest.slice(2, pathAt), scheme, rules) : undefined;
  if (authority instanceof Malformed) return authority;
  const rawPath = rest.slice(pathAt);
  const path = unescape(rawPath, "path", rules);
  if (path instanceof Malformed) return path;
  const text = join(scheme, authority, path === "*" ? "*" : canonical(rawPath, path, "path"));
  return { host: authority?.host ?? "", text: text + query };
}

/** getScheme: letters, digits, `+`, `-` and `.` before a colon; none where another character comes first. */
function splitScheme(raw: GoString): { readonly scheme: GoString; readonly rest: GoString } | Malformed {
  if (raw.startsWith(":")) return new Malformed("missing protocol scheme");
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(raw)?.[1];
  return scheme === undefined
    ? { scheme: "", rest: raw }
    : { scheme: toLowerAscii(scheme), rest: raw.slice(scheme.length + 1) };
}

/** The query with its `?`; one that is empty stays. */
function splitQuery(text: GoString): { readonly rest: GoString; readonly query: GoString } {
  const at = text.indexOf("?");
  if (at < 0) return { rest: text, query: "" };
  return { rest: text.slice(0, at), query: text.slice(at) };
}

interface Authority {
  /** Undefined where there is no `@`. */
  readonly user: GoString | undefined;
  readonly host: GoString;
}

function join(scheme: GoString, authority: Authority | undefined, path: GoString): GoString {
  let text = scheme === "" ? "" : `${scheme}:`;
  if (authority !== undefined && (scheme !== "" || authority.host !== "" || authority.user !== undefined)) {
    if (authority.host !== "" || path !== "" || authority.user !== undefined) text += "//";
    if (authority.user !== undefined) text += `${authority.user}@`;
    text += escape(authority.host, "host");
  }
  if (text === "" && cut(path, "/")[0].includes(":")) text += "./";
  return text + path;
}

function parseAuthority(text: GoString, scheme: GoString, rules: GoRules): Authority | Malformed {
  const at = text.lastIndexOf("@");
  const host = parseHost(text.slice(at + 1), scheme, rules);
  if (host instanceof Malformed) return host;
  if (at < 0) return { user: undefined, host };
  const userinfo = text.slice(0, at);
  if (!/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(userinfo)) return new Malformed("net/url: invalid userinfo");
  const parts: GoString[] = [];
  for (const part of userinfo.includes(":") ? cut(userinfo, ":") : [userinfo]) {
    const unescaped = unescape(part, "userinfo", rules);
    if (unescaped instanceof Malformed) return unescaped;
    parts.push(escape(unescaped, "userinfo"));
  }
  return { user: parts.join(":"), host };
}

function parseHost(host: GoString, scheme: GoString, rules: GoRules): GoString | Malformed {
  const bracket = rules.bracketsHoldIpv6 ? host.lastIndexOf("[") : host.startsWith("[") ? 0 : -1;
  if (bracket > 0 && rules.bracketsFirst) return new Malformed("invalid IP-literal");
  if (bracket >= 0) return parseIpLiteral(host, bracket, rules);
  const colon = portColon(host, scheme, rules);
  if (colon >= 0 && !/^:\d*$/.test(host.slice(colon))) return badPort(host.slice(colon), rules);
  return unescape(host, "host", rules);
}

/** Where the port starts. The first colon where a host may have one only, else the last. */
function portColon(host: GoString, scheme: GoString, rules: GoRules): number {
  const isHttp = scheme === "http" || scheme === "https";
  const isPostgres = scheme === "postgresql" || scheme === "postgres";
  const onlyOne = rules.oneColonInHost && (rules.oneColonInHttpHost ? isHttp : !isPostgres);
  return onlyOne ? host.indexOf(":") : host.lastIndexOf(":");
}

function badPort(port: GoString, rules: GoRules): Malformed {
  return new Malformed(`invalid port ${quote(port, rules.unicode15)} after host`);
}

/** `[fe80::1]`, `[fe80::1%25en0]` (RFC 6874), `[fe80::1]:80`. */
function parseIpLiteral(host: GoString, bracket: number, rules: GoRules): GoString | Malformed {
  const close = host.lastIndexOf("]");
  if (close < 0) return new Malformed("missing ']' in host");
  if (!/^(?::\d*)?$/.test(host.slice(close + 1))) return badPort(host.slice(close + 1), rules);
  if (!rules.bracketsHoldIpv6) return unescapeZoned(host, close, rules);
  const inner = host.slice(bracket + 1, close);
  const address = unescapeZoned(inner, inner.length, rules);
  if (address instanceof Malformed) return address;
  const parsed = parseAddress(address);
  if ("error" in parsed) return new Malformed(`invalid host: ${parsed.error}`);
  const isMapped = parsed.address.length === 16 && /^0{20}ffff/.test(Buffer.from(parsed.address).toString("hex"));
  if (!rules.bracketsHoldMapped && (parsed.address.length === 4 || isMapped)) return new Malformed("invalid IPv6 host");
  if (parsed.address.length === 4) return new Malformed("invalid IP-literal");
  return `[${address}]${host.slice(close + 1)}`;
}

/** Behind `%25`, up to the closing bracket, a zone may escape what a host may not. */
function unescapeZoned(text: GoString, end: number, rules: GoRules): GoString | Malformed {
  const zone = text.slice(0, end).indexOf("%25");
  if (zone < 0) return unescape(text, "host", rules);
  let whole = "";
  for (const [part, mode] of [
    [text.slice(0, zone), "host"],
    [text.slice(zone, end), "zone"],
    [text.slice(end), "host"],
  ] as const) {
    const unescaped = unescape(part, mode, rules);
    if (unescaped instanceof Malformed) return unescaped;
    whole += unescaped;
  }
  return whole;
}

type Part = "path" | "host" | "zone" | "userinfo" | "fragment";

// shouldEscape of net/url: what may stand unescaped in each part (RFC 3986 §2.2, §2.3 and §3).
const plain: Readonly<Record<Part, RegExp>> = {
  path: /[A-Za-z0-9\-_.~$&+,/:;=@]/,
  host: /[A-Za-z0-9\-_.~!$&'()*+,;=:[\]<>"]/,
  zone: /[A-Za-z0-9\-_.~!$&'()*+,;=:[\]<>"]/,
  userinfo: /[A-Za-z0-9\-_.~$&+,;=]/,
  fragment: /[A-Za-z0-9\-_.~$&+,/:;=?@!()*]/,
};

function escape(text: GoString, part: Part): GoString {
  return text.replaceAll(/[^]/g, (byte) =>
    plain[part].test(byte) ? byte : `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`,
  );
}

function unescape(text: GoString, part: Part, rules: GoRules): GoString | Malformed {
  const isHost = part === "host" || part === "zone";
  for (const { 0: token, index } of text.matchAll(/%[0-9A-Fa-f]{2}|[^]/g)) {
    if (token === "%") return badEscape(text.slice(index, index + 3), rules);
    if (token.length === 3 && !mayEscape(token, part)) return badEscape(token, rules);
    if (token.length === 1 && isHost && token < "\x80" && !plain[part].test(token)) {
      return new Malformed(`invalid character ${quote(token, rules.unicode15)} in host name`);
    }
  }
  return text.replaceAll(/%([0-9A-Fa-f]{2})/g, (_, digits: string) => String.fromCharCode(parseInt(digits, 16)));
}

/** In a host only bytes beyond ASCII are escaped, and the percent sign of a zone. */
function mayEscape(token: GoString, part: Part): boolean {
  if (token === "%25") return true;
  const byte = String.fromCharCode(parseInt(token.slice(1), 16));
  if (part === "host") return byte >= "\x80";
  return part !== "zone" || byte === " " || plain.host.test(byte);
}

function badEscape(text: GoString, rules: GoRules): Malformed {
  return new Malformed(`invalid URL escape ${quote(text, rules.unicode15)}`);
}

/** EscapedPath and EscapedFragment: as it was written where that is a valid escaping, else escaped anew. */
function canonical(raw: GoString, unescaped: GoString, part: "path" | "fragment"): GoString {
  const isValid = Array.from(raw).every((byte) => /[!$&'()*+,;=:@[\]%]/.test(byte) || plain[part].test(byte));
  return isValid ? raw : escape(unescaped, part);
}
