// Drives `mend` from outside, as the command line does, with a clock that jumps where a person would wait: what the cluster
// does by itself takes milliseconds here, what mend waits for in life takes minutes.
import { setTimeout as sleep } from "node:timers/promises";
import type { ClusterApi } from "../../src/admission/cluster-api.ts";
import { mend } from "../../src/admission/mend.ts";
import type { MendOutcome } from "../../src/admission/mend-outcome.ts";
import type { Advice, Step } from "../../src/admission/repair-plan.ts";
import { probeNamespace } from "./kai/install.ts";

/** A clock that starts with the real one and can be put ahead. */
export interface JumpingClock {
  now(): Date;
  /** Lets a moment of real time pass, and the rest of these seconds at once. */
  wait(seconds: number): Promise<void>;
}

/** Real time for each wait: controllers, the operator and a mount's refresh of 200 ms get theirs within a few calls. */
const momentMs = 100;

export function jumpingClock(): JumpingClock {
  let aheadMs = 0;
  return {
    now: () => new Date(Date.now() + aheadMs),
    wait: async (seconds) => {
      const real = Math.min(seconds * 1000, momentMs);
      await sleep(real);
      aheadMs += seconds * 1000 - real;
    },
  };
}

export interface Repaired {
  readonly outcome: Extract<MendOutcome, { outcome: "done" }>;
  readonly steps: readonly Step[];
  /** Everything that was advised on the way, each once. */
  readonly advice: readonly Advice[];
  readonly notes: readonly string[];
}

export interface RepairSettings {
  readonly clock?: JumpingClock;
  readonly allowOutage?: boolean;
  readonly holder?: string;
  readonly afterCall?: (outcome: MendOutcome) => Promise<void>;
}

/** A stale pod is waited for in a dozen calls; nothing takes twice that. */
const mostCalls = 60;

export async function repairUntilDone(cluster: ClusterApi, settings: RepairSettings = {}): Promise<Repaired> {
  const clock = settings.clock ?? jumpingClock();
  const seen = { steps: [] as Step[], advice: new Map<string, Advice>(), notes: [] as string[] };
  for (let call = 0; call < mostCalls; call += 1) {
    const outcome = await mend(cluster, {
      now: () => clock.now(),
      probeNamespace,
      allowOutage: settings.allowOutage ?? false,
      holder: settings.holder ?? "test",
    });
    await settings.afterCall?.(outcome);
    if (outcome.outcome === "blind") {
      if (outcome.seconds === undefined) throw new Error(outcome.why);
      await clock.wait(outcome.seconds);
      continue;
    }
    for (const advice of outcome.plan.advice) seen.advice.set(advice.sentence, advice);
    seen.notes.push(...outcome.notes);
    if (outcome.outcome === "done") return { ...seen, advice: [...seen.advice.values()], outcome };
    if (outcome.did !== undefined) seen.steps.push(outcome.did);
    await clock.wait(outcome.seconds);
  }
  throw new Error(`not done after ${mostCalls} calls: ${seen.steps.map(({ summary }) => summary).join(" | ")}`);
}

/** What the steps did, in a few words each. */
export function brief(steps: readonly Step[]): readonly string[] {
  return steps.map(({ action }) => {
    switch (action.kind) {
      case "set-bundle":
        return `${action.phase} ${action.holderPath.split("/").slice(-2).join("/")}`;
      case "set-secret-certificates":
        return `${action.phase} ${action.secretPath.split("/").slice(-2).join("/")}`;
      case "force-reconcile":
        return "ask the operator";
      case "restart-deployment":
        return `restart ${action.deploymentPath.split("/").slice(-2).join("/")}`;
    }
  });
}
