// What collect sees of one cluster, as plain data. Everything that assess and plan know comes from here. No secret
// value is ever in it: of a private key only whether it belongs to its certificate.
import type { GoRelease } from "../trust/verdict.ts";
import type { ApiFailure, HandshakeFailure } from "./cluster-api.ts";

/** Something that was read, or the reason why not. */
export type Observed<T> =
  { readonly seen: true; readonly value: T } | { readonly seen: false; readonly why: ApiFailure };

export interface ServerVersion {
  readonly gitVersion: string;
  readonly goVersion: string;
  /** The release whose rules apply; a later Go than we know is judged as the newest known. */
  readonly go: GoRelease;
  /** The patch of that release (8 for `go1.26.8`); absent where it is not told, or the release is not one we know. */
  readonly goPatch?: number;
}

export type HolderKind = "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration";

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller: boolean;
}

/** The field manager that last wrote a field, from managedFields. Evidence, not ownership. */
export interface LastWriter {
  readonly manager: string;
  readonly operation: string;
  readonly time?: Date;
}

/** An object that carries bundles. Conversion webhooks and APIServices are not looked at: KAI has none. */
export interface Holder {
  readonly kind: HolderKind;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly ownerReferences: readonly OwnerReference[];
  readonly deleting: boolean;
}

export interface LabelSelector {
  readonly matchLabels: Readonly<Record<string, string>>;
  readonly matchExpressions: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values: readonly string[];
  }[];
}

export interface WebhookRule {
  readonly apiGroups: readonly string[];
  readonly apiVersions: readonly string[];
  readonly operations: readonly string[];
  readonly resources: readonly string[];
  readonly scope: string;
}

export interface ServiceReference {
  readonly namespace: string;
  readonly name: string;
  /** The Service's port that is called; 443 where the object leaves it out. */
  readonly port: number;
  readonly path: string;
}

/** One entry of a holder: one client configuration with one bundle. */
export interface Hook {
  readonly holder: Holder;
  /** The position in `webhooks`, which a JSON Patch is addressed by. */
  readonly index: number;
  /** The entry's name, such as `binder.run.ai`. */
  readonly name: string;
  /** Absent where the hook is called by `url`. */
  readonly service?: ServiceReference;
  readonly url?: string;
  /** The name that the API server verifies: `<service>.<namespace>.svc`, or the host of the URL. */
  readonly serverName: string;
  /** The decoded `caBundle`; empty where the field is absent or empty. */
  readonly bundle: Uint8Array;
  /** `clientConfig` as it was read, for the `test` operation of a patch. It holds no secret. */
  readonly clientConfig: Readonly<Record<string, unknown>>;
  readonly rules: readonly WebhookRule[];
  readonly namespaceSelector: LabelSelector;
  readonly objectSelector: LabelSelector;
  readonly matchConditions: readonly { readonly name: string; readonly expression: string }[];
  readonly failurePolicy: string;
  readonly sideEffects: string;
  readonly timeoutSeconds: number;
  /** Who last wrote `f:caBundle` of this entry; absent where managedFields do not say. */
  readonly bundleWriter?: LastWriter;
}

/** The chain that a pod serves, and how we know. */
export type Served =
  | { readonly from: "handshake"; readonly chain: readonly Uint8Array[] }
  | { readonly from: "unseen"; readonly why: HandshakeFailure };

export interface BackendPod {
  readonly name: string;
  readonly uid: string;
  readonly ready: boolean;
  readonly deleting: boolean;
  readonly startedAt?: Date;
  /** The port of the pod behind the Service's port (targetPort resolved); absent where a named port has no number. */
  readonly port?: number;
  /** The Secret mounted at the serving-certs path; absent where none is. Pods of one Service may mount different ones. */
  readonly secretName?: string;
  /** Only ready pods are asked. */
  readonly served?: Served;
}

export interface DeploymentState {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly strategy: "Recreate" | "RollingUpdate";
  /**
   * Whether a restart leaves a pod serving at every moment: RollingUpdate, fewer pods may be unavailable than there are, and
   * every container is probed for readiness. Without a probe a new pod counts as ready before it listens, and even a rolling
   * restart refuses calls (KAI's queue and podgroup controllers). Absent: not looked at, and taken as false.
   */
  readonly keepsServing?: boolean;
  readonly replicas: number;
  readonly readyReplicas: number;
  readonly generation: number;
  readonly observedGeneration: number;
  readonly updatedReplicas: number;
  readonly images: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly ownerReferences: readonly OwnerReference[];
  /** `kubectl.kubernetes.io/restartedAt` of the pod template, where it was restarted. */
  readonly restartedAt?: string;
  /** Since when the condition Available is true; absent where it is not. */
  readonly availableSince?: Date;
  /** The Secret that the pod template mounts at the serving-certs path; absent where it mounts none. */
  readonly servingSecretName?: string;
}

