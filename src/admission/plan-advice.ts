// What fleetmend leaves to a person, by finding: the reason, the command, and what it costs. What is left because of the
// repair's own rules (a restart, a blind operator) is said where it is decided.
import type { Finding, HookReference } from "./finding.ts";
import type { Installation } from "./installation.ts";
import { isSameEntry } from "./plan-case.ts";
import { hooksOf, isNamed } from "./plan-findings.ts";
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
    const text = adviceText(finding, place);
    return text === undefined ? [] : [{ about: finding.kind, object: finding.object, ...text }];
  });
  return all.filter((advice, index) => all.findIndex((other) => other.sentence === advice.sentence) === index);
}

/** Where the finding is: whose hooks, which backend. Any of it may be unknown. */
interface Place {
  readonly installation?: Installation;
  readonly backend?: Backend;
  readonly namespace: string;
}

type AdviceText = Pick<Advice, "sentence" | "commands">;

function adviceText(finding: Finding, place: Place): AdviceText | undefined {
  switch (finding.kind) {
    case "bundle-stale":
    case "bundle-empty":
    case "bundle-unparsable":
    case "holders-differ":
      return notOurs(place, "hook" in finding ? finding.hook : undefined);
    case "owner-unknown":
      return notOurs(place, finding.hook);
    case "certificate-expired":
    case "certificate-wrong-name":
    case "certificate-unusable":
      return newPair(
        place,
        `The certificate that ${finding.served.pods.join(", ")} serve cannot be trusted with any bundle.`,
      );
    case "certificate-not-yet-valid":
      return {
        sentence: `The certificate that ${finding.served.pods.join(", ")} serve is not valid yet. No bundle can change that: wait, and compare the clocks of the nodes and of the control plane.`,
        commands: ["kubectl get --raw /livez -v=8 2>&1 | grep -i 'date:'"],
      };
    case "next-certificate-refused":
      return newPair(
        place,
        `${finding.served.pods.join(", ")} still serve a certificate that is accepted; the one in their Secret will be refused as soon as they load it.`,
      );
    case "secret-key-mismatch":
    case "secret-key-missing":
    case "secret-unusable":
      return newPair(
        place,
        `The pair in Secret ${finding.secret} cannot be used: ${finding.detail}. The pods go on with the pair they have loaded; one that restarts will not serve.`,
      );
    case "secret-bad-certificate":
      return newPair(place, `The certificate in Secret ${finding.secret} would be refused as soon as a pod loads it.`);
    case "secret-absent":
      return newPair(
        place,
        `Secret ${finding.secret} does not exist. The pods go on with the pair they have loaded; one that restarts will not start.`,
      );
    case "service-missing":
      return {
        sentence: `The Service ${finding.service} does not exist, so no certificate can help: every call of these hooks fails. If KAI was uninstalled, they are orphans: delete them. If it was not, bring the Service back with a helm upgrade.`,
        commands: deleteHolders(finding.hooks),
      };
    case "no-ready-endpoints":
      return {
        sentence: `No pod behind the Service ${finding.service} is ready, so no certificate can help. Find out why they do not start.`,
        commands: [
          `kubectl get pods -n ${place.namespace}`,
          ...finding.pods.map((pod) => `kubectl describe pod ${pod} -n ${place.namespace}`),
        ],
      };
    case "service-port-missing":
      return {
        sentence: `The Service ${finding.service} has no port ${finding.port}, so no certificate can help: every call of these hooks fails. Bring the Service back as the chart has it.`,
        commands: serviceCommands(place),
      };
    case "service-unroutable":
      return {
        sentence: `The API server cannot call a Service of type ${finding.serviceType} (${finding.service}), so no certificate can help. Bring the Service back as the chart has it.`,
        commands: serviceCommands(place),
      };
    case "pod-not-serving":
      return {
        sentence: `${finding.pods.join(", ")} count as ready but do not serve TLS on port ${finding.port} (${finding.detail}). No certificate can help: look at what they say.`,
        commands: finding.pods.map((pod) => `kubectl logs ${pod} -n ${place.namespace} --tail 50`),
      };
    case "operator-down":
      return {
        sentence: `${finding.deployment} has ${finding.ready} of ${finding.replicas} pods ready. Nobody keeps the bundles and the Secrets of KAI in step until it is back; do not delete one of these Secrets now, nobody would make it again.`,
        commands: operatorCommands(place),
      };
    case "operator-absent":
      return {
        sentence: `There is no kai-operator in ${finding.namespace}, so nobody keeps the bundles and the Secrets of KAI in step. If KAI was uninstalled, deleting what it left is the repair.`,
        commands: ["kubectl get configs.kai.scheduler kai-config", "kubectl delete configs.kai.scheduler kai-config"],
      };
    case "operator-blind":
      return {
        sentence: `${finding.deployment} is ready, but the bundle is not what it would write. Some releases do nothing without the CRD clusterpolicies.nvidia.com (v0.9, v0.10, v0.20.1).`,
        commands: ["kubectl get crd clusterpolicies.nvidia.com", ...operatorCommands(place)],
      };
    case "hook-leftover":
      return {
        sentence: `${finding.leftover.kind} ${finding.leftover.namespace}/${finding.leftover.name} is left over (${finding.leftover.state}): a helm install or upgrade did not finish. A helm rollback clears it and does not disturb the bundles.`,
        commands: [`helm history ${releaseOf(place)} -n ${finding.leftover.namespace}`],
      };
    case "trust-undetermined":
      return {
        sentence: `Whether the API server trusts ${finding.pods.join(", ")} could not be decided (${finding.reason}), so nothing is written for it.`,
        commands: [],
      };
    case "not-seen":
      return {
        sentence: `${finding.what} could not be looked at (${finding.reason}). Without a handshake fleetmend writes nothing: what a Secret says is not what a pod serves.`,
        commands: [`kubectl auth can-i create pods --subresource=portforward -n ${place.namespace}`],
      };
    case "no-hooks":
    case "pod-serves-older":
    case "replicas-differ":
    case "foreign-last-writer":
    case "bundle-wider-than-needed":
    case "fails-open":
    case "expires-soon":
    case "probe-disagrees":
    case "drift-latent":
      return undefined;
  }
}

