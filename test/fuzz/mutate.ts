// Changes to what the grammar made: of the tree, as a buggy encoder makes them, and of bytes, as damage does.
import { type DerElement, type DerNode, type OddLength, bytes, element, elementsOf, primitive } from "./der-tree.ts";
import type { CertificateRecipe, Edit } from "./certificate-recipe.ts";
import type { Random } from "./random.ts";

export function mutateCertificate(random: Random, recipe: CertificateRecipe): void {
  switch (random.below(8)) {
    case 0:
      recipe.edits.push(byteEdit(random));
      return;
    case 1:
      recipe.signatureEdits.push(byteEdit(random));
      return;
    case 2:
    case 3:
      // Each field as often as the others, however few parts it has.
      mutateTree(random, random.pick(recipe.signed.parts.flatMap((part) => ("parts" in part ? [part] : []))));
      return;
    default:
      for (let count = 1 + random.below(2); count > 0; count -= 1) mutateTree(random, recipe.root);
  }
}

export function byteEdit(random: Random): Edit {
  return { at: random.below(10_000) / 10_000, drop: random.below(4), put: [...random.bytes(random.below(4))] };
}

const tags = [
  0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x0a, 0x0c, 0x13, 0x16, 0x17, 0x18, 0x1f, 0x30, 0x31, 0x80, 0x81, 0x82, 0xa0,
  0xa1, 0xa3, 0xbf,
] as const;
const lengths: readonly OddLength[] = [
  "long",
  "longer",
  "indefinite",
  "open",
  { off: 1 },
  { off: -1 },
  { off: 200 },
  { octets: [0x80] },
  { octets: [0xff] },
  { octets: [0x84, 0xff, 0xff, 0xff, 0xff] },
  { octets: [0x85, 0, 0, 0, 0, 1] },
  { octets: [] },
];
const contents: readonly (readonly number[])[] = [
  [],
  [0],
  [1],
  [0xff],
  [0x80],
  [0, 0x80],
  [0, 1],
  [0xff, 0x80],
  [0x7f],
  [0xff, 0x7f],
];

function mutateTree(random: Random, root: DerElement): void {
  const elements = elementsOf(root);
  const chosen = random.pick(elements);
  const parent = elements.find(({ parts }) => parts.includes(chosen));
  const at = parent?.parts.indexOf(chosen) ?? -1;
  const siblings = parent?.parts ?? [];
  switch (random.below(12)) {
    case 0:
      siblings.splice(at, 1);
      return;
    case 1:
      siblings.splice(at, 0, structuredClone(chosen));
      return;
    case 2:
      siblings.push(...siblings.splice(at, 1));
      return;
    case 3:
      chosen.tag = random.pick(tags);
      return;
    case 4:
      chosen.tag ^= 1 << random.below(8);
      return;
    case 5:
      chosen.length = random.pick(lengths);
      return;
    case 6:
      chosen.parts.splice(random.below(chosen.parts.length + 1), 0, structuredClone(random.pick(elements)));
      return;
    case 7:
      siblings.splice(at, 1, structuredClone(random.pick(elements)));
      return;
    case 8:
      chosen.parts.push(
        random.pick<() => DerNode>([
          () => bytes([0]),
          () => primitive(0x05, []),
          () => element(random.pick(tags)),
          () => bytes(random.bytes(1 + random.below(3))),
        ])(),
      );
      return;
    case 9:
      chosen.parts = [bytes(random.pick(contents))];
      return;
    default:
      mutateContent(random, chosen);
  }
}

function mutateContent(random: Random, { parts }: DerElement): void {
  const leaf = parts.find((part) => "bytes" in part);
  if (leaf === undefined || !("bytes" in leaf)) return;
  const content = [...leaf.bytes];
  const at = random.below(content.length + 1);
  content.splice(
    at,
    random.below(3),
    ...random.pick([[random.below(256)], [], [0], [0x2e], [0xff], [0x80], [0x2a], [0x25], [0x40], [0x20]]),
  );
  leaf.bytes = Uint8Array.from(content);
}
