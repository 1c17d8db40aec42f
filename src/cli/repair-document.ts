// The document of `repair`.
import type { Step, StepAction } from "../admission/repair-plan.ts";
import { type ClusterHead, type Json, head, toJson } from "./json-document.ts";
import { findingDocument } from "./scan-document.ts";
import type { RepairEnd } from "./repair-end.ts";
import { leaseOnly } from "./repair-screen.ts";

/** `repair`: what was planned, what was done, and what was seen last. */
export function repairDocument(
  { outcome, planned, seen, missing, done, notes, probe }: RepairEnd,
  clusterHead: ClusterHead & { readonly apiServer: string; readonly because: string },
): Json {
  return toJson({
    ...head("repair"),
    ...clusterHead,
    outcome,
    planned: planned.steps.map(stepDocument),
    done: done.map(({ at, step }) => ({ at, ...stepDocument(step) })),
    missingRights: missing,
    findings: seen.findings.map(findingDocument),
    advice: seen.plan.advice,
    probe,
    notes: planned.steps.length > 0 ? [leaseOnly, ...notes] : notes,
  });
}

function stepDocument({ action, summary, why, undo, cures }: Step): object {
  return { kind: action.kind, object: objectOf(action), summary, why, undo, cures, writes: writesOf(action) };
}

function objectOf(action: StepAction): string {
  switch (action.kind) {
    case "set-bundle":
      return action.holderPath;
    case "set-secret-certificates":
    case "force-reconcile":
      return action.secretPath;
    case "restart-deployment":
      return action.deploymentPath;
  }
}

/** The fields that the step writes, without what stood there before. */
function writesOf(action: StepAction): unknown {
  switch (action.kind) {
    case "set-bundle":
      return action.entries.map(({ hook, bundle }) => ({ hook, bundle }));
    case "set-secret-certificates":
      return [{ field: "tls.crt", certificates: action.certificates }];
    case "force-reconcile":
      return [{ field: "metadata.annotations" }];
    case "restart-deployment":
      return [{ field: "spec.template.metadata.annotations", restartedAt: action.restartedAt }];
  }
}
