// The pod that a probe asks the API server to create, in a dry run. It would run anywhere, and holds nothing: no token, no
// volume, no rights. Sending it is probe.ts's.
import type { ClusterSnapshot, Hook, LabelSelector } from "./snapshot.ts";
import { isCalledForPods, schedulerAskedFor, selects } from "./reach.ts";

/** AKS's own sandbox image, on every node already. A dry run never pulls it. */
export const defaultProbeImage = "mcr.microsoft.com/oss/kubernetes/pause:3.6";

// KAI's default for `spec.global.schedulerName` of kai-config (pkg/apis/kai/v1/global.go), and the helm-hook families' name.
const defaultScheduler = "kai-scheduler";

type Labels = Readonly<Record<string, string>>;

export interface ProbePod {
  readonly apiVersion: "v1";
  readonly kind: "Pod";
  readonly metadata: { readonly generateName: string; readonly namespace: string; readonly labels: Labels };
  readonly spec: { readonly schedulerName: string; readonly automountServiceAccountToken: false } & Readonly<
    Record<string, unknown>
  >;
}

/**
 * One pod that reaches every pod hook of KAI's, as far as one pod can: kai-config's scheduler (where that could not be
 * read: the one that a matchCondition asks for), and the labels that the objectSelectors ask for. It satisfies Pod
 * Security `restricted` and AKS's Deployment Safeguards (requests and limits, both probes, no `latest`), so that those
 * refuse nothing before a hook is reached. `image` must be allowed in the cluster; that it can be pulled is not checked.
 */
export function probePod(snapshot: ClusterSnapshot, namespace: string, image: string = defaultProbeImage): ProbePod {
  const hooks = snapshot.hooks.filter(isCalledForPods);
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      generateName: "fleetmend-probe-",
      namespace,
      labels: labelsFor(hooks.map((hook) => hook.objectSelector)),
    },
    spec: {
      schedulerName: schedulerOf(snapshot, hooks),
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      restartPolicy: "Always",
      securityContext: { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: "RuntimeDefault" } },
      containers: [container(image)],
    },
  };
}

function container(image: string): Readonly<Record<string, unknown>> {
  const amount = { cpu: "10m", memory: "16Mi" };
  // `-v` prints the version and ends with 0: the pause image has no other command.
  const check = { exec: { command: ["/pause", "-v"] }, periodSeconds: 30 };
  return {
    name: "probe",
    image,
    resources: { requests: amount, limits: amount },
    livenessProbe: check,
    readinessProbe: check,
    securityContext: {
      runAsNonRoot: true,
      allowPrivilegeEscalation: false,
      privileged: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
      seccompProfile: { type: "RuntimeDefault" },
    },
  };
}

function schedulerOf(snapshot: ClusterSnapshot, hooks: readonly Hook[]): string {
  if (snapshot.kaiConfig?.seen === true && snapshot.kaiConfig.value !== undefined)
    return snapshot.kaiConfig.value.schedulerName;
  const asked = hooks
    .flatMap((hook) => hook.matchConditions)
    .map((condition) => schedulerAskedFor(condition.expression))
    .find((name) => name !== undefined);
  return asked ?? defaultScheduler;
}

/**
 * Labels that satisfy as many of the selectors as can be satisfied together, the first ones first: matchLabels, In and
 * Exists are given what they ask for, NotIn and DoesNotExist are left in peace. KAI's queue label is one of them
 * (`kai.scheduler/queue` Exists). Our own mark is added where no selector minds.
 */
export function labelsFor(selectors: readonly LabelSelector[]): Labels {
  let labels: Labels = {};
  const kept: LabelSelector[] = [];
  for (const selector of selectors) {
    const wider = withWanted(labels, selector);
    if (![...kept, selector].every((each) => selects(each, wider))) continue;
    labels = wider;
    kept.push(selector);
  }
  const marked = { ...labels, "app.kubernetes.io/managed-by": "fleetmend" };
  return kept.every((each) => selects(each, marked)) ? marked : labels;
}

function withWanted(labels: Labels, selector: LabelSelector): Labels {
  const wanted: Record<string, string> = { ...labels, ...selector.matchLabels };
  for (const { key, operator, values } of selector.matchExpressions) {
    const present = Object.hasOwn(wanted, key) ? wanted[key] : undefined;
    if (operator === "Exists") wanted[key] = present ?? "fleetmend-probe";
    if (operator === "In" && (present === undefined || !values.includes(present))) wanted[key] = values[0] ?? "";
  }
  return wanted;
}
