// The words for what is wrong behind a hook: the Secret, the pods that serve something else, and the way to them.
import { explainRejection } from "../trust/explain.ts";
import {
  certificateInWords,
  certificatesInWords,
  groupInWords,
  hookInWords,
  hooksInWords,
  instant,
  newPair,
  podsInWords,
} from "./finding-words.ts";
import type { FindingExplanation, FindingOf } from "./finding-words.ts";

const keepOldPair =
  "Pods that run keep the pair that they loaded before, and admission goes on; one that restarts stops at its start. Do not copy this Secret into a bundle: believe what the pods serve.";

type SecretFinding = FindingOf<
  | "secret-key-mismatch"
  | "secret-key-missing"
  | "secret-unusable"
  | "secret-bad-certificate"
  | "secret-absent"
  | "pod-serves-older"
>;

export function explainSecret(finding: SecretFinding): FindingExplanation {
  const { secret } = finding;
  switch (finding.kind) {
    case "secret-key-mismatch":
      return {
        sentence: `In Secret ${secret} the key does not belong to ${certificateInWords(finding.certificate)}. ${keepOldPair}`,
        todo: newPair,
      };
    case "secret-key-missing":
      return {
        sentence: `Secret ${secret} holds ${certificateInWords(finding.certificate)} and no key for it. ${keepOldPair}`,
        todo: newPair,
      };
    case "secret-unusable":
      return {
        sentence: `No pod could load the pair in Secret ${secret}: ${finding.detail}. ${keepOldPair}`,
        todo: newPair,
      };
    case "secret-bad-certificate": {
      const sides = { leaf: finding.certificate, bundle: [] };
      const context = { serves: `Secret ${secret} holds`, bundle: "any bundle", serverName: finding.serverName };
      const { sentence } = explainRejection(finding.cause, sides, context);
      return { sentence: `${sentence} Pods that load it will be refused, whatever the bundle holds.`, todo: newPair };
    }
    case "secret-absent":
      return {
        sentence: `Secret ${secret}, which the pods mount, is not there. Pods that run keep their pair; one that restarts waits for it (ContainerCreating), and admission stops.`,
        todo:
          finding.fixableBy === "time"
            ? "Look again: kai-operator makes a new one within a second. If it stays away, the operator does not work."
            : newPair,
      };
    case "pod-serves-older":
      return explainOtherLeaf(finding);
  }
}

function explainOtherLeaf(finding: FindingOf<"pod-serves-older">): FindingExplanation {
  const { secret, certificate, served, secretWrittenAt, state, fixableBy } = finding;
  const since = secretWrittenAt === undefined ? "" : `, written on ${instant(secretWrittenAt)}`;
  const both = `${groupInWords(served)}, and Secret ${secret} holds ${certificateInWords(certificate)}${since}.`;
  if (state === "refreshing") {
    return {
      sentence: `${both} The kubelet refreshes a mounted Secret within 30 to 100 seconds, so that this passes.`,
      todo: "Wait two minutes and look again.",
    };
  }
  return {
    sentence: `${both} The kubelet has had its two minutes: they will not load it by themselves.`,
    todo:
      fixableBy === "fleetmend"
        ? "Type fleetmend repair: it restarts them where that stops nothing that still works."
        : "Restart the Deployment when an outage of a minute may be (its strategy is Recreate): kubectl rollout restart. Until then a bundle with both certificates accepts them before and after; fleetmend repair writes it.",
  };
}

type BackendFinding = FindingOf<
  | "replicas-differ"
  | "holders-differ"
  | "service-missing"
  | "service-port-missing"
  | "service-unroutable"
  | "no-ready-endpoints"
  | "pod-not-serving"
>;

const notTls = "No change of a certificate or a bundle helps.";

export function explainBackend(finding: BackendFinding): FindingExplanation {
  const { service } = finding;
  switch (finding.kind) {
    case "replicas-differ":
      return {
        sentence: `The pods behind ${service} serve different certificates: ${finding.groups.map(groupInWords).join("; ")}. Which one a call meets is chance.`,
        todo: "A bundle that holds all of them accepts each. Pods that go on serving an older one than their Secret holds have a finding of their own.",
      };
    case "holders-differ": {
      const each = finding.bundles.map(
        ({ hook, certificates }) => `${hookInWords(hook)} has ${certificatesInWords(certificates)}`,
      );
      return {
        sentence: `The hooks of ${service} hold different bundles: ${each.join("; ")}. One call passes through several of them, so that one wrong bundle is enough.`,
        todo:
          finding.fixableBy === "fleetmend"
            ? "Type fleetmend repair: it patches every entry of every configuration."
            : "Bring every entry of every configuration in line, not only the first.",
      };
    }
    case "service-missing":
      return {
        sentence: `${hooksInWords(finding.hooks)} lead to Service ${service}, which is not there: every call fails.`,
        todo: `Put the Service back. If KAI was uninstalled, its configurations are orphans: delete them. ${notTls}`,
      };
    case "service-port-missing":
      return {
        sentence: `${hooksInWords(finding.hooks)} call port ${finding.port} of Service ${service}, which has no such port: every call fails.`,
        todo: `See which release the hooks are of, and which one the Service: an upgrade that stopped half way leaves such hooks behind. ${notTls}`,
      };
    case "service-unroutable":
      return explainUnroutable(finding);
    case "no-ready-endpoints":
      return {
        sentence: `Service ${service} has no ready endpoint (${finding.pods.length === 0 ? "and no pod" : podsInWords(finding.pods)}): every call of ${hooksInWords(finding.hooks)} fails.`,
        todo: `Get a pod ready: kubectl describe says what keeps it from it. ${notTls}`,
      };
    case "pod-not-serving": {
      const what = finding.because === "refused" ? "nothing listens on" : "something else than TLS answers on";
      return {
        sentence: `In ${podsInWords(finding.pods)} (${finding.pods.length} of ${finding.readyPods} ready behind ${service}) ${what} port ${finding.port}: ${finding.detail}. Calls that meet it fail.`,
        todo:
          finding.fixableBy === "time"
            ? "Look again in a minute: the pod has just started, and KAI's servers without a readiness probe are Ready before they listen."
            : `Look at the pod's log and ports. ${notTls}`,
      };
    }
  }
}

function explainUnroutable({ service, serviceType, hooks }: FindingOf<"service-unroutable">): FindingExplanation {
  const todo = `Make it a Service with a cluster IP. ${notTls}`;
  if (serviceType === "ExternalName") {
    return {
      sentence: `${hooksInWords(hooks)} lead to Service ${service} of type ExternalName, to which an API server has no route: every call fails.`,
      todo,
    };
  }
  return {
    sentence: `${hooksInWords(hooks)} lead to Service ${service}, which is headless: an API server reaches it only with endpoint routing, which is not the default, and cannot be asked about.`,
    todo,
  };
}
