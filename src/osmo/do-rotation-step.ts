// Does one step. Each has its precondition in the same request, or is safe to repeat; what went wrong is found out by the
// next look. Values are sent, and shown nowhere.
import type { JsonPatchOperation } from "../admission/cluster-api.ts";
import { failure, success, type Result } from "../result.ts";
import { haltOfCluster, haltOfOsmo, haltOfVault, type Halt } from "./look-failure.ts";
import { deploymentPath, secretPath, tokenAnnotation } from "./look-operator.ts";
import { adopted, originTag, tokenTag, type TokenLook } from "./look-token.ts";
import { mintToken } from "./mint-token.ts";
import type { OsmoAdmin } from "./osmo-api.ts";
import type { RotationParts } from "./rotation-parts.ts";
import type { RotationStep } from "./rotation-step.ts";
import { verdictOf } from "./rotation-parts.ts";
import type { SecretText } from "./secret-text.ts";
import type { TokenCredential } from "./token-credential.ts";

export interface Doing {
  readonly parts: RotationParts;
  readonly credential: TokenCredential;
  readonly look: TokenLook;
  readonly admin: OsmoAdmin;
}

type Step<K extends RotationStep["step"]> = Extract<RotationStep, { step: K }>;
type Done = Result<void, Halt>;

export async function doRotationStep(doing: Doing, step: RotationStep): Promise<Done> {
  const { parts, credential, admin } = doing;
  const { osmo, vault } = parts;
  switch (step.step) {
    case "recover-secret": {
      const recovered = await vault.recover(step.secret);
      return recovered.ok ? success(undefined) : failure(haltOfVault(recovered.error, vault.vault));
    }
    case "create-user": {
      const created = await admin.createUser({ id: step.user, roles: [step.role] });
      return created.ok ? created : failure(haltOfOsmo(created.error, osmo.where));
    }
    case "give-role": {
      const given = await admin.giveRole(step.user, step.role);
      return given.ok ? given : failure(haltOfOsmo(given.error, osmo.where));
    }
    case "mint":
      return mintToken(doing, step.expiresOn);
    case "adopt":
      return adopt(doing, step);
    case "write-copy":
      return writeCopy(doing, step);
    case "restart":
      return restart(doing, step);
    case "delete-token":
      return deleteToken(doing, step);
    case "disable-version": {
      const disabled = await vault.disable(credential.vaultSecret, step.version);
      return disabled.ok ? disabled : failure(haltOfVault(disabled.error, vault.vault));
    }
  }
}

async function adopt({ parts: { vault }, credential, look }: Doing, step: Step<"adopt">): Promise<Done> {
  const set = await vault.set(credential.vaultSecret, valueOf(look, step.fingerprint), {
    expiresAt: new Date(`${step.expiresOn}T00:00:00Z`),
    tags: { [tokenTag]: step.tokenName, "osmo-user": credential.user, "managed-by": "fleetmend", [originTag]: adopted },
  });
  return set.ok ? success(undefined) : failure(haltOfVault(set.error, vault.vault));
}

/** The `test` on the old value is the fence: of two rotators that write at once, one is refused. */
async function writeCopy({ parts: { cluster }, credential, look }: Doing, step: Step<"write-copy">): Promise<Done> {
  if (credential.copy === undefined) throw new Error("only a credential with a copy has this step");
  const path = `/data/${credential.copy.key}`;
  const encoded = (value: SecretText): string => Buffer.from(value.reveal()).toString("base64");
  const to = encoded(valueOf(look, step.to));
  const operations: readonly JsonPatchOperation[] =
    step.from === undefined
      ? [{ op: "add", path: "/data", value: { [credential.copy.key]: to } }]
      : [
          { op: "test", path, value: encoded(valueOf(look, step.from)) },
          { op: "replace", path, value: to },
        ];
  const written = await cluster.patch(secretPath(credential.copy.secret), operations);
  return written.ok ? success(undefined) : failure(afterWrite(haltOfCluster(written.error)));
}

/** Puts the token's fingerprint into the pod template: new pods, the strategy's way, and they say what they run on. */
async function restart({ parts: { cluster } }: Doing, { deployment, fingerprint }: Step<"restart">): Promise<Done> {
  const read = await cluster.get(deploymentPath(deployment));
  if (!read.ok) return failure(haltOfCluster(read.error));
  const { metadata, spec } = read.value as {
    readonly metadata: { readonly resourceVersion: string };
    readonly spec: { readonly template: { readonly metadata?: { readonly annotations?: Record<string, string> } } };
  };
  const templateMetadata = spec.template.metadata ?? {};
  const annotations = { ...templateMetadata.annotations, [tokenAnnotation]: fingerprint };
  const written = await cluster.patch(deploymentPath(deployment), [
    { op: "test", path: "/metadata/resourceVersion", value: metadata.resourceVersion },
    { op: "add", path: "/spec/template/metadata", value: { ...templateMetadata, annotations } },
  ]);
  return written.ok ? success(undefined) : failure(afterWrite(haltOfCluster(written.error)));
}

/** The keeper is proven once more, now. Without that, nothing is deleted. */
async function deleteToken({ parts, credential, look, admin }: Doing, step: Step<"delete-token">): Promise<Done> {
  const exchanged = await parts.osmo.exchange(valueOf(look, step.keeper));
  const verdict = verdictOf(exchanged, credential, parts.osmo.routes);
  if (verdict?.verdict !== "good" || verdict.tokenName === step.tokenName) {
    return failure({ plan: "wait", seconds: 60, why: "the token that would be left could not be proven once more" });
  }
  const deleted = await admin.deleteToken(step.user, step.tokenName);
  return deleted.ok ? success(undefined) : failure(haltOfOsmo(deleted.error, parts.osmo.where));
}

/** A failed test, a conflict or a lost answer: look again soon. */
function afterWrite(halt: Halt): Halt {
  return halt.plan === "wait" ? { ...halt, seconds: Math.min(halt.seconds, 5) } : halt;
}

function valueOf({ values }: TokenLook, fingerprint: string): SecretText {
  const value = values.get(fingerprint);
  if (value === undefined) throw new Error(`the look that planned this has seen no value ${fingerprint}`);
  return value;
}
