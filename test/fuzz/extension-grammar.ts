// Extensions, as a generated certificate may have them: those that Go understands, in every shape that matters to it, and
// others.
import { type DerNode, bits, boolean, bytes, element, integer, octets, oid, primitive, sequence } from "./der-tree.ts";
import { addressText, generalName, hostName, mailbox, rangeOctets } from "./name-grammar.ts";
import type { Random } from "./random.ts";

export function extension(id: string, value: DerNode, isCritical = false): DerNode {
  return sequence(oid(id), ...(isCritical ? [boolean(true)] : []), octets(value));
}

export const alternativeNames = (random: Random, names: readonly DerNode[]): DerNode =>
  extension("2.5.29.17", sequence(...names), random.once(8));

export const someNames = (random: Random): readonly DerNode[] =>
  Array.from({ length: random.once(60) ? 98 + random.below(5) : random.below(4) }, () => generalName(random));

export function basicConstraints(random: Random, isCa = true): DerNode {
  const pathLength = random.once(3)
    ? [integer(random.pick([0, 0, 1, 2, 127, 128, -1, 2n ** 63n - 1n, 2n ** 63n, 2n ** 40n]))]
    : [];
  const flag = isCa ? [boolean(true)] : random.once(2) ? [] : [boolean(false)];
  return extension("2.5.29.19", sequence(...flag, ...pathLength), !random.once(4));
}

export function keyUsage(random: Random, octet = random.pick([0x04, 0x06, 0x80, 0xa0, 0x00, 0x86, 0x01])): DerNode {
  const value = random.pick<DerNode>([
    bits(bytes([octet])),
    bits(bytes([octet])),
    bits(),
    bits(bytes([octet, 0x80])),
    primitive(0x03, [2, octet & 0xfc]),
    primitive(0x03, [0, 0, 4, octet, 1]),
    primitive(0x03, [7, 0x80]),
    ...(random.once(6)
      ? [primitive(0x03, [1, 0xff]), primitive(0x03, [8, 0]), primitive(0x03, []), primitive(0x03, [1])]
      : []),
  ]);
  return extension("2.5.29.15", value, !random.once(3));
}

const usages = [
  "1.3.6.1.5.5.7.3.1",
  "1.3.6.1.5.5.7.3.1",
  "1.3.6.1.5.5.7.3.2",
  "2.5.29.37.0",
  "1.2.3.4",
  "2.16.840.1.113730.4.1",
  "1.3.6.1.4.1.311.10.3.3",
] as const;

export const extendedKeyUsage = (random: Random): DerNode =>
  extension("2.5.29.37", sequence(...random.some(usages, 3).map(oid)), random.once(4));

export function keyIdentifiers(random: Random): readonly DerNode[] {
  const identifier = (): readonly number[] => random.pick([[1], [1], [2], [], [1, 2]]);
  const authority = random.pick<DerNode>([
    sequence(primitive(0x80, identifier())),
    sequence(primitive(0x80, identifier())),
    sequence(),
    sequence(element(0xa1, generalName(random)), primitive(0x82, [1])),
    sequence(primitive(0x80, identifier()), element(0xa1, generalName(random)), primitive(0x82, [1])),
  ]);
  return [
    ...(random.once(2) ? [extension("2.5.29.14", primitive(0x04, identifier()), random.once(15))] : []),
    ...(random.once(2) ? [extension("2.5.29.35", authority, random.once(15))] : []),
  ];
}

function subtree(random: Random): DerNode {
  const base = random.pick<() => DerNode>([
    () => primitive(0x82, hostName(random)),
    () => primitive(0x82, hostName(random)),
    () => primitive(0x82, random.pick(["svc", ".svc", "b.svc", "a.b.svc", "", "A.B.Svc", "B.SVC", ".b.svc", "c"])),
    () => primitive(0x87, rangeOctets(random)),
    () => primitive(0x81, random.once(2) ? mailbox(random) : hostName(random)),
    () => primitive(0x86, random.once(6) ? addressText(random) : hostName(random)),
    () => (random.once(5) ? element(0xa4, sequence()) : primitive(0x82, "svc")),
  ])();
  return sequence(base, ...(random.once(20) ? [integer(0, 0x80)] : []), ...(random.once(30) ? [integer(1, 0x81)] : []));
}

