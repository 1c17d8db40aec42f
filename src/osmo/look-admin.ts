// Finds a credential that proves an admin's power in this run: the API token first, then the default admin's password.
import { failure, success, type Result } from "../result.ts";
import { haltOfOsmo, type Halt } from "./look-failure.ts";
import { readCopy } from "./look-operator.ts";
import { readSecret } from "./look-vault.ts";
import type { Exchange, OsmoAdmin } from "./osmo-api.ts";
import type { RotationParts } from "./rotation-parts.ts";
import type { SecretText } from "./secret-text.ts";

export interface ProvenAdmin {
  readonly source: string;
  readonly user: string;
  readonly calls: OsmoAdmin;
}

interface Candidate {
  readonly source: string;
  readonly value: SecretText;
}

/**
 * Undefined where every candidate is dead or lacks the role. A candidate of which nothing is known stops the search only
 * if no other one is proven: with one proven admin it does not matter what the others are.
 */
export async function proveAdmin(
  parts: RotationParts,
  exchange: (token: SecretText) => Promise<Exchange>,
): Promise<Result<ProvenAdmin | undefined, Halt>> {
  let unknown: Halt | undefined;
  for (const source of [tokenCandidates, passwordCandidates, copyCandidates]) {
    const candidates = await source(parts);
    if (!candidates.ok) {
      unknown ??= candidates.error;
      continue;
    }
    for (const candidate of candidates.value) {
      const exchanged = await exchange(candidate.value);
      if (exchanged.exchange === "unknown") unknown ??= haltOfOsmo(exchanged.failure, parts.osmo.where);
      if (exchanged.exchange !== "good" || !exchanged.claims.roles.includes(parts.admin.token.role)) continue;
      const { user } = exchanged.claims;
      return success({ source: candidate.source, user, calls: parts.osmo.as(exchanged) });
    }
  }
  return unknown === undefined ? success(undefined) : failure(unknown);
}

type Source = (parts: RotationParts) => Promise<Result<readonly Candidate[], Halt>>;

const tokenCandidates: Source = ({ vault, admin }) => inVault(vault, admin.token.vaultSecret);
const passwordCandidates: Source = ({ vault, admin }) => inVault(vault, admin.password.vaultSecret);

const copyCandidates: Source = async ({ cluster, admin: { password } }) => {
  const copy = await readCopy(cluster, password.secret, password.key);
  if (!copy.ok) return copy;
  if (copy.value === "missing" || copy.value.value === undefined) return success([]);
  return success([
    { source: `the Secret ${password.secret.namespace}/${password.secret.name}`, value: copy.value.value },
  ]);
};

async function inVault(vault: RotationParts["vault"], name: string): Promise<Result<readonly Candidate[], Halt>> {
  const read = await readSecret(vault, name);
  if (!read.ok) return read;
  return success(
    read.value.versions.flatMap(({ version, value }) =>
      value === undefined ? [] : [{ source: `${name} version ${version}`, value }],
    ),
  );
}
