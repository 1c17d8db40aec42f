// The shapes of Kubernetes objects as far as the simulated kubelet, operator and hooks look at them. Not complete, and
// not checked: what comes from our own API server is believed.

export interface Metadata {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly OwnerReference[];
  readonly managedFields?: readonly unknown[];
}

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
}

export interface KubeObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: Metadata;
}

export interface Secret extends KubeObject {
  /** Values in base64. */
  readonly data?: Readonly<Record<string, string>>;
  readonly type?: string;
}

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly args?: readonly string[];
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
}

export interface Pod extends KubeObject {
  readonly spec: {
    readonly nodeName?: string;
    readonly containers: readonly Container[];
    readonly serviceAccountName?: string;
    readonly volumes?: readonly {
      readonly name: string;
      readonly secret?: { readonly secretName: string; readonly optional?: boolean };
    }[];
  };
  readonly status?: {
    readonly phase?: string;
    readonly podIP?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

export interface Service extends KubeObject {
  readonly spec: {
    readonly clusterIP?: string;
    readonly ports?: readonly {
      readonly name?: string;
      readonly port: number;
      readonly targetPort?: number | string;
    }[];
  };
}

export interface EndpointSlice extends KubeObject {
  readonly endpoints?: readonly {
    readonly conditions?: { readonly ready?: boolean };
    readonly targetRef?: { readonly kind: string; readonly name: string; readonly namespace: string };
  }[];
  readonly ports?: readonly { readonly name?: string; readonly port: number }[];
}

export interface Deployment extends KubeObject {
  readonly spec: {
    readonly replicas?: number;
    readonly template: { readonly metadata?: Partial<Metadata>; readonly spec: Pod["spec"] };
  };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly replicas?: number;
    readonly readyReplicas?: number;
    readonly updatedReplicas?: number;
  };
}

export interface Webhook {
  readonly name: string;
  readonly clientConfig: {
    readonly caBundle?: string;
    readonly service?: { readonly name: string; readonly namespace: string; readonly path?: string };
  };
}

export interface WebhookConfiguration extends KubeObject {
  readonly webhooks?: readonly Webhook[];
}

/** `namespace/name`, or the name alone for what is cluster-scoped. */
export const keyOf = (object: KubeObject): string =>
  object.metadata.namespace === undefined
    ? object.metadata.name
    : `${object.metadata.namespace}/${object.metadata.name}`;
