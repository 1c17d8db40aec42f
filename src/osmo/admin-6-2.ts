// Users, roles and tokens on OSMO 6.2 and later. Always the routes that name the user: those of "my own" act as `testuser`
// where headers are believed (NVIDIA/OSMO 6.2.10 src/utils/connectors/postgres.py, parse_username).
import * as v from "valibot";
import { success } from "../result.ts";
import { configCalls, created, deleted, ignored, tokenValue, tokensShape } from "./admin-shared.ts";
import { callAgain, callOnce, type OsmoCaller } from "./osmo-call.ts";
import type { Exchange, OsmoAdmin } from "./osmo-api.ts";

const userShape = v.object({ id: v.string(), roles: v.array(v.object({ role_name: v.string() })) });

/** Both headers: the gateway looks at the JWT, a service without one believes `x-osmo-user`. */
export function adminOf62(caller: OsmoCaller, { jwt, claims }: Extract<Exchange, { exchange: "good" }>): OsmoAdmin {
  const headers = { authorization: `Bearer ${jwt.reveal()}`, "x-osmo-user": claims.user };
  const pathOf = (user: string): string => `/api/auth/user/${encodeURIComponent(user)}`;
  const tokenPath = (user: string, name: string): string => `${pathOf(user)}/access_token/${encodeURIComponent(name)}`;
  const none = { shape: ignored, what: "JSON" };
  return {
    ...configCalls(caller, headers),
    async tokens(user) {
      const call = { method: "GET", headers, shape: tokensShape, what: "a list of tokens" } as const;
      const result = await callAgain(caller, { ...call, path: `${pathOf(user)}/access_token` });
      return !result.ok && result.error.kind === "user-not-found" ? success([]) : result;
    },
    async createToken({ user, name, expiresOn, roles, description }) {
      const query = new URLSearchParams({ expires_at: expiresOn, description });
      for (const role of roles) query.append("roles", role);
      const path = `${tokenPath(user, name)}?${query.toString()}`;
      return created(
        caller,
        await callOnce(caller, { method: "POST", path, headers, shape: tokenValue, what: "a token" }),
      );
    },
    async deleteToken(user, name) {
      return deleted(await callOnce(caller, { method: "DELETE", path: tokenPath(user, name), headers, ...none }));
    },
    async user(id) {
      const call = { method: "GET", path: pathOf(id), headers, shape: userShape, what: "a user" } as const;
      const result = await callAgain(caller, call);
      if (!result.ok) return result.error.kind === "user-not-found" ? success(undefined) : result;
      return success({ id: result.value.id, roles: result.value.roles.map((role) => role.role_name) });
    },
    async createUser({ id, roles }) {
      const body = { id, roles };
      const result = await callOnce(caller, { method: "POST", path: "/api/auth/user", headers, body, ...none });
      return result.ok ? success(undefined) : result;
    },
    async giveRole(user, role) {
      const call = {
        method: "POST",
        path: `${pathOf(user)}/roles`,
        headers,
        body: { role_name: role },
        ...none,
      } as const;
      const result = await callOnce(caller, call);
      return result.ok ? success(undefined) : result;
    },
  };
}
