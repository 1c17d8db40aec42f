// Which KAI is installed and who writes its bundles: types only. owner.ts decides.
import type { Hook } from "./snapshot.ts";

/** KAI families by their objects, facts in docs/kai-families.md. `D2–D3` where the operator's image does not say. */
export type Family = "A0" | "A" | "B" | "C" | "D0" | "D0–D1" | "D1" | "D2" | "D3" | "D2–D3" | "D4" | "unknown";

/** Who writes the bundle or the Secret, decided by the family's objects and annotations; never by the last writer. */
export type Owner = "kai-helm-hooks" | "kai-operator" | "cert-manager" | "platform" | "unknown";

/** One set of hooks of one family and one owner. An interrupted upgrade leaves two. */
export interface Installation {
  readonly family: Family;
  readonly owner: Owner;
  /** The namespace of the Services behind the hooks. */
  readonly namespace: string;
  readonly hooks: readonly Hook[];
  /** What delivered the objects, from labels and annotations. */
  readonly deliveredBy?: "helm" | "argo-cd" | "flux";
  /** The facts that decided, one short sentence each. */
  readonly evidence: readonly string[];
}
