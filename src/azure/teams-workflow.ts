// Posts a message to the URL of a Teams workflow. The URL holds a signature and is a secret: it is in no text.
import type { Pipeline } from "@azure/core-rest-pipeline";
import { failure, success, type Result } from "../result.ts";
import { refusalOf } from "./storage-account.ts";

export interface TeamsFailure {
  readonly kind: "refused" | "unavailable";
  readonly message: string;
  readonly status?: number;
}

/**
 * Success is any 2xx; Teams answers 202, which proves no delivery. Tried up to four times on 429, as its Retry-After says,
 * on 5xx and on a broken connection; so a card may come twice. All tries together take 25 s by default: who called
 * forwardAlert waits. Goes through the proxy of the environment.
 */
export async function postToTeams(
  url: string,
  message: unknown,
  { deadlineMs = 25_000 }: { readonly deadlineMs?: number } = {},
): Promise<Result<void, TeamsFailure>> {
  const { createPipelineRequest, createDefaultHttpClient } = await import("@azure/core-rest-pipeline");
  if (!URL.canParse(url) || new URL(url).protocol !== "https:") {
    return failure({ kind: "refused", message: "What the secret holds is not an https URL." });
  }
  const request = createPipelineRequest({
    url,
    method: "POST",
    body: JSON.stringify(message),
    abortSignal: AbortSignal.timeout(deadlineMs),
  });
  request.headers.set("content-type", "application/json");
  try {
    const { status } = await (await pipeline()).sendRequest(createDefaultHttpClient(), request);
    return status >= 200 && status <= 299 ? success(undefined) : failure(refusal(status));
  } catch (error) {
    const { code } = refusalOf(error);
    const late = error instanceof Error && error.name === "AbortError";
    const why = late ? ` within ${deadlineMs / 1000} s` : code === undefined ? "" : ` (${code})`;
    return failure({ kind: "unavailable", message: `The Teams workflow could not be reached${why}.` });
  }
}

/** Without redirects: the signature must not travel to another host. */
async function pipeline(): Promise<Pipeline> {
  const { createPipelineFromOptions, redirectPolicyName } = await import("@azure/core-rest-pipeline");
  const made = createPipelineFromOptions({
    retryOptions: { maxRetries: 3, retryDelayInMs: 500, maxRetryDelayInMs: 4000 },
    userAgentOptions: { userAgentPrefix: "fleetmend" },
  });
  made.removePolicy({ name: redirectPolicyName });
  return made;
}

function refusal(status: number): TeamsFailure {
  const passing = status === 408 || status === 429 || status >= 500;
  return { kind: passing ? "unavailable" : "refused", status, message: `The Teams workflow answered ${status}.` };
}
