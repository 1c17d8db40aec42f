// A case as it is made, and as it is asked: certificates with issuers among each other, which of them are in the bundle and
// which are served, and what is asked for when.
import { type Bundle, generateBundle, renderBundle } from "./bundle-grammar.ts";
import { type Place, type Theme, generateCertificate, themes, usualTime } from "./certificate-grammar.ts";
import { type CertificateRecipe, renderCertificate } from "./certificate-recipe.ts";
import { mutateCertificate } from "./mutate.ts";
import { hostName, serverName } from "./name-grammar.ts";
import type { Random } from "./random.ts";
import { keyNames } from "./signing-keys.ts";

export interface CaseRecipe {
  certificates: CertificateRecipe[];
  bundle: Bundle;
  /** Which certificates are served, leaf first. */
  chain: number[];
  name: string;
  at: number;
}

/** What both sides are asked. */
export interface Question {
  readonly caBundle: Uint8Array;
  readonly chain: readonly Uint8Array[];
  readonly serverName: string;
  readonly at: Date;
}

export function renderCase(recipe: CaseRecipe): Question {
  const certificates = recipe.certificates.map(renderCertificate);
  return {
    caBundle: renderBundle(recipe.bundle, certificates),
    chain: recipe.chain.flatMap((index) => certificates[index] ?? []),
    serverName: recipe.name,
    at: new Date(recipe.at),
  };
}

export function generateCase(random: Random): CaseRecipe {
  const theme = random.pick(themes);
  const shape = random.pick([pathShape, pathShape, generationShape, tangleShape])(random, theme);
  const certificates = shape.places.map((place) => generateCertificate(random, place));
  if (theme === "syntax" || random.once(12)) mutateCertificate(random, random.pick(certificates));
  const isOdd = (): boolean => random.once(25);
  return {
    certificates,
    bundle: generateBundle(random, shape.bundle, theme === "plain" ? 3 : 40),
    chain: [...shape.chain, ...(isOdd() ? shape.bundle : [])],
    name: random.once(theme === "names" ? 2 : 12) ? hostName(random) || serverName : serverName,
    at:
      usualTime +
      (isOdd()
        ? random.pick([-1, 1, 500, 999, 1000, 1001, -1000, 3_600_000, 86_400_000 * 365, 86_400_000 * 365 + 1])
        : 0),
  };
}

interface Shape {
  readonly places: readonly Place[];
  readonly bundle: readonly number[];
  readonly chain: readonly number[];
}

const usualKeys = ["ec-a", "ec-b", "ec-c"] as const;

function keyFor(random: Random, theme: Theme): string {
  if (theme === "keys" || random.once(30)) return random.pick(keyNames);
  return random.once(6) ? random.pick(["rsa-1024", "ed25519", "ec-384"]) : random.pick(usualKeys);
}

function oddnessOf(random: Random, theme: Theme): number {
  return theme === "syntax" || theme === "plain" ? random.pick([4, 12, 40]) : random.pick([12, 40, 100]);
}

/** A leaf, its issuers up to an anchor, all as they should be but for what is odd about each. */
function pathShape(random: Random, theme: Theme): Shape {
  const length = 1 + random.below(4);
  const keys = Array.from({ length }, () => keyFor(random, theme));
  const places = keys.map((key, at): Place => ({
    role: at === 0 ? "leaf" : "issuer",
    subject: random.once(30) ? undefined : `ca-${at}`,
    issuer: random.once(60) ? undefined : `ca-${Math.min(at + 1, length - 1)}`,
    key,
    signer: random.once(40) ? keyFor(random, theme) : (keys[at + 1] ?? key),
    oddness: oddnessOf(random, theme),
    theme,
  }));
  const anchor = random.once(5) ? random.below(length) : length - 1;
  const served = Array.from({ length: Math.max(1, anchor) }, (_, at) => at);
  return { places, bundle: [anchor, ...(random.once(6) ? [random.below(length)] : [])], chain: served };
}

/** Self-signed certificates of one subject: KAI's generations. */
function generationShape(random: Random, theme: Theme): Shape {
  const count = 2 + random.below(3);
  const places = Array.from({ length: count }, (): Place => {
    const key = keyFor(random, theme);
    const role = random.once(3) ? "issuer" : "leaf";
    return {
      role,
      subject: serverName,
      issuer: serverName,
      key,
      signer: key,
      oddness: oddnessOf(random, theme),
      theme,
    };
  });
  const all = places.map((_, at) => at);
  return { places, bundle: random.some(all, 3).concat(1), chain: [random.once(3) ? 1 : 0, ...random.some(all, 2)] };
}

/** Few subjects and keys, any of them issuing any other: namesakes, cross-signatures, cycles. */
function tangleShape(random: Random, theme: Theme): Shape {
  const subjects = ["ca-a", "ca-b", "ca-c"];
  const count = 2 + random.below(8);
  const places = Array.from({ length: count }, (_, at): Place => ({
    role: at === 0 ? "leaf" : "issuer",
    subject: random.pick(subjects),
    issuer: random.pick(subjects),
    key: theme === "keys" && random.once(3) ? keyFor(random, theme) : random.pick(usualKeys),
    signer: random.pick(usualKeys),
    oddness: random.pick([12, 40, 100]),
    theme,
  }));
  const all = places.map((_, at) => at);
  return { places, bundle: random.some(all, 3).concat(random.below(count)), chain: [0, ...random.some(all, 10)] };
}
