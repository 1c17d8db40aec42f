// Distinguished names, host names, addresses, mailboxes and URIs, as a generated certificate may hold them: mostly plain
// ones out of few labels, so that names and constraints meet, and odd ones beside them.
import { type DerNode, element, oid, primitive, sequence, set } from "./der-tree.ts";
import type { Random } from "./random.ts";

/** The name that cases ask for, where they ask for nothing odd. */
export const serverName = "a.b.svc";

const labels = ["a", "b", "c", "svc", "A", "B", "x-y", "_u", "xn--p1ai", "10", "0", "a1"] as const;
const oddLabels = [
  "*",
  "-a",
  "a-",
  "",
  "a b",
  "a*",
  "*a",
  "ab\x7f",
  "a\tb",
  "a/b",
  "é",
  "a".repeat(64),
  "a_b",
  "[",
  ":",
  "%",
] as const;

export function hostName(random: Random): string {
  const often = random.below(12);
  if (often < 3) return serverName;
  if (often === 3) return random.pick(["*.b.svc", "*.svc", "*", "*.*.svc", "a.*.svc", "a*.b.svc", "*.a.b.svc"]);
  if (often === 4) return random.pick([".b.svc", "b.svc", "svc", ".svc", "", ".", "a.b.svc.", "..", "A.B.SVC"]);
  if (often === 5) return addressText(random);
  const count = 1 + random.below(4);
  const name = Array.from({ length: count }, () => random.pick(random.once(12) ? oddLabels : labels)).join(".");
  return random.once(20) ? `${name}.` : name;
}

export function addressText(random: Random): string {
  return random.pick([
    "10.0.0.1",
    "10.0.0.2",
    "::1",
    "fd00::1",
    "[fd00::1]",
    "[10.0.0.1]",
    "::ffff:10.0.0.1",
    "fe80::1%eth0",
    "010.0.0.1",
    "10.0.0",
    "10.0.0.256",
    "1.2.3.4.5",
    "0:0:0:0:0:0:0:1",
    "FD00::1",
    "[::1",
    "::",
    "1::2::3",
    "::1.2.3.4",
    "10.0.0.1.",
  ]);
}

/** The octets of an iPAddress: mostly of one of few addresses. */
export function addressOctets(random: Random): readonly number[] {
  const v6 = (...last: readonly number[]): readonly number[] => [...Array<number>(16 - last.length).fill(0), ...last];
  return random.pick<readonly number[]>([
    [10, 0, 0, 1],
    [10, 0, 0, 2],
    [127, 0, 0, 1],
    v6(1),
    [0xfd, ...v6(1).slice(1)],
    v6(0xff, 0xff, 10, 0, 0, 1),
    v6(0xff, 0xff, 10, 0, 0, 2),
    [...random.bytes(16)],
    [...random.bytes(4)],
    ...(random.once(5) ? [[1, 2, 3], [], [...random.bytes(5)]] : []),
  ]);
}

/** Address and mask of a subtree. */
export function rangeOctets(random: Random): readonly number[] {
  const address = addressOctets(random);
  const length = address.length;
  const ones = random.pick([0, 8, 16, 24, 31, 32, 64, 96, 104, 120, 128, random.below(length * 8 + 1)]);
  const mask = Array.from({ length }, (_, at) => (0xff00 >> Math.min(8, Math.max(0, ones - at * 8))) & 0xff);
  if (random.once(15)) return [...address, ...random.bytes(length)];
  return random.once(25) ? [...address, ...mask, 0] : [...address, ...mask];
}

export function mailbox(random: Random): string {
  const local = random.pick([
    "me",
    "ME",
    "you",
    "a.b",
    ".a",
    "a.",
    "a..b",
    '"me"',
    '"m e"',
    '"a@b"',
    '"\\""',
    '"a',
    "a b",
    "a\\@b",
    "\\",
    "",
    "a+b",
    "a'b",
    "{a}",
    "é",
    '""',
    '"\x01"',
    '"\x7f"',
    '"\\\x0a"',
    '"a"b',
  ]);
  return random.once(12) ? local : `${local}@${hostName(random)}`;
}

