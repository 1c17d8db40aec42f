// Hooks and findings in few words: what they are called together, and which findings are one and the same to a person.
import type { Finding, HookReference } from "./finding.ts";
import type { Hook } from "./snapshot.ts";

/** `1 pod`, `2 pods`; the plural where it is not the word with an s. */
export function count(number: number, noun: string, plural = `${noun}s`): string {
  return `${number} ${number === 1 ? noun : plural}`;
}

/** `a`, `a and b`, `a, b and c`. */
export function listed(words: readonly string[]): string {
  const last = words.at(-1) ?? "";
  return words.length < 2 ? last : `${words.slice(0, -1).join(", ")} and ${last}`;
}

/**
 * `binder.run.ai in kai-binder (mutating and validating)`: each hook once, and each holder with its kinds, where its name
 * does not say them (`validating-kai-admission` does).
 */
export function describeHooks(hooks: readonly HookReference[]): string {
  const names = distinct(hooks.map((hook) => hook.name));
  const holders = distinct(hooks.map((hook) => hook.holder)).map((holder) => {
    const kinds = distinct(hooks.filter((hook) => hook.holder === holder).map(shortKind));
    return kinds.every((kind) => holder.includes(kind)) ? holder : `${holder} (${listed(kinds)})`;
  });
  return `${listed(names)} in ${listed(holders)}`;
}

function shortKind({ holderKind }: HookReference): string {
  return holderKind.replace(/WebhookConfiguration$/, "").toLowerCase();
}

export function distinct<T>(values: readonly T[]): readonly T[] {
  return [...new Set(values)];
}

export function referenceTo(hook: Hook): HookReference {
  return { holderKind: hook.holder.kind, holder: hook.holder.name, index: hook.index, name: hook.name };
}

export function isSameHook(one: HookReference, other: HookReference): boolean {
  return one.holderKind === other.holderKind && one.holder === other.holder && one.index === other.index;
}

/** The hooks that a finding is about; none where it is about something behind them or around them. */
export function hooksOf(finding: Finding): readonly HookReference[] {
  if ("hook" in finding) return [finding.hook];
  if ("hooks" in finding) return finding.hooks;
  if ("bundles" in finding) return finding.bundles.map(({ hook }) => hook);
  return [];
}

/** What `hook` is asked about, as the resources of its rules: `pods`, `queues`. */
export function resourcesOf(hook: Hook): readonly string[] {
  return distinct(hook.rules.flatMap((rule) => rule.resources));
}

/** Findings that differ in nothing but their hook, in the order of the first of each. */
export interface FindingGroup {
  readonly first: Finding;
  readonly hooks: readonly HookReference[];
  readonly findings: readonly Finding[];
}

/**
 * KAI registers most backends twice, with a mutating and a validating hook; a fault behind them is two findings for a
 * program and one for a person.
 */
export function groupFindings(findings: readonly Finding[]): readonly FindingGroup[] {
  const groups = new Map<string, Finding[]>();
  for (const finding of findings) {
    const key = JSON.stringify({ ...finding, hook: undefined, object: "hook" in finding ? undefined : finding.object });
    groups.set(key, [...(groups.get(key) ?? []), finding]);
  }
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    return first === undefined ? [] : [{ first, hooks: group.flatMap(hooksOf), findings: group }];
  });
}
