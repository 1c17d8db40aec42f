// Makes steps: the action with its preconditions, and the sentences and the undo command that a person reads before saying
// yes. When a step is right is decided by the callers; nothing here judges.
import { holdsOnlyCertificates, toBase64 } from "./bundle.ts";
import type { FindingKind } from "./finding.ts";
import { addedCertificatesAnnotation, reconcileRequestAnnotation } from "./mend-patch.ts";
import { type RepairCase, referenceOf } from "./plan-case.ts";
import { describeCertificates } from "./plan-certificates.ts";
import type { Step } from "./repair-plan.ts";
import type { DeploymentState, Holder, Hook, ServingSecret } from "./snapshot.ts";

export interface HookChange {
  readonly hook: Hook;
  readonly bundle: Uint8Array;
  readonly phase: "widen" | "replace" | "narrow";
  /** The bundle that an earlier step of the plan will have written; absent: the one that is there. */
  readonly before?: Uint8Array;
}

const whyBundle = {
  widen:
    "Some pods serve one certificate and others do, or soon will, serve another. The API server must trust each of them first; then it does not matter when the pods move.",
  replace:
    "The bundle does not hold the certificate that the pods serve, so each new connection to the hook is refused.",
  narrow:
    "Every ready pod serves the certificate of the Secret now. What fleetmend added for the time between is no longer needed.",
} as const;

const refusals = ["bundle-stale", "bundle-empty", "bundle-unparsable", "holders-differ"] as const;
/** Cured once the pods serve the Secret's pair, which the bundle must hold before. */
const oldPairs = [
  "pod-serves-older",
  "replicas-differ",
  "certificate-expired",
  "certificate-not-yet-valid",
  "certificate-wrong-name",
  "certificate-unusable",
] as const;

const curedByBundle = {
  widen: [...refusals, ...oldPairs, "next-certificate-refused"],
  replace: [...refusals, ...oldPairs],
  narrow: ["bundle-wider-than-needed"],
} as const satisfies Record<HookChange["phase"], readonly FindingKind[]>;

/** One patch of one holder. All changes must be of the same holder; at least one must be given. */
export function bundleStep(one: RepairCase, changes: readonly HookChange[]): Step {
  const [first] = changes;
  if (first === undefined) throw new Error("a step that changes nothing");
  const { holder } = first.hook;
  // A holder whose entries differ is widened where one of them is.
  const phase = changes.find((change) => change.phase === "widen")?.phase ?? first.phase;
  return {
    action: {
      kind: "set-bundle",
      phase,
      holderPath: holderPathOf(holder),
      entries: changes.map(({ hook, bundle, before }) => ({
        hook: referenceOf(hook),
        expectedClientConfig:
          before === undefined ? hook.clientConfig : { ...hook.clientConfig, caBundle: toBase64(before) },
        bundle,
      })),
    },
    backend: { namespace: one.backend.namespace, service: one.backend.service },
    summary: `${holder.kind} ${holder.name}: trust ${phase === "narrow" ? "only " : ""}${describeCertificates(first.bundle)} for ${changes.map(({ hook }) => hook.name).join(" and ")}.`,
    why: whyBundle[phase],
    undo: undoBundle(changes),
    cures: curedByBundle[phase],
  };
}

/** As for a Secret: certificates are public, and nothing else that stands in a bundle is repeated. */
function undoBundle(changes: readonly HookChange[]): string {
  const holder = changes[0]?.hook.holder;
  if (!changes.every(({ hook, before }) => holdsOnlyCertificates(before ?? hook.bundle))) {
    return `Put back the caBundle that ${holder?.kind ?? ""} ${holder?.name ?? ""} had. It is not shown here, because it holds more than certificates.`;
  }
  const operations = changes.flatMap(({ hook, before }) => {
    const path = `/webhooks/${hook.index}/clientConfig/caBundle`;
    const old = before ?? hook.bundle;
    return [
      { op: "test", path: `/webhooks/${hook.index}/name`, value: hook.name },
      old.length === 0 ? { op: "remove", path } : { op: "replace", path, value: toBase64(old) },
    ];
  });
  return `kubectl patch ${holder?.kind.toLowerCase() ?? ""} ${holder?.name ?? ""} --type=json -p '${JSON.stringify(operations)}'`;
}

export interface SecretChange {
  readonly secret: ServingSecret;
  readonly certificates: Uint8Array;
  readonly phase: "widen" | "narrow";
  /** Fingerprints of the blocks that are ours after this step. */
  readonly added: readonly string[];
  /** The certificates before an expected step; absent: those that are there, and the step can be done now. */
  readonly before?: Uint8Array;
}

