// Decides which KAI installations a cluster has and who writes their bundles. By the family's objects and by
// annotations; the last writer in managedFields is not asked: after a repair it is we, after a hand patch it is kubectl.
import { familyOf } from "./family.ts";
import type { Installation, Owner } from "./installation.ts";
import { isKaiConfig, kaiEntryOf, operatorName } from "./objects.ts";
import type { KaiEntry } from "./objects.ts";
import type { ClusterSnapshot, DeploymentState, Hook } from "./snapshot.ts";

/**
 * The installations behind the hooks of the snapshot: hooks of one namespace, one generation and one owner belong
 * together. Two generations side by side are two installations (an interrupted upgrade). Hooks that do not fit any
 * release are installations of their own, family `unknown`. In the order of the first hook of each.
 */
export function identifyInstallations(snapshot: ClusterSnapshot): readonly Installation[] {
  const groups = new Map<string, Hook[]>();
  for (const hook of snapshot.hooks) {
    const key = groupOf(hook, snapshot);
    groups.set(key, [...(groups.get(key) ?? []), hook]);
  }
  return [...groups.values()].map((hooks) => installationOf(hooks, snapshot));
}

function groupOf(hook: Hook, snapshot: ClusterSnapshot): string {
  const entry = kaiEntryOf(hook);
  const namespace = hook.service?.namespace ?? "";
  const owner = ownerOf(hook, entry, snapshot);
  if (entry?.fits !== true) return JSON.stringify([namespace, owner, hook.holder.kind, hook.holder.name, hook.index]);
  return JSON.stringify([namespace, owner, entry.generation, helmSet(hook, entry, snapshot)]);
}

/** v0.7.12 and v0.7.13 differ in the pod hooks' entry, and may meet in an interrupted upgrade; queues go with the newer. */
function helmSet(hook: Hook, { generation, role }: KaiEntry, { hooks }: ClusterSnapshot): string {
  if (generation === "operator") return "";
  if (role === "pods") return hook.name;
  const isNewer = hooks.some(
    ({ name, service }) => name === "admission.run.ai" && service?.namespace === hook.service?.namespace,
  );
  return isNewer ? "admission.run.ai" : "binder.run.ai";
}

function installationOf(hooks: readonly Hook[], snapshot: ClusterSnapshot): Installation {
  const [first] = hooks;
  if (first === undefined) throw new Error("an installation without hooks");
  const entry = kaiEntryOf(first);
  const namespace = first.service?.namespace ?? snapshot.namespaces[0] ?? "";
  const generation = entry?.generation ?? "operator";
  const { family, evidence } = familyOf(generation, hooks, {
    deployments: snapshot.deployments.filter((deployment) => deployment.namespace === namespace),
    ...(snapshot.kaiConfig?.seen === true && snapshot.kaiConfig.value && { kaiConfig: snapshot.kaiConfig.value }),
  });
  const owner = ownerOf(first, entry, snapshot);
  const deliveredBy = delivererOf(first, entry, operatorIn(snapshot, namespace));
  return {
    family,
    owner,
    namespace,
    hooks,
    ...(deliveredBy && { deliveredBy }),
    evidence: [...evidence, ownerEvidence[owner]],
  };
}

const ownerEvidence: Readonly<Record<Owner, string>> = {
  "cert-manager": "An annotation of cert-manager's cainjector says where the bundle comes from.",
  platform: "Labels of the platform say that AKS manages the configuration.",
  "kai-operator": "kai-config owns the configuration, or kai-operator runs beside it.",
  "kai-helm-hooks": "A helm release made the configuration, and its hook Jobs write the bundle.",
  unknown: "Neither an owner nor a release nor an annotation says who writes the bundle.",
};

/** Who writes the bundle of this hook. What says it more directly goes first. */
function ownerOf({ holder, service }: Hook, entry: KaiEntry | undefined, snapshot: ClusterSnapshot): Owner {
  // cert-manager, pkg/controller/cainjector: any of the inject annotations makes cainjector write the bundle.
  if (Object.keys(holder.annotations).some((key) => key.startsWith("cert-manager.io/inject-"))) return "cert-manager";
  if (isPlatforms(holder.labels)) return "platform";
  if (entry?.generation === "operator") {
    const isBeside = operatorIn(snapshot, service?.namespace ?? "") !== undefined;
    return holder.ownerReferences.some(isKaiConfig) || isBeside ? "kai-operator" : "unknown";
  }
  return entry?.generation === "helm" && isReleased(holder) ? "kai-helm-hooks" : "unknown";
}

/** The Deployment `kai-operator` of a namespace; undefined also where Deployments could not be seen. */
export function operatorIn({ deployments }: ClusterSnapshot, namespace: string): DeploymentState | undefined {
  return deployments.find((deployment) => deployment.namespace === namespace && deployment.name === operatorName);
}

/** AKS marks what it manages itself; the addon manager of Kubernetes reverts what it manages. */
function isPlatforms(labels: Readonly<Record<string, string>>): boolean {
  return (
    labels["kubernetes.azure.com/managedby"] === "aks" ||
    ["Reconcile", "EnsureExists"].includes(labels["addonmanager.kubernetes.io/mode"] ?? "")
  );
}

interface Marked {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

const helmRelease = "meta.helm.sh/release-name";

/** Helm annotates what it makes; Argo CD renders the chart itself and runs the same hook Jobs at every sync. */
function isReleased(marked: Marked): boolean {
  return Object.hasOwn(marked.annotations, helmRelease) || isArgos(marked);
}

function isArgos({ labels, annotations }: Marked): boolean {
  return (
    Object.hasOwn(annotations, "argocd.argoproj.io/tracking-id") || Object.hasOwn(labels, "argocd.argoproj.io/instance")
  );
}

function delivererOf(
  { holder }: Hook,
  entry: KaiEntry | undefined,
  operator: DeploymentState | undefined,
): Installation["deliveredBy"] {
  // The operator's configurations bear no mark of delivery: the operator itself does.
  const marked = entry?.generation === "operator" ? operator : holder;
  if (marked === undefined) return undefined;
  if (isArgos(marked)) return "argo-cd";
  const isFluxes = Object.keys(marked.labels).some((key) => /^(helm|kustomize)\.toolkit\.fluxcd\.io\//.test(key));
  if (isFluxes) return "flux";
  return Object.hasOwn(marked.annotations, helmRelease) ? "helm" : undefined;
}
