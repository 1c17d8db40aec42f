// A certificate as it is made: a tree, who signs it, and what is spoiled afterwards. Plain data but for the keys, which have
// names, so that a recipe can be copied, cut down and made again.
import { type DerBytes, type DerElement, type DerNode, bits, bytes, element, encode, sequence } from "./der-tree.ts";
import { type Scheme, signingKey } from "./signing-keys.ts";

/** A change of bytes: `drop` of them from `at` on (of 1: a fraction of the length), `put` in their place. */
export interface Edit {
  readonly at: number;
  readonly drop: number;
  readonly put: readonly number[];
}

export interface CertificateRecipe {
  /** The whole SEQUENCE. */
  root: DerElement;
  /** What is signed; a part of the root, unless a mutation took it out. */
  signed: DerElement;
  /** Where the signature goes. */
  signature: DerBytes;
  signer: string;
  scheme: Scheme;
  /** Of the signature. */
  signatureEdits: Edit[];
  /** Of the whole. */
  edits: Edit[];
}

export interface Fields {
  readonly head: readonly DerNode[];
  readonly algorithm: DerNode;
  readonly issuer: DerNode;
  readonly validity: DerNode;
  readonly subject: DerNode;
  readonly keyInfo: DerNode;
  readonly tail: readonly DerNode[];
  readonly end: readonly DerNode[];
}

export function certificateRecipe(fields: Fields, signer: string, scheme: Scheme): CertificateRecipe {
  const { head, algorithm, issuer, validity, subject, keyInfo, tail, end } = fields;
  const signed = sequence(...head, algorithm, issuer, validity, subject, keyInfo, ...tail);
  const signature = bytes([]);
  const root = sequence(signed, algorithm, bits(signature), ...end);
  return { root, signed, signature, signer, scheme, signatureEdits: [], edits: [] };
}

export const extensionList = (extensions: readonly DerNode[]): DerNode => element(0xa3, sequence(...extensions));

export function renderCertificate(recipe: CertificateRecipe): Uint8Array {
  const signed = signingKey(recipe.signer).sign(encode(recipe.signed), recipe.scheme);
  recipe.signature.bytes = applyEdits(signed, recipe.signatureEdits);
  return applyEdits(encode(recipe.root), recipe.edits);
}

export function applyEdits(original: Uint8Array, edits: readonly Edit[]): Uint8Array {
  let changed = Buffer.from(original);
  for (const { at, drop, put } of edits) {
    const from = Math.floor(at * changed.length);
    changed = Buffer.concat([changed.subarray(0, from), Buffer.from(put), changed.subarray(from + drop)]);
  }
  return changed;
}