/** Owners whose bundles fleetmend never writes. */
function notOurs({ installation }: Place, hook: HookReference | undefined): AdviceText | undefined {
  const holder = hook === undefined ? [] : [`kubectl get ${resourceOf(hook)} ${hook.holder} -o yaml`];
  switch (installation?.owner) {
    case "cert-manager":
      return {
        sentence:
          "cert-manager's cainjector writes this bundle and would take a patch back. See that it runs, and that the annotation names the right Certificate or Secret.",
        commands: ["kubectl get pods -A -l app.kubernetes.io/name=cainjector", ...holder],
      };
    case "platform":
      return {
        sentence: "AKS manages this hook and would take a patch back. If it stays broken, open a support request.",
        commands: holder,
      };
    case "unknown":
    case undefined:
      return {
        sentence: "Who writes this bundle is not known, so fleetmend does not touch it.",
        commands: holder,
      };
    case "kai-helm-hooks":
    case "kai-operator":
      return undefined;
  }
}

/** A new pair is made by whoever made the old one; each way has its price, which is said. */
function newPair(place: Place, reason: string): AdviceText {
  const { installation, backend, namespace } = place;
  const secret = backend?.secretName ?? "<secret>";
  const deployment = backend?.deployment?.name ?? "<deployment>";
  switch (installation?.owner) {
    case "kai-helm-hooks":
      return {
        sentence: `${reason} A helm upgrade to the version that is installed makes a new pair and new bundles. It costs: from its post hook until the kubelet has refreshed the mount (30 to 100 s) every pod create is refused, so pick the moment.`,
        commands: [
          `helm get values ${releaseOf(place)} -n ${namespace} -o yaml > values.yaml`,
          `helm upgrade ${releaseOf(place)} <chart> --version <installed> -n ${namespace} -f values.yaml`,
        ],
      };
    case "kai-operator":
      return {
        sentence: `${reason} Delete the Secret while kai-operator runs: it makes a new pair and writes it into the bundles at once. It costs: until new pods serve it, every call is refused, so restart them right after. Where kai-operator does not run, nobody makes the Secret again: then do not delete it.`,
        commands: [
          `kubectl get deployment kai-operator -n ${namespace}`,
          `kubectl delete secret ${secret} -n ${namespace}`,
          `kubectl rollout restart deployment/${deployment} -n ${namespace}`,
        ],
      };
    case "cert-manager":
      return {
        sentence: `${reason} cert-manager makes the pair: renew its Certificate.`,
        commands: [`kubectl get certificates -n ${namespace}`, `cmctl renew <certificate> -n ${namespace}`],
      };
    case "platform":
    case "unknown":
    case undefined:
      return {
        sentence: `${reason} Who makes the pair is not known, so a person has to make a new one.`,
        commands: [],
      };
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

/** The release's name as helm left it on its objects. Operator-made objects do not carry it. */
function releaseOf({ installation }: Place): string {
  const holder = installation?.hooks[0]?.holder;
  return holder?.annotations["meta.helm.sh/release-name"] ?? "kai-scheduler";
}

function serviceCommands({ namespace, backend }: Place): string[] {
  return [`kubectl get service ${backend?.service ?? ""} -n ${namespace} -o yaml`.replace("  ", " ")];
}

function operatorCommands({ namespace }: Place): string[] {
  return [
    `kubectl get deployment kai-operator -n ${namespace}`,
    `kubectl logs deployment/kai-operator -n ${namespace} --tail 50`,
  ];
}

function deleteHolders(hooks: readonly HookReference[]): string[] {
  const commands = hooks.map((hook) => `kubectl delete ${resourceOf(hook)} ${hook.holder}`);
  return [...new Set(commands)];
}

const resourceOf = (hook: HookReference): string => hook.holderKind.toLowerCase();
