// What may be done on one cluster: the subscription's mode, and what the cluster's tag makes of it. Pure.
import { modes, modeTag, type Mode } from "./mode.ts";

export interface ModeDecision {
  readonly mode: Mode;
  /** Why the tag is not followed, where it is not. */
  readonly note?: string;
}

export interface ModeRule {
  /** The subscription's. */
  readonly mode: Mode;
  readonly tagMayRaise: boolean;
}

/**
 * The tag may lower the mode, and raise it only where the rule says so. A tag that cannot be read leaves at the most
 * `observe`: whoever set it wanted something else than the subscription's mode, and looking does no harm. Tag names are
 * compared without regard to case, as Azure does (Microsoft Learn, "Use tags to organize your Azure resources").
 */
export function decideMode(rule: ModeRule, tags: Readonly<Record<string, string>>): ModeDecision {
  const text = Object.entries(tags).find(([name]) => name.toLowerCase() === modeTag)?.[1];
  if (text === undefined) return { mode: rule.mode };
  const wanted = modes.find((mode) => mode === text.trim().toLowerCase());
  if (wanted === undefined) {
    const mode = lower(rule.mode, "observe");
    return { mode, note: `The tag ${modeTag} has a value that is none of ${modes.join(", ")}: ${mode} is followed.` };
  }
  if (lower(wanted, rule.mode) === wanted || rule.tagMayRaise) return { mode: wanted };
  return {
    mode: rule.mode,
    note: `The tag ${modeTag} asks for ${wanted}, and tags may not raise the mode ${rule.mode}: set FLEETMEND_TAG_MAY_RAISE=true to let them.`,
  };
}

/** `modes` is in the order of what may be done. */
function lower(one: Mode, other: Mode): Mode {
  return modes.indexOf(one) <= modes.indexOf(other) ? one : other;
}
