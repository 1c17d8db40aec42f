// What the parts of assess share: a hook with its owner, its backend and its verdicts, and how objects are called in
// findings. No rule of its own.
import { sameBytes } from "./bundle.ts";
import type { HookReference, ServedGroup } from "./finding.ts";
import type { HookVerdicts } from "./hook-verdicts.ts";
import { backendOf, servedGroup, verdictsOf } from "./hook-verdicts.ts";
import type { Installation, Owner } from "./installation.ts";
import { identifyInstallations, operatorIn } from "./owner.ts";
import type { Backend, ClusterSnapshot, Hook, ServingSecret } from "./snapshot.ts";

/** One hook, judged. */
export interface HookCase extends HookVerdicts {
  readonly hook: Hook;
  readonly owner: Owner;
  readonly installation: Installation;
  /** Whether a Ready `kai-operator` is there to write the bundle. */
  readonly isOperated: boolean;
  /** Undefined where the hook is called by URL, or where its Service could not be looked at. */
  readonly backend?: Backend;
}

/** One backend with all hooks that lead to it. */
export interface BackendCase {
  readonly backend: Backend;
  readonly hooks: readonly HookCase[];
}

export interface Assessment {
  readonly snapshot: ClusterSnapshot;
  readonly installations: readonly Installation[];
  readonly hooks: readonly HookCase[];
  readonly backends: readonly BackendCase[];
}

export function assessmentOf(snapshot: ClusterSnapshot): Assessment {
  const installations = identifyInstallations(snapshot);
  const hooks = installations.flatMap((installation) =>
    installation.hooks.map((hook) => hookCase(hook, installation, snapshot)),
  );
  const backends = snapshot.backends.map((backend) => ({
    backend,
    hooks: hooks.filter((one) => one.backend === backend),
  }));
  return { snapshot, installations, hooks, backends };
}

function hookCase(hook: Hook, installation: Installation, snapshot: ClusterSnapshot): HookCase {
  const { owner, namespace } = installation;
  const backend = backendOf(hook, snapshot);
  const isOperated = owner === "kai-operator" && (operatorIn(snapshot, namespace)?.readyReplicas ?? 0) > 0;
  return { hook, owner, installation, isOperated, ...(backend && { backend }), ...verdictsOf(hook, snapshot) };
}

/** Pods that serve the same leaf, by handshake. */
export interface LeafGroup {
  readonly served: ServedGroup;
  readonly leaf: Uint8Array;
}

/**
 * The ready pods of a backend by the leaf that they serve. Only the first block counts: certwatcher loads no other change,
 * so that pods of one generation may well serve different numbers of blocks.
 */
export function leafGroupsOf({ pods }: Backend): readonly LeafGroup[] {
  const groups: { pods: string[]; leaf: Uint8Array }[] = [];
  for (const { name, ready, served } of pods) {
    const leaf = ready && served?.from === "handshake" ? served.chain[0] : undefined;
    if (leaf === undefined) continue;
    const same = groups.find((group) => sameBytes(group.leaf, leaf));
    if (same === undefined) groups.push({ pods: [name], leaf });
    else same.pods.push(name);
  }
  return groups.map(({ pods: names, leaf }) => ({ served: servedGroup(names, "handshake", [leaf]), leaf }));
}

/** Whether the hook's calls to one of these pods are refused, or to any pod where none are given. */
export function isRefused({ groups }: HookCase, pods?: readonly string[]): boolean {
  return groups.some(
    ({ verdict, served }) =>
      verdict.outcome === "broken" && (pods === undefined || served.pods.some((pod) => pods.includes(pod))),
  );
}

export function referenceTo({ holder, index, name }: Hook): HookReference {
  return { holderKind: holder.kind, holder: holder.name, index, name };
}

/** The holder's path under the API group, such as `mutatingwebhookconfigurations/kai-binder`. */
export function holderPath({ holder }: Hook): string {
  return `${holder.kind.toLowerCase()}s/${holder.name}`;
}

/** The path of an object of a namespace, such as `kai-scheduler/secrets/binder-webhook-tls-secret`. */
export function pathIn(namespace: string, resource: string, name: string): string {
  return `${namespace}/${resource}/${name}`;
}

/** `namespace/name`, as findings call Services, Secrets and Deployments. */
export function qualified({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `${namespace}/${name}`;
}

/** The Secret behind a backend as far as it was seen. */
export function seenSecret({ secret }: Backend): ServingSecret | undefined {
  return secret?.seen === true ? secret.value : undefined;
}

/** When `tls.crt` was last written: by managedFields, else when the object was made. */
export function writtenAt({ lastWriter, createdAt }: ServingSecret): Date | undefined {
  return lastWriter?.time ?? createdAt;
}

/**
 * How long a mounted Secret may lag behind: the kubelet refreshes it after 30 to 100 s (measured in
 * open-policy-agent/cert-controller#50 and kubernetes-sigs/cluster-api#10522), certwatcher polls every 10 s.
 */
export const refreshWindowMs = 120_000;

/** Whether pods may not have had the time to load the Secret. False where nobody knows when it was written. */
export function isRefreshing(secret: ServingSecret, at: Date): boolean {
  const written = writtenAt(secret);
  return written !== undefined && at.getTime() - written.getTime() < refreshWindowMs;
}
