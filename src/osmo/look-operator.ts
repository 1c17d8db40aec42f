// Reads the copy of a token in a Kubernetes Secret, and the Deployments that read it.
import * as v from "valibot";
import type { ClusterApi } from "../admission/cluster-api.ts";
import { failure, success, type Result } from "../result.ts";
import { haltOfCluster, type Halt } from "./look-failure.ts";
import { secretText, type SecretText } from "./secret-text.ts";
import type { ObjectName } from "./token-credential.ts";
import type { ConsumerView } from "./token-view.ts";

/** Which token a Deployment was last restarted for: its fingerprint, in the pod template, and so in its pods. */
export const tokenAnnotation = "fleetmend/osmo-token";

const secretShape = v.object({
  metadata: v.object({ labels: v.nullish(v.record(v.string(), v.string())) }),
  data: v.nullish(v.record(v.string(), v.string())),
});

export interface ReadCopy {
  readonly value?: SecretText;
  readonly managed: boolean;
}

/** A trailing newline is part of the value: OSMO's operator strips it, and the exchange does not. */
export async function readCopy(
  cluster: ClusterApi,
  secret: ObjectName,
  key: string,
): Promise<Result<ReadCopy | "missing", Halt>> {
  const read = await cluster.get(secretPath(secret));
  if (!read.ok) return read.error.kind === "not-found" ? success("missing") : failure(haltOfCluster(read.error));
  const parsed = v.safeParse(secretShape, read.value);
  if (!parsed.success) return failure(notReadable(secretPath(secret)));
  const { metadata, data } = parsed.output;
  const text = Buffer.from(data?.[key] ?? "", "base64").toString("utf8");
  const managed = metadata.labels?.["secrets-store.csi.k8s.io/managed"] === "true";
  return success({ managed, ...(text !== "" && { value: secretText(text) }) });
}

export const secretPath = ({ namespace, name }: ObjectName): string =>
  `/api/v1/namespaces/${namespace}/secrets/${name}`;
export const deploymentPath = ({ namespace, name }: ObjectName): string =>
  `/apis/apps/v1/namespaces/${namespace}/deployments/${name}`;

const annotations = v.nullish(v.record(v.string(), v.string()));
const deploymentShape = v.object({
  metadata: v.object({ generation: v.number() }),
  spec: v.object({
    replicas: v.optional(v.number(), 1),
    template: v.object({
      metadata: v.nullish(v.object({ annotations })),
      spec: v.object({ containers: v.array(v.object({ args: v.nullish(v.array(v.string())) })) }),
    }),
  }),
  status: v.optional(
    v.object({
      observedGeneration: v.optional(v.number(), 0),
      replicas: v.optional(v.number(), 0),
      updatedReplicas: v.optional(v.number(), 0),
      availableReplicas: v.optional(v.number(), 0),
    }),
    {},
  ),
});
const podShape = v.object({
  metadata: v.object({
    creationTimestamp: v.string(),
    deletionTimestamp: v.nullish(v.string()),
    annotations,
  }),
  status: v.optional(
    v.object({
      containerStatuses: v.nullish(
        v.array(
          v.object({ state: v.nullish(v.object({ waiting: v.nullish(v.object({ reason: v.nullish(v.string()) })) })) }),
        ),
      ),
    }),
    {},
  ),
});
type Deployment = v.InferOutput<typeof deploymentShape>;
type Pod = v.InferOutput<typeof podShape>;

/** Pods are found by OSMO's only label, `app=<the Deployment's name>`. Undefined where there is no such Deployment. */
export async function readConsumer(
  cluster: ClusterApi,
  name: ObjectName,
): Promise<Result<ConsumerView | undefined, Halt>> {
  const read = await cluster.get(deploymentPath(name));
  if (!read.ok) return read.error.kind === "not-found" ? success(undefined) : failure(haltOfCluster(read.error));
  const deployment = v.safeParse(deploymentShape, read.value);
  const path = `/api/v1/namespaces/${name.namespace}/pods`;
  const listed = await cluster.list(path, { labelSelector: `app=${name.name}` });
  if (!listed.ok) return failure(haltOfCluster(listed.error));
  const pods = v.safeParse(v.array(podShape), listed.value);
  if (!deployment.success || !pods.success) return failure(notReadable(deploymentPath(name)));
  return success(consumerOf(name, deployment.output, pods.output));
}

function consumerOf(name: ObjectName, { metadata, spec, status }: Deployment, pods: readonly Pod[]): ConsumerView {
  const restartedFor = spec.template.metadata?.annotations?.[tokenAnnotation];
  const live = pods.filter((pod) => typeof pod.metadata.deletionTimestamp !== "string");
  const present = live.filter((pod) => pod.metadata.annotations?.[tokenAnnotation] === restartedFor);
  const counts = [status.updatedReplicas, status.availableReplicas, status.replicas, live.length, present.length];
  const created = live.map((pod) => Date.parse(pod.metadata.creationTimestamp));
  const readsNoToken = noTokenBecause(spec.template.spec.containers.flatMap(({ args }) => args ?? []));
  return {
    ...name,
    isRolledOut: status.observedGeneration >= metadata.generation && counts.every((count) => count === spec.replicas),
    isCrashing: present.some(isCrashLooping),
    ...(restartedFor !== undefined && { restartedFor }),
    ...(created.length > 0 && { youngestPod: new Date(Math.max(...created)) }),
    ...(readsNoToken !== undefined && { readsNoToken }),
  };
}

function isCrashLooping({ status }: Pod): boolean {
  return (status.containerStatuses ?? []).some(({ state }) => state?.waiting?.reason === "CrashLoopBackOff");
}

/** The operator's arguments (NVIDIA/OSMO src/operator/utils/objects.py): only `--login_method token` reads the file. */
function noTokenBecause(args: readonly string[]): string | undefined {
  const valueOf = (option: string): string | undefined => {
    const index = args.indexOf(option);
    if (index >= 0) return args[index + 1];
    return args.find((arg) => arg.startsWith(`${option}=`))?.slice(option.length + 1);
  };
  if (valueOf("--method") === "dev") return "it runs with --method dev, and its headers are believed";
  const method = valueOf("--login_method");
  return method === "token" ? undefined : `its login method is ${method ?? "password, the default"}`;
}

function notReadable(path: string): Halt {
  return {
    plan: "stop",
    why: `the answer to ${path} is not what Kubernetes documents`,
    todo: "report this to fleetmend",
  };
}
