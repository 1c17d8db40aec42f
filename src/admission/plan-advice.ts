// What fleetmend leaves to a person, by finding: its own words, what to type, and what that costs. What is left because of
// the repair's own rules (a restart, an operator that did not follow) is said where it is decided.
import { explainFinding } from "./explain.ts";
import type { Finding, HookReference } from "./finding.ts";
import type { Installation } from "./installation.ts";
import { isSameEntry } from "./plan-case.ts";
import { hooksOf, isNamed } from "./plan-findings.ts";
import { type Place, type Remedy, newPair, notOurs, releaseOf, resourceOf } from "./plan-owner-advice.ts";
import type { Advice } from "./repair-plan.ts";
import type { Backend, ClusterSnapshot } from "./snapshot.ts";

/** The findings that a person must act on, each once. Kinds that fleetmend repairs, or that need nobody, give none. */
export function adviceFor(
  snapshot: ClusterSnapshot,
  installations: readonly Installation[],
  findings: readonly Finding[],
): readonly Advice[] {
  const all = findings.flatMap((finding): Advice[] => {
    if (finding.fixableBy !== "person" && finding.severity !== "undetermined") return [];
    const place = placeOf(snapshot, installations, finding);
    const remedy = remedyFor(finding, place);
    if (remedy === undefined) return [];
    const { sentence, todo } = explainFinding(finding);
    return [
      {
        about: finding.kind,
        object: finding.object,
        sentence: `${sentence} ${remedy.todo ?? todo}`,
        commands: remedy.commands,
      },
    ];
  });
  return all.filter((advice, index) => all.findIndex((other) => other.sentence === advice.sentence) === index);
}

/** What to do about it, where that depends on the owner or the finding's own words do not say it; and what to type. */
function remedyFor(finding: Finding, place: Place): Remedy | undefined {
  switch (finding.kind) {
    case "bundle-stale":
    case "bundle-empty":
    case "bundle-unparsable":
      return notOurs(place, finding.hook);
    case "holders-differ":
      return notOurs(place, finding.bundles[0]?.hook);
    case "owner-unknown":
      return notOurs(place, finding.hook);
    case "certificate-expired":
    case "certificate-wrong-name":
    case "certificate-unusable":
      return newPair(place, "refused");
    case "next-certificate-refused":
    case "secret-key-mismatch":
    case "secret-key-missing":
    case "secret-unusable":
    case "secret-bad-certificate":
    case "secret-absent":
      return newPair(place, "accepted");
    case "certificate-not-yet-valid":
      return { commands: ["kubectl get --raw /livez -v=8 2>&1 | grep -i 'date:'"] };
    case "service-missing":
      return { commands: deleteHolders(finding.hooks) };
    case "no-ready-endpoints":
      return {
        commands: [
          `kubectl get pods -n ${place.namespace}`,
          ...finding.pods.map((pod) => `kubectl describe pod ${pod} -n ${place.namespace}`),
        ],
      };
    case "service-port-missing":
    case "service-unroutable":
      return { commands: [`kubectl get service ${nameOf(finding.service)} -n ${place.namespace} -o yaml`] };
    case "pod-not-serving":
      return { commands: finding.pods.map((pod) => `kubectl logs ${pod} -n ${place.namespace} --tail 50`) };
    case "operator-down":
      return {
        commands: [`kubectl get deployment ${nameOf(finding.deployment)} -n ${place.namespace}`, logsOf(place)],
      };
    case "operator-absent":
      return {
        commands: ["kubectl get configs.kai.scheduler kai-config", "kubectl delete configs.kai.scheduler kai-config"],
      };
    case "operator-blind":
      return { commands: commandsForBlindness(finding.deployment, finding.hook, finding.likely) };
    case "hook-leftover":
      // The Job says how far helm came; the ServiceAccount beside it says nothing more.
      if (finding.leftover.kind === "ServiceAccount") return undefined;
      return { commands: [`helm history ${releaseOf(place)} -n ${finding.leftover.namespace}`] };
    case "trust-undetermined":
      return { commands: [`fleetmend probe`] };
    case "not-seen":
      return { commands: [questionAbout(finding.what, place)] };
    case "no-hooks":
    case "pod-serves-older":
    case "replicas-differ":
    case "foreign-last-writer":
    case "bundle-wider-than-needed":
    case "fails-open":
    case "expires-soon":
    case "probe-disagrees":
    case "call-failed":
    case "drift-latent":
      return undefined;
  }
}

/** Whether we may see what was not seen, as kubectl asks it. `what` is an API path. */
function questionAbout(what: string, { namespace }: Place): string {
  const parts = what.split("/");
  if (parts.includes("portforward")) return `kubectl auth can-i create pods --subresource=portforward -n ${namespace}`;
  const at = parts.indexOf("namespaces");
  const [resource = "", name] = at < 0 ? parts.slice(-1) : parts.slice(at + 2);
  const place = at < 0 ? "" : ` -n ${parts[at + 1] ?? namespace}`;
  return name === undefined
    ? `kubectl auth can-i list ${resource}${place}`
    : `kubectl auth can-i get ${resource}/${name}${place}`;
}

type Likely = Extract<Finding, { kind: "operator-blind" }>["likely"];

/** How to see why kai-operator does not do its work, the likeliest first. `deployment` is `namespace/name`. */
export function commandsForBlindness(deployment: string, hook: HookReference, likely: Likely): readonly string[] {
  const [namespace = "", name = ""] = deployment.split("/");
  const logs = `kubectl logs deployment/${name} -n ${namespace} --tail 50`;
  const definition = "kubectl get crd clusterpolicies.nvidia.com";
  const right = `kubectl auth can-i update ${resourceOf(hook)}s/${hook.holder} --as system:serviceaccount:${namespace}:${name}`;
  switch (likely) {
    case "no-right-to-update":
      return [right, logs];
    case "missing-cluster-policy-crd":
      return [definition, logs];
    case "unknown":
      return [logs, definition, right];
  }
}

function placeOf(snapshot: ClusterSnapshot, installations: readonly Installation[], finding: Finding): Place {
  const hooks = hooksOf(finding);
  const installation =
    installations.find((one) => one.hooks.some((hook) => hooks.some((reference) => isSameEntry(reference, hook)))) ??
    installations.find((one) => snapshot.backends.some((backend) => isNamed(backend, finding) && isOf(one, backend))) ??
    (installations.length === 1 ? installations[0] : undefined);
  const backend =
    snapshot.backends.find((one) => isNamed(one, finding)) ??
    snapshot.backends.find((one) => installation !== undefined && isOf(installation, one));
  const namespace = backend?.namespace ?? installation?.namespace ?? "kai-scheduler";
  return { ...(installation && { installation }), ...(backend && { backend }), namespace };
}

function isOf(installation: Installation, backend: Backend): boolean {
  return installation.hooks.some(
    ({ service }) => service?.namespace === backend.namespace && service.name === backend.service,
  );
}

function logsOf({ namespace }: Place): string {
  return `kubectl logs deployment/kai-operator -n ${namespace} --tail 50`;
}

/** The name in `namespace/name`. */
const nameOf = (qualified: string): string => qualified.split("/")[1] ?? qualified;

function deleteHolders(hooks: readonly HookReference[]): string[] {
  const commands = hooks.map((hook) => `kubectl delete ${resourceOf(hook)} ${hook.holder}`);
  return [...new Set(commands)];
}
