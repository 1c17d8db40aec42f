// The shapes of OSMO's answers: JSON, its own errors, FastAPI's, and a validation error.
import { validationDetail, type Invalid, type OsmoRelease } from "./release.ts";

export interface OsmoRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Empty where there is none. */
  readonly body: string;
}

export interface OsmoAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

export function json(value: unknown, status = 200): OsmoAnswer {
  return { status, contentType: "application/json", body: JSON.stringify(value) };
}

/** An OSMOUserError and its like, as osmo-service answers them. The agent has no handler for them: see agent.ts. */
export function osmoError(message: string, code = "USER", status = 400): OsmoAnswer {
  return json({ message, error_code: code, workflow_id: null }, status);
}

/** What no handler caught. */
export const serverError = (text: string): OsmoAnswer => json({ message: `Internal server error: ${text}` }, 500);

export const notFound: OsmoAnswer = json({ detail: "Not Found" }, 404);
export const wrongMethod: OsmoAnswer = json({ detail: "Method Not Allowed" }, 405);

export function invalid(problem: Invalid, release: OsmoRelease): OsmoAnswer {
  return json({ detail: [validationDetail(problem, release)] }, 422);
}

/** The body as a JSON object, or the answer that FastAPI gives instead. */
export function objectBody(
  { body, headers }: OsmoRequest,
  release: OsmoRelease,
): { readonly value: Readonly<Record<string, unknown>> } | { readonly answer: OsmoAnswer } {
  if (body === "") return { answer: invalid({ mistake: "missing", loc: ["body"], input: null }, release) };
  const isJson = (headers["content-type"] ?? "application/json").startsWith("application/json");
  const value: unknown = isJson ? JSON.parse(body) : body;
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    return { value: value as Readonly<Record<string, unknown>> };
  }
  return { answer: invalid({ mistake: "model", loc: ["body"], input: value }, release) };
}
