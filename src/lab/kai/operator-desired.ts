// What the kai-operator wants objects to look like, as pure functions of `kai-config`, the release and the live object.
import type { KubeObject, OwnerReference, Webhook, WebhookConfiguration } from "./kube-object.ts";

export interface KaiConfig extends KubeObject {
  readonly spec?: {
    readonly admission?: {
      readonly mutatingWebhookConfigurationName?: string;
      readonly validatingWebhookConfigurationName?: string;
    };
    readonly global?: { readonly replicaCount?: number };
  };
  readonly status?: { readonly conditions?: readonly { readonly observedGeneration?: number }[] };
}

export const ownedBy = (owner: KubeObject, kind: string): OwnerReference => ({
  apiVersion: "kai.scheduler/v1",
  controller: true,
  kind,
  name: owner.metadata.name,
  uid: owner.metadata.uid ?? "",
});

// The terms that AKS's admissions enforcer adds to every webhook's namespaceSelector.
const injectedKeys = ["control-plane", "kubernetes.azure.com/managedby"];

interface WithSelector extends Webhook {
  readonly namespaceSelector?: { readonly matchExpressions?: readonly { readonly key: string }[] };
}

/**
 * The complete list of webhooks, each with the pair of its Service for a bundle. Up to v0.13 the list takes back what AKS
 * injected into the selectors; from v0.14 on such terms are kept.
 */
export function configurationWebhooks(
  recorded: WebhookConfiguration,
  pairs: ReadonlyMap<string, string>,
  options: { readonly live: WebhookConfiguration | undefined; readonly keepsInjectedTerms: boolean },
): readonly Webhook[] {
  return (recorded.webhooks ?? []).map((webhook: WithSelector) => {
    const caBundle = pairs.get(webhook.clientConfig.service?.name ?? "");
    // An empty text is no bundle at all: the API server drops the field, and so does Go's omitempty.
    const clientConfig = { ...webhook.clientConfig, caBundle: caBundle === "" ? undefined : caBundle };
    const live: WithSelector | undefined = options.live?.webhooks?.find(({ name }) => name === webhook.name);
    const terms = live?.namespaceSelector?.matchExpressions?.filter(({ key }) => injectedKeys.includes(key)) ?? [];
    const wanted = webhook.namespaceSelector?.matchExpressions ?? [];
    const namespaceSelector =
      options.keepsInjectedTerms && terms.length > 0
        ? { ...webhook.namespaceSelector, matchExpressions: [...wanted, ...terms] }
        : webhook.namespaceSelector;
    return dropUndefined({ ...webhook, clientConfig: dropUndefined(clientConfig), namespaceSelector }) as Webhook;
  });
}

function dropUndefined(object: object): object {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
}

/** The live object with the desired fields put over it; lists are replaced whole, absent fields stay. */
export function overlay(live: unknown, desired: unknown): unknown {
  if (!isRecord(live) || !isRecord(desired)) return desired;
  const merged: Record<string, unknown> = { ...live };
  for (const [name, value] of Object.entries(desired)) {
    if (value !== undefined) merged[name] = overlay(live[name], value);
  }
  return merged;
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
