// Hooks, pods, certificates and times in the words of a finding's sentence.
import type { CertificateSummary } from "../trust/verdict.ts";
import type { Finding, FindingKind, HookReference, ServedGroup } from "./finding.ts";

export interface FindingExplanation {
  /** What is wrong, with both sides, and what follows. Sentences from a capital letter to a full stop. */
  readonly sentence: string;
  /** What to do or to type, likewise; "Nothing." where nothing is to be done. */
  readonly todo: string;
}

/** The finding of one kind, or of some. */
export type FindingOf<Kind extends FindingKind> = Extract<Finding, { readonly kind: Kind }>;

const kindsOfHolder: Readonly<Record<string, string>> = {
  MutatingWebhookConfiguration: "mutating",
  ValidatingWebhookConfiguration: "validating",
};

/** `mutating kai-binder [binder.run.ai]`. */
export function hookInWords({ holderKind, holder, name }: HookReference): string {
  return `${kindsOfHolder[holderKind] ?? holderKind} ${holder} [${name}]`;
}

export function hooksInWords(hooks: readonly HookReference[]): string {
  return listed(hooks.map(hookInWords));
}

/** The opening of a clause: `both pods serve`, `pod binder-1 serves`. */
export function servesInWords({ pods, servedFrom }: ServedGroup, readyPods: number): string {
  if (servedFrom === "secret") return "the Secret, which the pods may not have loaded, holds";
  const [only] = pods;
  if (only === undefined) return "the webhook serves";
  if (pods.length === 1) return readyPods === 1 ? "the pod serves" : `pod ${only} serves`;
  if (pods.length === readyPods) return readyPods === 2 ? "both pods serve" : `all ${readyPods} pods serve`;
  return `${podsInWords(pods)} serve`;
}

/** `pod binder-1 serves the certificate made on …`. */
export function groupInWords({ pods, leaf, servedFrom }: ServedGroup): string {
  const who = servedFrom === "secret" ? "by the Secret, " : "";
  return `${who}${podsInWords(pods)} ${pods.length === 1 ? "serves" : "serve"} ${certificateInWords(leaf)}`;
}

export function podsInWords(pods: readonly string[]): string {
  return `${pods.length === 1 ? "pod" : "pods"} ${listed(pods)}`;
}

export function certificatesInWords(certificates: readonly CertificateSummary[]): string {
  return certificates.length === 0 ? "no certificate" : listed(certificates.map(certificateInWords));
}

/** By date and fingerprint: subject and serial are the same in all of KAI's generations. */
export function certificateInWords(certificate: CertificateSummary | undefined): string {
  if (certificate === undefined) return "a certificate that cannot be read";
  return `the certificate made on ${instant(certificate.notBefore)} (sha256 ${certificate.fingerprint.slice(0, 8)}…)`;
}

/** At most three by name, and how many more. */
export function listed(items: readonly string[]): string {
  if (items.length > 3) return `${items.slice(0, 3).join(", ")} and ${items.length - 3} more`;
  const last = items.at(-1) ?? "";
  return items.length < 2 ? last : `${items.slice(0, -1).join(", ")} and ${last}`;
}

const months = "January February March April May June July August September October November December".split(" ");

/** `3 May 2026 12:00 UTC`. */
export function instant(date: Date): string {
  const day = `${date.getUTCDate()} ${months[date.getUTCMonth()] ?? ""} ${date.getUTCFullYear()}`;
  return `${day} ${date.toISOString().slice(11, 16)} UTC`;
}

/** How a pair is renewed, by the two kinds of families. No step of fleetmend's: it costs a window, or an outage. */
export const newPair =
  "Have KAI make a new pair. Where hook Jobs write it (KAI before v0.9): helm upgrade the release. Where kai-operator does: delete the Secret while the operator works, wait for the new one, then restart the pods.";
