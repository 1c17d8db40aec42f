// VaultApi over Key Vault: what a rotation asks of one vault. Values go to the caller and into no text; nothing is deleted, and
// nothing purged.
import type { SecretClient } from "@azure/keyvault-secrets";
import { secretText } from "../osmo/secret-text.ts";
import type { SecretVersion, VaultApi, VaultFailure, VaultSecret } from "../osmo/vault-api.ts";
import { failure, success, type Result } from "../result.ts";
import type { EntraCredential } from "./entra-credential.ts";
import { refusalOf } from "./storage-account.ts";

const deadlineMs = 20_000;

/**
 * The vault `name` of Azure's public cloud, such as a SecretProviderClass's keyvaultName. Nothing is asked yet. Reads are
 * tried again by the SDK; a write is sent once, so that its outcome is known or unknown and never doubled.
 */
export async function openKeyVault(credential: EntraCredential, name: string): Promise<VaultApi> {
  const { SecretClient } = await import("@azure/keyvault-secrets");
  const vault = `${name}.vault.azure.net`;
  const clientWith = (maxRetries: number): SecretClient =>
    new SecretClient(`https://${vault}`, credential.sdk, { retryOptions: { maxRetries, maxRetryDelayInMs: 2000 } });
  const [reading, writing] = [clientWith(2), clientWith(0)];
  const asking = async <T>(
    what: string,
    ask: (abortSignal: AbortSignal) => Promise<T>,
  ): Promise<Result<T, VaultFailure>> => {
    const abortSignal = AbortSignal.timeout(deadlineMs);
    try {
      return success(await ask(abortSignal));
    } catch (error) {
      return failure(failureOf({ credential, vault, what, isLate: abortSignal.aborted }, error));
    }
  };
  return {
    vault,
    look: (secret) => asking(`about ${secret}`, (abortSignal) => look(reading, secret, abortSignal)),
    value: (secret, version) =>
      asking(`for ${secret} ${version}`, async (abortSignal) => {
        const { value = "" } = await reading.getSecret(secret, { version, abortSignal });
        return secretText(value);
      }),
    set: (secret, value, { expiresAt, tags }) =>
      asking(`to set ${secret}`, async (abortSignal) => {
        const options = { expiresOn: expiresAt, tags: { ...tags }, enabled: true, abortSignal };
        return versionOf((await writing.setSecret(secret, value.reveal(), options)).properties);
      }),
    disable: (secret, version) =>
      asking(`to disable ${secret} ${version}`, async (abortSignal) => {
        await writing.updateSecretProperties(secret, version, { enabled: false, abortSignal });
      }),
    recover: (secret) =>
      asking(`to recover ${secret}`, async (abortSignal) => {
        // Sends the request, and looks once; it takes some seconds in life, which the caller waits.
        await writing.beginRecoverDeletedSecret(secret, { abortSignal });
      }),
  };
}

async function look(client: SecretClient, name: string, abortSignal: AbortSignal): Promise<VaultSecret> {
  const versions: SecretVersion[] = [];
  try {
    for await (const properties of client.listPropertiesOfSecretVersions(name, { abortSignal })) {
      versions.push(versionOf(properties));
    }
  } catch (error) {
    throw refusalOf(error).status === 403 ? await withReason(error, client.getSecret(name, { abortSignal })) : error;
  }
  if (versions.length > 0) {
    return { secret: "present", versions: await newestFirst(client, name, versions) };
  }
  try {
    await client.getDeletedSecret(name, { abortSignal });
    return { secret: "soft-deleted" };
  } catch (error) {
    if (refusalOf(error).status !== 404) throw error;
    return { secret: "absent" };
  }
}

/**
 * The vault's clock counts seconds, and nothing says in which order it lists those of one second: which of them is the current
 * one, a read without a version tells. The value that comes with it is dropped.
 */
