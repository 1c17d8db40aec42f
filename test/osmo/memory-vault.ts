// A Key Vault in memory, as far as rotation uses it: versions, tags, soft delete, and no value of a disabled version.
import { failure, success, type Result } from "../../src/result.ts";
import { secretText, type SecretText } from "../../src/osmo/secret-text.ts";
import type { SecretVersion, VaultApi, VaultFailure, VaultSecret } from "../../src/osmo/vault-api.ts";

interface Stored extends SecretVersion {
  enabled: boolean;
  readonly value: SecretText;
}

export type VaultCall = "look" | "value" | "set" | "disable" | "recover";

export class MemoryVault {
  readonly secrets = new Map<string, { versions: Stored[]; deleted: boolean }>();
  /** Around each call: may throw to end the process there, or answer instead, before or after it was acted on. */
  around: (act: () => void, call: VaultCall) => VaultFailure | undefined = (act) => {
    act();
    return undefined;
  };
  readonly #now: () => Date;
  #count = 0;

  constructor(now: () => Date) {
    this.#now = now;
  }

  put(name: string, value: string, tags: Record<string, string> = {}, expiresAt?: Date): Stored {
    const secret = this.secrets.get(name) ?? { versions: [], deleted: false };
    this.secrets.set(name, secret);
    this.#count += 1;
    const version = `v${this.#count}`;
    const expires = expiresAt === undefined ? {} : { expiresAt };
    const held = secretText(value);
    const stored: Stored = { version, enabled: true, createdAt: this.#now(), tags, value: held, ...expires };
    secret.versions.unshift(stored);
    return stored;
  }

  enabledValues(name: string): string[] {
    const versions = this.secrets.get(name)?.versions ?? [];
    return versions.filter(({ enabled }) => enabled).map(({ value }) => value.reveal());
  }

  api(): VaultApi {
    const call = <T>(name: VaultCall, act: () => Result<T, VaultFailure>): Promise<Result<T, VaultFailure>> => {
      let answer: Result<T, VaultFailure> | undefined;
      const instead = this.around(() => {
        answer = act();
      }, name);
      if (instead !== undefined) return Promise.resolve(failure(instead));
      if (answer === undefined) throw new Error("a call that is acted on has an answer");
      return Promise.resolve(answer);
    };
    const find = (name: string, version: string) =>
      this.secrets.get(name)?.versions.find((each) => each.version === version);
    return {
      vault: "kv-osmo.vault.azure.net",
      look: (name) =>
        call<VaultSecret>("look", () => {
          const secret = this.secrets.get(name);
          if (secret === undefined) return success({ secret: "absent" });
          if (secret.deleted) return success({ secret: "soft-deleted" });
          const versions = secret.versions.map(({ version, enabled, createdAt, expiresAt, tags }) => ({
            version,
            enabled,
            createdAt,
            tags,
            ...(expiresAt !== undefined && { expiresAt }),
          }));
          return success({ secret: "present", versions });
        }),
      value: (name, version) =>
        call("value", () => {
          const found = find(name, version);
          if (found?.enabled !== true) return failure({ kind: "disabled", message: "the version is disabled" });
          return success(found.value);
        }),
      set: (name, value, { tags, expiresAt }) =>
        call("set", () => {
          if (this.secrets.get(name)?.deleted === true) return failure({ kind: "soft-deleted", message: "recover it" });
          return success(this.put(name, value.reveal(), { ...tags }, expiresAt));
        }),
      disable: (name, version) =>
        call("disable", () => {
          const found = find(name, version);
          if (found === undefined) return failure({ kind: "not-found", message: "no such version" });
          if (found === this.secrets.get(name)?.versions[0]) throw new Error("the newest version must not be disabled");
          found.enabled = false;
          return success(undefined);
        }),
      recover: (name) =>
        call("recover", () => {
          const secret = this.secrets.get(name);
          if (secret === undefined) return failure({ kind: "not-found", message: "no such secret" });
          secret.deleted = false;
          return success(undefined);
        }),
    };
  }
}
