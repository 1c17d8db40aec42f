// Key Vault's getSecret, with the challenge that tells a client where to get its token. Secrets have one version. Not here:
// any other operation of a vault.
import { randomBytes } from "node:crypto";
import type { IncomingMessage, RequestListener } from "node:http";
import { answering, azureError, urlOf, type JsonAnswer } from "./json-exchange.ts";
import { audiences, type Identity } from "./identity.ts";

const tenant = "72f988bf-0000-4000-8000-2d7cd011db47";

// WWW-Authenticate of a vault (Microsoft Learn, "Authentication, requests and responses").
const challenge = `Bearer authorization="https://login.microsoftonline.com/${tenant}", resource="${audiences.vault}"`;

/** Answers for one vault. `secrets` is read at each request, so that a test can change it. */
export function vaultHost(host: string, secrets: ReadonlyMap<string, string>, identity: Identity): RequestListener {
  const version = randomBytes(16).toString("hex");
  const respond = (request: IncomingMessage): JsonAnswer => {
    if (!identity.accepts(request.headers.authorization, "vault")) return unauthorized();
    const { pathname, searchParams } = urlOf(request);
    if (searchParams.get("api-version") === null) return badRequest("The api-version is missing.");
    const [, name, asked = ""] = /^\/secrets\/([0-9A-Za-z-]{1,127})(?:\/([0-9a-f]*))?$/.exec(pathname) ?? [];
    if (request.method !== "GET" || name === undefined) return badRequest("the lab's vault knows getSecret only");
    const value = secrets.get(name);
    if (value === undefined || !["", version].includes(asked)) return notFound(name);
    const id = `https://${host}/secrets/${name}/${version}`;
    const attributes = { enabled: true, recoveryLevel: "Recoverable+Purgeable", recoverableDays: 90 };
    return { status: 200, body: { value, id, attributes, tags: {} } };
  };
  return answering((request) => Promise.resolve(respond(request)));
}

function unauthorized(): JsonAnswer {
  const message = "AKV10000: Request is missing a Bearer or PoP token.";
  return {
    status: 401,
    headers: { "www-authenticate": challenge },
    body: azureError("Unauthorized", message),
  };
}

function notFound(name: string): JsonAnswer {
  const message = `A secret with (name/id) ${name} was not found in this key vault.`;
  return { status: 404, body: azureError("SecretNotFound", message) };
}

function badRequest(message: string): JsonAnswer {
  return { status: 400, body: azureError("BadParameter", message) };
}
