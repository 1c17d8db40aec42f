// One backend of one installation as the planner sees it: which pods serve what, whether the Secret's pair can be used,
// and which bundles are good for both. Facts only; what to do about them is decided in plan-helm-hooks and plan-operator.
import type { GoRelease, Verdict } from "../trust/verdict.ts";
import { verifyServed } from "../trust/verify.ts";
import { pemBlock, sameBytes } from "./bundle.ts";
import type { Finding, HookReference } from "./finding.ts";
import type { Installation } from "./installation.ts";
import { servedByPair } from "./served-pair.ts";
import type { Backend, BackendPod, ClusterSnapshot, Hook, ServingSecret } from "./snapshot.ts";

type Outcome = Verdict["outcome"];

/** A ready pod whose chain was read by handshake. */
export interface ServingPod {
  readonly name: string;
  readonly startedAt?: Date;
  readonly chain: readonly Uint8Array[];
  readonly leaf: Uint8Array;
  /** Whether a bundle exists that makes the API server accept this pod: its own leaf as anchor is the most one can do. */
  readonly canBeTrusted: boolean;
}

export type SecretCase =
  /** The pair fits, is valid and for the right name: a pod that loads it will be accepted by a bundle that holds it. */
  | {
      readonly state: "usable";
      readonly secret: ServingSecret;
      readonly certificates: Uint8Array;
      /** What a pod serves once it has loaded the pair. */
      readonly chain: readonly Uint8Array[];
      readonly leaf: Uint8Array;
    }
  | { readonly state: "unusable"; readonly secret: ServingSecret; readonly certificates?: Uint8Array }
  /** There is none, it could not be read, or no volume names it. */
  | { readonly state: "unseen" };

export interface RepairCase {
  readonly snapshot: ClusterSnapshot;
  readonly installation: Installation;
  readonly backend: Backend;
  /** The entries of every holder that lead to this backend; those of mutating holders first, as they are called first. */
  readonly hooks: readonly Hook[];
  readonly pods: readonly ServingPod[];
  /** How many more pods answer, or may come to answer, with a certificate that we do not know. */
  readonly unknownPods: number;
  readonly secret: SecretCase;
  /** A finding says that kai-operator was ready, had the time to write these bundles, and did not. */
  readonly isOperatorBlind: boolean;
  /** What the API server would make of a bundle and a chain, called by a hook of this case. */
  readonly judge: Judge;
}

/** All cases that a repair by fleetmend could be about, those that fail now first. */
export function repairCasesOf(
  snapshot: ClusterSnapshot,
  installations: readonly Installation[],
  findings: readonly Finding[],
): readonly RepairCase[] {
  const blind = findings.flatMap((finding) => (finding.kind === "operator-blind" ? [finding.hook] : []));
  const cases = installations.flatMap((installation) =>
    snapshot.backends.flatMap((backend) => {
      const hooks = installation.hooks.filter((hook) => !hook.holder.deleting && leadsTo(hook, backend));
      if (hooks.length === 0) return [];
      const isOperatorBlind = hooks.some((hook) => blind.some((reference) => isSameEntry(reference, hook)));
      return [{ ...repairCase(snapshot, installation, backend, hooks), isOperatorBlind }];
    }),
  );
  return [...cases.filter(failsNow), ...cases.filter((one) => !failsNow(one))];
}

function repairCase(
  snapshot: ClusterSnapshot,
  installation: Installation,
  backend: Backend,
  unsorted: readonly Hook[],
): Omit<RepairCase, "isOperatorBlind"> {
  const isMutating = (hook: Hook): boolean => hook.holder.kind === "MutatingWebhookConfiguration";
  const hooks = [...unsorted.filter(isMutating), ...unsorted.filter((hook) => !isMutating(hook))];
  // Every hook of one Service is verified against the same name.
  const serverName = hooks[0]?.serverName ?? `${backend.service}.${backend.namespace}.svc`;
  const judge = judgeOf(snapshot, serverName);
  const present = backend.pods.filter((pod) => !pod.deleting);
  const pods = present.flatMap((pod) => servingPod(pod, judge));
  // An endpoint that is none of our pods answers, too.
  const strangers = Math.max(0, backend.readyEndpoints - present.filter((pod) => pod.ready).length);
  return {
    snapshot,
    installation,
    backend,
    hooks,
    pods,
    unknownPods: present.length - pods.length + strangers,
    secret: secretCase(backend, judge),
    judge,
  };
}

/** No pod for one that is not ready or was not read, and none where the verdict on its own leaf is undetermined. */
function servingPod(pod: BackendPod, judge: Judge): readonly ServingPod[] {
  if (!pod.ready || pod.served?.from !== "handshake") return [];
  const { chain } = pod.served;
  const leaf = chain[0];
  if (leaf === undefined) return [];
  const best = judge(new TextEncoder().encode(pemBlock(leaf)), chain);
  if (best === "undetermined") return [];
  return [
    {
      name: pod.name,
      ...(pod.startedAt !== undefined && { startedAt: pod.startedAt }),
      chain,
      leaf,
      canBeTrusted: best === "trusted",
    },
  ];
}

