// The words for who writes the bundles and whether they do, for what is only worth knowing, and for what was not seen.
import {
  certificateInWords,
  certificatesInWords,
  hookInWords,
  instant,
  newPair,
  podsInWords,
} from "./finding-words.ts";
import type { FindingExplanation, FindingOf } from "./finding-words.ts";
import type { FailureClass } from "./probe-report.ts";

const missingDefinition =
  "Look for the GPU Operator's definition (kubectl get crd clusterpolicies.nvidia.com): KAI v0.9, v0.10 and v0.20.1 do nothing without it, and stay Ready.";

const likelyBlindness = {
  "no-right-to-update":
    "KAI's ClusterRole lets the operator create configurations of any name and update those of the default names only: go back to those, or widen the role.",
  "missing-cluster-policy-crd": missingDefinition,
  unknown: "Look at its log for what is forbidden or missing.",
} as const;

export function explainOperator(
  finding: FindingOf<"no-hooks" | "operator-down" | "operator-absent" | "operator-blind">,
): FindingExplanation {
  switch (finding.kind) {
    case "no-hooks":
      return explainNoHooks(finding);
    case "operator-down":
      return {
        sentence: `Deployment ${finding.deployment} has ${finding.ready} of ${finding.replicas} pods ready: nobody keeps bundles and Secrets in line, and nothing is taken back.`,
        todo: "Get kai-operator running. While it is down never delete a serving Secret: nobody would make a new one.",
      };
    case "operator-absent":
      return {
        sentence: `kai-operator made the hooks of namespace ${finding.namespace}, and there is no such Deployment any more: nobody maintains them.`,
        todo: "Install KAI again. If it was uninstalled, delete what it left: kubectl delete configs.kai.scheduler kai-config, where that is still there, takes the rest along.",
      };
    case "operator-blind":
      return {
        sentence: `Deployment ${finding.deployment} is Ready and does not reconcile: since ${instant(finding.unchangedSince)} the bundle of ${hookInWords(finding.hook)} holds ${certificatesInWords(finding.bundle)}, and its Secret ${certificatesInWords(finding.secret)}. An operator that works makes them equal in less than a second.`,
        todo: `${likelyBlindness[finding.likely]} A bundle that is patched by hand stays until then.`,
      };
  }
}

function explainNoHooks({ namespace, operatorReady }: FindingOf<"no-hooks">): FindingExplanation {
  if (operatorReady === undefined) {
    return {
      sentence: `No webhook of KAI was found in this cluster, and no kai-operator in namespace ${namespace}.`,
      todo: "Nothing, if KAI is not installed here. Its namespace can be given with --namespace.",
    };
  }
  return {
    sentence: `kai-operator in namespace ${namespace} (${operatorReady} ready) has made no webhook: pods are admitted as they come, and KAI changes none of them.`,
    todo: `Nothing, if its webhooks are switched off on purpose. ${missingDefinition}`,
  };
}

type Notice = FindingOf<
  "owner-unknown" | "foreign-last-writer" | "bundle-wider-than-needed" | "fails-open" | "hook-leftover" | "expires-soon"
>;

export function explainNotice(finding: Notice): FindingExplanation {
  switch (finding.kind) {
    case "owner-unknown":
      return {
        sentence: `Nobody is known to write the bundle of ${hookInWords(finding.hook)}. ${finding.evidence.join(" ")}`,
        todo: "Find out who made it. fleetmend explains it and never writes to it.",
      };
    case "foreign-last-writer": {
      const { manager, time } = finding.writer;
      return {
        sentence: `The bundle of ${hookInWords(finding.hook)} was last written by ${manager}${time === undefined ? "" : ` on ${instant(time)}`}; KAI itself writes as ${finding.expected}.`,
        todo: manager === "fleetmend" ? "Nothing: that was a repair." : "Nothing, if that was meant.",
      };
    }
    case "bundle-wider-than-needed":
      return {
        sentence: `${hookInWords(finding.hook)} also trusts ${certificatesInWords(finding.unused)}, which no pod serves and no Secret holds.`,
        todo:
          finding.fixableBy === "fleetmend"
            ? "Nothing: it does no harm, and fleetmend repair takes out what it put in itself."
            : "Nothing: it does no harm.",
      };
    case "fails-open":
      return {
        sentence: `${hookInWords(finding.hook)} has failurePolicy Ignore, where every release of KAI sets Fail: when a call fails, the object is admitted without KAI, and nobody is told.`,
        todo: "Find out who changed it. A green dry run proves nothing for this hook.",
      };
    case "hook-leftover":
      return explainLeftover(finding);
    case "expires-soon":
      return {
        sentence: `${certificateInWords(finding.certificate)}, on which ${hookInWords(finding.hook)} depends, expires on ${instant(finding.certificate.notAfter)}, and every call fails from then on.`,
        todo: newPair,
      };
  }
}

