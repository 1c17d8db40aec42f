// Reads one secret of Key Vault. Its value goes to the caller and into no text.
import { failure, success, type Result } from "../result.ts";
import type { EntraCredential } from "./entra-credential.ts";
import { refusalOf } from "./storage-account.ts";

/** `message` names the secret and what to do. */
export interface VaultFailure {
  readonly kind: "not-configured" | "unavailable";
  readonly message: string;
}

const deadlineMs = 20_000;

/**
 * The value of the secret's current version. `id` is `https://<vault>/secrets/<name>`, without a version. An empty secret is
 * as good as none. Not checked: its expiry, which Key Vault does not enforce.
 */
export async function readVaultSecret(credential: EntraCredential, id: string): Promise<Result<string, VaultFailure>> {
  const { SecretClient } = await import("@azure/keyvault-secrets");
  const { origin, pathname } = new URL(id);
  const name = pathname.replace("/secrets/", "");
  const client = new SecretClient(origin, credential.sdk, { retryOptions: { maxRetries: 2, maxRetryDelayInMs: 2000 } });
  try {
    const { value } = await client.getSecret(name, { abortSignal: AbortSignal.timeout(deadlineMs) });
    if (value) return success(value);
    return failure({ kind: "not-configured", message: `The secret ${id} is empty.` });
  } catch (error) {
    return failure(failureOf(credential, id, error));
  }
}

/** By status and code alone. */
function failureOf(credential: EntraCredential, id: string, error: unknown): VaultFailure {
  const noToken = credential.failureOf(error);
  if (noToken !== undefined) return { kind: "unavailable", message: `${noToken.message} ${noToken.todo}` };
  const { status, code } = refusalOf(error);
  if (status === 404) return { kind: "not-configured", message: `There is no secret ${id}.` };
  if (status === 403) {
    return {
      kind: "unavailable",
      message: `The secret ${id} may not be read, or is disabled: the identity needs Key Vault Secrets User on the vault.`,
    };
  }
  const said = status === undefined ? "could not be asked" : `answered ${status}`;
  return { kind: "unavailable", message: `Key Vault ${said} about ${id}${code === undefined ? "" : ` (${code})`}.` };
}
