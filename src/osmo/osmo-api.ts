// What fleetmend asks of OSMO. create-osmo-api.ts implements it over a transport, for 6.0 and for 6.2 and later.
import type { Result } from "../result.ts";
import type { OsmoFailure } from "./osmo-failure.ts";
import type { SecretText } from "./secret-text.ts";

/** The routes that answer, found by trying: `6.2` stands for 6.2 and later. `/api/version` of 6.2.10 says 6.0.0. */
export type OsmoRoutes = "6.0" | "6.2";

/** What the JWT says whose token it was. */
export interface Claims {
  readonly user: string;
  /** Absent on 6.0, where a token is called as its user. */
  readonly tokenName?: string;
  /** A token whose role was taken away still exchanges, with fewer roles or none. */
  readonly roles: readonly string[];
  readonly expiresAt: Date;
}

/**
 * The only test of a token: exchanged in this run. `dead` only on OSMO's three exact texts; everything else, a 400
 * included, is `unknown`, and nothing may be deleted or rolled back for it.
 */
export type Exchange =
  | { readonly exchange: "good"; readonly claims: Claims; readonly jwt: SecretText }
  | { readonly exchange: "dead"; readonly why: "invalid" | "expired" | "length" }
  | { readonly exchange: "unknown"; readonly failure: OsmoFailure };

export interface TokenRow {
  readonly user: string;
  readonly name: string;
  /** `YYYY-MM-DD`: it dies at 00:00 UTC at the start of that day. */
  readonly expiresOn: string;
  readonly roles: readonly string[];
}

export interface NewToken {
  readonly user: string;
  readonly name: string;
  /** `YYYY-MM-DD`, after today (UTC) and at most 365 days ahead by OSMO's default. */
  readonly expiresOn: string;
  readonly roles: readonly string[];
  readonly description: string;
}

/** `unknown`: it may exist, and its value is lost. List, and delete it where it does. */
export type Created =
  | { readonly created: "yes"; readonly token: SecretText }
  | { readonly created: "no"; readonly failure: OsmoFailure }
  | { readonly created: "unknown"; readonly failure: OsmoFailure };

export interface OsmoUser {
  readonly id: string;
  readonly roles: readonly string[];
}

export interface Backend {
  readonly name: string;
  /** The listener's heartbeat is at most two minutes old. It proves no token: an open connection is not asked again. */
  readonly online: boolean;
  readonly lastHeartbeat: Date;
}

export type UrlChange =
  | { readonly change: "made" }
  /** The Helm value is the only way. */
  | { readonly change: "managed-by-configmap" }
  /** OSMO answered well, and the value read afterwards is another. */
  | { readonly change: "not-taken"; readonly value: string };

/** Calls in the name of a proven credential. Reads are tried three times; a create is sent once. */
export interface OsmoAdmin {
  /** The tokens of a user; on 6.0, which has no users, those of all services. Empty where there is no such user. */
  tokens(user: string): Promise<Result<readonly TokenRow[], OsmoFailure>>;
  /** Not checked: that the name is free and the user holds the roles. Look first: OSMO's failing inserts hurt others. */
  createToken(token: NewToken): Promise<Created>;
  deleteToken(user: string, name: string): Promise<Result<"deleted" | "absent", OsmoFailure>>;
  /** Undefined where there is none. On 6.0 every user exists and holds every role. */
  user(id: string): Promise<Result<OsmoUser | "any" | undefined, OsmoFailure>>;
  createUser(user: OsmoUser): Promise<Result<void, OsmoFailure>>;
  giveRole(user: string, role: string): Promise<Result<void, OsmoFailure>>;
  /** Only this key of the configuration is read, and nothing else kept. */
  serviceBaseUrl(): Promise<Result<string, OsmoFailure>>;
  /** One key is patched, and read back. A 200 alone proves nothing. */
  setServiceBaseUrl(url: string): Promise<Result<UrlChange, OsmoFailure>>;
  backends(): Promise<Result<readonly Backend[], OsmoFailure>>;
}

export interface OsmoApi {
  readonly where: string;
  readonly routes: OsmoRoutes;
  exchange(token: SecretText): Promise<Exchange>;
  /**
   * Whether a request without any name may list users or tokens: then headers are believed, and rotating credentials has
   * no effect on who gets in. It says so of the way that we came: a gateway that we went around may still ask.
   */
  isOpenToAnybody(): Promise<Result<boolean, OsmoFailure>>;
  as(good: Extract<Exchange, { exchange: "good" }>): OsmoAdmin;
}
