// Finds what OSMO a cluster runs: each osmo-service, the Key Vault that its pods mount, and the default admin's Secret. Not here:
// which routes answer (create-osmo-api asks), the backend operators, and whether the vault lets us in.
import * as v from "valibot";
import type { ClusterApi } from "../admission/cluster-api.ts";
import { failure, success, type Result } from "../result.ts";
import { haltOfCluster, type Halt } from "./look-failure.ts";
import type { ObjectName } from "./token-credential.ts";

export type VaultChoice =
  | { readonly vault: "known"; readonly name: string; readonly from: "setting" | "secret-provider-class" }
  | { readonly vault: "unknown"; readonly why: string; readonly todo: string };

export interface FoundOsmo {
  readonly namespace: string;
  /** The tag of osmo-service's image, where it has one: a hint, as tags such as `latest` float. */
  readonly imageTag?: string;
  readonly vault: VaultChoice;
  /** Absent where the live Deployment does not set one up: values of a chart that is too old do nothing. */
  readonly defaultAdmin?: { readonly user: string; readonly secret: ObjectName; readonly key: string };
}

/** Key Vault's own rule for names. It also keeps a class's text from naming another host. */
const vaultName = /^[a-zA-Z](?!.*--)[a-zA-Z0-9-]{1,22}[a-zA-Z0-9]$/;

