// The storage account of queues and tables: how it is reached and what its refusals mean. Not here: what is kept in it.
import type { TokenCredential } from "@azure/identity";
import { StoreError } from "../fleet/table.ts";

/**
 * By connection string, as for Azurite, or by name with the identity, as in Azure. Only the public cloud's endpoints are
 * known for a name.
 */
export type StorageAccount =
  { readonly connectionString: string } | { readonly accountName: string; readonly credential: TokenCredential };

/** The account's endpoint for one service. */
export function endpointOf(accountName: string, service: "table" | "queue"): string {
  return `https://${accountName}.${service}.core.windows.net`;
}

/** Makes a client of a connection string. Throws without the SDK's own words where it is none. */
export function fromConnectionString<T>(make: () => T): T {
  try {
    return make();
  } catch {
    throw new Error("AzureWebJobsStorage is not a connection string of a storage account.");
  }
}

/** Whether the account is an emulator on this machine: the only one that may be spoken to without TLS. */
export function isLocalEmulator(connectionString: string): boolean {
  const parts = connectionString.split(";").map((part) => part.trim());
  if (parts.some((part) => /^UseDevelopmentStorage=true$/i.test(part))) return true;
  const endpoints = parts.flatMap((part) => /^\w+Endpoint=(.+)$/i.exec(part)?.[1] ?? []);
  return endpoints.length > 0 && endpoints.every(isLoopback);
}

function isLoopback(endpoint: string): boolean {
  return URL.canParse(endpoint) && ["127.0.0.1", "localhost", "[::1]"].includes(new URL(endpoint).hostname);
}

/**
 * For every client of the account. Each attempt may take a while and the whole not longer than the deadline of a call;
 * what is tried again may have happened before, which the callers look into.
 */
export const storageRetries = { maxRetries: 3, retryDelayInMs: 250, maxRetryDelayInMs: 2000 };

/** For one call, its retries included. */
export const storageDeadlineMs = 20_000;

/** What an SDK's RestError tells, by its fields alone. */
export interface Refusal {
  readonly status?: number;
  /** The service's own word, such as `EntityAlreadyExists`, or Node's, such as `ECONNREFUSED`. */
  readonly code?: string;
}

/**
 * Reads a thrown RestError. Table storage has its word in `details.odataError.code` (@azure/data-tables), the others in
 * `code` (@azure/storage-queue: also `details.errorCode`).
 */
export function refusalOf(error: unknown): Refusal {
  if (!(error instanceof Error)) return {};
  const status = numberAt(error, "statusCode");
  const details: unknown = Reflect.get(error, "details");
  const odata: unknown = isObject(details) ? Reflect.get(details, "odataError") : undefined;
  const code =
    (isObject(odata) ? textAt(odata, "code") : undefined) ??
    (isObject(details) ? textAt(details, "errorCode") : undefined) ??
    textAt(error, "code");
  return { ...(status !== undefined && { status }), ...(code !== undefined && { code }) };
}

/**
 * The error for the use cases. Its text has what was asked, status and code, and nothing of the SDK's own text, which may
 * quote the request. Not passed on as `cause` either: the SDK's error holds the request with its Authorization header.
 */
export function storeError(asked: string, error: unknown): StoreError {
  const { status, code } = refusalOf(error);
  if (error instanceof Error && error.name === "AbortError") {
    return new StoreError(`Storage gave no answer within ${storageDeadlineMs / 1000} s: ${asked}.`);
  }
  if (status === undefined) {
    const name = code ?? (error instanceof Error ? error.name : "unknown error");
    return new StoreError(`Storage could not be asked (${name}): ${asked}.`);
  }
  return new StoreError(`Storage answered ${status}${code === undefined ? "" : ` ${code}`}: ${asked}.${hint(status)}`);
}

function hint(status: number): string {
  if (status !== 401 && status !== 403) return "";
  return " The identity needs Storage Table Data Contributor and Storage Queue Data Contributor on the account.";
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function textAt(value: object, name: string): string | undefined {
  const field: unknown = Reflect.get(value, name);
  return typeof field === "string" && field !== "" ? field : undefined;
}

function numberAt(value: object, name: string): number | undefined {
  const field: unknown = Reflect.get(value, name);
  return typeof field === "number" ? field : undefined;
}
