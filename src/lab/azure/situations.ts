// What can be the matter with a cluster of the lab's subscription, and who gets what by the seed. Pure. Not here: how it
// comes about (kai/faults.ts for what is inside a cluster, subscription-cluster.ts for what is around it).
import { families, type FamilyName } from "../kai/families.ts";
import { faultNames, hasFault, type Fault } from "../kai/faults.ts";
import { pick, shuffled } from "./random.ts";

/** What is around a cluster. But for the last two these are the kinds of `not assessed` that fleetmend reports. */
export const circumstances = [
  "stopped",
  "creating",
  "deleting",
  "no-dns", // a private cluster whose zone is not linked: its name does not resolve
  "no-route", // nobody answers at its address
  "authorized-ip-ranges", // the same, because only some addresses are let in
  "tls-failed", // its certificate is not of the CA that ARM tells
  "unauthorized", // it refuses the identity's token
  "forbidden", // it knows the identity, which has no right there
  "local-accounts", // without Entra: its user's certificate is a cluster-admin's
  "nothing-to-watch", // without KAI; only from the start
  "never-answers", // connections come about and nothing is ever said in them
] as const;

export type Circumstance = (typeof circumstances)[number];

export type Situation = "healthy" | Fault | Circumstance;

/** Each situation once, but for `healthy`, and for `never-answers`, which keeps everybody waiting. */
export const everySituation: readonly Situation[] = [
  ...faultNames,
  ...circumstances.filter((circumstance) => circumstance !== "never-answers"),
];

export function isCircumstance(situation: Situation): situation is Circumstance {
  return (circumstances as readonly string[]).includes(situation);
}

export interface Assignment {
  readonly situation: Situation;
  readonly family: FamilyName | "none";
}

const familyNames = Object.keys(families) as readonly FamilyName[];

/** One for each of `count` clusters: the wanted situations in any order, as many as there is room for; the rest is healthy. */
export function assign(count: number, wanted: readonly Situation[], random: () => number): readonly Assignment[] {
  const dealt = shuffled(wanted, random).slice(0, count);
  const rest = Array.from({ length: count - dealt.length }, (): Situation => "healthy");
  return shuffled([...dealt, ...rest], random).map((situation) => ({
    situation,
    family: familyFor(situation, random),
  }));
}

function familyFor(situation: Situation, random: () => number): Assignment["family"] {
  if (situation === "nothing-to-watch") return "none";
  const isFault = situation !== "healthy" && !isCircumstance(situation);
  const able = familyNames.filter((family) => !isFault || hasFault(family, situation));
  return pick(able, random);
}
