// The tokens of services: 6.0 only. There is no table of users: a service's name is the user's and the token's.
import { invalid, json, osmoError } from "./answers.ts";
import type { Route } from "./api-world.ts";
import { deleteToken, hashOf, insertToken } from "./osmo-tables.ts";
import { expiryDate, nameRefusal, newTokenValue } from "./token-rules.ts";

/** In the order of creation. */
export const listServiceTokens: Route = (_call, { database }) =>
  json(
    database.tokens.map(({ userName, tokenName, expiresOn, description, roles }) => ({
      user_name: userName,
      token_name: tokenName,
      expires_at: `${expiresOn}T00:00:00`,
      description,
      access_type: "SERVICE",
      roles,
    })),
  );

export const createServiceToken: Route = ({ parts: [name = ""], query }, { database, release, now }) => {
  const text = query.get("expires_at");
  if (text === null) return invalid({ mistake: "missing", loc: ["query", "expires_at"], input: null }, release);
  const expiresOn = expiryDate(text, { release, now: now(), maximum: database.maxTokenDuration });
  if (typeof expiresOn !== "string") return expiresOn;
  const refusal = nameRefusal(name);
  if (refusal !== undefined) return refusal;
  const roles = query.getAll("roles");
  const unknown = roles.find((role) => !database.roles.includes(role));
  if (unknown !== undefined) return osmoError(`Invalid role: ${unknown}`);
  const value = newTokenValue(release);
  const description = query.get("description") ?? "";
  const row = { userName: name, tokenName: name, expiresOn, description, roles, hash: hashOf(value) };
  return insertToken(database, row) === undefined ? json(value) : osmoError(`Token name ${name} already exists.`);
};

export const removeServiceToken: Route = ({ parts: [name = ""] }, { database }) =>
  deleteToken(database, name, name) ? json(null) : osmoError(`Service access token ${name} does not exist.`);

/** `GET /api/auth/access_token` is something else in 6.0: a token's own description, by its value. */
export const describeToken: Route = ({ query }, { database, release }) => {
  const value = query.get("access_token");
  if (value === null) return invalid({ mistake: "missing", loc: ["query", "access_token"], input: null }, release);
  const row = database.tokens.find(({ hash }) => hash === hashOf(value));
  if (row === undefined) return osmoError("Access Token is invalid");
  const { userName, tokenName, expiresOn, description, roles } = row;
  return json({
    user_name: userName,
    token_name: tokenName,
    expires_at: `${expiresOn}T00:00:00`,
    description,
    access_type: "SERVICE",
    roles,
  });
};
