// The trigger "When a Teams webhook request is received" of a workflow: takes a message, answers 202 and proves nothing.
// Not here: what a card must look like.
import { randomBytes } from "node:crypto";
import type { IncomingMessage, RequestListener } from "node:http";
import { answering, azureError, bytesOf, urlOf, type JsonAnswer } from "./json-exchange.ts";

export interface Teams {
  /** The workflow's URL. Its `sig` is a secret. */
  readonly url: string;
  readonly host: RequestListener;
  /** The bodies that were accepted, in order. */
  readonly posts: readonly unknown[];
  /** The next `times` posts are answered so, and not kept. */
  fail(status: 429 | 500, times: number): void;
}

/** Answers for the workflow's host. */
export function createTeams(host: string): Teams {
  const workflow = `/workflows/${randomBytes(16).toString("hex")}/triggers/manual/paths/invoke`;
  const signature = randomBytes(32).toString("base64url");
  const query = `api-version=2016-06-01&sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0&sig=${signature}`;
  const posts: unknown[] = [];
  const failures: (429 | 500)[] = [];

  const respond = async (request: IncomingMessage): Promise<JsonAnswer> => {
    const text = (await bytesOf(request)).toString("utf8");
    const { pathname, searchParams } = urlOf(request);
    if (request.method !== "POST" || pathname !== workflow) return { status: 404 };
    if (searchParams.get("sig") !== signature) return { status: 401, body: refused };
    const failing = failures.shift();
    if (failing === 429) return { status: 429, headers: { "retry-after": "1" }, body: azureError("429", "Slow down") };
    if (failing === 500) return { status: 500, body: azureError("InternalServerError", "The lab was told to fail") };
    posts.push(JSON.parse(text) as unknown);
    return { status: 202 };
  };
  return {
    url: `https://${host}${workflow}?${query}`,
    host: answering(respond),
    posts,
    fail(status, times) {
      failures.push(...Array.from({ length: times }, () => status));
    },
  };
}

const refused = azureError("DirectApiAuthorizationRequired", "The request must be authenticated.");
