// What rotation asks of one Key Vault. src/azure implements it. There is no purge, and nothing that deletes.
import type { Result } from "../result.ts";
import type { SecretText } from "./secret-text.ts";

export interface SecretVersion {
  readonly version: string;
  readonly enabled: boolean;
  /** By the vault's clock. */
  readonly createdAt: Date;
  readonly expiresAt?: Date;
  readonly tags: Readonly<Record<string, string>>;
}

/** `soft-deleted`: the name is taken by a deleted secret, and must be recovered before it can be set (409 in life). */
export type VaultSecret =
  | { readonly secret: "present"; readonly versions: readonly SecretVersion[] }
  | { readonly secret: "absent" }
  | { readonly secret: "soft-deleted" };

export interface VaultFailure {
  readonly kind:
    | "forbidden" // the role, or the network: `message` says which
    | "not-found" // the vault, or the version
    | "disabled" // 403 in life: a disabled version has no readable value
    | "soft-deleted" // 409 in life
    | "invalid"
    | "throttled"
    | "server-error"
    | "timeout" // a write may have happened
    | "unreachable"; // a write may have happened
  /** For people; no value is ever in it. */
  readonly message: string;
}

export interface SecretProperties {
  readonly expiresAt: Date;
  readonly tags: Readonly<Record<string, string>>;
}

export interface VaultApi {
  /** The vault's host name, for people. */
  readonly vault: string;
  /** Newest first. Values are not read. */
  look(name: string): Promise<Result<VaultSecret, VaultFailure>>;
  value(name: string, version: string): Promise<Result<SecretText, VaultFailure>>;
  /** A new version; it is the newest, and consumers see it, from then on. Sent once. */
  set(name: string, value: SecretText, properties: SecretProperties): Promise<Result<SecretVersion, VaultFailure>>;
  /** Not for the newest version: reading without a version would then fail, and not fall back. */
  disable(name: string, version: string): Promise<Result<void, VaultFailure>>;
  /** Starts to recover the soft-deleted secret; it takes some seconds. */
  recover(name: string): Promise<Result<void, VaultFailure>>;
}

/** Whether a write may have been acted on although it failed. */
export function vaultMayHaveActed({ kind }: VaultFailure): boolean {
  return kind === "timeout" || kind === "unreachable" || kind === "server-error";
}