function secretCase(backend: Backend, judge: Judge): SecretCase {
  if (backend.secret?.seen !== true) return { state: "unseen" };
  const secret = backend.secret.value;
  const { certificates } = secret;
  if (certificates === undefined) return { state: "unusable", secret };
  const chain = servedByPair(certificates);
  const leaf = chain[0];
  const usable = leaf !== undefined && secret.key === "matches" && judge(certificates, chain) === "trusted";
  return usable ? { state: "usable", secret, certificates, chain, leaf } : { state: "unusable", secret, certificates };
}

type Judge = (bundle: Uint8Array, chain: readonly Uint8Array[]) => Outcome;

/**
 * The verdict for one server name, each pair of bundle and chain judged once. Where the release is not known, only what both
 * ends of the known range agree on counts.
 */
function judgeOf({ server, at }: ClusterSnapshot, serverName: string): Judge {
  const releases: readonly { readonly go: GoRelease; readonly patch?: number }[] = server.seen
    ? [{ go: server.value.go, ...(server.value.goPatch !== undefined && { patch: server.value.goPatch }) }]
    : [{ go: "1.19" }, { go: "1.26" }];
  const known = new WeakMap<Uint8Array, WeakMap<readonly Uint8Array[], Outcome>>();
  return (caBundle, chain) => {
    const ofBundle = known.get(caBundle) ?? new WeakMap<readonly Uint8Array[], Outcome>();
    known.set(caBundle, ofBundle);
    const before = ofBundle.get(chain);
    if (before !== undefined) return before;
    const outcomes = releases.map((release) => verifyServed({ caBundle, chain, serverName, at, ...release }).outcome);
    const [first] = outcomes;
    const agreed = first !== undefined && outcomes.every((outcome) => outcome === first) ? first : "undetermined";
    ofBundle.set(chain, agreed);
    return agreed;
  };
}

export function referenceOf(hook: Hook): HookReference {
  return { holderKind: hook.holder.kind, holder: hook.holder.name, index: hook.index, name: hook.name };
}

export function isSameEntry(reference: HookReference, hook: Hook): boolean {
  const other = referenceOf(hook);
  return (
    reference.holderKind === other.holderKind && reference.holder === other.holder && reference.index === other.index
  );
}

function leadsTo(hook: Hook, backend: Backend): boolean {
  const service = hook.service;
  return service?.namespace === backend.namespace && service.name === backend.service && service.port === backend.port;
}

/** The pods for which a bundle matters: a pod that no bundle can help is no reason to keep or to change one. */
export function helpablePods(one: RepairCase): readonly ServingPod[] {
  return one.pods.filter((pod) => pod.canBeTrusted);
}

/**
 * Whether the bundle is good for what pods serve now and for what they will serve once they have loaded the Secret.
 * `undetermined` where one of these verdicts is, and never a reason to write.
 */
export function judgeBundle(one: RepairCase, bundle: Uint8Array): Outcome {
  const outcomes = helpablePods(one).map((pod) => one.judge(bundle, pod.chain));
  if (one.secret.state === "usable") outcomes.push(one.judge(bundle, one.secret.chain));
  if (outcomes.includes("undetermined")) return "undetermined";
  return outcomes.includes("broken") ? "broken" : "trusted";
}

/** Whether some call of some hook is refused at its next handshake, however the older connections fare. */
export function failsNow(one: RepairCase): boolean {
  return one.hooks.some((hook) => one.pods.some((pod) => one.judge(hook.bundle, pod.chain) === "broken"));
}

/** Whether every pod there is was read and is refused by every hook, so that an outage costs nothing more. */
export function failsWholly(one: RepairCase): boolean {
  if (one.unknownPods > 0 || one.pods.length === 0) return false;
  return one.hooks.every((hook) => one.pods.every((pod) => one.judge(hook.bundle, pod.chain) === "broken"));
}

/** When `tls.crt` was last written, as far as the object says. */
export function secretWrittenAt({ secret }: RepairCase): Date | undefined {
  if (secret.state === "unseen") return undefined;
  return secret.secret.lastWriter?.time ?? secret.secret.createdAt;
}

/** Pods that serve another leaf than the Secret holds; none where the Secret's pair is not to be waited for. */
export function stalePods(one: RepairCase): readonly ServingPod[] {
  const { secret } = one;
  return secret.state === "usable" ? one.pods.filter((pod) => !sameBytes(pod.leaf, secret.leaf)) : [];
}

/** Invariant: a bundle or Secret gets narrower only when this holds: every pod was read and serves the Secret's leaf. */
export function isSettled(one: RepairCase): boolean {
  return one.secret.state === "usable" && one.unknownPods === 0 && one.pods.length > 0 && stalePods(one).length === 0;
}
