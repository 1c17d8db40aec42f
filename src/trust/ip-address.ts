// IP addresses as text and bytes, as Go's net and net/netip read and write them.
import { quote } from "./go-text.ts";

/** An address of 4 or 16 bytes. IPv4-mapped IPv6 addresses are equal to IPv4 addresses where Go's net.IP says so. */
export type IpAddress = Uint8Array;

export interface ZonedAddress {
  readonly address: IpAddress;
  /** Behind `%`; empty where there is none. */
  readonly zone: string;
}

/** Why netip.ParseAddr refuses a text. */
export interface AddressError {
  readonly error: string;
}

/** net.ParseIP: an address without a zone. */
export function parseIp(text: string): IpAddress | undefined {
  const parsed = parseAddress(text);
  return "error" in parsed || parsed.zone !== "" ? undefined : parsed.address;
}

/** netip.ParseAddr, with its errors in its words (of Go 1.22 and later). */
export function parseAddress(text: string): ZonedAddress | AddressError {
  const refuse = (message: string, at?: string): AddressError => ({
    error: `ParseAddr(${quote(text, true)}): ${message}${at === undefined ? "" : ` (at ${quote(at, true)})`}`,
  });
  switch (/[.:%]/.exec(text)?.[0]) {
    case ".": {
      const address = parseIpv4(text, refuse);
      return "error" in address ? address : { address, zone: "" };
    }
    case ":":
      return parseIpv6(text, refuse);
    case "%":
      return refuse("missing IPv6 address");
    default:
      return refuse("unable to parse IP");
  }
}

type Refuse = (message: string, at?: string) => AddressError;

/** parseIPv4Fields: four decimal numbers without leading zeros. */
function parseIpv4(text: string, refuse: Refuse): IpAddress | AddressError {
  const fields = [0];
  let digits = 0;
  for (const [at, character] of Array.from(text).entries()) {
    const value = fields.at(-1) ?? 0;
    if (/\d/.test(character)) {
      if (digits === 1 && value === 0) return refuse("IPv4 field has octet with leading zero");
      fields[fields.length - 1] = value * 10 + Number(character);
      digits += 1;
      if ((fields.at(-1) ?? 0) > 255) return refuse("IPv4 field has value >255");
    } else if (character === ".") {
      if (at === 0 || at === text.length - 1 || text[at - 1] === ".") {
        return refuse("IPv4 field must have at least one digit", text.slice(at));
      }
      if (fields.length === 4) return refuse("IPv4 address too long");
      fields.push(0);
      digits = 0;
    } else {
      return refuse("unexpected character", text.slice(at));
    }
  }
  return fields.length < 4 ? refuse("IPv4 address too short") : new Uint8Array(fields);
}

function parseIpv6(text: string, refuse: Refuse): ZonedAddress | AddressError {
  const percent = text.indexOf("%");
  const zone = percent < 0 ? "" : text.slice(percent + 1);
  if (percent >= 0 && zone === "") return refuse("zone must be a non-empty string");
  const bytes: number[] = [];
  let rest = percent < 0 ? text : text.slice(0, percent);
  let ellipsis = -1;
  if (rest.startsWith("::")) {
    ellipsis = 0;
    rest = rest.slice(2);
  }
  while (bytes.length < 16 && rest !== "") {
    const group = readGroup(rest, refuse);
    if ("error" in group) return group;
    if (rest[group.length] === ".") {
      const place = ipv4Place(bytes.length, ellipsis);
      if (place !== undefined) return refuse(place, rest);
      const tail = parseIpv4(rest, refuse);
      if ("error" in tail) return tail;
      bytes.push(...tail);
      rest = "";
      break;
    }
    bytes.push(group.value >> 8, group.value & 0xff);
    rest = rest.slice(group.length);
    if (rest === "") break;
    if (!rest.startsWith(":")) return refuse("unexpected character, want colon", rest);
    if (rest === ":") return refuse("colon must be followed by more characters", rest);
    rest = rest.slice(1);
    if (rest.startsWith(":")) {
      if (ellipsis >= 0) return refuse("multiple :: in address", rest);
      ellipsis = bytes.length;
      rest = rest.slice(1);
    }
  }
  if (rest !== "") return refuse("trailing garbage after address", rest);
  return expand(bytes, ellipsis, zone, refuse);
}

function readGroup(rest: string, refuse: Refuse): { readonly value: number; readonly length: number } | AddressError {
  const digits = /^[0-9a-fA-F]*/.exec(rest)?.[0] ?? "";
  if (digits.length > 4) return refuse("each group must have 4 or less digits", rest);
  if (digits === "") return refuse("each colon-separated field must have at least one digit", rest);
  return { value: parseInt(digits, 16), length: digits.length };
}

/** Why an IPv4 address cannot stand here; undefined where it can. */
function ipv4Place(length: number, ellipsis: number): string | undefined {
  if (ellipsis < 0 && length !== 12) return "embedded IPv4 address must replace the final 2 fields of the address";
  if (length + 4 > 16) return "too many hex fields to fit an embedded IPv4 at the end of the address";
  return undefined;
}

function expand(bytes: number[], ellipsis: number, zone: string, refuse: Refuse): ZonedAddress | AddressError {
  if (bytes.length < 16 && ellipsis < 0) return refuse("address string too short");
  if (bytes.length === 16 && ellipsis >= 0) return refuse("the :: must expand to at least one field of zeros");
  const zeros = Array<number>(16 - bytes.length).fill(0);
  const at = Math.max(ellipsis, 0);
  return { address: new Uint8Array([...bytes.slice(0, at), ...zeros, ...bytes.slice(at)]), zone };
}

/** net.IP.To4: the four bytes of an IPv4 or IPv4-mapped address. */
export function toIpv4(address: IpAddress): IpAddress | undefined {
  if (address.length === 4) return address;
  const isMapped = address.length === 16 && address.subarray(0, 10).every((byte) => byte === 0);
  return isMapped && address[10] === 0xff && address[11] === 0xff ? address.subarray(12) : undefined;
}

/** net.IP.Equal. */
export function sameAddress(a: IpAddress, b: IpAddress): boolean {
  const [left, right] = [toIpv4(a) ?? a, toIpv4(b) ?? b];
  return left.length === right.length && left.every((byte, index) => byte === right[index]);
}

/** net.IP.String of 4 or 16 bytes: dotted, or RFC 5952. */
export function formatIp(address: IpAddress): string {
  const dotted = toIpv4(address);
  if (dotted !== undefined) return dotted.join(".");
  const groups = Array.from({ length: 8 }, (_, at) => (address[at * 2] ?? 0) * 256 + (address[at * 2 + 1] ?? 0));
  const zeros = longestZeros(groups);
  const text = (part: readonly number[]): string => part.map((group) => group.toString(16)).join(":");
  if (zeros.length < 2) return text(groups);
  return `${text(groups.slice(0, zeros.at))}::${text(groups.slice(zeros.at + zeros.length))}`;
}

/** The first of the longest runs of zero groups. */
function longestZeros(groups: readonly number[]): { readonly at: number; readonly length: number } {
  let longest = { at: 0, length: 0 };
  let length = 0;
  for (const [at, group] of groups.entries()) {
    length = group === 0 ? length + 1 : 0;
    if (length > longest.length) longest = { at: at - length + 1, length };
  }
  return longest;
}
