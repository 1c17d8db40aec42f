// Who should write the bundles and whether they do: operator down, absent or blind, unknown owner, foreign writers. And
// what a look could not see.
import { summarizePem } from "../trust/bundle.ts";
import { holderPath, isRefused, pathIn, qualified, referenceTo, seenSecret, writtenAt } from "./assess-case.ts";
import type { Assessment, HookCase } from "./assess-case.ts";
import { sameBytes } from "./bundle.ts";
import type { Finding } from "./finding.ts";
import type { Installation } from "./installation.ts";
import { kaiEntryOf, operatorName, rightfulWriters } from "./objects.ts";
import { operatorIn } from "./owner.ts";
import type { ClusterSnapshot, DeploymentState, Leftover, Unseen } from "./snapshot.ts";

/** Findings about one hook's owner and writer. */
export function assessOwner(one: HookCase): readonly Finding[] {
  return [...ownerUnknown(one), ...foreignWriter(one), ...failsOpen(one)];
}

function ownerUnknown(one: HookCase): readonly Finding[] {
  const { hook, owner, installation } = one;
  if (owner !== "unknown") return [];
  // The last fact is the one about the owner; those about a family that is known do not matter here.
  const evidence = installation.family === "unknown" ? installation.evidence : installation.evidence.slice(-1);
  const severity = isRefused(one) ? "warning" : "info";
  const rest = { severity, object: holderPath(hook), fixableBy: "person" } as const;
  return [{ kind: "owner-unknown", hook: referenceTo(hook), evidence, ...rest }];
}

/** Evidence, never a reason to stop: after our own repair it is fleetmend, after a hand patch kubectl. */
function foreignWriter({ hook, owner }: HookCase): readonly Finding[] {
  const entry = kaiEntryOf(hook);
  const isKais = owner === "kai-helm-hooks" || owner === "kai-operator";
  if (!isKais || entry === undefined || hook.bundleWriter === undefined) return [];
  const expected = rightfulWriters[entry.generation];
  if (hook.bundleWriter.manager === expected) return [];
  return [
    {
      kind: "foreign-last-writer",
      hook: referenceTo(hook),
      writer: hook.bundleWriter,
      expected,
      severity: "info",
      object: holderPath(hook),
      fixableBy: "nobody-needed",
    },
  ];
}

function failsOpen({ hook }: HookCase): readonly Finding[] {
  if (hook.failurePolicy === "Fail") return [];
  const rest = { severity: "warning", object: holderPath(hook), fixableBy: "person" } as const;
  return [{ kind: "fails-open", hook: referenceTo(hook), ...rest }];
}

/** Findings about the operators: one look at each namespace in which an operator owns hooks. */
export function assessOperators({ snapshot, installations, hooks }: Assessment): readonly Finding[] {
  const operated = installations.filter(({ owner }) => owner === "kai-operator");
  const namespaces = [...new Set(operated.map(({ namespace }) => namespace))];
  return namespaces.flatMap((namespace) => {
    const operator = operatorIn(snapshot, namespace);
    if (operator === undefined) return absentOperator(namespace, snapshot);
    if (operator.readyReplicas === 0) return [downOperator(operator)];
    const owned = hooks.filter(
      ({ installation }) => operated.includes(installation) && installation.namespace === namespace,
    );
    return blindOperator(operator, owned, snapshot);
  });
}

/** That there is none can only be said where Deployments were seen. */
function absentOperator(namespace: string, { unseen }: ClusterSnapshot): readonly Finding[] {
  const path = `/apis/apps/v1/namespaces/${namespace}/deployments`;
  if (unseen.some(({ what }) => what === path || what === `${path}/${operatorName}`)) return [];
  const object = pathIn(namespace, "deployments", operatorName);
  return [{ kind: "operator-absent", namespace, severity: "warning", object, fixableBy: "person" }];
}

function downOperator(operator: DeploymentState): Finding {
  return {
    kind: "operator-down",
    deployment: qualified(operator),
    replicas: operator.replicas,
    ready: operator.readyReplicas,
    severity: "warning",
    object: pathIn(operator.namespace, "deployments", operator.name),
    fixableBy: "person",
  };
}

