// The tokens of a user: 6.2 and later. A new token is answered as a bare JSON string, once and never again.
import { invalid, json, osmoError, type OsmoAnswer } from "./answers.ts";
import { closePool, type ApiWorld, type Call, type Route } from "./api-world.ts";
import { deleteToken, hashOf, insertToken, type TokenRow } from "./osmo-tables.ts";
import { expiryDate, nameRefusal, newTokenValue } from "./token-rules.ts";
import { unknownUser, userOf } from "./user-routes.ts";

const noSuchRoles = osmoError("User does not have all the requested roles. Token creation failed.");

/** Sorted by name. */
export const listTokens: Route = ({ parts: [user = ""] }, world) => {
  if (userOf(user, world) === undefined) return unknownUser(user);
  return json(tokensOf(user, world));
};

/** The caller's own, who need not exist. */
export const listOwnTokens: Route = ({ caller }, world) => {
  const by = caller();
  return "answer" in by ? by.answer : json(tokensOf(by.user, world));
};

/** Without `roles`, the token has all of the user. */
export const createToken: Route = (call, world) => {
  const { parts, query, caller } = call;
  const [userName = "", tokenName = ""] = parts;
  const loc = ["query", "expires_at"];
  const text = query.get("expires_at");
  if (text === null) return invalid({ mistake: "missing", loc, input: null }, world.release);
  const by = caller();
  if ("answer" in by) return by.answer;
  const { database, release, now } = world;
  const expiresOn = expiryDate(text, { release, now: now(), maximum: database.maxTokenDuration });
  if (typeof expiresOn !== "string") return expiresOn;
  const refusal = nameRefusal(tokenName);
  if (refusal !== undefined) return refusal;
  const granted = rolesFor(userName, call, world);
  if ("answer" in granted) return granted.answer;
  const description = query.get("description") ?? "";
  return insert({ userName, tokenName, expiresOn, description, roles: granted.roles }, world);
};

export const removeToken: Route = ({ parts: [user = "", name = ""] }, world) => {
  if (userOf(user, world) === undefined) return unknownUser(user);
  if (deleteToken(world.database, user, name)) return json(null);
  return osmoError(`Access token ${name} does not exist.`);
};

function insert(row: Omit<TokenRow, "hash">, world: ApiWorld): OsmoAnswer {
  const value = newTokenValue(world.release);
  if (insertToken(world.database, { ...row, hash: hashOf(value) }) === undefined) return json(value);
  closePool(world);
  return osmoError(`Token name ${row.tokenName} already exists.`);
}

/** Roles that are not held, unknown, doubled or empty, and an unknown user: all the same answer. */
function rolesFor(userName: string, { query }: Call, world: ApiWorld): { roles: string[] } | { answer: OsmoAnswer } {
  const held = userOf(userName, world)?.roles.map(({ name }) => name) ?? [];
  const asked = query.getAll("roles");
  if (asked.length === 0) {
    if (held.length > 0) return { roles: held };
    return { answer: osmoError("At least one role must be specified for the access token.") };
  }
  const isHeld = asked.every((role) => held.includes(role)) && new Set(asked).size === asked.length;
  return isHeld ? { roles: asked } : { answer: noSuchRoles };
}

function tokensOf(user: string, { database }: ApiWorld): unknown[] {
  return database.tokens
    .filter(({ userName }) => userName === user)
    .toSorted((one, other) => (one.tokenName < other.tokenName ? -1 : 1))
    .map(({ userName, tokenName, expiresOn, description, roles }) => ({
      user_name: userName,
      token_name: tokenName,
      expires_at: `${expiresOn}T00:00:00`,
      description,
      roles,
    }));
}
