// Why OSMO did not do what it was asked, by class. The texts of OSMO's errors are looked at here and nowhere else, and only
// where its API has no other sign: NVIDIA/OSMO, src/service/core/auth/auth_service.py and src/lib/utils/osmo_errors.py.
import * as v from "valibot";
import type { OsmoAnswer, TransportFailure } from "./osmo-transport.ts";
import { redacted, type SecretText } from "./secret-text.ts";

export interface OsmoFailure {
  readonly kind:
    | "refused" // 400 with one of OSMO's error codes: it has looked at the request and says no
    | "user-not-found" // 400, and not 404
    | "token-not-found" // 400, and not 404
    | "exists" // 400: also the answer to a create of ours that succeeded and was repeated inside OSMO
    | "database" // 400 DATABASE: a failing insert of somebody else closed the pool; over in seconds
    | "not-understood" // 422, 400 without a code: not the API that we think it is
    | "unauthenticated" // 401
    | "denied" // 403
    | "no-route" // 404, 405: another API version, or something else answers
    | "managed-by-configmap" // 409
    | "throttled" // 429
    | "signing-key" // exchange 500 without a text: the key was overwritten
    | "server-error" // 5xx, and the agent's bare 500, which hides the cause
    | "bad-answer" // a success that does not look like one
    | TransportFailure["kind"];
  readonly status?: number;
  /** `error_code` of the answer. */
  readonly code?: string;
  /** For people. No secret, no body of a 422, no URL. */
  readonly message: string;
}

const errorBody = v.object({ message: v.string(), error_code: v.optional(v.union([v.string(), v.number()])) });

/**
 * The class of an answer that is not a success. `secrets` are taken out of the text, should they be in it. Text is kept
 * only of 400s, which OSMO's authors wrote; a 500 carries the text of any exception, which may hold anything.
 */
export function failureOf(answer: OsmoAnswer, secrets: Iterable<SecretText>): OsmoFailure {
  const { status } = answer;
  if (status === 400) return refusalOf(answer, secrets);
  const kind = kindOf(answer);
  return { kind, status, message: `HTTP ${status}: ${meaning[kind]}` };
}

type ByStatus = Exclude<OsmoFailure["kind"], TransportFailure["kind"] | "refused" | "exists" | "database">;

const meaning: Readonly<Record<Exclude<ByStatus, "user-not-found" | "token-not-found" | "bad-answer">, string>> = {
  "not-understood": "OSMO did not understand the request (the answer is not shown: it repeats what was sent)",
  unauthenticated: "OSMO wants to know who asks",
  denied: "OSMO does not allow this",
  "no-route": "there is no such route: another version of the API, or something else answers",
  "managed-by-configmap": "the configuration is managed by a ConfigMap",
  throttled: "too many requests",
  "signing-key": "OSMO cannot sign: its key has been overwritten",
  "server-error": "OSMO failed; its log has the cause",
};

function kindOf({ status, body }: OsmoAnswer): keyof typeof meaning {
  if (status === 401) return "unauthenticated";
  if (status === 403) return "denied";
  if (status === 404 || status === 405) return "no-route";
  if (status === 409) return "managed-by-configmap";
  if (status === 429) return "throttled";
  if (status >= 500) return errorOf(body)?.message === "Internal server error: " ? "signing-key" : "server-error";
  return "not-understood";
}

function refusalOf({ status, body }: OsmoAnswer, secrets: Iterable<SecretText>): OsmoFailure {
  const error = errorOf(body);
  if (error?.error_code === undefined) {
    return { kind: "not-understood", status, message: "HTTP 400 without one of OSMO's error codes" };
  }
  const { message, error_code: code } = error;
  const named = { status, code: String(code), message: `${redacted(message, secrets)} (HTTP 400 ${code})` };
  if (code === "DATABASE") return { kind: "database", ...named };
  return { kind: refusedKind(message), ...named };
}

function refusedKind(message: string): "user-not-found" | "token-not-found" | "exists" | "refused" {
  if (/^User \S+ not found$/.test(message)) return "user-not-found";
  if (/^(Service a|User a|A)ccess token \S+ does not exist\.$/.test(message)) return "token-not-found";
  if (/^(Token name \S+ already exists\.|User \S+ already exists)$/.test(message)) return "exists";
  return "refused";
}

/** The three texts by which OSMO says that a token is dead. Every other refusal of an exchange says nothing about it. */
export function deathOf({ status, body }: OsmoAnswer): "invalid" | "expired" | "length" | undefined {
  const error = status === 400 ? errorOf(body) : undefined;
  if (error?.error_code !== "USER") return undefined;
  if (error.message === "Access Token is invalid") return "invalid";
  if (error.message === "Access Token has expired") return "expired";
  return /^Access token has invalid length \d+$/.test(error.message) ? "length" : undefined;
}

function errorOf(body: string): v.InferOutput<typeof errorBody> | undefined {
  try {
    const parsed = v.safeParse(errorBody, JSON.parse(body));
    return parsed.success ? parsed.output : undefined;
  } catch {
    return undefined;
  }
}

export function ofTransport({ kind, message }: TransportFailure): OsmoFailure {
  return { kind, message };
}

export function badAnswer(what: string): OsmoFailure {
  return { kind: "bad-answer", message: `the answer is not ${what}` };
}

/** A read may well succeed in a moment. */
export function isPassing({ kind }: OsmoFailure): boolean {
  return (
    kind === "database" ||
    kind === "server-error" ||
    kind === "throttled" ||
    kind === "timeout" ||
    kind === "unreachable"
  );
}

/** Whether a write may have been acted on although it failed. Where in doubt, it may. */
export function mayHaveHappened({ kind }: OsmoFailure): boolean {
  switch (kind) {
    case "refused":
    case "user-not-found":
    case "token-not-found":
    case "not-understood":
    case "unauthenticated":
    case "denied":
    case "no-route":
    case "managed-by-configmap":
    case "forbidden":
    case "not-found":
      return false;
    // "exists": OSMO repeats a failing insert by itself, so that our own may be what exists.
    case "exists":
    case "database":
    case "throttled":
    case "signing-key":
    case "server-error":
    case "bad-answer":
    case "timeout":
    case "unreachable":
      return true;
  }
}
