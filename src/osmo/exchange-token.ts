// Exchanges a token for a JWT and reads its claims. The signature is not verified: it came from the service that signs.
import * as v from "valibot";
import { failure, success, type Result } from "../result.ts";
import { parse, send, withPauses, type OsmoCaller } from "./osmo-call.ts";
import type { Claims, Exchange, OsmoRoutes } from "./osmo-api.ts";
import { badAnswer, deathOf, failureOf, type OsmoFailure } from "./osmo-failure.ts";
import type { OsmoAnswer, OsmoRequest } from "./osmo-transport.ts";
import { secretText, type SecretText } from "./secret-text.ts";

const answerShape = v.object({ token: v.pipe(v.string(), v.nonEmpty()) });
const claimsShape = v.object({
  iss: v.literal("osmo"),
  aud: v.literal("osmo"),
  unique_name: v.string(),
  osmo_token_name: v.nullish(v.string()),
  roles: v.array(v.string()),
  exp: v.number(),
});

/**
 * Tried up to three times where OSMO or the way to it fails in passing. 6.0 knows only the query: there the token stands
 * in OSMO's access log, which is a reason to upgrade and not ours to change.
 */
export async function exchangeToken(caller: OsmoCaller, routes: OsmoRoutes, token: SecretText): Promise<Exchange> {
  caller.secrets.add(token);
  const result = await withPauses<Exchange>(caller, () => attempt(caller, routes, token));
  return result.ok ? result.value : { exchange: "unknown", failure: result.error };
}

async function attempt(
  caller: OsmoCaller,
  routes: OsmoRoutes,
  token: SecretText,
): Promise<Result<Exchange, OsmoFailure>> {
  const answer = await send(caller, requestFor(routes, token));
  if (!answer.ok) return answer;
  const why = deathOf(answer.value);
  if (why !== undefined) return success({ exchange: "dead", why });
  if (answer.value.status !== 200) return failure(failureOf(answer.value, caller.secrets));
  return goodExchange(caller, answer.value);
}

type Request = Pick<OsmoRequest, "method" | "path" | "headers"> & { readonly body?: unknown };

function requestFor(routes: OsmoRoutes, token: SecretText): Request {
  const path = "/api/auth/jwt/access_token";
  if (routes === "6.2") return { method: "POST", path, headers: {}, body: { token: token.reveal() } };
  return { method: "GET", path: `${path}?access_token=${encodeURIComponent(token.reveal())}`, headers: {} };
}

function goodExchange(caller: OsmoCaller, { body }: OsmoAnswer): Result<Exchange, OsmoFailure> {
  const parsed = parse(body, { shape: answerShape, what: "a JWT" });
  if (!parsed.ok) return parsed;
  const jwt = secretText(parsed.value.token);
  caller.secrets.add(jwt);
  const claims = claimsOf(jwt);
  return claims === undefined ? failure(badAnswer("a JWT of OSMO's")) : success({ exchange: "good", claims, jwt });
}

function claimsOf(jwt: SecretText): Claims | undefined {
  const payload = Buffer.from(jwt.reveal().split(".")[1] ?? "", "base64url").toString("utf8");
  const parsed = parse(payload, { shape: claimsShape, what: "claims" });
  if (!parsed.ok) return undefined;
  const { unique_name: user, osmo_token_name: tokenName, roles, exp } = parsed.value;
  return { user, roles, expiresAt: new Date(exp * 1000), ...(typeof tokenName === "string" && { tokenName }) };
}
