// What little must outlive a run: which value we last wrote to an object, when, and how often it was taken back. It lives in
// an annotation of the Lease. Pure; reading and writing the Lease is lease.ts.
import * as v from "valibot";
import { certificatesIn, shortFingerprint } from "./plan-certificates.ts";
import type { Step } from "./repair-plan.ts";

export const ledgerAnnotation = "fleetmend/last-writes";

/** A value that was taken back so often is fought over: design choice, one coincidence is allowed. */
export const mostTakenBack = 2;

/** A value that is wanted again later than this was not taken back by a controller, and the count begins anew. */
const memorySeconds = 3600;

const entry = v.object({ wrote: v.string(), at: v.string(), takenBack: v.number() });
const entries = v.record(v.string(), entry);
export type Ledger = v.InferOutput<typeof entries>;

/** An annotation that cannot be read counts as none: it only ever stops us, and somebody may have edited it. */
export function parseLedger(annotation: string | undefined): Ledger {
  if (annotation === undefined) return {};
  try {
    const parsed = v.safeParse(entries, JSON.parse(annotation));
    return parsed.success ? parsed.output : {};
  } catch {
    return {};
  }
}

/** How often the very value that this step writes was taken back within the last hour, this time included. */
export function timesTakenBack(ledger: Ledger, step: Step, now: Date): number {
  const written = valueOf(step);
  const last = written && ledger[written.path];
  if (written === undefined || last?.wrote !== written.value) return 0;
  const age = (now.getTime() - Date.parse(last.at)) / 1000;
  return age < memorySeconds ? last.takenBack + 1 : 0;
}

/** The ledger after this step was done; undefined where the step leaves no value that could be taken back. */
export function withStep(ledger: Ledger, step: Step, now: Date): Ledger | undefined {
  const written = valueOf(step);
  if (written === undefined) return undefined;
  const takenBack = timesTakenBack(ledger, step, now);
  return { ...ledger, [written.path]: { wrote: written.value, at: now.toISOString(), takenBack } };
}

interface Written {
  readonly path: string;
  /** Short fingerprints of the certificates: enough to know the value again. */
  readonly value: string;
}

function valueOf({ action }: Step): Written | undefined {
  const word = (pem: Uint8Array): string => certificatesIn(pem).map(shortFingerprint).join("+");
  switch (action.kind) {
    case "set-bundle": {
      const value = action.entries.map(({ hook, bundle }) => `${hook.index}:${word(bundle)}`).join(" ");
      return { path: action.holderPath, value };
    }
    case "set-secret-certificates":
      return { path: action.secretPath, value: word(action.certificates) };
    case "force-reconcile":
    case "restart-deployment":
      return undefined;
  }
}
