// The tokens of services on OSMO 6.0, which has no users: a service's name is the user's and the token's, and roles are
// given to the token itself.
import { success } from "../result.ts";
import { configCalls, created, deleted, ignored, tokenValue, tokensShape } from "./admin-shared.ts";
import { callAgain, callOnce, type OsmoCaller } from "./osmo-call.ts";
import type { Exchange, OsmoAdmin } from "./osmo-api.ts";

const listPath = "/api/auth/access_token/service";

/**
 * `x-osmo-auth` is what Envoy looks at. Its sidecar sets user and roles from it; on the way around it, the service's own
 * middleware wants both, and gets what the exchange has proven.
 */
export function adminOf60(caller: OsmoCaller, { jwt, claims }: Extract<Exchange, { exchange: "good" }>): OsmoAdmin {
  const headers = {
    "x-osmo-auth": jwt.reveal(),
    "x-osmo-user": claims.user,
    "x-osmo-roles": claims.roles.join(","),
  };
  const tokenPath = (name: string): string => `${listPath}/${encodeURIComponent(name)}`;
  return {
    ...configCalls(caller, headers),
    tokens: () =>
      callAgain(caller, { method: "GET", path: listPath, headers, shape: tokensShape, what: "a list of tokens" }),
    async createToken({ name, expiresOn, roles, description }) {
      const query = new URLSearchParams({ expires_at: expiresOn, description });
      for (const role of roles) query.append("roles", role);
      const path = `${tokenPath(name)}?${query.toString()}`;
      return created(
        caller,
        await callOnce(caller, { method: "POST", path, headers, shape: tokenValue, what: "a token" }),
      );
    },
    async deleteToken(_user, name) {
      const call = { method: "DELETE", path: tokenPath(name), headers, shape: ignored, what: "JSON" } as const;
      return deleted(await callOnce(caller, call));
    },
    user: () => Promise.resolve(success("any" as const)),
    createUser: () => Promise.resolve(success(undefined)),
    giveRole: () => Promise.resolve(success(undefined)),
  };
}
