// Whole certificates out of the grammar: a leaf, an issuer, or anything.
import { type DerNode, bytes, element, integer, nothing, oid, primitive, sequence } from "./der-tree.ts";
import { type CertificateRecipe, certificateRecipe, extensionList } from "./certificate-recipe.ts";
import {
  alternativeNames,
  basicConstraints,
  extendedKeyUsage,
  keyIdentifiers,
  keyUsage,
  nameConstraints,
  otherExtension,
  policyExtensions,
  someNames,
} from "./extension-grammar.ts";
import { distinguishedName, serverName } from "./name-grammar.ts";
import type { Random } from "./random.ts";
import { type Scheme, signingKey } from "./signing-keys.ts";

/** When cases ask, where they ask for no odd time. */
export const usualTime = Date.UTC(2026, 0, 15, 12);

export interface Place {
  readonly role: "leaf" | "issuer";
  /** Undefined: any. */
  readonly subject: string | undefined;
  readonly issuer: string | undefined;
  readonly key: string;
  readonly signer: string;
  /** How many fields may be odd: about one in so many. */
  readonly oddness: number;
  /** What this run of cases is mostly about. */
  readonly theme: Theme;
}

export const themes = ["plain", "names", "constraints", "policies", "usages", "keys", "syntax"] as const;
export type Theme = (typeof themes)[number];

export function generateCertificate(random: Random, place: Place): CertificateRecipe {
  const isOdd = (): boolean => random.once(place.oddness);
  const { algorithm, scheme } = algorithmOf(
    random,
    signingKey(place.signer).kind,
    isOdd() || (place.theme === "keys" && random.once(4)),
  );
  return certificateRecipe(
    {
      head: [...version(random, isOdd()), serial(random, isOdd())],
      algorithm,
      issuer: distinguishedName(random, place.issuer),
      validity: validity(random, isOdd()),
      subject: distinguishedName(random, place.subject),
      keyInfo: signingKey(place.key).keyInfo(),
      tail: [
        ...(random.once(40) ? [primitive(0x81, [0, 1])] : []),
        ...(random.once(60) ? [primitive(0x82, [0, 1])] : []),
        ...(random.once(25) ? [] : [extensionList(extensionsOf(random, place, isOdd))]),
        ...(random.once(80) ? [nothing()] : []),
      ],
      end: random.once(80) ? [nothing()] : [],
    },
    place.signer,
    scheme,
  );
}

function version(random: Random, isOdd: boolean): readonly DerNode[] {
  if (!isOdd) return [element(0xa0, integer(2))];
  return random.pick<readonly DerNode[]>([
    [],
    [],
    [element(0xa0, integer(0))],
    [element(0xa0, integer(1))],
    [element(0xa0, integer(1))],
    [element(0xa0, integer(3))],
    [element(0xa0, integer(-1))],
    [element(0xa0, integer(2n ** 63n - 1n))],
    [element(0xa0, integer(2n ** 63n))],
    [element(0xa0, integer(2), nothing())],
  ]);
}

function serial(random: Random, isOdd: boolean): DerNode {
  return integer(isOdd ? random.pick([0, -1, 2n ** 160n, 2n ** 64n, -(2n ** 70n), 127, 128]) : 1 + random.below(1000));
}

interface SigningAlgorithm {
  readonly algorithm: DerNode;
  readonly scheme: Scheme;
}

const plainAlgorithm = (id: string, scheme: Scheme, ...parameters: DerNode[]): SigningAlgorithm => ({
  algorithm: sequence(oid(id), ...parameters),
  scheme,
});

function algorithmOf(random: Random, kind: "ec" | "rsa" | "ed25519" | "other", isOdd: boolean): SigningAlgorithm {
  if (isOdd) return oddAlgorithm(random);
  if (kind === "ed25519") return plainAlgorithm("1.3.101.112", "none");
  if (kind === "ec") return random.pick(ecAlgorithms)();
  return random.pick(rsaAlgorithms)();
}

const ecAlgorithms: readonly (() => SigningAlgorithm)[] = [
  () => plainAlgorithm("1.2.840.10045.4.3.2", "sha256"),
  () => plainAlgorithm("1.2.840.10045.4.3.2", "sha256"),
  () => plainAlgorithm("1.2.840.10045.4.3.3", "sha384"),
  () => plainAlgorithm("1.2.840.10045.4.3.4", "sha512"),
];

const rsaAlgorithms: readonly (() => SigningAlgorithm)[] = [
  () => plainAlgorithm("1.2.840.113549.1.1.11", "sha256", nothing()),
  () => plainAlgorithm("1.2.840.113549.1.1.11", "sha256", nothing()),
  () => plainAlgorithm("1.2.840.113549.1.1.12", "sha384", nothing()),
  () => plainAlgorithm("1.2.840.113549.1.1.13", "sha512", nothing()),
  () => pss("pss-sha256", "2.16.840.1.101.3.4.2.1", 32),
  () => pss("pss-sha384", "2.16.840.1.101.3.4.2.2", 48),
  () => pss("pss-sha512", "2.16.840.1.101.3.4.2.3", 64),
];