/**
 * An operator that works puts a bundle right within 12 to 150 ms of any change, and within a second of becoming Ready (both
 * measured on v0.9.14 and v0.17.0). managedFields and conditions are precise to the second.
 */
const reconcileWindowMs = 10_000;

/** Ready, and a bundle is not byte for byte the Secret's `tls.crt`, on both sides for longer than it takes. One per backend. */
function blindOperator(
  operator: DeploymentState,
  owned: readonly HookCase[],
  { at }: ClusterSnapshot,
): readonly Finding[] {
  const seen = new Set<unknown>();
  return owned.flatMap(({ hook, backend, installation }) => {
    const secret = backend && seenSecret(backend);
    if (secret?.certificates === undefined || sameBytes(secret.certificates, hook.bundle) || seen.has(backend))
      return [];
    const changes = [writtenAt(secret), hook.bundleWriter?.time, operator.availableSince];
    // A side whose time is not known may have changed just now.
    const times = changes.flatMap((time) => time?.getTime() ?? []);
    const unchangedSince = Math.max(...times);
    if (times.length < changes.length || at.getTime() - unchangedSince < reconcileWindowMs) return [];
    seen.add(backend);
    return [
      {
        kind: "operator-blind",
        deployment: qualified(operator),
        hook: referenceTo(hook),
        bundle: summarizePem(hook.bundle),
        secret: summarizePem(secret.certificates),
        unchangedSince: new Date(unchangedSince),
        likely: likelyCause(installation, hook.holder.name),
        severity: "warning",
        object: pathIn(operator.namespace, "deployments", operator.name),
        fixableBy: "person",
      },
    ];
  });
}

/** KAI's ClusterRole allows updates of these names only, from v0.10 on (deployments/kai-scheduler/templates/rbac/operator.yaml). */
const updatableNames = [
  "mutating-kai-admission",
  "validating-kai-admission",
  "kai-queue-validation-v2",
  "kai-podgroup-validation-v2alpha2",
];

function likelyCause({ family }: Installation, holder: string): Extract<Finding, { kind: "operator-blind" }>["likely"] {
  if (family !== "D0" && !updatableNames.includes(holder)) return "no-right-to-update";
  // v0.9, v0.10 and v0.20.1 stop before they reconcile where clusterpolicies.nvidia.com is not there; from v0.12 they need
  // it only where it is. D1 spans both.
  return ["D0", "D0–D1", "D1"].includes(family) ? "missing-cluster-policy-crd" : "unknown";
}

/** Findings about the whole look: no hooks at all, left-overs, and everything that was not seen. */
export function assessLook({ snapshot }: Assessment): readonly Finding[] {
  return [...noHooks(snapshot), ...snapshot.leftovers.map(leftover), ...snapshot.unseen.map(notSeen)];
}

function noHooks({ hooks, namespaces, operator, unseen }: ClusterSnapshot): readonly Finding[] {
  const isBlind = unseen.some(({ what }) => what.startsWith("/apis/admissionregistration.k8s.io/"));
  if (hooks.length > 0 || isBlind) return [];
  const [namespace = ""] = namespaces;
  return [
    {
      kind: "no-hooks",
      namespace,
      ...(operator && { operatorReady: operator.readyReplicas }),
      severity: operator === undefined ? "info" : "warning",
      object: operator === undefined ? namespace : pathIn(operator.namespace, "deployments", operator.name),
      fixableBy: operator === undefined ? "nobody-needed" : "person",
    },
  ];
}

function leftover(one: Leftover): Finding {
  return {
    kind: "hook-leftover",
    leftover: one,
    severity: one.state === "failed" ? "warning" : "info",
    object: pathIn(one.namespace, `${one.kind.toLowerCase()}s`, one.name),
    fixableBy: one.state === "running" ? "time" : "person",
  };
}

function notSeen({ what, why }: Unseen): Finding {
  const evidence = { kind: "not-seen", what, reason: why.message, failure: why.kind } as const;
  return { ...evidence, severity: "undetermined", object: what, fixableBy: "person" };
}
