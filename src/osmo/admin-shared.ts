// The calls that are the same on all versions of OSMO: configuration, backends, and what a create's answer means.
import * as v from "valibot";
import { failure, success, type Result } from "../result.ts";
import { callAgain, callOnce, type OsmoCaller } from "./osmo-call.ts";
import type { Backend, Created, OsmoAdmin, TokenRow } from "./osmo-api.ts";
import { mayHaveHappened, type OsmoFailure } from "./osmo-failure.ts";
import { secretText, type SecretText } from "./secret-text.ts";

export type Headers = Readonly<Record<string, string>>;

/** A bare JSON string: shown once. */
export const tokenValue = v.pipe(v.string(), v.minLength(40));
export const ignored = v.unknown();

const tokenShape = v.object({
  user_name: v.string(),
  token_name: v.string(),
  // Without a zone, and meant as UTC: only the day counts.
  expires_at: v.pipe(v.string(), v.regex(/^\d{4}-\d\d-\d\d/)),
  roles: v.optional(v.array(v.string()), []),
});
export const tokensShape = v.pipe(
  v.array(tokenShape),
  v.transform((rows) =>
    rows.map((row): TokenRow => {
      const { user_name: user, token_name: name, expires_at: time, roles } = row;
      return { user, name, expiresOn: time.slice(0, 10), roles };
    }),
  ),
);

const backendsShape = v.object({
  backends: v.array(v.object({ name: v.string(), online: v.boolean(), last_heartbeat: v.string() })),
});
// The keys beside it are masked secrets: they are not even parsed.
const configShape = v.object({ service_base_url: v.string() });

/** A create that failed in a way that says "no" did nothing; of any other one the outcome is unknown. */
export function created(caller: OsmoCaller, result: Result<string, OsmoFailure>): Created {
  if (!result.ok) return { created: mayHaveHappened(result.error) ? "unknown" : "no", failure: result.error };
  const token: SecretText = secretText(result.value);
  caller.secrets.add(token);
  return { created: "yes", token };
}

/** A delete of what is not there is as good as a delete. */
export function deleted(result: Result<unknown, OsmoFailure>): Result<"deleted" | "absent", OsmoFailure> {
  if (result.ok) return success("deleted");
  const isAbsent = result.error.kind === "token-not-found" || result.error.kind === "user-not-found";
  return isAbsent ? success("absent") : result;
}

type Shared = Pick<OsmoAdmin, "serviceBaseUrl" | "setServiceBaseUrl" | "backends">;

export function configCalls(caller: OsmoCaller, headers: Headers): Shared {
  const path = "/api/configs/service";
  const read = async (): Promise<Result<string, OsmoFailure>> => {
    const call = { method: "GET", path, headers, shape: configShape, what: "a configuration" } as const;
    const result = await callAgain(caller, call);
    return result.ok ? success(result.value.service_base_url) : result;
  };
  return {
    serviceBaseUrl: read,
    async setServiceBaseUrl(url) {
      const body = { configs_dict: { service_base_url: url }, description: "fleetmend: service_base_url was empty" };
      const call = { method: "PATCH", path, headers, body, shape: ignored, what: "JSON" } as const;
      const patched = await callOnce(caller, call);
      if (!patched.ok && patched.error.kind === "managed-by-configmap") {
        return success({ change: "managed-by-configmap" });
      }
      if (!patched.ok && !mayHaveHappened(patched.error)) return patched;
      const value = await read();
      if (!value.ok) return value;
      return success(value.value === url ? { change: "made" } : { change: "not-taken", value: value.value });
    },
    async backends() {
      const call = { method: "GET", headers, shape: backendsShape, what: "a list of backends" } as const;
      const result = await callAgain(caller, { ...call, path: "/api/configs/backend" });
      return result.ok ? success(result.value.backends.map(backendOf)) : failure(result.error);
    },
  };
}

type RawBackend = v.InferOutput<typeof backendsShape>["backends"][number];

function backendOf({ name, online, last_heartbeat: time }: RawBackend): Backend {
  // Naive, and UTC: JavaScript would read it as local time.
  return { name, online, lastHeartbeat: new Date(/(Z|[+-]\d\d:\d\d)$/.test(time) ? time : `${time}Z`) };
}
