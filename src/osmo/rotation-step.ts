// What a rotation does, as data: names, versions, dates and fingerprints, never a value.
import type { ObjectName } from "./token-credential.ts";

export type RotationStep =
  | { readonly step: "recover-secret"; readonly secret: string }
  | { readonly step: "create-user"; readonly user: string; readonly role: string }
  | { readonly step: "give-role"; readonly user: string; readonly role: string }
  /** A new token in OSMO, and at once a new version in Key Vault; taken back where Key Vault refuses it. */
  | { readonly step: "mint"; readonly expiresOn: string; readonly why: string }
  /** The value of the Kubernetes Secret, which Key Vault lacks, becomes its newest version. */
  | {
      readonly step: "adopt";
      readonly fingerprint: string;
      readonly tokenName: string;
      readonly expiresOn: string;
    }
  /** Precondition: the Secret still has the value `from`. `to` is the newest version, proven in this run. */
  | {
      readonly step: "write-copy";
      readonly from: string | undefined;
      readonly to: string;
      readonly version: string;
    }
  | { readonly step: "restart"; readonly deployment: ObjectName; readonly fingerprint: string }
  /** Precondition: `keeper`, another token of the same power, is exchanged once more just before. */
  | {
      readonly step: "delete-token";
      readonly user: string;
      readonly tokenName: string;
      readonly why: "replaced" | "orphan";
      readonly keeper: string;
    }
  | { readonly step: "disable-version"; readonly version: string; readonly tokenName: string };

export type RotationPlan =
  | { readonly plan: "step"; readonly step: RotationStep }
  /** Look again then: something goes its way. */
  | { readonly plan: "wait"; readonly seconds: number; readonly why: string }
  | { readonly plan: "done"; readonly why: string }
  /** A person is needed. */
  | { readonly plan: "stop"; readonly why: string; readonly todo: string };

/** The step in one sentence, for a plan that is shown. */
export function stepText(step: RotationStep): string {
  switch (step.step) {
    case "recover-secret":
      return `recover the soft-deleted secret ${step.secret}`;
    case "create-user":
      return `create the user ${step.user} with the role ${step.role}`;
    case "give-role":
      return `give the user ${step.user} the role ${step.role}`;
    case "mint":
      return `make a new token until ${step.expiresOn} and store it in Key Vault, because ${step.why}`;
    case "adopt":
      return `store the token ${step.tokenName} of the Kubernetes Secret (${step.fingerprint}) in Key Vault`;
    case "write-copy":
      return `write Key Vault's version ${step.version} (${step.to}) to the Kubernetes Secret`;
    case "restart":
      return `restart ${step.deployment.namespace}/${step.deployment.name} for ${step.fingerprint}`;
    case "delete-token":
      return `delete the ${step.why === "orphan" ? "orphaned" : "replaced"} token ${step.tokenName} of ${step.user}`;
    case "disable-version":
      return `disable Key Vault's version ${step.version}, whose token ${step.tokenName} is gone`;
  }
}