export function uri(random: Random): string {
  const often = random.below(8);
  if (often === 0)
    return random.pick([
      "spiffe://a.b.svc/x",
      "https://a.b.svc",
      "urn:a:b",
      "//b.svc/a",
      "/path",
      "a:b",
      "*",
      "",
      "mailto:a@b",
    ]);
  const scheme = random.pick([
    "https",
    "http",
    "spiffe",
    "HTTP",
    "postgres",
    "postgresql",
    "h2+x",
    "1a",
    "a_b",
    "",
    "é",
    "x-y.z",
  ]);
  const user = random.once(5)
    ? `${random.pick(["u", "u:p", "u:p:q", "", ":", "u%20v", "u@v", "u v", "%", "u%zz", "é", "u;v", "[u]"])}@`
    : "";
  const host = random.pick([
    hostName(random),
    hostName(random),
    addressText(random),
    "[fd00::1]",
    "[fe80::1%25en0]",
    "[fe80::1%25e%20n]",
    "[::1]x",
    "x[::1]",
    "a%62.svc",
    "a%c3%a9",
    "a%20b",
    "[::ffff:10.0.0.1]",
    "[a]",
    "[]",
    "a]b",
    'a"b',
    "a<b>",
    "a|b",
    "a^b",
    "a\\b",
  ]);
  const port = random.once(3)
    ? random.pick([":80", ":", ":x", ":80:80", ":0", ":99999", "::", ":8 0", ":-1", ":80x"])
    : "";
  const path = random.pick([
    "",
    "/",
    "/a",
    "/a b",
    "/%41",
    "/%4",
    "/%zz",
    "/a[b]",
    "/é",
    "//x",
    "/a:b",
    "/a;b",
    "/*",
    "/a%2fb",
    "/a!b",
    "/a(b)",
    "/\x7f",
    '/"',
    "/a%",
    "/a^b",
  ]);
  const query = random.once(4) ? random.pick(["?", "?a=b", "?a b", "?%", "?é", "??", "?\x01", "?#"]) : "";
  const fragment = random.once(5)
    ? random.pick(["#", "#a", "#a b", "#%", "#%41", "#a#b", "#é", "#[a]", "#!(a)*", "#%2f"])
    : "";
  const separator = random.once(15) ? random.pick([":/", ":", "//", ":///", ""]) : "://";
  return `${scheme}${separator}${user}${host}${port}${path}${query}${fragment}`;
}

const stringTags = [0x13, 0x0c, 0x16, 0x14, 0x1e, 0x12] as const;
const values = [
  "ca-a",
  "ca-b",
  serverName,
  "*.b.svc",
  "",
  'a"b\\c',
  "c\xe9",
  "\xc3\xa9",
  "\xe2\x80\x8b",
  "\xe2\x98\x83",
  "\xf0\x9f\x98\x80",
  "\xff",
  "\x00",
  "a\nb",
  "a@b",
  "1 2",
  "\0a\0b",
  "\xd8\x00\xdc\x00",
  "\xff\xfe",
  "\0a\0\0",
  "\x00\xe9\x20\x0b",
  "a_b",
  "\xed\xa0\x80",
  "\xcd\xb8",
  "\xd8\x9d",
  "*&",
  "\xe2\x80",
  "\x7f",
  "\u00a0",
  "\xc2\xad",
];

/** A few plain ones, which generated issuers and children share, and odd ones. */
export function distinguishedName(random: Random, plain?: string): DerNode {
  if (plain !== undefined) return sequence(rdn("2.5.4.3", 0x13, plain));
  return sequence(
    ...Array.from({ length: random.below(4) }, () =>
      rdn(
        random.pick(["2.5.4.3", "2.5.4.3", "2.5.4.10", "2.5.4.11", "2.5.4.5", "1.2.3"]),
        random.pick(random.once(30) ? [0x02, 0x1c, 0x05, 0x30] : stringTags),
        random.pick(values),
      ),
    ),
  );
}

function rdn(type: string, tag: number, value: string): DerNode {
  return set(sequence(oid(type), primitive(tag, value)));
}

/** A GeneralName of any kind; what Go reads of it comes mostly. */
export function generalName(random: Random): DerNode {
  switch (random.below(9)) {
    case 0:
    case 1:
    case 2:
    case 3:
      return primitive(0x82, hostName(random));
    case 4:
      return primitive(0x87, addressOctets(random));
    case 5:
      return primitive(0x81, mailbox(random));
    case 6:
    case 7:
      return primitive(0x86, uri(random));
    default:
      return random.pick([
        element(0xa4, distinguishedName(random)),
        primitive(0x88, [42]),
        element(0xa0, oid("1.2.3"), element(0xa0, primitive(0x0c, "x"))),
        primitive(0x9f, [1]),
      ]);
  }
}
