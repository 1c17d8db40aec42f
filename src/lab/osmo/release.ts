// What differs between the releases of OSMO that the lab speaks, and how each writes times and validation errors.
// Everything else of the API is the same in all of them.

export type OsmoRelease = "6.0" | "6.2" | "6.3";

/**
 * What `GET /api/version` answers. NVIDIA/OSMO, src/lib/utils/version.yaml: 6.2.10 still says 6.0.0, which is why the
 * version is no fingerprint.
 */
export function versionOf(release: OsmoRelease): Readonly<Record<string, string>> {
  return { major: "6", minor: release === "6.3" ? "3" : "0", revision: "0", hash: "" };
}

/** A time of users and roles: with microseconds, ending in `+00:00` up to 6.2 and in `Z` from 6.3 on. */
export function awareTime(at: Date, release: OsmoRelease): string {
  return naiveTime(at) + (release === "6.3" ? "Z" : "+00:00");
}

/** Without any zone, as `expires_at`, heartbeats and histories are written in all releases. It means UTC. */
export function naiveTime(at: Date): string {
  return at.toISOString().replace(/Z$/, "000");
}

export type Mistake = "missing" | "string" | "null" | "integer" | "model";

export interface Invalid {
  readonly mistake: Mistake;
  readonly loc: readonly string[];
  /** What was sent. Pydantic 2, from 6.3 on, sends it back in clear: a 422 can hold a token. */
  readonly input: unknown;
}

const pydantic1: Readonly<Record<Mistake, readonly [type: string, msg: string]>> = {
  missing: ["value_error.missing", "field required"],
  string: ["type_error.str", "str type expected"],
  null: ["type_error.none.not_allowed", "none is not an allowed value"],
  integer: ["type_error.integer", "value is not a valid integer"],
  model: ["type_error.dict", "value is not a valid dict"],
};

const pydantic2: Readonly<Record<Mistake, readonly [type: string, msg: string]>> = {
  missing: ["missing", "Field required"],
  string: ["string_type", "Input should be a valid string"],
  null: ["string_type", "Input should be a valid string"],
  integer: ["int_parsing", "Input should be a valid integer, unable to parse string as an integer"],
  model: ["model_attributes_type", "Input should be a valid dictionary or object to extract fields from"],
};

/** One entry of `detail` in a 422: pydantic 1 in 6.0 and 6.2, pydantic 2 in 6.3. */
export function validationDetail({ mistake, loc, input }: Invalid, release: OsmoRelease): unknown {
  const isSecond = release === "6.3";
  const [type, msg] = (isSecond ? pydantic2 : pydantic1)[mistake];
  return { type, loc, msg, ...(isSecond && { input }) };
}