/** A Kubernetes object's name (RFC 1123 subdomain). A volume's attributes are free text, and this one goes into a path. */
const objectName = /^[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?$/;

const container = v.object({
  name: v.string(),
  image: v.nullish(v.string()),
  args: v.nullish(v.array(v.string())),
  env: v.nullish(
    v.array(
      v.object({
        name: v.string(),
        valueFrom: v.nullish(
          v.object({ secretKeyRef: v.nullish(v.object({ name: v.nullish(v.string()), key: v.string() })) }),
        ),
      }),
    ),
  ),
});
const volume = v.object({
  csi: v.nullish(v.object({ driver: v.string(), volumeAttributes: v.nullish(v.record(v.string(), v.string())) })),
});
const deployment = v.object({
  metadata: v.object({ namespace: v.string() }),
  spec: v.object({
    template: v.object({
      spec: v.object({ containers: v.array(container), volumes: v.nullish(v.array(volume)) }),
    }),
  }),
});
const providerClass = v.object({
  spec: v.object({ provider: v.nullish(v.string()), parameters: v.nullish(v.record(v.string(), v.string())) }),
});
type Container = v.InferOutput<typeof container>;

/**
 * Sorted by namespace; empty where the cluster runs no OSMO. `vaultOf` is the setting's vault for a namespace, which goes before
 * the class's. One list of Deployments, and one GET for each class that is mounted. Whoever may write a SecretProviderClass
 * there chooses the vault: the identity's roles must be on the vaults of OSMO alone.
 */
export async function findOsmo(
  cluster: ClusterApi,
  vaultOf: (namespace: string) => string | undefined,
): Promise<Result<readonly FoundOsmo[], Halt>> {
  const listed = await cluster.list("/apis/apps/v1/deployments", { labelSelector: "app=osmo-service" });
  if (!listed.ok) return failure(haltOfCluster(listed.error));
  const parsed = v.safeParse(v.array(deployment), listed.value);
  if (!parsed.success) return failure(notReadable);
  const found: FoundOsmo[] = [];
  for (const { metadata, spec } of parsed.output) {
    const { namespace } = metadata;
    const { containers, volumes } = spec.template.spec;
    const service = containers.find(({ name }) => name === "osmo-service");
    if (service === undefined) continue;
    const classes = (volumes ?? []).flatMap(({ csi }) =>
      csi?.driver === "secrets-store.csi.k8s.io" ? [csi.volumeAttributes?.secretProviderClass ?? ""] : [],
    );
    const vault = await vaultFor(cluster, { namespace, classes, setting: vaultOf(namespace) });
    found.push({ namespace, ...tagOf(service), vault, ...defaultAdminOf(service, namespace) });
  }
  return success(found.sort((one, other) => one.namespace.localeCompare(other.namespace)));
}

const notReadable: Halt = {
  plan: "stop",
  why: "a Deployment of osmo-service is not what Kubernetes documents",
  todo: "report this to fleetmend",
};

interface VaultQuestion {
  readonly namespace: string;
  readonly classes: readonly string[];
  readonly setting: string | undefined;
}

async function vaultFor(cluster: ClusterApi, { namespace, classes, setting }: VaultQuestion): Promise<VaultChoice> {
  if (setting !== undefined) {
    return vaultName.test(setting)
      ? { vault: "known", name: setting, from: "setting" }
      : unknown(namespace, `the setting's vault for ${namespace} is not the name of a Key Vault`);
  }
  if (classes.length === 0) return unknown(namespace, `osmo-service in ${namespace} mounts no SecretProviderClass`);
  const names = new Set<string>();
  for (const name of new Set(classes)) {
    const read = await readVaultName(cluster, { namespace, name });
    if (!read.ok) return unknown(namespace, read.error);
    names.add(read.value.toLowerCase());
  }
  const [only, ...others] = names;
  if (only === undefined || others.length > 0) {
    return unknown(namespace, `osmo-service in ${namespace} mounts several vaults: ${[...names].sort().join(", ")}`);
  }
  return { vault: "known", name: only, from: "secret-provider-class" };
}

async function readVaultName(cluster: ClusterApi, { namespace, name }: ObjectName): Promise<Result<string, string>> {
  const what = `the SecretProviderClass ${namespace}/${name}`;
  if (!objectName.test(name)) return failure(`osmo-service in ${namespace} mounts a class without a valid name`);
  const read = await cluster.get(
    `/apis/secrets-store.csi.x-k8s.io/v1/namespaces/${namespace}/secretproviderclasses/${name}`,
  );
  if (!read.ok) {
    return failure(
      read.error.kind === "not-found" ? `${what} does not exist` : `${what} could not be read (${read.error.kind})`,
    );
  }
  const parsed = v.safeParse(providerClass, read.value);
  const { provider, parameters } = parsed.success ? parsed.output.spec : {};
  if (provider !== "azure") return failure(`${what} is not one of the provider azure`);
  const { keyvaultName = "", cloudName = "" } = parameters ?? {};
  if (!["", "azurepubliccloud"].includes(cloudName.toLowerCase())) {
    return failure(`${what} is for another cloud than the public one`);
  }
  return vaultName.test(keyvaultName) ? success(keyvaultName) : failure(`${what} names no Key Vault`);
}

function unknown(namespace: string, why: string): VaultChoice {
  return { vault: "unknown", why, todo: `name the Key Vault for OSMO in ${namespace} in the setting` };
}

/** `registry:5000/osmo/service:6.2.10@sha256:…` has the tag 6.2.10. */
function tagOf({ image }: Container): { readonly imageTag?: string } {
  const tag = /:([\w.-]+)$/.exec((image ?? "").replace(/@.*$/, ""))?.[1];
  return tag === undefined ? {} : { imageTag: tag };
}

/** As osmo-service reads it: an argument and a variable (NVIDIA/OSMO src/service/core/service.py, 6.2 and 6.3). */
function defaultAdminOf({ args, env }: Container, namespace: string): Pick<FoundOsmo, "defaultAdmin"> {
  const option = "--default_admin_username";
  const at = args?.indexOf(option) ?? -1;
  const user = at >= 0 ? args?.[at + 1] : args?.find((arg) => arg.startsWith(`${option}=`))?.slice(option.length + 1);
  const reference = env?.find(({ name }) => name === "OSMO_DEFAULT_ADMIN_PASSWORD")?.valueFrom?.secretKeyRef;
  const name = reference?.name;
  if (!user || !name) return {};
  return { defaultAdmin: { user, secret: { namespace, name }, key: reference.key } };
}
