// Reads the versions of one secret, and the values of those that are enabled. Values stay in memory.
import { failure, success, type Result } from "../result.ts";
import { haltOfVault, type Halt } from "./look-failure.ts";
import type { SecretText } from "./secret-text.ts";
import type { SecretVersion, VaultApi } from "./vault-api.ts";

export interface ReadVersion extends SecretVersion {
  /** Of an enabled version. */
  readonly value?: SecretText;
}

export interface ReadSecret {
  readonly softDeleted: boolean;
  /** Newest first. */
  readonly versions: readonly ReadVersion[];
}

/** Enabled versions beyond are nobody's overlap; with them somebody must tidy up by hand. */
const mostEnabled = 10;

export async function readSecret(vault: VaultApi, name: string): Promise<Result<ReadSecret, Halt>> {
  const looked = await vault.look(name);
  if (!looked.ok) return failure(haltOfVault(looked.error, vault.vault));
  if (looked.value.secret !== "present") {
    return success({ softDeleted: looked.value.secret === "soft-deleted", versions: [] });
  }
  const { versions } = looked.value;
  if (versions.filter(({ enabled }) => enabled).length > mostEnabled) {
    const why = `the secret ${name} in ${vault.vault} has more than ${mostEnabled} enabled versions`;
    return failure({
      plan: "stop",
      why,
      todo: `disable those that nobody reads: az keyvault secret list-versions -n ${name}`,
    });
  }
  const read: ReadVersion[] = [];
  for (const version of versions) {
    const value = version.enabled ? await vault.value(name, version.version) : undefined;
    if (value?.ok === false) return failure(haltOfVault(value.error, vault.vault));
    read.push({ ...version, ...(value !== undefined && { value: value.value }) });
  }
  return success({ softDeleted: false, versions: read });
}
