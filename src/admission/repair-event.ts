// The Kubernetes Event that tells `kubectl describe` what was done to an object. Pure: sending it is the caller's.
import type { Step, StepAction } from "./repair-plan.ts";
import type { ClusterSnapshot } from "./snapshot.ts";

export interface RepairEvent {
  /** The collection to which it is posted. */
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

interface Regarding {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
}

/**
 * For one step that was done at `at`. An Event about an object of the whole cluster lives in `default`
 * (kubernetes pkg/apis/core/validation/events.go). `kubectl describe` finds it by the object's uid.
 */
export function repairEvent(step: Step, snapshot: ClusterSnapshot, by: { at: Date; instance: string }): RepairEvent {
  const regarding = regardingOf(step.action, snapshot);
  const namespace = regarding.namespace ?? "default";
  const time = by.at.toISOString().replace(/\.\d+Z$/, "Z");
  return {
    path: `/api/v1/namespaces/${namespace}/events`,
    body: {
      apiVersion: "v1",
      kind: "Event",
      metadata: { generateName: "fleetmend-", namespace },
      involvedObject: regarding,
      type: "Normal",
      reason: "Repaired",
      message: `${step.summary} ${step.why}`.slice(0, longestMessage),
      source: { component: "fleetmend" },
      reportingComponent: "fleetmend",
      reportingInstance: by.instance,
      firstTimestamp: time,
      lastTimestamp: time,
      count: 1,
    },
  };
}

// The API server refuses a note of more than 1 KiB.
const longestMessage = 1_000;

function regardingOf(action: StepAction, { hooks }: ClusterSnapshot): Regarding {
  switch (action.kind) {
    case "set-bundle": {
      const [{ hook } = { hook: undefined }] = action.entries;
      const holder = hooks.find(
        ({ holder: { kind, name } }) => kind === hook?.holderKind && name === hook.holder,
      )?.holder;
      return {
        apiVersion: "admissionregistration.k8s.io/v1",
        kind: hook?.holderKind ?? "",
        name: hook?.holder ?? "",
        ...(holder !== undefined && { uid: holder.uid }),
      };
    }
    case "set-secret-certificates":
    case "force-reconcile":
      return { apiVersion: "v1", kind: "Secret", ...namesIn(action.secretPath), uid: action.expectedUid };
    case "restart-deployment":
      return { apiVersion: "apps/v1", kind: "Deployment", ...namesIn(action.deploymentPath), uid: action.expectedUid };
  }
}

/** `…/namespaces/<namespace>/<resource>/<name>` */
function namesIn(path: string): { readonly namespace: string; readonly name: string } {
  const [namespace = "", , name = ""] = path.split("/").slice(-3);
  return { namespace, name };
}
