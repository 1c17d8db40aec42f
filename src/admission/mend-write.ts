// Does one step: the one write to a holder, a Secret or a Deployment. What a failed write means is decided here; nothing is
// tried twice.
import * as v from "valibot";
import type { Result } from "../result.ts";
import type { ApiFailure, ClusterApi } from "./cluster-api.ts";
import { type ObjectPatch, patchOf, restartPatchOf } from "./mend-patch.ts";
import type { StepAction } from "./repair-plan.ts";

const podTemplate = v.looseObject({
  spec: v.looseObject({
    template: v.looseObject({
      metadata: v.nullish(v.looseObject({ annotations: v.nullish(v.record(v.string(), v.unknown())) })),
    }),
  }),
});

/** Writes the step. Only a restart needs to look first: a JSON Patch cannot add to annotations that are not there. */
export async function writeStep(cluster: ClusterApi, action: StepAction): Promise<Result<unknown, ApiFailure>> {
  if (action.kind !== "restart-deployment") return send(cluster, patchOf(action));
  const read = await cluster.get(action.deploymentPath);
  if (!read.ok) return read;
  const template = v.parse(podTemplate, read.value).spec.template;
  return send(cluster, restartPatchOf(action, template.metadata?.annotations ?? undefined));
}

function send(cluster: ClusterApi, patch: ObjectPatch): Promise<Result<unknown, ApiFailure>> {
  return cluster.patch(patch.path, patch.operations);
}

/**
 * What to do after a write that did not succeed: seconds until looking again, or undefined where the answer is final.
 * A timeout and a broken connection leave open whether the write happened; looking again settles it.
 */
export function secondsAfterFailure(failure: ApiFailure): number | undefined {
  switch (failure.kind) {
    case "conflict": // another writer was faster
    case "invalid": // a failed `test`: the object is no longer what we saw
    case "not-found": // it was deleted meanwhile
      return 1;
    case "throttled":
      return failure.retryAfterSeconds ?? 2;
    case "server-error":
    case "timeout":
    case "unreachable":
      return 2;
    case "unauthorized":
    case "forbidden":
      return undefined;
  }
}

/** How long the world needs before the next look is worth its requests. */
export function secondsAfterStep(action: StepAction): number {
  switch (action.kind) {
    case "set-bundle":
      return 0;
    case "set-secret-certificates": // a working operator follows within 150 ms
      return 1;
    case "force-reconcile":
      return 2;
    case "restart-deployment":
      return 5;
  }
}
