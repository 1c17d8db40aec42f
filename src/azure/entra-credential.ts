// Tokens of Entra: the managed identity in Azure, a person's Azure CLI elsewhere. Not here: what a token is good for.
import type { AccessToken, TokenCredential } from "@azure/identity";
import { failure, success, type Result } from "../result.ts";

/** No token. `message` and `todo` hold neither a token nor the SDK's own text. */
export interface CredentialFailure {
  readonly kind: "credentials";
  readonly message: string;
  readonly todo: string;
}

export interface EntraCredential {
  /** For the Azure SDKs; throws as they expect it. */
  readonly sdk: TokenCredential;
  /** A token for one application, such as `https://management.azure.com/.default`, that is valid for minutes at least. */
  token(scope: string): Promise<Result<string, CredentialFailure>>;
  /** What a failed SDK call says of the credential, or undefined where the call failed for another reason. */
  failureOf(error: unknown): CredentialFailure | undefined;
}

export interface CredentialOptions {
  /** The client id of a user-assigned identity (AZURE_CLIENT_ID). */
  readonly clientId?: string | undefined;
  /** Where IDENTITY_ENDPOINT tells that this runs in Azure. The SDK itself reads the process's own. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly now?: () => number;
}

/** For one token, the Azure CLI's start included. */
const deadlineMs = 30_000;
/** A token this close to its end is not handed out: a call that takes its time must not outlive it. */
const reserveMs = 5 * 60_000;

/**
 * Asks for nothing yet. Tokens are kept per scope until five minutes before their end (the Azure CLI takes a second for
 * each), and those who ask at the same time share one request.
 */
export async function entraCredential(options: CredentialOptions): Promise<EntraCredential> {
  const { ManagedIdentityCredential, AzureCliCredential } = await import("@azure/identity");
  const { clientId, environment, now = Date.now } = options;
  const managed = clientId !== undefined || Boolean(environment.IDENTITY_ENDPOINT);
  const source = managed
    ? new ManagedIdentityCredential(clientId === undefined ? {} : { clientId })
    : new AzureCliCredential({ processTimeoutInMs: deadlineMs });
  const sdk = keeping(source, now);
  const failureOf = (error: unknown): CredentialFailure | undefined =>
    isCredentialError(error) ? (managed ? noIdentity(error, clientId) : noSignIn(error)) : undefined;
  return {
    sdk,
    failureOf,
    async token(scope) {
      try {
        return success((await sdk.getToken(scope))?.token ?? "");
      } catch (error) {
        const failed = failureOf(error);
        if (failed === undefined) throw error;
        return failure(failed);
      }
    },
  };
}

type GetToken = TokenCredential["getToken"];

function keeping(source: TokenCredential, now: () => number): { readonly getToken: GetToken } {
  const kept = new Map<string, AccessToken>();
  const pending = new Map<string, Promise<AccessToken>>();
  return {
    async getToken(scopes, options = {}) {
      // A challenge with claims asks for another token than the one that was refused.
      if (options.claims !== undefined) return source.getToken(scopes, options);
      const key = JSON.stringify([scopes, options.tenantId]);
      const known = kept.get(key);
      if (known !== undefined && (known.refreshAfterTimestamp ?? known.expiresOnTimestamp - reserveMs) > now()) {
        return known;
      }
      // Not with the caller's abort signal: others wait for the same token.
      const { tenantId } = options;
      const asking =
        pending.get(key) ??
        inTime(source.getToken(scopes, tenantId === undefined ? {} : { tenantId }))
          .then((token) => {
            kept.set(key, token);
            return token;
          })
          .finally(() => pending.delete(key));
      pending.set(key, asking);
      return asking;
    },
  };
}

/** The SDK's own names for "no token" (@azure/identity, errors.ts). */
const errorNames = ["CredentialUnavailableError", "AuthenticationError", "AuthenticationRequiredError"];

function isCredentialError(error: unknown): error is Error {
  return error instanceof Error && errorNames.includes(error.name);
}

async function inTime(asked: Promise<AccessToken | null>): Promise<AccessToken> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(unavailable(`no token within ${deadlineMs / 1000} s`));
    }, deadlineMs);
  });
  try {
    const token = await Promise.race([asked, late]);
    if (token === null) throw unavailable("no token");
    return token;
  } finally {
    clearTimeout(timer);
  }
}

function unavailable(message: string): Error {
  return Object.assign(new Error(message), { name: "CredentialUnavailableError" });
}

function noIdentity(error: Error, clientId: string | undefined): CredentialFailure {
  const which = clientId === undefined ? "The managed identity" : `The managed identity ${clientId} (AZURE_CLIENT_ID)`;
  return {
    kind: "credentials",
    message: `${which} gave no token (${error.name}).`,
    todo: "az functionapp identity show --resource-group GROUP --name APP   # is that identity assigned to the app?",
  };
}

function noSignIn(error: Error): CredentialFailure {
  return {
    kind: "credentials",
    message: `The Azure CLI gave no token (${error.name}).`,
    todo: "az login   # install the Azure CLI first where the shell does not know az",
  };
}
