// The verdict for one hook: its bundle against every chain that its ready pods serve. Where a chain comes from is kept;
// what follows for people is assess.ts's business.
import { summarizeDer } from "../trust/bundle.ts";
import type { GoRelease, Verdict, VerifyInput } from "../trust/verdict.ts";
import { verifyServed } from "../trust/verify.ts";
import { sameBytes } from "./bundle.ts";
import type { ServedGroup, UndeterminedBecause } from "./finding.ts";
import { servedByPair } from "./served-pair.ts";
import type { Backend, BackendPod, ClusterSnapshot, Hook } from "./snapshot.ts";

/** The pods that serve one and the same chain, and what the API server says to it. */
export interface GroupVerdict {
  readonly served: ServedGroup;
  readonly chain: readonly Uint8Array[];
  readonly verdict: Verdict;
}

/** Ready pods, or endpoints without one, whose chain is not known. */
export interface UnseenPods {
  readonly pods: readonly string[];
  readonly reason: string;
  readonly because: UndeterminedBecause;
}

export interface HookVerdicts {
  readonly groups: readonly GroupVerdict[];
  readonly unseen: readonly UnseenPods[];
  readonly readyPods: number;
}

/** The backend that a hook calls; undefined where it is called by URL, or where its Service could not be looked at. */
export function backendOf({ service }: Hook, { backends }: ClusterSnapshot): Backend | undefined {
  return backends.find(
    ({ namespace, service: name, port }) =>
      namespace === service?.namespace && name === service.name && port === service.port,
  );
}

/**
 * Every ready pod of the hook's backend is in one group, or among the unseen. A bundle that cannot be read is refused before
 * anything is dialled, so that nothing needs to be served. Pods on which nothing listens are in neither: no certificate
 * is their trouble.
 */
export function verdictsOf(hook: Hook, snapshot: ClusterSnapshot): HookVerdicts {
  const backend = backendOf(hook, snapshot);
  const ready = (backend?.pods ?? []).filter((pod) => pod.ready);
  const unreadable = judged(hook, [], snapshot);
  if (unreadable.outcome === "broken" && unreadable.stage === "config") {
    const served = { pods: ready.map(({ name }) => name), servedFrom: "unread" } as const;
    return { groups: [{ served, chain: [], verdict: unreadable }], unseen: [], readyPods: ready.length };
  }
  if (backend === undefined) return { groups: [], unseen: [noBackend(hook)], readyPods: 0 };
  const chains = ready.map((pod) => ({ pod, chain: chainOf(pod, backend) }));
  const groups = groupsOf(chains).map(({ served, chain }) => ({
    served,
    chain,
    verdict: judged(hook, chain, snapshot),
  }));
  const unseen = chains.flatMap(({ pod, chain }) => ("reason" in chain ? [{ pods: [pod.name], ...chain }] : []));
  return { groups, unseen: [...together(unseen), ...strangers(backend, ready)], readyPods: ready.length };
}

function noBackend({ url }: Hook): UnseenPods {
  return url === undefined
    ? { pods: [], reason: "what stands behind its Service was not seen", because: "not-seen" }
    : { pods: [], reason: "it is called by URL, past every Service", because: "not-a-pod" };
}

/**
 * The verdict on a chain for this hook. Where the API server's Go release is not known, both ends of the known range are
 * asked, and what they do not agree on is undetermined.
 */
export function judged(
  { bundle, serverName }: Hook,
  chain: readonly Uint8Array[],
  { server, at }: ClusterSnapshot,
): Verdict {
  const input: Omit<VerifyInput, "go"> = { caBundle: bundle, chain, serverName, at };
  if (server.seen) {
    const { go, goPatch } = server.value;
    return verifyServed({ ...input, go, ...(goPatch !== undefined && { patch: goPatch }) });
  }
  const releases: readonly GoRelease[] = ["1.19", "1.26"];
  const [oldest, newest] = releases.map((go) => verifyServed({ ...input, go }));
  if (oldest === undefined || newest === undefined) throw new Error("no verdict was asked for");
  if (oldest.outcome === newest.outcome) return newest;
  const { bundle: considered, candidates } = newest;
  const reason = "the API server's Go release was not seen, and releases differ in this";
  return { outcome: "undetermined", reason, bundle: considered, candidates };
}

