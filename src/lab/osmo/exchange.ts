// The exchange of a token for a JWT: the rules of OSMO's auth_service.py and objects.py, and the JWT itself.
import { sign } from "node:crypto";
import { invalid, json, objectBody, osmoError, serverError, type OsmoAnswer, type OsmoRequest } from "./answers.ts";
import { hashOf, type OsmoDatabase, type TokenRow } from "./osmo-tables.ts";
import type { OsmoRelease } from "./release.ts";

/** Seconds. NVIDIA/OSMO, src/utils/job/task.py, ACCESS_TOKEN_TIMEOUT. */
const jwtLifetime = 300;

export interface ExchangeWorld {
  readonly database: OsmoDatabase;
  readonly release: OsmoRelease;
  readonly now: () => Date;
}

/** `POST` with the token in the body (6.2 and later). */
export function exchangeByPost(request: OsmoRequest, world: ExchangeWorld): OsmoAnswer {
  const { release } = world;
  const parsed = objectBody(request, release);
  if ("answer" in parsed) return parsed.answer;
  const { token } = parsed.value;
  const loc = ["body", "token"];
  if (token === undefined) return invalid({ mistake: "missing", loc, input: parsed.value }, release);
  if (token === null) return invalid({ mistake: "null", loc, input: null }, release);
  // Pydantic 1 takes a number for a string.
  if (typeof token === "number" && release === "6.2") return exchange(String(token), world);
  if (typeof token !== "string") return invalid({ mistake: "string", loc, input: token }, release);
  return exchange(token, world);
}

/** `GET` with the token in the query: the only way of 6.0, and kept by later releases. */
export function exchangeByGet(query: URLSearchParams, world: ExchangeWorld): OsmoAnswer {
  const token = query.get("access_token");
  if (token !== null) return exchange(token, world);
  return invalid({ mistake: "missing", loc: ["query", "access_token"], input: null }, world.release);
}

function exchange(token: string, world: ExchangeWorld): OsmoAnswer {
  const { database, release, now } = world;
  const length = Array.from(token).length;
  // 6.0 does not look at the length.
  if (release !== "6.0" && length !== 43 && length !== 64)
    return osmoError(`Access token has invalid length ${length}`);
  const row = database.tokens.find(({ hash }) => hash === hashOf(token));
  if (row === undefined) return osmoError("Access Token is invalid");
  // `expires_at.date() <= utcnow().date()`: dead from the first second of that day.
  if (row.expiresOn <= now().toISOString().slice(0, 10)) return osmoError("Access Token has expired");
  const jwt = signJwt(row, world);
  // The signing key was overwritten: the library's error has no text.
  if (jwt === undefined) return serverError("");
  const expiresAt = Math.floor(now().getTime() / 1000) + jwtLifetime;
  // 6.3 leaves out what is null.
  return json({ token: jwt, expires_at: expiresAt, ...(release !== "6.3" && { error: null }) });
}

function signJwt(row: TokenRow, { database, release, now }: ExchangeWorld): string | undefined {
  const { id, privateKey } = database.signingKey;
  if (privateKey === undefined) return undefined;
  const at = Math.floor(now().getTime() / 1000);
  const claims = {
    iss: "osmo",
    aud: "osmo",
    unique_name: row.userName,
    roles: row.roles,
    ...(release !== "6.0" && { osmo_token_name: row.tokenName }),
    iat: at,
    nbf: at,
    exp: at + jwtLifetime,
  };
  const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const signed = `${part({ alg: "RS256", typ: "JWT", kid: id })}.${part(claims)}`;
  return `${signed}.${sign("sha256", Buffer.from(signed), privateKey).toString("base64url")}`;
}
