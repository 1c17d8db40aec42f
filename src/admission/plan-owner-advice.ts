// What only the owner of a pair or a bundle can do, and what it costs. Which finding asks for it is decided in plan-advice.
import type { HookReference } from "./finding.ts";
import type { Installation } from "./installation.ts";
import type { Backend } from "./snapshot.ts";

/** Where a finding is: whose hooks, which backend. Any of it may be unknown. */
export interface Place {
  readonly installation?: Installation;
  readonly backend?: Backend;
  readonly namespace: string;
}

export interface Remedy {
  /** Absent where the finding's own words say what to do. */
  readonly todo?: string;
  readonly commands: readonly string[];
}

/** Owners whose bundles fleetmend never writes. */
export function notOurs({ installation }: Place, hook: HookReference | undefined): Remedy | undefined {
  const holder = hook === undefined ? [] : [`kubectl get ${resourceOf(hook)} ${hook.holder} -o yaml`];
  switch (installation?.owner) {
    case "cert-manager":
      return {
        todo: "cert-manager's cainjector writes this bundle and would take a patch back. See that it runs, and that the annotation names the right Certificate or Secret.",
        commands: ["kubectl get pods -A -l app.kubernetes.io/name=cainjector", ...holder],
      };
    case "platform":
      return {
        todo: "AKS manages this hook and would take a patch back. If it stays broken, open a support request.",
        commands: holder,
      };
    case "unknown":
    case undefined:
      return {
        todo: "Who writes this bundle is not known, so fleetmend does not touch it.",
        commands: holder,
      };
    case "kai-helm-hooks":
    case "kai-operator":
      return undefined;
  }
}

/**
 * A new pair is made by whoever made the old one; each way has its price, which is said. `refused`: the pods' certificate is
 * refused already, so there is nothing left to lose.
 */
export function newPair(place: Place, served: "accepted" | "refused"): Remedy {
  const { installation, backend, namespace } = place;
  const restart = `kubectl rollout restart deployment/${backend?.deployment?.name ?? "<deployment>"} -n ${namespace}`;
  switch (installation?.owner) {
    case "kai-helm-hooks":
      return {
        todo: `A helm upgrade to the version that is installed makes a new pair and new bundles. ${helmPrice[served]}`,
        commands: [
          `helm get values ${releaseOf(place)} -n ${namespace} -o yaml > values.yaml`,
          `helm upgrade ${releaseOf(place)} <chart> --version <installed> -n ${namespace} -f values.yaml`,
          served === "refused" ? restart : "fleetmend repair",
        ],
      };
    case "kai-operator":
      return {
        todo: `Delete the Secret while kai-operator runs: it makes a new pair and writes it into the bundles at once. ${operatorPrice[served]} Where kai-operator does not run nobody makes the Secret again: do not delete it then.`,
        commands: [
          `kubectl get deployment kai-operator -n ${namespace}`,
          `kubectl delete secret ${backend?.secretName ?? "<secret>"} -n ${namespace}`,
          served === "refused" ? restart : "fleetmend repair",
        ],
      };
    case "cert-manager":
      return {
        todo: "cert-manager makes the pair: renew its Certificate.",
        commands: [`kubectl get certificates -n ${namespace}`, `cmctl renew <certificate> -n ${namespace}`],
      };
    case "platform":
    case "unknown":
    case undefined:
      return {
        todo: "Who makes the pair is not known, so a person has to make a new one.",
        commands: [],
      };
  }
}

const helmPrice = {
  refused: "It costs nothing more: calls are refused until the pods serve the new pair, which a restart makes sooner.",
  accepted:
    "It costs: from its post hook on every call is refused, until the kubelet has refreshed the mount (30 to 100 s) or a fleetmend repair right after it has made the API server trust both.",
} as const;

const operatorPrice = {
  refused: "It costs nothing more: calls are refused until the pods serve the new pair, so restart them right after.",
  accepted:
    "It costs: from then on every call is refused, until a fleetmend repair right after it has made the API server trust both.",
} as const;

/** The release's name as helm left it on its objects. Operator-made objects do not carry it. */
export function releaseOf({ installation }: Place): string {
  const holder = installation?.hooks[0]?.holder;
  return holder?.annotations["meta.helm.sh/release-name"] ?? "kai-scheduler";
}

/** As kubectl takes it. */
export function resourceOf(hook: HookReference): string {
  return hook.holderKind.toLowerCase();
}
