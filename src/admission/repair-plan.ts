// A repair as data: types only. plan.ts makes it, mend.ts does its first step.
import type { FindingKind, HookReference } from "./finding.ts";

/** What a step does to one object. Every kind states what it expects to find; a surprise means: observe again. */
export type StepAction =
  | {
      /** One JSON Patch on one holder: every entry named, each guarded by its name and its whole old clientConfig. */
      readonly kind: "set-bundle";
      readonly phase: "widen" | "narrow";
      readonly holderPath: string;
      readonly entries: readonly {
        readonly hook: HookReference;
        readonly expectedClientConfig: Readonly<Record<string, unknown>>;
        readonly bundle: Uint8Array;
      }[];
    }
  | {
      /** `tls.crt` of the serving Secret: new leaf first, then what pods still serve. `tls.key` is never touched. */
      readonly kind: "set-secret-certificates";
      readonly phase: "widen" | "narrow";
      readonly secretPath: string;
      readonly expectedResourceVersion: string;
      readonly certificates: Uint8Array;
    }
  | {
      /** An annotation on the Secret: the operator watches it and reconciles, or does not, and that is the answer. */
      readonly kind: "force-reconcile";
      readonly secretPath: string;
      readonly expectedResourceVersion: string;
    }
  | {
      /** `kubectl rollout restart`. Only where admission already fails, or the strategy leaves a pod serving. */
      readonly kind: "restart-deployment";
      readonly deploymentPath: string;
      readonly strategy: "Recreate" | "RollingUpdate";
    };

export interface Step {
  readonly action: StepAction;
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
