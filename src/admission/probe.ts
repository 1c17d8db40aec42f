// Proves KAI's hooks: one server-side dry run of a pod, and a result for every hook. What an answer means is decided in
// hook-results.ts. Nothing is created, and nothing is asked that the rights are known to refuse.
import { setTimeout } from "node:timers/promises";
import * as v from "valibot";
import { classify, type Refusal } from "./classify.ts";
import type { ApiFailure, ClusterApi } from "./cluster-api.ts";
import { reviewed } from "./collect-rights.ts";
import { connectionOf, unsettledMs, type BundleHistory } from "./fresh-connection.ts";
import { hookResults, type DryRun, type ProbeContext } from "./hook-results.ts";
import { probePod, type ProbePod } from "./probe-pod.ts";
import type { ProbeReport } from "./probe-report.ts";
import { isCalledForPods, reach, type SelectablePod } from "./reach.ts";
import { servedTrust, type ServedTrust } from "./served-trust.ts";
import type { ClusterSnapshot, Hook } from "./snapshot.ts";

export interface ProbeOptions {
  readonly now: () => Date;
  /** Where the pod would be created: an ordinary namespace, whose pods KAI looks at. */
  readonly namespace: string;
  /** Default: AKS's pause image. */
  readonly image?: string;
  /** The bundles that this run wrote, with what stood there before: without them no connection is called fresh. */
  readonly changedBundles?: readonly BundleHistory[];
  /** Waits so many milliseconds. */
  readonly sleep?: (ms: number) => Promise<unknown>;
}

/** A dry run changes nothing, so it may be sent again; three times is enough for a hiccup, and bounds the wait. */
const attempts = 3;
/** A longer Retry-After than this is not waited for. */
const longestWaitMs = 10_000;

/**
 * Asks for the namespace, then for one dry-run create (two requests; no dry run where the rights forbid the create or no
 * hook would be met), and gives a result for each of the snapshot's hooks. Verdicts are taken on the snapshot's
 * handshakes: it must be of now, and of the same `probeNamespace`. Never fails: what could not be asked is a result.
 */
export async function probe(
  cluster: ClusterApi,
  snapshot: ClusterSnapshot,
  options: ProbeOptions,
): Promise<ProbeReport> {
  const manifest = probePod(snapshot, options.namespace, options.image);
  const pod: SelectablePod = { labels: manifest.metadata.labels, schedulerName: manifest.spec.schedulerName };
  const namespace = await readNamespace(cluster, snapshot, options.namespace);
  const isMet = (hook: Hook): boolean =>
    namespace.labels !== undefined && reach(hook, pod, namespace.labels).reach !== "not-reached";
  const sent: Sent =
    namespace.dryRun === undefined && snapshot.hooks.some(isMet)
      ? await sendDryRun(cluster, manifest, options)
      : { dryRun: namespace.dryRun ?? nothingToMeet, at: options.now() };
  const context: ProbeContext = {
    allHooks: [...snapshot.hooks, ...snapshot.otherHooks],
    pod,
    ...(namespace.labels === undefined ? {} : { namespaceLabels: namespace.labels }),
    trustOf: remembered((hook) => servedTrust(hook, snapshot, sent.at)),
    connectionOf: (hook) => connectionOf(hook, snapshot, options.changedBundles ?? [], sent.at),
  };
  return {
    at: sent.at,
    apiServer: cluster.server,
    namespace: options.namespace,
    hooks: hookResults(snapshot.hooks, sent.dryRun, context),
    ...(sent.answer === undefined ? {} : { answer: sent.answer }),
  };
}

/** Never seen in a report: where no hook is met, each one has its own reason for it. */
const nothingToMeet: DryRun = { outcome: "no-answer", because: "no hook would have been met" };

const labelled = v.object({ metadata: v.object({ labels: v.optional(v.record(v.string(), v.string()), {}) }) });
const returnedPod = v.object({ ...labelled.entries, spec: v.object({ schedulerName: v.string() }) });

interface ReadNamespace {
  readonly labels?: Readonly<Record<string, string>>;
  /** The outcome, where nothing further is to be asked. */
  readonly dryRun?: DryRun;
}

