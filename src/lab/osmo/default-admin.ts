// What osmo-service does with the default admin's password at its start: NVIDIA/OSMO src/service/core/service.py,
// setup_default_admin, 6.2 and later. Two transactions, without overlap.
import type { OsmoApi } from "./osmo-api.ts";
import { deleteToken, hashOf, insertToken } from "./osmo-tables.ts";

export const defaultAdminToken = "default-admin-token";

export interface DefaultAdmin {
  /** `--default_admin_username`. */
  readonly username: string;
  /** `OSMO_DEFAULT_ADMIN_PASSWORD`. */
  readonly password: string;
}

/** `exit`: the process has ended with code 1, and this is its last line. */
export type Start = { readonly start: "up"; readonly log: string } | { readonly start: "exit"; readonly log: string };

/** `between` runs after the old token has been deleted, and before the new one is there. */
export function startWithDefaultAdmin({ world }: OsmoApi, admin: DefaultAdmin, between?: () => void): Start {
  const { database, now } = world;
  const { username, password } = admin;
  if (password === "") return exit("default_admin_password must be set when default_admin_username is specified");
  if (Array.from(password).length !== 43)
    return exit("OSMOUserError: Default admin password must be 43 characters long");
  ensureUser(username, world);
  const present = database.tokens.find((row) => row.userName === username && row.tokenName === defaultAdminToken);
  if (present?.hash === hashOf(password)) {
    return up(`Default admin user ${username} already configured with matching access_token`);
  }
  if (present !== undefined) deleteToken(database, username, defaultAdminToken);
  between?.();
  const failed = insertToken(database, {
    userName: username,
    tokenName: defaultAdminToken,
    hash: hashOf(password),
    expiresOn: new Date(now().getTime() + 3650 * 86_400_000).toISOString().slice(0, 10),
    description: "Default admin access_token created during service initialization",
    roles: ["osmo-admin"],
  });
  if (failed !== undefined) return exit(`OSMOUserError: Token name ${defaultAdminToken} already exists.`);
  return up(`Default admin user ${username} configured successfully with access_token`);
}

/** The role comes back at each start; the roles of a token that is there already do not. */
function ensureUser(username: string, { database, now }: OsmoApi["world"]): void {
  let user = database.users.find(({ id }) => id === username);
  if (user === undefined) {
    user = { id: username, createdAt: now(), createdBy: username, roles: [] };
    database.users.push(user);
  }
  if (user.roles.some(({ name }) => name === "osmo-admin")) return;
  user.roles.push({ name: "osmo-admin", assignedBy: "System", assignedAt: now() });
}

const up = (log: string): Start => ({ start: "up", log });
const exit = (log: string): Start => ({ start: "exit", log });