export function nameConstraints(random: Random): DerNode {
  const side = (tag: number): readonly DerNode[] =>
    random.once(2) ? [element(tag, ...Array.from({ length: 1 + random.below(4) }, () => subtree(random)))] : [];
  return extension("2.5.29.30", sequence(...side(0xa0), ...side(0xa1)), !random.once(4));
}

const policies = ["1.2.3.1", "1.2.3.2", "1.2.3.3", "2.5.29.32.0"] as const;

export function policyExtensions(random: Random, isLeaf: boolean): readonly DerNode[] {
  const skip = (tag?: number): DerNode => integer(random.pick([0, 0, 1, 2, 3, 200, -1, 2n ** 63n]), tag);
  const listed = [...new Set(random.some(policies, 3))];
  if (random.once(25)) listed.push(...listed.slice(0, 1));
  const odd = random.once(30)
    ? [
        sequence(
          primitive(
            0x06,
            random.pick([[0x80, 1], [0x81], [], [0x2a, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f], [0x2a, 0x80, 1]]),
          ),
        ),
      ]
    : [];
  const qualified = (policy: string): DerNode =>
    sequence(
      oid(policy),
      ...(random.once(10) ? [sequence(sequence(oid("1.3.6.1.5.5.7.2.1"), primitive(0x16, "https://x")))] : []),
    );
  const mappings = Array.from({ length: random.below(3) }, () =>
    sequence(oid(random.pick(policies)), oid(random.pick(policies))),
  );
  return [
    ...(random.once(4) ? [] : [extension("2.5.29.32", sequence(...listed.map(qualified), ...odd), random.once(3))]),
    ...(random.once(2) && (!isLeaf || random.once(8))
      ? [extension("2.5.29.33", sequence(...mappings), random.once(2))]
      : []),
    ...(random.once(2)
      ? [
          extension(
            "2.5.29.36",
            sequence(...(random.once(3) ? [] : [skip(0x80)]), ...(random.once(2) ? [skip(0x81)] : [])),
            random.once(2),
          ),
        ]
      : []),
    ...(random.once(4) ? [extension("2.5.29.54", skip(), random.once(2))] : []),
  ];
}

/** Those that Go reads without using them here, and those that it does not know. */
export function otherExtension(random: Random): DerNode {
  return random.pick<() => DerNode>([
    () => extension("1.2.3.4.5", primitive(0x05, []), random.once(3)),
    () => extension("2.5.29.18", sequence(generalName(random)), random.once(6)),
    () => extension("2.5.29.31", sequence(distributionPoint(random)), random.once(3)),
    () =>
      extension(
        "1.3.6.1.5.5.7.1.1",
        sequence(
          sequence(oid(random.pick(["1.3.6.1.5.5.7.48.1", "1.3.6.1.5.5.7.48.2", "1.2.3"])), generalName(random)),
        ),
        random.once(12),
      ),
    () => extension("1.3.6.1.4.1.11129.2.4.2", octets(bytes([0, 0]))),
    () => extension("1.3.6.1.4.1.11129.2.4.3", primitive(0x05, []), true),
    () => extension("2.5.29.16", sequence(), random.once(3)),
  ])();
}

function distributionPoint(random: Random): DerNode {
  const names = element(0xa0, ...Array.from({ length: random.below(3) }, () => generalName(random)));
  return sequence(
    ...(random.once(4) ? [] : [element(0xa0, random.once(6) ? element(0xa1) : names)]),
    ...(random.once(5) ? [primitive(0x81, [0, 0x80])] : []),
    ...(random.once(5) ? [element(0xa2, generalName(random))] : []),
  );
}