const leftoverStates = {
  failed: "it failed: what it was to write may not be written",
  complete: "it is complete, and helm has not cleared it away: the operation that it belongs to was cut off",
  running: "it is still running",
  present: "helm deletes it with its hooks when they have succeeded",
} as const;

function explainLeftover({ leftover }: FindingOf<"hook-leftover">): FindingExplanation {
  const { kind, namespace, name, state } = leftover;
  return {
    sentence: `${kind} ${namespace}/${name} of KAI's helm hooks is there: ${leftoverStates[state]}.`,
    todo:
      state === "running"
        ? "Look again when the helm operation has ended."
        : `See how far it got: helm history of the release in namespace ${namespace}. helm rollback clears a pending one and leaves the bundles as they are; an upgrade makes a new pair.`,
  };
}

const whatToGive = {
  "not-allowed": "Give fleetmend the rights of infra/kubernetes/prove.yaml, so that it may see what the pods serve.",
  "no-handshake":
    "Look again; if it stays, look at the pod's log and at what stands between the API server and its node.",
  "not-a-pod": "Ask the API server itself: fleetmend probe, or a create with --dry-run=server.",
  "not-seen": "See the findings about what could not be read.",
  verdict: "Ask the API server itself: fleetmend probe, or a create with --dry-run=server.",
} as const;

const getPodReady = "Get a pod ready behind the Service. No change of a certificate or a bundle helps.";
const mendService =
  "See the Service that the hook names: kubectl get service. No change of a certificate or a bundle helps.";
const mendWay =
  "Look at the way from the control plane to the pods, and not at certificates: network policies, firewall, and on AKS the pods konnectivity-agent in kube-system, from which the calls come.";

/** By the class of the API server's own text: docs/probe-classes.md. */
const whereToLook: Record<FailureClass, string> = {
  trust:
    "Let fleetmend see what every pod serves (infra/kubernetes/prove.yaml), and look again: then it says which side is wrong.",
  config: "The bundle is not PEM with a certificate in it: type fleetmend repair.",
  handshake: "Look at the webhook's TLS server (its log, its key and its settings), and not at the bundle.",
  "connection-refused": getPodReady,
  "no-endpoints": getPodReady,
  "service-not-found": mendService,
  "service-port-not-found": mendService,
  "service-unroutable": mendService,
  timeout: mendWay,
  "connection-closed":
    "Look for a sidecar or a mesh on the webhook's port, and in its log for a crash. TLS is not the trouble.",
  "no-route": mendWay,
  tunnel: mendWay,
  "not-tls": "Something that does not speak TLS listens on the port: see the Service's ports.",
  "bad-response": "TLS is fine: see the webhook's path and version, and its log.",
  dns: "See the host of the hook's clientConfig.url.",
  unknown: "See what the text says; TLS is not known to be the trouble.",
};

export function explainLook(
  finding: FindingOf<"trust-undetermined" | "not-seen" | "probe-disagrees" | "call-failed" | "drift-latent">,
): FindingExplanation {
  switch (finding.kind) {
    case "trust-undetermined": {
      const pods = finding.pods.length === 0 ? "" : ` (${podsInWords(finding.pods)})`;
      return {
        sentence: `Whether the API server accepts what stands behind ${hookInWords(finding.hook)}${pods} is not known: ${finding.reason}.`,
        todo: whatToGive[finding.because ?? "not-seen"],
      };
    }
    case "not-seen":
      return {
        sentence: `${finding.what} was not seen: ${finding.reason}.`,
        todo:
          finding.failure === "forbidden"
            ? "Nothing, if these rights are meant to be so narrow; docs/rights.md says what each of the three levels sees."
            : "Look again.",
      };
    case "probe-disagrees": {
      const predicted = finding.predicted.map((text) => `“${text}”`).join(" or ");
      return {
        sentence: `The API server says of ${hookInWords(finding.hook)} “${finding.probeText}”, and what its pods serve makes one expect ${predicted === "" ? "no refusal" : predicted}.`,
        todo: "Look again. If it stays, the API server reaches other pods than those seen here, or fleetmend is wrong: please report it.",
      };
    }
    case "call-failed":
      return {
        sentence: `The API server could not call ${hookInWords(finding.hook)}: ${finding.goText}.`,
        todo: whereToLook[finding.failureClass],
      };
    case "drift-latent":
      return {
        sentence: `${hookInWords(finding.hook)} still works over connections made before, and refuses at the next one: ${finding.goText}.`,
        todo: "Type fleetmend repair now, before a pod or an API server restarts.",
      };
  }
}
