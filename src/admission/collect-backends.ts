// Puts the lists of a namespace together: which pods stand behind a hook, on which port, made by which Deployment, with
// which Secret mounted. Pure: no request is sent here, and neither Secret nor chain is known yet.
import type { ParsedDeployment, PodState, ServiceState, SliceState } from "./parse-workload.ts";
import type { Backend, BackendPod, Hook } from "./snapshot.ts";

/** The lists of one namespace. Services and slices are needed; what else was not seen is missing from the backends. */
export interface NamespaceLists {
  readonly services: readonly ServiceState[];
  readonly slices: readonly SliceState[];
  readonly pods?: readonly PodState[];
  readonly deployments?: readonly ParsedDeployment[];
}

/** A backend for every Service and port that the hooks of this namespace call, in the order of the hooks. */
export function backendsOf(namespace: string, hooks: readonly Hook[], lists: NamespaceLists): readonly Backend[] {
  const called = hooks.flatMap(({ service }) => (service?.namespace === namespace ? [service] : []));
  const unique = new Map(called.map(({ name, port }) => [JSON.stringify([name, port]), { name, port }]));
  return [...unique.values()].map(({ name, port }) => backendOf(namespace, { service: name, port }, lists));
}

function backendOf(namespace: string, at: { service: string; port: number }, lists: NamespaceLists): Backend {
  const service = lists.services.find(({ name }) => name === at.service);
  const base = { namespace, service: at.service, port: at.port };
  if (service === undefined) {
    return { ...base, exists: false, portExists: false, serviceType: "none", pods: [], readyEndpoints: 0 };
  }
  const slices = lists.slices.filter((slice) => slice.service === at.service);
  const pods = podsOf(service, at.port, slices, lists.pods);
  const deployment = deploymentOf(service, lists.deployments ?? []);
  const secretName = secretNameOf(pods, deployment);
  return {
    ...base,
    exists: true,
    portExists: service.ports.some(({ port }) => port === at.port),
    serviceType: service.type,
    pods,
    readyEndpoints: readyAddresses(slices).size,
    ...(deployment && { deployment: deployment.state }),
    ...(secretName !== undefined && { secretName }),
  };
}

/** Addresses rather than endpoints: a dual-stack Service lists each pod once for each family. */
function readyAddresses(slices: readonly SliceState[]): ReadonlySet<string> {
  const ready = slices.flatMap(({ endpoints }) => endpoints.filter((endpoint) => endpoint.ready));
  return new Set(ready.map(({ addresses, pod }) => pod?.uid ?? addresses.join()));
}

/** The pods that the slices name, with the port that the slice gives, and those selected that no slice names (never ready). */
function podsOf(
  service: ServiceState,
  calledPort: number,
  slices: readonly SliceState[],
  pods: readonly PodState[] | undefined,
): readonly BackendPod[] {
  const servicePort = service.ports.find(({ port }) => port === calledPort);
  const named = new Map<string, BackendPod>();
  for (const { endpoints, ports } of slices) {
    const port = ports.find(({ name }) => name === servicePort?.name)?.port;
    for (const { pod, ready } of endpoints) {
      if (pod === undefined || named.get(pod.name)?.ready === true) continue;
      const seen = pods?.find(({ name }) => name === pod.name);
      named.set(pod.name, backendPod({ ...pod, ready }, port, seen));
    }
  }
  const others = (pods ?? []).filter(
    (pod) => isSelected(service.selector, pod.labels) && !pod.ended && !named.has(pod.name),
  );
  const unnamed = others.map((pod) =>
    backendPod({ name: pod.name, uid: pod.uid, ready: false }, portOf(pod, servicePort?.targetPort), pod),
  );
  return [...named.values(), ...unnamed].toSorted((left, right) => (left.name < right.name ? -1 : 1));
}

function backendPod(
  { name, uid, ready }: { readonly name: string; readonly uid: string; readonly ready: boolean },
  port: number | undefined,
  seen: PodState | undefined,
): BackendPod {
  return {
    name,
    uid,
    ready,
    deleting: seen?.deleting ?? false,
    ...(port !== undefined && { port }),
    ...(seen?.startedAt && { startedAt: seen.startedAt }),
    ...(seen?.secretName !== undefined && { secretName: seen.secretName }),
  };
}

function portOf({ namedPorts }: PodState, targetPort: number | string | undefined): number | undefined {
  return typeof targetPort === "string" ? namedPorts[targetPort] : targetPort;
}

/** A Service without a selector selects nothing (its endpoints are made by somebody else). */
function isSelected(selector: ServiceState["selector"], labels: Readonly<Record<string, string>>): boolean {
  const wanted = Object.entries(selector);
  return wanted.length > 0 && wanted.every(([key, value]) => labels[key] === value);
}

/** The Deployment whose pods the Service selects; of several (an upgrade under way) one that mounts a serving certificate. */
function deploymentOf(
  { selector }: ServiceState,
  deployments: readonly ParsedDeployment[],
): ParsedDeployment | undefined {
  const selected = deployments.filter(({ podLabels }) => isSelected(selector, podLabels));
  return selected.find(({ state }) => state.servingSecretName !== undefined) ?? selected[0];
}

/** What the ready pods mount, else any pod, else what the Deployment would mount. Of several the Deployment's. */
function secretNameOf(pods: readonly BackendPod[], deployment: ParsedDeployment | undefined): string | undefined {
  const template = deployment?.state.servingSecretName;
  const mountedBy = (some: readonly BackendPod[]) => some.flatMap(({ secretName }) => secretName ?? []);
  const ready = mountedBy(pods.filter((pod) => pod.ready));
  const mounted = ready.length > 0 ? ready : mountedBy(pods);
  if (template !== undefined && (mounted.length === 0 || mounted.includes(template))) return template;
  return mounted[0];
}
