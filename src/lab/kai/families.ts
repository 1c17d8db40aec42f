// The KAI families that the test cluster can install: which release plays each, and which Service, Secret, Deployment
// and configurations belong together (NVIDIA/KAI-Scheduler, deployments/kai-scheduler and pkg/operator/operands).

export type FamilyName = "A" | "B" | "C" | "D1" | "D4";

export interface HolderName {
  readonly kind: "mutating" | "validating";
  readonly name: string;
}

/** One webhook server and what belongs to it. */
export interface Component {
  readonly service: string;
  readonly deployment: string;
  readonly secret: string;
  readonly holders: readonly HolderName[];
}

export interface Family {
  readonly name: FamilyName;
  readonly version: string;
  readonly writer: "helm-hooks" | "operator";
  /** The one that is asked for pods comes first. */
  readonly components: readonly [Component, ...Component[]];
  /** What a pod must say to reach the pod hooks, where they have a matchCondition. */
  readonly schedulerName?: string;
}

const both = (name: string): readonly HolderName[] => [
  { kind: "mutating", name },
  { kind: "validating", name },
];

const binder: Component = {
  service: "binder",
  deployment: "binder",
  secret: "binder-webhook-tls-secret",
  holders: both("kai-binder"),
};

const queueController: Component = {
  service: "queuecontroller",
  deployment: "queuecontroller",
  secret: "queuecontroller-webhook-tls-secret",
  holders: [{ kind: "validating", name: "kai-queuecontroller" }],
};

const kaiAdmission: Component = {
  service: "kai-admission",
  deployment: "kai-admission",
  secret: "admission-webhook-tls-secret",
  holders: both("kai-admission"),
};

const operatorComponents: readonly [Component, ...Component[]] = [
  {
    service: "admission",
    deployment: "admission",
    secret: "kai-admission-webhook-tls-secret",
    holders: [
      { kind: "mutating", name: "mutating-kai-admission" },
      { kind: "validating", name: "validating-kai-admission" },
    ],
  },
  {
    service: "queue-controller",
    deployment: "queue-controller",
    secret: "queue-webhook-tls-secret",
    holders: [{ kind: "validating", name: "kai-queue-validation-v2" }],
  },
  {
    service: "podgroup-controller",
    deployment: "podgroup-controller",
    secret: "podgroup-webhook-tls-secret",
    holders: [{ kind: "validating", name: "kai-podgroup-validation-v2alpha2" }],
  },
];

export const families: Readonly<Record<FamilyName, Family>> = {
  A: { name: "A", version: "v0.5.5", writer: "helm-hooks", components: [binder] },
  B: { name: "B", version: "v0.7.12", writer: "helm-hooks", components: [binder, queueController] },
  C: { name: "C", version: "v0.8.5", writer: "helm-hooks", components: [kaiAdmission, queueController] },
  D1: { name: "D1", version: "v0.20.1", writer: "operator", components: operatorComponents },
  D4: {
    name: "D4",
    version: "v0.17.0",
    writer: "operator",
    components: operatorComponents,
    schedulerName: "kai-scheduler",
  },
};
