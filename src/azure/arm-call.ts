// One question to Azure Resource Manager: its deadline, its retries, and what a refusal means.
import type { DirectoryFailure } from "../fleet/managed-cluster.ts";
import { failure, success, type Result } from "../result.ts";
import type { EntraCredential } from "./entra-credential.ts";
import { refusalOf } from "./storage-account.ts";

export interface ArmCaller {
  readonly credential: EntraCredential;
  readonly sleep: (milliseconds: number) => Promise<void>;
  /** For one question, its retries included. Default 60,000. */
  readonly deadlineMs?: number;
}

// The SDK waits as long as a Retry-After says, at every try, out of our sight: so it does not retry, and we do.
export const armClientOptions = { retryOptions: { maxRetries: 0 } };

const backoffMs = [500, 2000];
/** A longer Retry-After is handed to the caller: a message can wait in its queue, and an instance costs money. */
const longestRetryAfterSeconds = 10;

/**
 * `work` makes the SDK's call with the signal. Tried up to three times on 429 with a Retry-After of 10 s at most, on 5xx
 * and on a broken connection. `asked` is for people, such as `the cluster aks-1`.
 */
export async function askArm<T>(
  caller: ArmCaller,
  asked: string,
  work: (abortSignal: AbortSignal) => Promise<T>,
): Promise<Result<T, DirectoryFailure>> {
  const deadlineMs = caller.deadlineMs ?? 60_000;
  const signal = AbortSignal.timeout(deadlineMs);
  for (let number = 0; ; number += 1) {
    try {
      return success(await work(signal));
    } catch (error) {
      const failed = signal.aborted ? late(asked, deadlineMs) : failureOf(caller, asked, error);
      const pause = backoffMs[number];
      const { retryAfterSeconds = 0 } = failed;
      const passing = failed.kind === "throttled" || failed.kind === "unavailable";
      if (pause === undefined || !passing || signal.aborted || retryAfterSeconds > longestRetryAfterSeconds) {
        return failure(failed);
      }
      await caller.sleep(Math.max(pause, retryAfterSeconds * 1000));
    }
  }
}

function late(asked: string, deadlineMs: number): DirectoryFailure {
  const message = `Azure Resource Manager gave no answer about ${asked} within ${deadlineMs / 1000} s.`;
  return { kind: "unavailable", message, todo: outage };
}

const outage = "Look at https://azure.status.microsoft, and whether management.azure.com can be reached from here.";

/** By status and code alone. The SDK's text may quote the request, and is not used. */
function failureOf({ credential }: ArmCaller, asked: string, error: unknown): DirectoryFailure {
  const noToken = credential.failureOf(error);
  if (noToken !== undefined) return noToken;
  const { status, code } = refusalOf(error);
  if (status === undefined && !(error instanceof Error && (code !== undefined || error.name === "RestError"))) {
    throw error;
  }
  const said = status === undefined ? "could not be asked" : `answered ${status}`;
  const message = `Azure Resource Manager ${said} about ${asked}${code === undefined ? "" : ` (${code})`}.`;
  const retryAfterSeconds = retryAfterOf(error);
  return {
    kind: kindOf(status),
    message,
    todo: todoOf(status),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  };
}

function kindOf(status: number | undefined): DirectoryFailure["kind"] {
  switch (status) {
    case 401:
      return "credentials";
    case 403:
      return "forbidden";
    case 404:
      return "not-found";
    case 429:
      return "throttled";
    default:
      return "unavailable";
  }
}

function todoOf(status: number | undefined): string {
  switch (status) {
    case 401:
      return "az account show   # is the identity of the subscription's tenant?";
    case 403:
      return "Give the identity the role `fleetmend cluster reader` (infra/) on the subscription; it takes up to 5 minutes to count.";
    case 404:
      return "az aks list --output table   # is it still there, and is FLEETMEND_SUBSCRIPTION_ID right?";
    case 429:
      return "Nothing: it is asked again. Where it stays, look for another program that lists clusters.";
    default:
      return outage;
  }
}

/** Retry-After in seconds, in either of its forms (RFC 9110 §10.2.3). */
function retryAfterOf(error: unknown): number | undefined {
  const response: unknown = error instanceof Error ? Reflect.get(error, "response") : undefined;
  if (typeof response !== "object" || response === null) return undefined;
  const headers: unknown = Reflect.get(response, "headers");
  if (!hasGet(headers)) return undefined;
  const text = headers.get("retry-after");
  if (typeof text !== "string") return undefined;
  if (/^\d+$/.test(text.trim())) return Number(text);
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - Date.now()) / 1000));
}

function hasGet(headers: unknown): headers is { readonly get: (name: string) => unknown } {
  return typeof headers === "object" && headers !== null && "get" in headers && typeof headers.get === "function";
}
