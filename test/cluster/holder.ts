// Where webhook configurations are found, and reading and patching their bundles for set-up.
import type { Api } from "./api.ts";
import type { HolderName } from "../../src/lab/kai/families.ts";
import type { WebhookConfiguration } from "../../src/lab/kai/kube-object.ts";

export const holderCollection = (kind: HolderName["kind"]): string =>
  `/apis/admissionregistration.k8s.io/v1/${kind}webhookconfigurations`;

export const holderPath = ({ kind, name }: HolderName): string => `${holderCollection(kind)}/${name}`;

/** The bundles of all entries of a holder, decoded; empty text where there is none. */
export async function readBundles(api: Api, holder: HolderName): Promise<readonly string[]> {
  const { webhooks = [] } = await api.get<WebhookConfiguration>(holderPath(holder));
  return webhooks.map(({ clientConfig }) => Buffer.from(clientConfig.caBundle ?? "", "base64").toString("utf8"));
}

/** Sets the bundle of every entry of a holder, as a hand would. */
export async function writeBundle(api: Api, holder: HolderName, bundle: string): Promise<void> {
  const path = holderPath(holder);
  const { webhooks = [] } = await api.get<WebhookConfiguration>(path);
  const value = Buffer.from(bundle).toString("base64");
  const operations = webhooks.map((_, index) => ({
    op: "add",
    path: `/webhooks/${index}/clientConfig/caBundle`,
    value,
  }));
  const call = { body: operations, contentType: "application/json-patch+json" };
  const answer = await api.request("PATCH", path, call);
  if (answer.status !== 200) throw new Error(`patching ${path}: ${JSON.stringify(answer.body)}`);
}
