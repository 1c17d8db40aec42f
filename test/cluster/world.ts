// What runs in the test cluster: the node with its pods, the pod network, and the programs in the pods. Everything here
// lives in this process, so that a test can look at it and break it; the control plane itself is control-plane.ts.
import { defaultBehaviour, startBackend, type AdmissionBehaviour, type PairFiles } from "./backend.ts";
import { createIfMissing, openApi, type Api } from "./api.ts";
import { accessOf, type ControlPlane, type User } from "./control-plane.ts";
import { openEgress, type Egress } from "./egress.ts";
import {
  startKubelet,
  type Kubelet,
  type KubeletSettings,
  type Mounts,
  type Process,
  type Program,
} from "./kubelet.ts";
import { keyOf, type EndpointSlice, type Pod, type Service } from "../../src/lab/kai/kube-object.ts";
import { watch } from "./watch.ts";

export interface WorldSettings extends KubeletSettings {
  /** Between 0 and 1: which endpoint a new connection goes to. */
  readonly random: () => number;
}

/** Short enough for tests; `npm run cluster` takes longer ones so that a person can watch. */
export const testSettings: WorldSettings = { mountRefreshMs: 1000, readyDelayMs: 0, random: Math.random };

export interface World {
  readonly plane: ControlPlane;
  /** As cluster-admin: for set-up only. */
  readonly admin: Api;
  readonly egress: Egress;
  readonly kubelet: Kubelet;
  /** How all webhook backends answer, and what they were asked. */
  readonly admission: AdmissionBehaviour;
  /** A client with another user's token, closed together with the world. */
  as(user: User, fieldManager: string): Api;
  /** Gives the pods that `matches` a process of their own; the latest addition is asked first. */
  addProgram(matches: (pod: Pod) => boolean, program: Program): void;
  /** Undoes what tests have set here: Services work, backends allow and keep connections, nothing is recorded. */
  reset(): void;
  stop(): Promise<void>;
}

/** Where KAI's webhook servers look for their pair (controller-runtime's default directory). */
export const servingCertificates = "/tmp/k8s-webhook-server/serving-certs";

export async function startWorld(plane: ControlPlane, settings: WorldSettings = testSettings): Promise<World> {
  const apis = new Map<string, Api>();
  const as = (user: User, fieldManager: string): Api => {
    const key = `${user} ${fieldManager}`;
    const api = apis.get(key) ?? openApi(accessOf(plane, user), fieldManager);
    apis.set(key, api);
    return api;
  };
  const admin = as("admin", "fleetmend-test");
  const admission = defaultBehaviour();
  const programs = [
    { matches: (_pod: Pod) => true, program: (): Process => ({}) },
    { matches: isOwnedByJob, program: (): Process => ({ done: Promise.resolve() }) },
    { matches: (pod: Pod) => pairVolume(pod) !== undefined, program: webhookServer(admission) },
  ];
  const node = as("admin", "kubelet");
  const kubelet = await startKubelet(node, plane.kubeletPort, {
    settings,
    program: (pod) => programs.findLast(({ matches }) => matches(pod))?.program ?? (() => ({})),
  });
  const services = await watch<Service>(node, "/api/v1/services", () => undefined);
  const slices = await watch<EndpointSlice>(node, "/apis/discovery.k8s.io/v1/endpointslices", () => undefined);
  const egress = await openEgress({
    socket: plane.podNetworkSocket,
    kubeletPort: plane.kubeletPort,
    services: services.objects,
    endpointSlices: slices.objects,
    listener: kubelet.listener,
    podOfIp: kubelet.podOfIp,
    random: settings.random,
  });
  return {
    plane,
    admin,
    egress,
    kubelet,
    admission,
    as,
    addProgram: (matches, program) => programs.push({ matches, program }),
    reset: () => {
      egress.clearFaults();
      Object.assign(admission, { ...defaultBehaviour(), calls: admission.calls, deny: undefined, answer: undefined });
      admission.calls.length = 0;
    },
    stop: async () => {
      for (const watched of [services, slices]) watched.stop();
      kubelet.stop();
      await egress.stop();
      for (const api of apis.values()) api.close();
    },
  };
}

const isOwnedByJob = ({ metadata }: Pod): boolean =>
  metadata.ownerReferences?.some(({ kind }) => kind === "Job") ?? false;

/** The name of the Secret that is mounted where a webhook server looks for its pair. */
function pairVolume({ spec }: Pod): string | undefined {
  const mount = spec.containers
    .flatMap(({ volumeMounts }) => volumeMounts ?? [])
    .find(({ mountPath }) => mountPath === servingCertificates);
  return spec.volumes?.find(({ name }) => name === mount?.name)?.secret?.secretName;
}

// The port of controller-runtime's webhook server in all of KAI's components.
const webhookPort = 9443;

const webhookServer =
  (admission: AdmissionBehaviour): Program =>
  (pod, mounts) => {
    const secret = pairVolume(pod) ?? "";
    const backend = startBackend(keyOf(pod), pairIn(mounts, secret), admission);
    return {
      servers: new Map([[webhookPort, backend]]),
      refreshed: (refreshed) => backend.reload(pairIn(refreshed, secret)),
      stop: backend.stop,
    };
  };

function pairIn(mounts: Mounts, secret: string): PairFiles {
  const files = mounts.get(secret);
  const nothing = new Uint8Array();
  return { certificate: files?.get("tls.crt") ?? nothing, key: files?.get("tls.key") ?? nothing };
}

/** Creates a namespace, and waits until pods can be created in it. */
export async function createNamespace(admin: Api, name: string): Promise<void> {
  await createIfMissing(admin, "/api/v1/namespaces", { metadata: { name } });
  await createIfMissing(admin, `/api/v1/namespaces/${name}/serviceaccounts`, { metadata: { name: "default" } });
}
