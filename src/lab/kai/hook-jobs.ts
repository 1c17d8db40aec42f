// What KAI's helm hooks of v0.2 to v0.8 do (cmd/webhookmanager): the pre hook always makes a new pair, the post hook copies
// it into every bundle, and both clean up behind them when they succeed. A drift is the first without the second.
import { mintKaiCertificate, type KeyPair } from "../../trust/mint.ts";
import { resources, type Resource } from "../kubernetes/resources.ts";
import type { Store } from "../kubernetes/store.ts";
import type { StoredObject } from "../kubernetes/stored-object.ts";
import type { ServingPair } from "./webhook-server.ts";
import * as familyA from "./family-a.ts";

/** The holders that the post hook writes, by resource. */
export const holders = [resources.mutatingWebhookConfigurations, resources.validatingWebhookConfigurations] as const;

const manager = "webhookmanager";

export interface HookOptions {
  readonly store: Store;
  readonly namespace: string;
  readonly now: () => Date;
  /** The key pair of the next certificate that is made. */
  readonly keys: () => Promise<KeyPair>;
}

/** `pre-install,pre-upgrade`, `--upsert-secret`: a new pair, even where the present one is good. */
export async function runPreHook(options: HookOptions): Promise<void> {
  const serverName = familyA.serverNameIn(options.namespace);
  const minted = await mintKaiCertificate({ serverName, notBefore: options.now(), keys: await options.keys() });
  writePair(options, { certificates: minted.pem, key: minted.keyPem }, manager);
  cleanUp(options);
}

/** `post-install,post-upgrade`, `--patch-webhooks`: the bytes of `tls.crt` into every entry of both holders. */
export function runPostHook(options: HookOptions): void {
  const bundle = certificatesOf(options);
  for (const resource of holders) setBundle(options, resource, bundle, manager);
  cleanUp(options);
}

/** `helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded`, on the Jobs and on what they run as. */
function cleanUp({ store, namespace }: HookOptions): void {
  for (const name of ["pre-install-hook", "post-install-hook"]) {
    store.remove({ resource: resources.jobs, namespace, name });
  }
  store.remove({ resource: resources.serviceAccounts, namespace, name: manager });
}

/** A hook Job that ended and was not cleaned up, and the hooks' ServiceAccount: traces of a helm run that broke off. */
export function leaveBehind({ store, namespace, now }: HookOptions, job: string, how: "Complete" | "Failed"): void {
  const writer = { manager: "helm", at: now() };
  const jobKey = { resource: resources.jobs, namespace, name: job };
  const accountKey = { resource: resources.serviceAccounts, namespace, name: manager };
  if (store.get(jobKey) === undefined) {
    const status = { conditions: [{ type: how, status: "True" }], [how === "Complete" ? "succeeded" : "failed"]: 1 };
    store.create(
      jobKey,
      { metadata: { name: job }, spec: { completions: 1, parallelism: 1, backoffLimit: 6 }, status },
      writer,
    );
  }
  if (store.get(accountKey) === undefined) store.create(accountKey, { metadata: { name: manager } }, writer);
}

/** Puts a pair into the serving Secret; a part that is left out stays as it is. */
export function writePair({ store, namespace, now }: HookOptions, pair: Partial<ServingPair>, by: string): void {
  const key = { resource: resources.secrets, namespace, name: familyA.secretName };
  const data = {
    ...(pair.certificates === undefined ? {} : { "tls.crt": Buffer.from(pair.certificates).toString("base64") }),
    ...(pair.key === undefined ? {} : { "tls.key": Buffer.from(pair.key).toString("base64") }),
  };
  const writer = { manager: by, at: now() };
  const merge = (present: StoredObject): StoredObject => ({ ...present, data: { ...Object(present.data), ...data } });
  if (store.update(key, merge, writer) !== undefined) return;
  store.create(key, { metadata: { name: familyA.secretName }, data, type: "Opaque" }, writer);
}

/** `data["tls.crt"]` of the serving Secret, as text. */
export function certificatesOf({ store, namespace }: HookOptions): string {
  const secret = store.get({ resource: resources.secrets, namespace, name: familyA.secretName });
  const data = (secret?.data ?? {}) as Readonly<Record<string, string>>;
  return Buffer.from(data["tls.crt"] ?? "", "base64").toString("utf8");
}

/** The same bundle into every entry of a holder; undefined takes the field away. */
export function setBundle(options: HookOptions, resource: Resource, bundle: string | undefined, by: string): void {
  const key = { resource, namespace: "", name: familyA.configurationName };
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
  options.store.update(key, change, { manager: by, at: options.now() });
}
