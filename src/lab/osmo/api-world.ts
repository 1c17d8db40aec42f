// What the routes of one OSMO process share, and how a failing insert of one request reaches the others.
import type { OsmoAnswer, OsmoRequest } from "./answers.ts";
import type { OsmoDatabase } from "./osmo-tables.ts";
import type { OsmoRelease } from "./release.ts";

export interface OsmoOptions {
  readonly release: OsmoRelease;
  readonly database: OsmoDatabase;
  readonly now: () => Date;
  /**
   * `osmo-service`, or `osmo-agent`, which has the routes of auth and none of the others, and no handler for OSMO's own
   * errors: they are 500 in plain text.
   */
  readonly app?: "service" | "agent";
  /**
   * Who is believed. `headers`: `x-osmo-user`, as long as the login information is empty; `login`: the login information
   * is filled in, and the header must be there; `gateway`: Envoy and the authorisation in front, which look at the JWT.
   */
  readonly identity?: "headers" | "login" | "gateway";
  /** 6.3: the configuration is a file, and the API refuses to change it. Its `service_base_url`. */
  readonly configMap?: { readonly serviceBaseUrl: string };
}

export interface ApiWorld extends Required<Omit<OsmoOptions, "configMap">> {
  readonly configMap: { readonly serviceBaseUrl: string } | undefined;
  /** Counts up each time that the process has thrown its connection pool away. */
  pool: number;
  /** Requests that are being answered now. */
  inFlight: number;
}

/** What a route gets: the request, taken apart. */
export interface Call {
  readonly request: OsmoRequest;
  readonly query: URLSearchParams;
  /** The variable parts of the path, decoded, in order. */
  readonly parts: readonly string[];
  /** `parse_username`: whom OSMO takes the caller for, or its answer where it wants a header. */
  readonly caller: () => { readonly user: string } | { readonly answer: OsmoAnswer };
}

export type Route = (call: Call, world: ApiWorld) => OsmoAnswer;

/**
 * From 6.2 on a failing insert is retried, and each retry makes the pool anew (NVIDIA/OSMO src/utils/connectors/postgres.py,
 * retry()): every request that is being answered fails with DATABASE, the one that failed included if it is not alone.
 */
export function closePool(world: ApiWorld): void {
  if (world.release !== "6.0") world.pool += 1;
}
