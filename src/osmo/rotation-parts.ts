// What a rotation works with: OSMO, one vault, one cluster, and a run's memory of the values that it has exchanged.
import type { ClusterApi } from "../admission/cluster-api.ts";
import type { Exchange, OsmoApi, OsmoRoutes } from "./osmo-api.ts";
import type { SecretText } from "./secret-text.ts";
import type { ObjectName, TokenCredential } from "./token-credential.ts";
import type { Verdict } from "./token-view.ts";
import type { VaultApi } from "./vault-api.ts";

export interface RotationParts {
  readonly osmo: OsmoApi;
  readonly vault: VaultApi;
  readonly cluster: ClusterApi;
  /** UTC matters: OSMO's tokens die at its midnight. */
  readonly now: () => Date;
  /** From 0 to 1, without 1. */
  readonly random: () => number;
  /** Where an admin's power may come from, to make the first token with. */
  readonly admin: AdminSources;
  /** Who we are in the Lease, and the namespace that it is in. */
  readonly lease: { readonly namespace: string; readonly holder: string };
}

export interface AdminSources {
  readonly token: TokenCredential;
  readonly password: {
    readonly vaultSecret: string;
    readonly secret: ObjectName;
    readonly key: string;
  };
}

/** The names of microsoft/physical-ai-toolchain. */
export function adminSources(token: TokenCredential, namespace = "osmo-control-plane"): AdminSources {
  const secret = { namespace, name: "osmo-default-admin" };
  return { token, password: { vaultSecret: "osmo-admin-password", secret, key: "password" } };
}

/** Exchanges each value once in a look: an exchange costs OSMO half a second. */
export function exchangesOf(osmo: OsmoApi): (token: SecretText) => Promise<Exchange> {
  const known = new Map<string, Promise<Exchange>>();
  return (token) => {
    const present = known.get(token.fingerprint) ?? osmo.exchange(token);
    known.set(token.fingerprint, present);
    return present;
  };
}

/** What an exchange proves of a credential. Undefined where it proves nothing. */
export function verdictOf(
  exchange: Exchange,
  { user, role }: Pick<TokenCredential, "user" | "role">,
  routes: OsmoRoutes,
): Verdict | undefined {
  if (exchange.exchange === "unknown") return undefined;
  if (exchange.exchange === "dead") return { verdict: "dead", why: exchange.why };
  const { claims } = exchange;
  const whose = { user: claims.user, tokenName: claims.tokenName ?? claims.user };
  if (!claims.roles.includes(role)) return { verdict: "wrong", ...whose, why: `its claim lacks the role ${role}` };
  // 6.0 has no users: a token is called as its service.
  if (routes === "6.0" || claims.user === user) return { verdict: "good", ...whose };
  return { verdict: "wrong", ...whose, why: `it is a token of ${claims.user}, not of ${user}` };
}