async function newestFirst(
  client: SecretClient,
  name: string,
  versions: readonly SecretVersion[],
): Promise<readonly SecretVersion[]> {
  const sorted = versions.toSorted((one, other) => other.createdAt.getTime() - one.createdAt.getTime());
  const [first, second] = sorted;
  if (first?.createdAt.getTime() !== second?.createdAt.getTime()) return sorted;
  const { version } = (await client.getSecret(name, { abortSignal: AbortSignal.timeout(deadlineMs) })).properties;
  const current = sorted.find((one) => one.version === version);
  return current === undefined ? sorted : [current, ...sorted.filter((one) => one !== current)];
}

/** The SDK's paging (4.12.0) drops `innererror`, which has the reason of a 403. A read is refused with it, if it is refused. */
async function withReason(refusal: unknown, read: Promise<unknown>): Promise<unknown> {
  try {
    await read;
    return refusal;
  } catch (error) {
    return (innerCodeOf(error) ?? "") in reasons ? error : refusal;
  }
}

interface Properties {
  readonly version?: string;
  readonly enabled?: boolean;
  readonly createdOn?: Date;
  readonly expiresOn?: Date;
  readonly tags?: Readonly<Record<string, string>>;
}

function versionOf({ version = "", enabled = true, createdOn, expiresOn, tags = {} }: Properties): SecretVersion {
  return {
    version,
    enabled,
    createdAt: createdOn ?? new Date(0),
    tags,
    ...(expiresOn !== undefined && { expiresAt: expiresOn }),
  };
}

interface Asked {
  readonly credential: EntraCredential;
  readonly vault: string;
  readonly what: string;
  readonly isLate: boolean;
}

/** By status and code alone: the SDK's own texts may quote a request. */
function failureOf({ credential, vault, what, isLate }: Asked, error: unknown): VaultFailure {
  const noToken = credential.failureOf(error);
  if (noToken !== undefined) return { kind: "unreachable", message: `${noToken.message} ${noToken.todo}` };
  const { status, code } = refusalOf(error);
  const inner = innerCodeOf(error);
  const kind = kindOf(status, inner, isLate);
  const said =
    status === undefined
      ? isLate
        ? `gave no answer within ${deadlineMs / 1000} s`
        : "could not be reached"
      : `answered ${status}${code === undefined ? "" : ` ${code}`}`;
  return { kind, message: `${vault}, asked ${what}, ${said}.${reasons[inner ?? ""] ?? hints[kind] ?? ""}` };
}

const noRole = " The identity needs Key Vault Secrets Officer on it.";
const noRoute = " The app has no way in: the vault needs a private endpoint or a firewall rule.";

/** `innererror.code` of a 403 (Microsoft Learn, "Azure Key Vault REST API error codes"). */
const reasons: Readonly<Record<string, string>> = {
  ForbiddenByRbac: noRole,
  AccessDenied: noRole,
  ForbiddenByConnection: noRoute,
  ForbiddenByFirewall: noRoute,
};

const hints: Partial<Record<VaultFailure["kind"], string>> = {
  forbidden: " The identity needs Key Vault Secrets Officer on it, and the vault's firewall must let the app in.",
  disabled: " The version is disabled.",
  "soft-deleted": " The name is taken by a deleted secret, which has to be recovered first.",
};

function kindOf(status: number | undefined, inner: string | undefined, isLate: boolean): VaultFailure["kind"] {
  if (status === undefined) return isLate ? "timeout" : "unreachable";
  if (status === 403) return inner === "SecretDisabled" ? "disabled" : "forbidden";
  if (status === 401) return "forbidden";
  if (status === 404) return "not-found";
  if (status === 409) return "soft-deleted";
  if (status === 429) return "throttled";
  return status >= 500 ? "server-error" : "invalid";
}

/** `error.innererror.code` of the answer, as the SDK names it (RestError.details). */
function innerCodeOf(error: unknown): string | undefined {
  const inner = ["details", "error", "innerError", "code"].reduce<unknown>(
    (value, name) => (typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined),
    error,
  );
  return typeof inner === "string" ? inner : undefined;
}
