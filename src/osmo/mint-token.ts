// Makes a token in OSMO and stores it in Key Vault at once: between the two it is in memory only, and a process that ends
// there leaves an orphan, which is found by its name.
import { failure, success, type Result } from "../result.ts";
import type { Doing } from "./do-rotation-step.ts";
import { haltOfOsmo, haltOfVault, type Halt } from "./look-failure.ts";
import { tokenTag } from "./look-token.ts";
import { tokenNameAt } from "./token-credential.ts";
import { vaultMayHaveActed } from "./vault-api.ts";

/**
 * A create whose outcome is unknown is looked for and deleted: its value is lost. A token that Key Vault refuses for certain
 * is deleted, too; where Key Vault may have taken it, it is left to the next look, which reads what is there.
 */
export async function mintToken(doing: Doing, expiresOn: string): Promise<Result<void, Halt>> {
  const { parts, credential, admin } = doing;
  const { user, role, vaultSecret } = credential;
  const name = tokenNameAt(credential, parts.now(), chance(parts.random));
  const description = `made by fleetmend for ${vaultSecret}`;
  const made = await admin.createToken({ user, name, expiresOn, roles: [role], description });
  if (made.created !== "yes") {
    if (made.created === "unknown") await takeBackIfThere(doing, name);
    const halt = haltOfOsmo(made.failure, parts.osmo.where);
    if (made.failure.kind !== "refused") return failure(halt);
    return failure({
      plan: "stop",
      why: halt.why,
      todo: "compare what OSMO allows with the life of 90 days that is asked for",
    });
  }
  const set = await parts.vault.set(vaultSecret, made.token, {
    expiresAt: new Date(`${expiresOn}T00:00:00Z`),
    tags: { [tokenTag]: name, "osmo-user": user, "managed-by": "fleetmend" },
  });
  if (set.ok) return success(undefined);
  if (!vaultMayHaveActed(set.error)) await takeBack(doing, name);
  return failure(haltOfVault(set.error, parts.vault.vault));
}

/** On 6.0 a token is called as its user. */
async function takeBack({ parts, credential, admin }: Doing, name: string): Promise<void> {
  // Where this fails, too, the token is an orphan: it is found by its name after a day.
  await admin.deleteToken(parts.osmo.routes === "6.0" ? name : credential.user, name);
}

async function takeBackIfThere(doing: Doing, name: string): Promise<void> {
  const listed = await doing.admin.tokens(doing.credential.user);
  if (listed.ok && listed.value.some((row) => row.name === name)) await takeBack(doing, name);
}

function chance(random: () => number): string {
  return Math.floor(random() * 36 ** 4)
    .toString(36)
    .padStart(4, "0");
}