/** The Secret that the serving pods really mount. The private key is looked at once, here, and dropped. */
export interface ServingSecret {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly type: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly ownerReferences: readonly OwnerReference[];
  /** The bytes of `tls.crt`; absent where the key is not there at all. */
  readonly certificates?: Uint8Array;
  /** Whether `tls.key` is the key of the first certificate. */
  readonly key: "matches" | "mismatch" | "missing" | "unreadable";
  /** Who last wrote `tls.crt`, and when; absent where managedFields do not say. */
  readonly lastWriter?: LastWriter;
  readonly createdAt?: Date;
}

/** Service, endpoints, pods and mounted Secret behind one or more hooks. */
export interface Backend {
  readonly namespace: string;
  readonly service: string;
  /** The Service's port that the hooks call. Hooks that call another port of the same Service are another backend. */
  readonly port: number;
  readonly exists: boolean;
  /** Whether the Service has that port. */
  readonly portExists: boolean;
  /** As the object says; LoadBalancer and NodePort have a cluster IP and count as ClusterIP. `none`: there is no Service. */
  readonly serviceType: "ClusterIP" | "Headless" | "ExternalName" | "none";
  readonly pods: readonly BackendPod[];
  /** Ready addresses that the EndpointSlices name, whether or not we know their pods. */
  readonly readyEndpoints: number;
  readonly deployment?: DeploymentState;
  /** The name that the Deployment's volume gives; absent where no volume could be found. */
  readonly secretName?: string;
  /** Absent where there is no name to ask for. */
  readonly secret?: Observed<ServingSecret>;
}

export interface KaiConfig {
  readonly uid: string;
  readonly schedulerName: string;
  /** v0.10 and later may name the configurations otherwise. */
  readonly mutatingConfigurationName?: string;
  readonly validatingConfigurationName?: string;
  /** Whether the object speaks of a podgroup webhook (`spec.podGroupController.webhooks`), which v0.9 does not know. */
  readonly speaksOfPodgroupWebhook: boolean;
}

export interface Leftover {
  readonly kind: "Job" | "ServiceAccount";
  readonly namespace: string;
  readonly name: string;
  /** For a Job: how it ended. A pre-install Job that is Complete and still there means an aborted upgrade. */
  readonly state: "failed" | "complete" | "running" | "present";
}

/** What the rights allow, as the API server itself answered. */
export interface Capability {
  readonly portForward: boolean;
  /** Secrets by name that may be read. */
  readonly secrets: readonly string[];
  /** A create of pods in the probe's namespace. */
  readonly dryRunPods: boolean;
}

/** Something that was asked for and not seen. It makes what depends on it undetermined. */
export interface Unseen {
  /** The API path. */
  readonly what: string;
  readonly why: ApiFailure | HandshakeFailure;
}

export interface ClusterSnapshot {
  readonly at: Date;
  readonly apiServer: string;
  readonly server: Observed<ServerVersion>;
  readonly capability: Capability;
  /** Every entry that is KAI's or calls a Service of KAI's, of every holder, in a stable order (kind, name, index). */
  readonly hooks: readonly Hook[];
  /** The other hooks of the cluster that are called for pods: a probe may meet them. */
  readonly otherHooks: readonly Hook[];
  readonly backends: readonly Backend[];
  /** The namespaces that were looked at: those of the Services behind KAI's hooks, or where KAI was looked for in vain. */
  readonly namespaces: readonly string[];
  /** Every Deployment of those namespaces: what is installed there tells the family. */
  readonly deployments: readonly DeploymentState[];
  /** Deployment `kai-operator`, where there is one. */
  readonly operator?: DeploymentState;
  /** Absent where no operator family is there, so that it was not asked for. */
  readonly kaiConfig?: Observed<KaiConfig | undefined>;
  /** Only looked for in helm-hook families. */
  readonly leftovers: readonly Leftover[];
  readonly unseen: readonly Unseen[];
  /** Requests that this snapshot took. */
  readonly requests: number;
}
