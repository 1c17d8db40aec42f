// Who gave an order, for the report.
import type { HttpRequest } from "@azure/functions";

/**
 * The Entra principal where the platform has authenticated the request: it then sets the header itself and drops a client's
 * own (learn.microsoft.com/azure/app-service/configure-authentication-user-identities). Anybody could send the header
 * otherwise, so without that all that is known is that the caller has a key.
 */
export function callerOf({ headers }: HttpRequest, environment: Readonly<Record<string, string | undefined>>): string {
  const isAuthenticated = environment.WEBSITE_AUTH_ENABLED?.toLowerCase() === "true";
  const principal = isAuthenticated ? headers.get("x-ms-client-principal-name")?.trim() : undefined;
  return principal === undefined || principal === "" ? "key" : principal;
}
