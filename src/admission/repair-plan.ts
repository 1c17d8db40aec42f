// A repair as data: types only. plan.ts makes it, mend.ts does the one step that is due.
import type { FindingKind, HookReference } from "./finding.ts";

/** The new bundle of one entry, and what must be there for it to be written. */
export interface BundleChange {
  readonly hook: HookReference;
  readonly expectedClientConfig: Readonly<Record<string, unknown>>;
  readonly bundle: Uint8Array;
}

/** What a step does to one object. Every kind states what it expects to find; a surprise means: observe again. */
export type StepAction =
  | {
      /** One JSON Patch on one holder: every entry named, each guarded by its name and its whole old clientConfig. */
      readonly kind: "set-bundle";
      /** `widen`: more is trusted than before. `replace`: what nothing serves gives way. `narrow`: the end of a widening. */
      readonly phase: "widen" | "replace" | "narrow";
      readonly holderPath: string;
      readonly entries: readonly BundleChange[];
    }
  | {
      /** `tls.crt` of the serving Secret: its own leaf first, then what pods still serve. `tls.key` is never touched. */
      readonly kind: "set-secret-certificates";
      readonly phase: "widen" | "narrow";
      readonly secretPath: string;
      readonly expectedUid: string;
      /** Absent in a step that comes after another write to the same Secret: it is not known yet. */
      readonly expectedResourceVersion?: string;
      readonly certificates: Uint8Array;
      /** The annotation that says which blocks are ours, so that exactly those are dropped again; absent: removed. */
      readonly added?: string;
      /** What `metadata.annotations` holds before: a JSON Patch cannot add to a map that is not there. */
      readonly annotations: Readonly<Record<string, string>>;
    }
  | {
      /** An annotation on the Secret: the operator watches it and reconciles, or does not, and that is the answer. */
      readonly kind: "force-reconcile";
      readonly secretPath: string;
      readonly expectedUid: string;
      readonly expectedResourceVersion: string;
      /** The time of asking, and the state that was asked about. */
      readonly request: string;
      readonly annotations: Readonly<Record<string, string>>;
    }
  | {
      /** `kubectl rollout restart`. Only where admission already fails, or a pod goes on serving meanwhile. */
      readonly kind: "restart-deployment";
      readonly deploymentPath: string;
      readonly expectedUid: string;
      readonly expectedGeneration: number;
      readonly strategy: "Recreate" | "RollingUpdate";
      /** The value of `kubectl.kubernetes.io/restartedAt`. */
      readonly restartedAt: string;
    };

export interface Step {
  readonly action: StepAction;
  /** The backend that is repaired. Its namespace is where the Lease lives. */
  readonly backend: { readonly namespace: string; readonly service: string };
  /** One sentence: what is done, to what. */
  readonly summary: string;
  /** One sentence: why this, and why now. */
  readonly why: string;
  /** How a person undoes it: a command where there is one. */
  readonly undo: string;
  readonly cures: readonly FindingKind[];
}

/** What fleetmend does not do by itself, and what to type. */
export interface Advice {
  readonly about: FindingKind;
  readonly object: string;
  readonly sentence: string;
  readonly commands: readonly string[];
}

export type Next =
  | { readonly do: "step"; readonly step: Step }
  | { readonly do: "wait"; readonly seconds: number; readonly why: string }
  | { readonly do: "nothing" };

export interface Plan {
  /** The one thing to do now. */
  readonly next: Next;
  /** The whole way as it looks from here, first step first; later ones are expected, not promised. */
  readonly steps: readonly Step[];
  readonly advice: readonly Advice[];
}

export interface PlanOptions {
  /** A person has allowed that admission fails for the length of a restart. */
  readonly allowOutage: boolean;
}