/** `tls.crt` of the Secret that the pods mount. certwatcher ignores a change of the chain alone, so no pod reloads. */
export function secretStep(one: RepairCase, change: SecretChange): Step {
  const { secret, certificates, phase, added } = change;
  const name = `${secret.namespace}/${secret.name}`;
  return {
    action: {
      kind: "set-secret-certificates",
      phase,
      secretPath: secretPathOf(secret),
      expectedUid: secret.uid,
      ...(change.before === undefined && { expectedResourceVersion: secret.resourceVersion }),
      certificates,
      ...(added.length > 0 && { added: added.join(",") }),
      annotations: secret.annotations,
    },
    backend: { namespace: one.backend.namespace, service: one.backend.service },
    summary:
      phase === "widen"
        ? `Secret ${name}: put the certificate that pods still serve behind its own in tls.crt; tls.key stays as it is.`
        : `Secret ${name}: take the older certificate out of tls.crt again; tls.key stays as it is.`,
    why:
      phase === "widen"
        ? "kai-operator copies tls.crt into every bundle, and takes a bundle patched by hand back within a second. With both certificates in the Secret it makes the API server trust both."
        : "Every ready pod serves the certificate of the Secret now. kai-operator narrows the bundles when the Secret is.",
    undo: undoSecret(secret, change.before ?? secret.certificates ?? new Uint8Array()),
    cures: curedByBundle[phase],
  };
}

/** A certificate is public; whatever else stands in `tls.crt` is not repeated. */
function undoSecret(secret: ServingSecret, before: Uint8Array): string {
  if (!holdsOnlyCertificates(before)) {
    return `Put back the tls.crt that Secret ${secret.namespace}/${secret.name} had. It is not shown here, because it holds more than certificates.`;
  }
  const operations = [{ op: "replace", path: "/data/tls.crt", value: toBase64(before) }];
  return `kubectl patch secret ${secret.name} -n ${secret.namespace} --type=json -p '${JSON.stringify(operations)}'`;
}

/**
 * Asks kai-operator by effect whether it reconciles. `state` is what the request is about, see plan-operator; `direct` what
 * would be done if it does not: an operator that follows cures the same.
 */
export function reconcileStep(one: RepairCase, secret: ServingSecret, state: string, direct: readonly Step[]): Step {
  const name = `${secret.namespace}/${secret.name}`;
  return {
    action: {
      kind: "force-reconcile",
      secretPath: secretPathOf(secret),
      expectedUid: secret.uid,
      expectedResourceVersion: secret.resourceVersion,
      request: `${one.snapshot.at.toISOString()} ${state}`,
      annotations: secret.annotations,
    },
    backend: { namespace: one.backend.namespace, service: one.backend.service },
    summary: `Secret ${name}: annotate it, so that kai-operator reconciles.`,
    why: "The bundle is not what kai-operator writes. A working operator puts it right as soon as one of its objects changes; if it does not, it is blind, and only then the bundle is patched directly.",
    undo: `kubectl annotate secret ${secret.name} -n ${secret.namespace} ${reconcileRequestAnnotation}-`,
    cures: [...new Set([...direct.flatMap(({ cures }) => cures), "operator-blind" as const])],
  };
}

export function restartStep(one: RepairCase, deployment: DeploymentState, why: string): Step {
  const name = `${deployment.namespace}/${deployment.name}`;
  return {
    action: {
      kind: "restart-deployment",
      deploymentPath: `/apis/apps/v1/namespaces/${deployment.namespace}/deployments/${deployment.name}`,
      expectedUid: deployment.uid,
      expectedGeneration: deployment.generation,
      strategy: deployment.strategy,
      restartedAt: one.snapshot.at.toISOString(),
    },
    backend: { namespace: one.backend.namespace, service: one.backend.service },
    summary: `Deployment ${name}: restart its pods (strategy ${deployment.strategy}).`,
    why,
    undo: "A restart cannot be undone. The new pods run the same image with the same settings.",
    cures: oldPairs,
  };
}

const holderResource = {
  MutatingWebhookConfiguration: "mutatingwebhookconfigurations",
  ValidatingWebhookConfiguration: "validatingwebhookconfigurations",
} as const;

export function holderPathOf(holder: Holder): string {
  return `/apis/admissionregistration.k8s.io/v1/${holderResource[holder.kind]}/${holder.name}`;
}

function secretPathOf(secret: ServingSecret): string {
  return `/api/v1/namespaces/${secret.namespace}/secrets/${secret.name}`;
}

/** The fingerprints of our blocks, as the Secret's annotation lists them. */
export function addedFingerprints(secret: ServingSecret): readonly string[] {
  return (secret.annotations[addedCertificatesAnnotation] ?? "").split(",").filter((entry) => entry !== "");
}