type SeenChain =
  | { readonly from: "handshake" | "secret"; readonly chain: readonly Uint8Array[] }
  | Omit<UnseenPods, "pods">
  | { readonly silent: true };

/** The chain of a ready pod: from the handshake; where that is not allowed, from the Secret if its key belongs to it. */
function chainOf(pod: BackendPod, backend: Backend): SeenChain {
  const { served } = pod;
  // Without a port nothing is called; that the Service has none is a finding of its own.
  if (served === undefined) return { silent: true };
  if (served.from === "handshake") return served;
  const { kind, message } = served.why;
  if (kind === "refused" || kind === "not-tls") return { silent: true };
  if (kind !== "forbidden") return { reason: `no handshake with the pod: ${message}`, because: "no-handshake" };
  const { secret, secretName } = backend;
  const because = "not-allowed";
  if (secret?.seen !== true) {
    return { because, reason: "neither port-forward nor the serving Secret is allowed to this user" };
  }
  if (secret.value.key !== "matches" || secret.value.certificates === undefined) {
    return { because, reason: "port-forward is not allowed, and no pod could load the pair that its Secret holds" };
  }
  if (pod.secretName !== undefined && pod.secretName !== secretName) {
    return { because, reason: `port-forward is not allowed, and the pod mounts another Secret, ${pod.secretName}` };
  }
  return { from: "secret", chain: servedByPair(secret.value.certificates) };
}

interface Group {
  readonly served: ServedGroup;
  readonly chain: readonly Uint8Array[];
}

function groupsOf(seen: readonly { readonly pod: BackendPod; readonly chain: SeenChain }[]): readonly Group[] {
  const groups: { pods: string[]; from: "handshake" | "secret"; chain: readonly Uint8Array[] }[] = [];
  for (const { pod, chain: found } of seen) {
    if (!("from" in found)) continue;
    const same = groups.find(({ from, chain }) => from === found.from && isSameChain(chain, found.chain));
    if (same === undefined) groups.push({ pods: [pod.name], ...found });
    else same.pods.push(pod.name);
  }
  return groups.map(({ pods, from, chain }) => ({ served: servedGroup(pods, from, chain), chain }));
}

export function servedGroup(
  pods: readonly string[],
  servedFrom: ServedGroup["servedFrom"],
  [first]: readonly Uint8Array[],
): ServedGroup {
  const leaf = first && summarizeDer(first);
  return { pods, servedFrom, ...(leaf && { leaf }) };
}

function isSameChain(left: readonly Uint8Array[], right: readonly Uint8Array[]): boolean {
  return left.length === right.length && left.every((der, index) => sameBytes(der, right[index] ?? new Uint8Array()));
}

/** Pods that are unseen for one and the same reason. */
function together(unseen: readonly UnseenPods[]): readonly UnseenPods[] {
  const byReason = new Map<string, UnseenPods>();
  for (const one of unseen) {
    const pods = byReason.get(one.reason)?.pods ?? [];
    byReason.set(one.reason, { ...one, pods: [...pods, ...one.pods] });
  }
  return [...byReason.values()];
}

/** An endpoint that is none of the pods answers, too. */
function strangers({ readyEndpoints }: Backend, ready: readonly BackendPod[]): readonly UnseenPods[] {
  const more = readyEndpoints - ready.length;
  if (more <= 0) return [];
  const reason = `${more} of its endpoints ${more === 1 ? "is no pod" : "are no pods"} that could be asked`;
  return [{ pods: [], reason, because: "not-a-pod" }];
}