async function readNamespace(cluster: ClusterApi, snapshot: ClusterSnapshot, name: string): Promise<ReadNamespace> {
  if (!snapshot.hooks.some(isCalledForPods)) return { dryRun: nothingToMeet };
  if (snapshot.capability.dryRunPods) return lookAtNamespace(cluster, name);
  // The right to create pods in a namespace often goes with the namespace: where we may look, say which it is.
  const message = `no right to create pods in namespace ${name}, not even in a dry run`;
  const forbidden: DryRun = { outcome: "forbidden", message };
  const mayLook = await reviewed(cluster, name, { verb: "get", group: "", resource: "namespaces", name });
  if (!mayLook) return { dryRun: forbidden };
  const found = await lookAtNamespace(cluster, name);
  return found.dryRun?.outcome === "no-namespace" ? found : { ...found, dryRun: forbidden };
}

async function lookAtNamespace(cluster: ClusterApi, name: string): Promise<ReadNamespace> {
  const answer = await cluster.get(`/api/v1/namespaces/${encodeURIComponent(name)}`);
  if (!answer.ok && answer.error.kind === "not-found") return { dryRun: { outcome: "no-namespace", namespace: name } };
  const parsed = v.safeParse(labelled, answer.ok ? answer.value : undefined);
  if (parsed.success) return { labels: parsed.output.metadata.labels };
  const why = answer.ok ? "the answer is not a Namespace" : answer.error.message;
  return { dryRun: { outcome: "no-answer", because: `namespace ${name} was not read: ${why}` } };
}

interface Sent {
  readonly dryRun: DryRun;
  /** Just before the request that was answered. */
  readonly at: Date;
  readonly answer?: NonNullable<ProbeReport["answer"]>;
}

async function sendDryRun(cluster: ClusterApi, manifest: ProbePod, options: ProbeOptions): Promise<Sent> {
  const sleep = options.sleep ?? (async (ms: number) => setTimeout(ms));
  const { namespace } = manifest.metadata;
  const unsettled = unsettledMs(options.changedBundles ?? [], options.now());
  if (unsettled > 0) await sleep(unsettled);
  for (let attempt = 1; ; attempt += 1) {
    const at = options.now();
    const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods`;
    const answer = await cluster.create(path, manifest, { dryRun: true });
    if (answer.ok) return { dryRun: greenWith(answer.value), at, answer: created };
    const refusal = classify(answer.error);
    if (!isHiccup(answer.error, refusal) || attempt === attempts)
      return { dryRun: meaningOf(answer.error, refusal, namespace), at, ...answered(answer.error) };
    await sleep(Math.min((answer.error.retryAfterSeconds ?? attempt) * 1_000, longestWaitMs));
  }
}

const created = { status: 201, message: "created, in a dry run" };

function greenWith(returned: unknown): DryRun {
  const parsed = v.safeParse(returnedPod, returned);
  if (!parsed.success) return { outcome: "no-answer", because: "the answer to the dry run is not a Pod" };
  const { metadata, spec } = parsed.output;
  return { outcome: "green", pod: { labels: metadata.labels, schedulerName: spec.schedulerName } };
}

/** Whether the dry run itself did not get through, so that nothing is said of any hook. A denial may carry any status. */
function isHiccup({ kind }: ApiFailure, refusal: Refusal): boolean {
  if (refusal.kind !== "unknown" && refusal.kind !== "deadline") return false;
  return ["throttled", "timeout", "unreachable", "server-error", "conflict"].includes(kind);
}

function meaningOf(error: ApiFailure, refusal: Refusal, namespace: string): DryRun {
  if (refusal.kind === "namespace-not-found") return { outcome: "no-namespace", namespace };
  if (refusal.kind === "refused" && refusal.phase === "authorization")
    return { outcome: "forbidden", message: error.message };
  if (isHiccup(error, refusal))
    return { outcome: "no-answer", because: `the dry run got no answer in ${attempts} tries: ${error.message}` };
  if (error.kind === "unauthorized")
    return { outcome: "no-answer", because: `the API server does not know us: ${error.message}` };
  return { outcome: "refused", refusal };
}

const answered = ({ status, message }: ApiFailure): Pick<Sent, "answer"> =>
  status === undefined ? {} : { answer: { status, message } };

/** The same answer for the same hook, computed once: a verdict checks signatures. */
function remembered(trustOf: (hook: Hook) => ServedTrust): (hook: Hook) => ServedTrust {
  const known = new Map<Hook, ServedTrust>();
  return (hook) => {
    const trust = known.get(hook) ?? trustOf(hook);
    known.set(hook, trust);
    return trust;
  };
}
