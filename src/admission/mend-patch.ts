// The one place that turns steps into writes. Never-list: a patch made here touches `caBundle`, a Secret's `tls.crt`, two
// annotations of fleetmend and `restartedAt` of a pod template; failurePolicy, selectors, rules and keys never, and nothing
// is ever deleted. (The Lease is written in lease.ts.)
import { toBase64 } from "./bundle.ts";
import type { JsonPatchOperation } from "./cluster-api.ts";
import type { AccessNeeded } from "./mend-outcome.ts";
import type { StepAction } from "./repair-plan.ts";

/** Fingerprints of the blocks that fleetmend put into a Secret's `tls.crt`, separated by commas. */
export const addedCertificatesAnnotation = "fleetmend/added-certificates";
/** When fleetmend last asked the operator to reconcile, and about which state. */
export const reconcileRequestAnnotation = "fleetmend/reconcile-requested";
/** What `kubectl rollout restart` sets (kubectl pkg/polymorphichelpers/objectrestarter.go). */
export const restartedAtAnnotation = "kubectl.kubernetes.io/restartedAt";

export interface ObjectPatch {
  readonly path: string;
  readonly operations: readonly JsonPatchOperation[];
}

/** The actions whose patch follows from the action alone. A restart also needs to see the pod template. */
export type PatchedAction = Exclude<StepAction, { kind: "restart-deployment" }>;

/**
 * The patch of one action, its preconditions first. Throws where the action is one that was only expected: its
 * resourceVersion is not known, and doing it would be a defect of ours.
 */
export function patchOf(action: PatchedAction): ObjectPatch {
  switch (action.kind) {
    case "set-bundle":
      return { path: action.holderPath, operations: action.entries.flatMap(bundleOperations) };
    case "set-secret-certificates":
      return {
        path: action.secretPath,
        operations: [
          ...secretTests(action.expectedUid, action.expectedResourceVersion),
          { op: "add", path: "/data/tls.crt", value: toBase64(action.certificates) },
          ...annotationOperations(action.annotations, addedCertificatesAnnotation, action.added),
        ],
      };
    case "force-reconcile":
      return {
        path: action.secretPath,
        operations: [
          ...secretTests(action.expectedUid, action.expectedResourceVersion),
          ...annotationOperations(action.annotations, reconcileRequestAnnotation, action.request),
        ],
      };
  }
}

/**
 * An index can come to mean another entry, and an absent `caBundle` cannot be tested (RFC 6902 §4.6 wants the target to
 * exist): so the name and the whole old clientConfig are tested. `add` also replaces (RFC 6902 §4.1).
 */
function bundleOperations(change: {
  readonly hook: { readonly index: number; readonly name: string };
  readonly expectedClientConfig: Readonly<Record<string, unknown>>;
  readonly bundle: Uint8Array;
}): JsonPatchOperation[] {
  const entry = `/webhooks/${change.hook.index}`;
  return [
    { op: "test", path: `${entry}/name`, value: change.hook.name },
    { op: "test", path: `${entry}/clientConfig`, value: change.expectedClientConfig },
    { op: "add", path: `${entry}/clientConfig/caBundle`, value: toBase64(change.bundle) },
  ];
}

/** The resourceVersion guards the key as well, which we neither hold nor write. */
function secretTests(uid: string, resourceVersion: string | undefined): JsonPatchOperation[] {
  if (resourceVersion === undefined) throw new Error("a step that was only expected cannot be done");
  return [
    { op: "test", path: "/metadata/uid", value: uid },
    { op: "test", path: "/metadata/resourceVersion", value: resourceVersion },
  ];
}

/**
 * Sets or removes one annotation. Where there is none at all, the map itself may be absent, and is then made; the
 * resourceVersion that was tested before makes sure that nothing is lost by it.
 */
function annotationOperations(
  present: Readonly<Record<string, string>>,
  name: string,
  value: string | undefined,
): JsonPatchOperation[] {
  const path = `/metadata/annotations/${pointerToken(name)}`;
  if (value === undefined) return name in present ? [{ op: "remove", path }] : [];
  if (Object.keys(present).length === 0)
    return [{ op: "add", path: "/metadata/annotations", value: { [name]: value } }];
  return [{ op: "add", path, value }];
}

/**
 * The patch of a restart, given the annotations of the pod template (undefined where the template has none). The
 * generation guards it: a rollout that somebody else began meanwhile is not doubled.
 */
export function restartPatchOf(
  action: Extract<StepAction, { kind: "restart-deployment" }>,
  templateAnnotations: Readonly<Record<string, unknown>> | undefined,
): ObjectPatch {
  const annotations = "/spec/template/metadata/annotations";
  const guard: JsonPatchOperation[] = [
    { op: "test", path: "/metadata/uid", value: action.expectedUid },
    { op: "test", path: "/metadata/generation", value: action.expectedGeneration },
  ];
  const set: JsonPatchOperation =
    templateAnnotations === undefined
      ? { op: "add", path: annotations, value: { [restartedAtAnnotation]: action.restartedAt } }
      : { op: "add", path: `${annotations}/${pointerToken(restartedAtAnnotation)}`, value: action.restartedAt };
  return { path: action.deploymentPath, operations: [...guard, set] };
}

/** RFC 6901 §3. */
function pointerToken(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

/** What RBAC must allow for this action. Leases are not among it: a repair goes on without one. */
export function accessNeededFor(action: StepAction): readonly AccessNeeded[] {
  switch (action.kind) {
    case "set-bundle":
      return [{ ...resourceAt(action.holderPath), verb: "patch" }];
    case "set-secret-certificates":
    case "force-reconcile":
      return [{ ...resourceAt(action.secretPath), verb: "patch" }];
    case "restart-deployment":
      return ["get", "patch"].map((verb) => ({ ...resourceAt(action.deploymentPath), verb }));
  }
}

/** `/apis/<group>/<version>[/namespaces/<namespace>]/<resource>/<name>`, or `/api/v1/…` for the core group. */
function resourceAt(path: string): Omit<AccessNeeded, "verb"> {
  const parts = path.split("/").filter((part) => part !== "");
  const group = parts[0] === "api" ? "" : (parts[1] ?? "");
  const rest = parts.slice(parts[0] === "api" ? 2 : 3);
  const [resource, name] = rest.slice(-2);
  if (resource === undefined || name === undefined) throw new Error(`not the path of an object: ${path}`);
  return { group, resource, name, ...(rest[0] === "namespaces" && rest[1] !== undefined && { namespace: rest[1] }) };
}
