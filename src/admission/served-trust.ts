// What the API server will say to the pods behind one hook, by the verdict on each ready pod's served chain. Chains from a
// Secret do not count here: pods may serve an older pair.
import type { Rejection, Verdict } from "../trust/verdict.ts";
import { verifyServed } from "../trust/verify.ts";
import type { HandshakeAnswer } from "./probe-report.ts";
import type { Backend, BackendPod, ClusterSnapshot, Hook } from "./snapshot.ts";

export interface ServedTrust {
  readonly answer: HandshakeAnswer;
  /** Every text that the API server may give, `OK` for an accepted handshake. */
  readonly predicted: readonly string[];
  /** Whether nothing else is possible: each ready pod's chain was read and judged, and there is one at least. */
  readonly complete: boolean;
  /** Of the refusal that `answer` names. `config`: nothing is dialled, so no kept connection can hide it. */
  readonly broken?: { readonly stage: "config" | "handshake"; readonly cause: Rejection };
}

/**
 * The verdict on every ready pod behind `hook`, at `at`. Broken if one pod is refused, undetermined if one could not be
 * judged or is not known, trusted only if all are. A bundle that cannot be read needs no pod.
 */
export function servedTrust(hook: Hook, snapshot: ClusterSnapshot, at: Date): ServedTrust {
  if (!snapshot.server.seen) return unjudged(`the API server's version was not read: ${snapshot.server.why.message}`);
  const { go } = snapshot.server.value;
  const judge = (chain: readonly Uint8Array[]): Verdict =>
    verifyServed({ caBundle: hook.bundle, chain, serverName: hook.serverName, at, go });
  const unreadable = judge([]);
  if (unreadable.outcome === "broken" && unreadable.stage === "config") return summary([unreadable], []);
  const backend = backendOf(hook, snapshot);
  if (backend === undefined) return unjudged("the hook is called by URL; its backend is not looked at");
  const pods = backend.pods.filter((pod) => pod.ready && !pod.deleting);
  const verdicts = pods.flatMap((pod) => (pod.served?.from === "handshake" ? [judge(pod.served.chain)] : []));
  return summary(verdicts, [...pods.flatMap(unseenReason), ...unknownPods(backend, pods.length)]);
}

function backendOf({ service }: Hook, snapshot: ClusterSnapshot): Backend | undefined {
  if (service === undefined) return undefined;
  return snapshot.backends.find(
    (backend) =>
      backend.namespace === service.namespace && backend.service === service.name && backend.port === service.port,
  );
}

function unseenReason(pod: BackendPod): readonly string[] {
  if (pod.served?.from === "handshake") return [];
  return [`no handshake with pod ${pod.name}: ${pod.served?.why.message ?? "it was not asked"}`];
}

function unknownPods(backend: Backend, ready: number): readonly string[] {
  if (ready === 0) return [`no ready pod behind Service ${backend.service}`];
  const more = backend.readyEndpoints - ready;
  return more > 0 ? [`${more} more ready addresses behind Service ${backend.service} than ready pods known`] : [];
}

function summary(verdicts: readonly Verdict[], unseen: readonly string[]): ServedTrust {
  const broken = verdicts.find((verdict) => verdict.outcome === "broken");
  const undetermined = verdicts.find((verdict) => verdict.outcome === "undetermined");
  const reason = undetermined?.reason ?? unseen[0];
  const answer: HandshakeAnswer =
    broken !== undefined
      ? { trust: "broken", goText: broken.goText }
      : reason !== undefined
        ? { trust: "undetermined", reason }
        : { trust: "trusted" };
  return {
    answer,
    predicted: [...new Set(verdicts.flatMap(textsOf))],
    complete: unseen.length === 0 && verdicts.every((verdict) => textsOf(verdict).length > 0),
    ...(broken === undefined ? {} : { broken: { stage: broken.stage, cause: broken.cause } }),
  };
}

/** What Go may print for this verdict; nothing where that is not known. */
function textsOf(verdict: Verdict): readonly string[] {
  switch (verdict.outcome) {
    case "trusted":
      return ["OK"];
    case "broken":
      return [verdict.goText];
    case "undetermined":
      return verdict.possible ?? [];
  }
}

const unjudged = (reason: string): ServedTrust => ({
  answer: { trust: "undetermined", reason },
  predicted: [],
  complete: false,
});
