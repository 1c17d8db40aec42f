// OsmoApi over a transport: finds out which routes answer, and joins the exchange with the calls of that version.
import * as v from "valibot";
import { failure, success, type Result } from "../result.ts";
import { adminOf60 } from "./admin-6-0.ts";
import { adminOf62 } from "./admin-6-2.ts";
import { exchangeToken } from "./exchange-token.ts";
import { callOnce, send, withPauses, type OsmoCaller } from "./osmo-call.ts";
import type { OsmoApi, OsmoRoutes } from "./osmo-api.ts";
import { failureOf, type OsmoFailure } from "./osmo-failure.ts";
import type { OsmoTransport } from "./osmo-transport.ts";

export interface OsmoOptions {
  readonly sleep: (milliseconds: number) => Promise<void>;
}

/** One request, without any secret: which API answers. Fails where none does, or the agent's or a proxy's error hides it. */
export async function createOsmoApi(
  transport: OsmoTransport,
  { sleep }: OsmoOptions,
): Promise<Result<OsmoApi, OsmoFailure>> {
  const caller: OsmoCaller = { transport, sleep, secrets: new Set() };
  const found = await withPauses(caller, () => fingerprint(caller));
  if (!found.ok) return found;
  const routes = found.value;
  return success({
    where: transport.where,
    routes,
    exchange: (token) => exchangeToken(caller, routes, token),
    isOpenToAnybody: () => withPauses(caller, () => openToAnybody(caller, routes)),
    as: (good) => (routes === "6.0" ? adminOf60(caller, good) : adminOf62(caller, good)),
  });
}

/** The exchange by POST without a body: 405 where there is none (6.0), 422 where the body is missed (6.2 and later). */
async function fingerprint(caller: OsmoCaller): Promise<Result<OsmoRoutes, OsmoFailure>> {
  const answer = await send(caller, { method: "POST", path: "/api/auth/jwt/access_token", headers: {} });
  if (!answer.ok) return answer;
  if (answer.value.status === 405) return success("6.0");
  if (answer.value.status === 422) return success("6.2");
  return failure(failureOf(answer.value, caller.secrets));
}

async function openToAnybody(caller: OsmoCaller, routes: OsmoRoutes): Promise<Result<boolean, OsmoFailure>> {
  const path = routes === "6.0" ? "/api/auth/access_token/service" : "/api/auth/user?count=1";
  const answer = await callOnce(caller, { method: "GET", path, headers: {}, shape: v.unknown(), what: "JSON" });
  if (answer.ok) return success(true);
  const isAsked = answer.error.kind === "unauthenticated" || answer.error.kind === "denied";
  return isAsked ? success(false) : answer;
}
