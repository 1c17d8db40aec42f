// Drives a repair of a world from outside, as the command line and the Functions app do: call mend, let the time pass that
// it asks for, call again; each call may be killed. Watches that no write of ours makes a trusted handshake untrusted.
import type { ApiFailure } from "../../src/admission/cluster-api.ts";
import { mend } from "../../src/admission/mend.ts";
import type { MendOutcome } from "../../src/admission/mend-outcome.ts";
import type { Step } from "../../src/admission/repair-plan.ts";
import type { KaiWorld } from "./kai-world.ts";

export interface RunOptions {
  readonly allowOutage?: boolean;
  readonly planOnly?: boolean;
  /** For call number n: kill the process at this request of it, before or after the API server has acted on it. */
  readonly kill?: (call: number) => { readonly atRequest: number; readonly when: "before" | "after" } | undefined;
  /** For call number n: answer this request of it with a failure; `delivered`: the API server has acted on it all the same. */
  readonly fault?: (call: number) => Fault | undefined;
  /** Called after each call, before time passes. */
  readonly afterCall?: (outcome: MendOutcome | "killed") => void;
}

export interface Fault {
  readonly atRequest: number;
  readonly kind: ApiFailure["kind"];
  readonly delivered: boolean;
}

export interface Run {
  readonly outcome: Extract<MendOutcome, { outcome: "done" }>;
  readonly steps: readonly Step[];
  readonly calls: number;
  readonly seconds: number;
}

/** More than any repair takes: two refreshes of two minutes in steps of ten seconds, and each call killed once. */
const mostCalls = 150;

class Killed extends Error {}

export async function repair(world: KaiWorld, options: RunOptions = {}): Promise<Run> {
  const started = world.now().getTime();
  const steps: Step[] = [];
  for (let call = 0; call < mostCalls; call += 1) {
    const before = world.trust();
    const outcome = await callOnce(world, options, call);
    options.afterCall?.(outcome);
    if (outcome === "killed") {
      expectNoWorse(before, world.trust(), undefined);
      world.pass(1);
      continue;
    }
    if (outcome.outcome === "blind") {
      if (outcome.seconds === undefined) throw new Error(outcome.why);
      world.pass(outcome.seconds);
      continue;
    }
    const did = outcome.outcome === "wait" ? outcome.did : undefined;
    expectNoWorse(before, world.trust(), did);
    if (did !== undefined) steps.push(did);
    if (outcome.outcome === "done") {
      return { outcome, steps, calls: call + 1, seconds: (world.now().getTime() - started) / 1000 };
    }
    // Real time passes even where none is asked for.
    world.pass(Math.max(outcome.seconds, 0.2));
  }
  throw new Error(`not done after ${mostCalls} calls; steps: ${steps.map(({ summary }) => summary).join(" | ")}`);
}

async function callOnce(world: KaiWorld, options: RunOptions, call: number): Promise<MendOutcome | "killed"> {
  const { memory } = world;
  const kill = options.kill?.(call);
  const fault = options.fault?.(call);
  let request = 0;
  memory.around = (act) => {
    request += 1;
    const isKilled = request === kill?.atRequest;
    const fails = request === fault?.atRequest ? fault : undefined;
    const isDelivered = isKilled ? kill.when === "after" : fails === undefined || fails.delivered;
    if (isDelivered) act();
    if (isKilled) throw new Killed();
    return fails && { kind: fails.kind, message: `${fails.kind}, as the test wants` };
  };
  try {
    return await mend(memory.api(), {
      now: world.now,
      probeNamespace: "osmo-workflows",
      allowOutage: options.allowOutage ?? false,
      planOnly: options.planOnly ?? false,
      holder: kill === undefined ? "test" : `test-${call}`,
    });
  } catch (error) {
    if (error instanceof Killed) return "killed";
    throw error;
  } finally {
    memory.around = (act) => {
      act();
      return undefined;
    };
  }
}

/** Invariant: what was trusted before one call is trusted after it. A restart replaces the pods, and is judged by its rules. */
function expectNoWorse(before: Map<string, boolean>, after: Map<string, boolean>, did: Step | undefined): void {
  const lost = [...before].filter(([pair, trusted]) => trusted && after.get(pair) === false).map(([pair]) => pair);
  if (lost.length > 0) throw new Error(`made worse by "${did?.summary ?? "a call"}": ${lost.join(", ")}`);
}
