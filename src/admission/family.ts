// Tells KAI's families apart by their objects (docs/kai-families.md). Version numbers are not compared: v0.20.1 is older
// than v0.12, and a mirror may tag images as it likes. The operator's tag decides only where objects are the same.
import type { Family } from "./installation.ts";
import { kaiEntryOf, operatorName } from "./objects.ts";
import type { EntryRole, Generation } from "./objects.ts";
import type { DeploymentState, Hook, KaiConfig } from "./snapshot.ts";

export interface FamilyAnswer {
  readonly family: Family;
  /** The facts that decided, one short sentence each. */
  readonly evidence: readonly string[];
}

/** What stands around the hooks, in their namespace. */
export interface Surroundings {
  readonly deployments: readonly DeploymentState[];
  readonly kaiConfig?: KaiConfig;
}

/**
 * The family of hooks that belong together: all of one generation, of one namespace. What does not fit one family of the
 * table is `unknown`, with the reason; never the nearest one.
 */
export function familyOf(generation: Generation, hooks: readonly Hook[], around: Surroundings): FamilyAnswer {
  const misfit = hooks.find((hook) => kaiEntryOf(hook)?.fits !== true);
  if (misfit !== undefined) {
    return unknown(
      `The entry ${misfit.name} of ${misfit.holder.name} has not the Service and path of any KAI release.`,
    );
  }
  return generation === "helm" ? helmFamily(hooks, around) : operatorFamily(hooks, around);
}

const unknown = (...evidence: string[]): FamilyAnswer => ({ family: "unknown", evidence });

const ofRole = (hooks: readonly Hook[], role: EntryRole) => hooks.filter((hook) => kaiEntryOf(hook)?.role === role);

function named(deployments: readonly DeploymentState[], name: string): DeploymentState | undefined {
  return deployments.find((deployment) => deployment.name === name);
}

function helmFamily(hooks: readonly Hook[], { deployments }: Surroundings): FamilyAnswer {
  const pods = ofRole(hooks, "pods");
  const names = new Set(pods.map(({ name }) => name));
  if (names.size !== 1) return unknown("The queue's hook alone is the same in two families.");
  const [service = ""] = pods.map((hook) => hook.service?.name ?? "");
  const server = named(deployments, service);
  if (server !== undefined && server.servingSecretName === undefined) {
    return unknown(`Deployment ${service} mounts no certificate: its hooks are left over from another release.`);
  }
  if (names.has("admission.run.ai"))
    return { family: "C", evidence: ["The entry of the pod hooks is admission.run.ai."] };
  const queueServer = named(deployments, "queuecontroller");
  if (ofRole(hooks, "queues").length > 0 || queueServer?.servingSecretName !== undefined) {
    return {
      family: "B",
      evidence: ["The entry of the pod hooks is binder.run.ai.", "queuecontroller serves a hook."],
    };
  }
  const isOldest = pods.every(({ holder }) => ["mutating-binder", "validating-binder"].includes(holder.name));
  const evidence = ["The entry of the pod hooks is binder.run.ai.", "There is no hook for queues."];
  if (isOldest)
    return { family: "A0", evidence: [...evidence, "The configurations are called mutating-binder and so on."] };
  return { family: "A", evidence };
}

function operatorFamily(hooks: readonly Hook[], around: Surroundings): FamilyAnswer {
  const pods = ofRole(hooks, "pods");
  if (pods.length === 0) return unknown("There is no hook for pods, and the others are the same in several families.");
  const conditional = pods.filter(({ matchConditions }) => matchConditions.length > 0);
  const hasTopology = ofRole(hooks, "topologies").length > 0;
  if (conditional.length === 0) {
    if (hasTopology) return unknown("There is a topology hook, and the pod hooks have no matchConditions.");
    return unconditionalFamily(ofRole(hooks, "podgroups"), around);
  }
  if (conditional.length !== pods.length) return unknown("Only one of the pod hooks has matchConditions.");
  const evidence = ["The pod hooks have matchConditions."];
  if (hasTopology) return { family: "D4", evidence: [...evidence, "There is a topology hook."] };
  return taggedFamily(around, evidence);
}

/** v0.13 and v0.14 to v0.16 make the same objects: only the image can tell. */
function taggedFamily({ deployments }: Surroundings, evidence: readonly string[]): FamilyAnswer {
  const tag = operatorTag(deployments);
  const says = familyOfTag(tag);
  if (says === "D2" || says === "D3")
    return { family: says, evidence: [...evidence, `kai-operator's image is ${tag}.`] };
  if (says === undefined)
    return { family: "D2–D3", evidence: [...evidence, "kai-operator's image does not tell more."] };
  return unknown(
    ...evidence,
    "There is no topology hook.",
    `kai-operator's image is ${tag}, which makes other objects.`,
  );
}

/** D0 or D1. The podgroup hook can be switched off, so its absence alone says nothing. */
function unconditionalFamily(podgroupHooks: readonly Hook[], around: Surroundings): FamilyAnswer {
  const evidence = ["The pod hooks have no matchConditions."];
  if (podgroupHooks.length > 0) return { family: "D1", evidence: [...evidence, "There is a podgroup hook."] };
  const controller = named(around.deployments, "podgroup-controller");
  if (controller?.servingSecretName !== undefined) {
    return { family: "D1", evidence: [...evidence, "podgroup-controller mounts a certificate."] };
  }
  if (controller !== undefined) {
    return { family: "D0", evidence: [...evidence, "podgroup-controller mounts no certificate."] };
  }
  const { kaiConfig } = around;
  const { mutatingConfigurationName, validatingConfigurationName } = kaiConfig ?? {};
  if (kaiConfig?.speaksOfPodgroupWebhook === true || (mutatingConfigurationName ?? validatingConfigurationName)) {
    return { family: "D1", evidence: [...evidence, "kai-config has settings that v0.9 does not know."] };
  }
  const tag = operatorTag(around.deployments);
  const says = familyOfTag(tag);
  if (says === "D0" || says === "D1")
    return { family: says, evidence: [...evidence, `kai-operator's image is ${tag}.`] };
  return { family: "D0–D1", evidence: [...evidence, "There is neither a podgroup hook nor its server."] };
}

function operatorTag(deployments: readonly DeploymentState[]): string {
  const [image = ""] = named(deployments, operatorName)?.images ?? [];
  return /:(v?\d[^:/@]*)(@|$)/.exec(image)?.[1] ?? "";
}

/** The families of the release series, checked tag by tag. v0.20.0 and v0.20.1 were made from v0.10.2 and retracted (go.mod). */
function familyOfTag(tag: string): "D0" | "D1" | "D2" | "D3" | "D4" | undefined {
  const minor = Number(/^v?0\.(\d+)\./.exec(tag)?.[1] ?? NaN);
  if (minor === 9) return "D0";
  if ([10, 12, 20].includes(minor)) return "D1";
  if (minor === 13) return "D2";
  if ([14, 15, 16].includes(minor)) return "D3";
  return minor === 17 ? "D4" : undefined;
}