function pss(scheme: Scheme, hash: string, salt: number, ...more: DerNode[]): SigningAlgorithm {
  const hashIdentifier = (): DerNode => sequence(oid(hash), nothing());
  const parameters = sequence(
    element(0xa0, hashIdentifier()),
    element(0xa1, sequence(oid("1.2.840.113549.1.1.8"), hashIdentifier())),
    element(0xa2, integer(salt)),
    ...more,
  );
  return plainAlgorithm("1.2.840.113549.1.1.10", scheme, parameters);
}

function oddAlgorithm(random: Random): SigningAlgorithm {
  const parameters = random.pick<readonly DerNode[]>([
    [],
    [nothing()],
    [sequence()],
    [integer(1), nothing()],
    [oid("1.2.3")],
  ]);
  const id = random.pick([
    "1.2.840.113549.1.1.4",
    "1.2.840.113549.1.1.5",
    "1.3.14.3.2.29",
    "1.2.840.113549.1.1.2",
    "1.2.840.113549.1.1.11",
    "1.2.840.113549.1.1.14",
    "1.2.840.10045.4.1",
    "1.2.840.10045.4.3.1",
    "1.2.840.10045.4.3.2",
    "1.2.840.10040.4.3",
    "2.16.840.1.101.3.4.3.2",
    "1.3.101.112",
    "1.3.101.113",
    "1.2.840.113549.1.1.10",
    "1.2.3.4",
  ]);
  return random.pick<() => SigningAlgorithm>([
    () => plainAlgorithm(id, random.pick<Scheme>(["sha1", "md5", "sha256", "none"]), ...parameters),
    () => pss("pss-sha256", "2.16.840.1.101.3.4.2.1", random.pick([20, 31, 32, 64, -1])),
    () => pss("pss-sha256", "2.16.840.1.101.3.4.2.1", 32, element(0xa3, integer(random.pick([1, 2, -1])))),
    () => pss("sha1", "1.3.14.3.2.26", 20),
  ])();
}

const times = [
  "250115120000Z",
  "260115120000Z",
  "260115120001Z",
  "260115115959Z",
  "270115120000Z",
  "20500101000000Z",
  "99991231235959Z",
  "500101000000Z",
  "491231235959Z",
];
const oddTimes = [
  "2601151200Z",
  "2701151200Z",
  "260115130000+0100",
  "260115110000-0100",
  "270115120000+0000",
  "270115120000-0000",
  "270115120000+2359",
  "270115120000+2400",
  "270115120000+2500",
  "270115120000+0060",
  "270115120000-9900",
  "270230120000Z",
  "270115240000Z",
  "270115126000Z",
  "270115120060Z",
  "280229120000Z",
  "270229120000Z",
  "20270115120000.5Z",
  "20270115120000",
  "2027011512Z",
  "20270115120000+0100",
  "00000101000000Z",
  "00010101000000Z",
  "271315120000Z",
  "270015120000Z",
  "2701001200Z",
  "",
  "Z",
  "270115120000z",
  " 70115120000Z",
  "+70115120000Z",
  "270115120000Z ",
  "27011512000Z",
  "270115 20000Z",
  "2701151200+0100",
  "270115120000+01",
  "270115120000+010",
  "270115120000+1:00",
  "2027-1-15",
];

function validity(random: Random, isOdd: boolean): DerNode {
  const time = (text: string): DerNode => primitive(text.length > 14 || random.once(20) ? 0x18 : 0x17, text);
  // Most are valid for long, so that they can also be served to an API server, whose time is the real one.
  if (!isOdd) return sequence(time("250115120000Z"), time(random.once(8) ? "270115120000Z" : "450115120000Z"));
  const any = (): DerNode => {
    const text = random.pick(random.once(3) ? oddTimes : times);
    return random.once(12) ? primitive(random.pick([0x17, 0x18, 0x13]), text) : time(text);
  };
  return sequence(any(), any());
}

function extensionsOf(random: Random, { role, theme }: Place, isOdd: () => boolean): readonly DerNode[] {
  const isIssuer = role === "issuer";
  const wants = (own: Theme, times: number): boolean => (theme === own ? !random.once(4) : random.once(times));
  const names = wants("names", 6)
    ? someNames(random)
    : isIssuer && !random.once(6)
      ? []
      : [primitive(0x82, serverName)];
  const extensions = [
    ...(names.length > 0 || random.once(10) ? [alternativeNames(random, names)] : []),
    ...(isIssuer !== isOdd() ? [basicConstraints(random, isIssuer !== isOdd())] : []),
    ...(isIssuer
      ? random.once(3)
        ? [keyUsage(random, isOdd() ? undefined : 0x06)]
        : []
      : random.once(4)
        ? [keyUsage(random)]
        : []),
    ...(wants("usages", 12) ? [extendedKeyUsage(random)] : []),
    ...(random.once(3) ? keyIdentifiers(random) : []),
    ...((isIssuer || random.once(20)) && wants("constraints", 12) ? [nameConstraints(random)] : []),
    ...(wants("policies", 30) ? policyExtensions(random, !isIssuer) : []),
    ...(isOdd() ? [otherExtension(random)] : []),
  ];
  const repeated = isOdd() && random.once(8) ? extensions.slice(0, 1) : [];
  return [...extensions, ...repeated, ...(random.once(200) ? [sequence(bytes([0]))] : [])];
}
