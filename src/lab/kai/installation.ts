// What a KAI installation of the lab consists of for those who write to it: its family, its store, and the moves that hands,
// hooks and operator share. Not here: who makes which move when.
import type { KeyPair } from "../../trust/mint.ts";
import { mintKaiCertificate, type MintedCertificate } from "../../trust/mint.ts";
import { resources, type Resource } from "../kubernetes/resources.ts";
import type { Store } from "../kubernetes/store.ts";
import type { StoredObject } from "../kubernetes/stored-object.ts";
import type { Component, Family, HolderName } from "./families.ts";
import type { ServingPair } from "./webhook-server.ts";

export interface KaiInstallation {
  readonly store: Store;
  readonly family: Family;
  readonly namespace: string;
  readonly now: () => Date;
  /** The key pair of the next certificate that is made. */
  readonly keys: () => Promise<KeyPair>;
}

/** The component that is asked for pods. */
export const admissionOf = ({ family }: KaiInstallation): Component => family.components[0];

/** The name that the API server verifies, and KAI puts into its certificate. */
export const serverNameOf = ({ service }: Component, namespace: string): string => `${service}.${namespace}.svc`;

export const holderResource = ({ kind }: HolderName): Resource =>
  kind === "mutating" ? resources.mutatingWebhookConfigurations : resources.validatingWebhookConfigurations;

/** A new generation for a component, as KAI makes it, now. */
export async function mintPair(kai: KaiInstallation, component: Component): Promise<MintedCertificate> {
  const serverName = serverNameOf(component, kai.namespace);
  return mintKaiCertificate({ serverName, notBefore: kai.now(), keys: await kai.keys() });
}

/** `data` of a serving Secret, of the parts that are given. */
export function pairData({ certificates, key }: Partial<ServingPair>): Readonly<Record<string, string>> {
  return {
    ...(certificates === undefined ? {} : { "tls.crt": Buffer.from(certificates).toString("base64") }),
    ...(key === undefined ? {} : { "tls.key": Buffer.from(key).toString("base64") }),
  };
}

interface PairWrite {
  readonly component: Component;
  /** A part that is left out stays as it is. */
  readonly pair: Partial<ServingPair>;
  /** The field manager. */
  readonly by: string;
}

/** Puts a pair into a component's Secret, and makes the Secret where there is none. */
export function writePair({ store, namespace, now }: KaiInstallation, { component, pair, by }: PairWrite): void {
  const key = { resource: resources.secrets, namespace, name: component.secret };
  const data = pairData(pair);
  const writer = { manager: by, at: now() };
  const merge = (present: StoredObject): StoredObject => ({ ...present, data: { ...Object(present.data), ...data } });
  if (store.update(key, merge, writer) !== undefined) return;
  store.create(key, { metadata: { name: component.secret }, data, type: "Opaque" }, writer);
}

/** `data["tls.crt"]` of a component's Secret, as text. */
export function certificatesOf(kai: KaiInstallation, component: Component = admissionOf(kai)): string {
  const { store, namespace } = kai;
  const secret = store.get({ resource: resources.secrets, namespace, name: component.secret });
  const data = (secret?.data ?? {}) as Readonly<Record<string, string>>;
  return Buffer.from(data["tls.crt"] ?? "", "base64").toString("utf8");
}

interface BundleWrite {
  readonly holder: HolderName;
  /** Undefined takes the field away. */
  readonly bundle: string | undefined;
  readonly by: string;
}

/** The same bundle into every entry of a holder. */
export function setBundle({ store, now }: KaiInstallation, { holder, bundle, by }: BundleWrite): void {
  const key = { resource: holderResource(holder), namespace: "", name: holder.name };
  const change = (present: StoredObject): StoredObject => {
    const webhooks = (present.webhooks ?? []) as readonly { readonly clientConfig: { readonly service: unknown } }[];
    return {
      ...present,
      webhooks: webhooks.map((webhook) => ({
        ...webhook,
        clientConfig: {
          ...(bundle === undefined ? {} : { caBundle: Buffer.from(bundle).toString("base64") }),
          service: webhook.clientConfig.service,
        },
      })),
    };
  };
  store.update(key, change, { manager: by, at: now() });
}
