// When the old tokens go: after the soak, one by one, and orphans after their day. Pure.
import type { Current } from "./plan-token.ts";
import type { RotationPlan } from "./rotation-step.ts";
import { madeAt, type TokenCredential } from "./token-credential.ts";
import type { TokenView, VersionView } from "./token-view.ts";

/** An orphan's age. A rotator that is between its POST and Key Vault is seconds old, whatever the clocks say. */
const orphanAgeMs = 24 * 3_600_000;

/**
 * The token of each older version that is still enabled is deleted, and then the version disabled. Only where the current
 * one was proven in this run, by its verdict, and once more by the step itself.
 */
export function retirePlan(view: TokenView, credential: TokenCredential, current: Current): RotationPlan | undefined {
  const old = view.versions.slice(1).findLast(({ enabled }) => enabled);
  if (old === undefined) return undefined;
  const seconds = soakLeft(view, credential, current);
  if (seconds > 0)
    return { plan: "wait", seconds, why: `${nameOf(old)} is kept until the new token has proven itself` };
  const { verdict } = old;
  const isOurs = verdict !== undefined && verdict.verdict !== "dead" && isDeletable(view, credential, verdict);
  const isCurrent = verdict !== undefined && verdict.verdict !== "dead" && verdict.tokenName === tokenNameOf(current);
  if (isOurs && !isCurrent) {
    const { user, tokenName } = verdict;
    return {
      plan: "step",
      step: { step: "delete-token", user, tokenName, why: "replaced", keeper: current.fingerprint },
    };
  }
  return { plan: "step", step: { step: "disable-version", version: old.version, tokenName: nameOf(old) } };
}

/** The default admin's token is not this credential's to delete, nor is another user's. */
function isDeletable(
  { routes }: TokenView,
  { user }: TokenCredential,
  of: { user: string; tokenName: string },
): boolean {
  return of.tokenName !== "default-admin-token" && (routes === "6.0" || of.user === user);
}

/** Seconds until the soak is over: from the last consumer's restart, or from the new version where nobody restarts. */
function soakLeft({ at, consumers }: TokenView, { soakSeconds }: TokenCredential, current: Current): number {
  const since = Math.max(
    current.createdAt.getTime(),
    ...consumers.map(({ youngestPod }) => youngestPod?.getTime() ?? 0),
  );
  return Math.ceil((since + soakSeconds * 1000 - at.getTime()) / 1000);
}

/**
 * Tokens with this credential's prefix that stand in no enabled version: what a crash between OSMO and Key Vault left, its
 * value lost. Nothing is deleted while it is unknown whose token a version holds.
 */
export function orphanPlan(view: TokenView, credential: TokenCredential, current: Current): RotationPlan | undefined {
  const kept = view.versions.filter(({ enabled }) => enabled).map(tokenNameOf);
  if (kept.includes(undefined)) return undefined;
  const orphan = view.tokens.find(({ name }) => {
    const made = madeAt(credential, name);
    return made !== undefined && !kept.includes(name) && view.at.getTime() - made.getTime() > orphanAgeMs;
  });
  if (orphan === undefined) return undefined;
  const { user, name: tokenName } = orphan;
  return { plan: "step", step: { step: "delete-token", user, tokenName, why: "orphan", keeper: current.fingerprint } };
}

function tokenNameOf({ verdict, taggedName }: VersionView): string | undefined {
  return verdict === undefined || verdict.verdict === "dead" ? taggedName : verdict.tokenName;
}

const nameOf = (version: VersionView): string => tokenNameOf(version) ?? `of version ${version.version}`;
