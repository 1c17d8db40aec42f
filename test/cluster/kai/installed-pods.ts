// The pods of an installed family, by name, and what they serve.
import type { Secret } from "../../../src/lab/kai/kube-object.ts";
import { servedLeaf } from "../served-leaf.ts";
import { until } from "../until.ts";
import type { Installed } from "./install.ts";
import { secretsPath } from "./pair.ts";
import { kaiNamespace } from "../../../src/lab/kai/recorded.ts";

/** The pods (`namespace/name`) of a Deployment. */
export function podsNamed({ world }: Pick<Installed, "world">, app: string): readonly string[] {
  return [...world.kubelet.pods]
    .filter(([, { metadata }]) => metadata.namespace === kaiNamespace && metadata.labels?.app === app)
    .map(([key]) => key);
}

/** The pods of the admission component (`namespace/name`), in the order of their names. */
export const podsOf = (installed: Installed): readonly string[] =>
  podsNamed(installed, installed.admission.deployment).toSorted();

export const operatorPods = (installed: Installed): readonly string[] => podsNamed(installed, "kai-operator");

/** The name in `namespace/name`. */
export const nameIn = (pod: string): string => pod.split("/")[1] ?? "";

/** How many pods are ready endpoints of the admission component. */
export const endpointsOf = ({ world, admission }: Installed): number =>
  new Set(world.egress.readyEndpoints(`${kaiNamespace}/${admission.service}`).map(({ pod }) => pod)).size;

/** The mounts have been refreshed: each pod presents the first certificate that its Secret holds. */
export async function everyPodServesItsSecret(installed: Installed, except: readonly string[] = []): Promise<void> {
  const { world, family } = installed;
  for (const component of family.components) {
    const secret = await world.admin.get<Secret>(`${secretsPath}/${component.secret}`);
    const pem = Buffer.from(secret.data?.["tls.crt"] ?? "", "base64").toString("utf8");
    const pods = podsNamed(installed, component.deployment).filter((pod) => !except.includes(pod));
    await until("the pods serve what the Secret holds", async () => {
      const leaves = await Promise.all(pods.map((pod) => servedLeaf(world, pod)));
      return leaves.every((leaf) => leaf?.toString() === pem);
    });
  }
}
