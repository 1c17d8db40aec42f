// One Key Vault on the wire, as far as fleetmend uses it: the challenge that tells a client where to get its token, secrets with
// versions, tags and soft delete, and no value of a disabled version. Not here: keys, certificates, purge, access policies.
// Source: learn.microsoft.com/rest/api/keyvault/secrets (2026-04-01 and before, which differ in nothing of this).
import { randomBytes } from "node:crypto";
import type { IncomingMessage, RequestListener } from "node:http";
import * as v from "valibot";
import { answering, azureError, bytesOf, urlOf, type JsonAnswer } from "./json-exchange.ts";
import { audiences, type Identity } from "./identity.ts";

export interface Vault {
  readonly host: RequestListener;
  /** A new version, the newest; answers its id. */
  put(name: string, value: string): string;
  /** Soft-deletes the secret: its name is taken until it is recovered. */
  remove(name: string): void;
  /** The values of the enabled versions, newest first. */
  enabledValues(name: string): readonly string[];
  /** What was asked so far, such as `PUT /secrets/teams`. The challenge's own round is not counted. */
  readonly requests: readonly string[];
}

export interface VaultOptions {
  /** Such as `kv-osmo.vault.azure.net`. */
  readonly host: string;
  readonly identity: Identity;
  readonly now?: () => Date;
  /** What is in it at first: a version each. */
  readonly secrets?: Readonly<Record<string, string>>;
}

interface Version {
  readonly version: string;
  readonly value: string;
  readonly created: number;
  enabled: boolean;
  readonly exp: number | undefined;
  tags: Readonly<Record<string, string>>;
}

interface Secret {
  /** Newest first. */
  readonly versions: Version[];
  isDeleted: boolean;
}

const tenant = "72f988bf-0000-4000-8000-2d7cd011db47";

// WWW-Authenticate of a vault (Microsoft Learn, "Authentication, requests and responses").
const challenge = `Bearer authorization="https://login.microsoftonline.com/${tenant}", resource="${audiences.vault}"`;

const tags = v.optional(v.record(v.string(), v.string()));
const setBody = v.object({
  value: v.string(),
  tags,
  attributes: v.optional(v.object({ enabled: v.optional(v.boolean()), exp: v.optional(v.number()) })),
});
const updateBody = v.object({ tags, attributes: v.optional(v.object({ enabled: v.optional(v.boolean()) })) });

export function createVault({ host, identity, now = () => new Date(), secrets: first = {} }: VaultOptions): Vault {
  const secrets = new Map<string, Secret>();
  const requests: string[] = [];

  const add = (name: string, { value, tags: given = {}, attributes = {} }: v.InferOutput<typeof setBody>): Version => {
    const secret = secrets.get(name) ?? { versions: [], isDeleted: false };
    secrets.set(name, secret);
    const created = Math.floor(now().getTime() / 1000);
    const { enabled = true, exp } = attributes;
    const version = { version: randomBytes(16).toString("hex"), value, created, enabled, exp, tags: given };
    secret.versions.unshift(version);
    return version;
  };
  const idOf = (name: string, { version }: Version): string => `https://${host}/secrets/${name}/${version}`;
  const shown = (name: string, one: Version) => ({
    id: idOf(name, one),
    attributes: {
      enabled: one.enabled,
      created: one.created,
      updated: one.created,
      ...(one.exp !== undefined && { exp: one.exp }),
      recoveryLevel: "Recoverable+Purgeable",
      recoverableDays: 90,
    },
    tags: one.tags,
  });
  const answer = (name: string, one: Version): JsonAnswer => ({
    status: 200,
    body: { value: one.value, ...shown(name, one) },
  });

  const get = (name: string, version: string): JsonAnswer => {
    const secret = secrets.get(name);
    const found = secret?.versions.find((one) => version === "" || one.version === version);
    if (secret === undefined || secret.isDeleted || found === undefined) return notFound(name);
    return found.enabled ? answer(name, found) : disabled();
  };
  const change = (name: string, version: string, body: unknown): JsonAnswer => {
    const found = secrets.get(name)?.versions.find((one) => one.version === version);
    if (found === undefined || secrets.get(name)?.isDeleted === true) return notFound(name);
    const { tags: given, attributes } = v.parse(updateBody, body);
    found.enabled = attributes?.enabled ?? found.enabled;
    found.tags = given ?? found.tags;
    return { status: 200, body: shown(name, found) };
  };
  const listVersions = (name: string): JsonAnswer => {
    const secret = secrets.get(name);
    // In an order that means nothing, as far as is known of life.
    const versions = (secret === undefined || secret.isDeleted ? [] : secret.versions).toSorted((one, other) =>
      one.version < other.version ? -1 : 1,
    );
    return { status: 200, body: { value: versions.map((one) => shown(name, one)), nextLink: null } };
  };
  const deleted = (name: string): JsonAnswer => {
    const secret = secrets.get(name);
    const [newest] = secret?.versions ?? [];
    if (secret?.isDeleted !== true || newest === undefined) return notFound(name);
    return { status: 200, body: { ...shown(name, newest), recoveryId: `https://${host}/deletedsecrets/${name}` } };
  };
  const recover = (name: string): JsonAnswer => {
    const answered = deleted(name);
    const secret = secrets.get(name);
    if (answered.status !== 200 || secret === undefined) return answered;
    secret.isDeleted = false;
    return listVersions(name).status === 200 ? { status: 200, body: shown(name, newestOf(secret)) } : answered;
  };

  const respond = async (request: IncomingMessage): Promise<JsonAnswer> => {
    const bytes = await bytesOf(request);
    if (!identity.accepts(request.headers.authorization, "vault")) return unauthorized();
    const { pathname, searchParams } = urlOf(request);
    if (searchParams.get("api-version") === null) return badRequest("The api-version is missing.");
    const { method = "" } = request;
    requests.push(`${method} ${pathname}`);
    const [, place, name = "", rest = ""] =
      /^\/(secrets|deletedsecrets)\/([0-9A-Za-z-]{1,127})(?:\/(.*))?$/.exec(pathname) ?? [];
    const body = (): unknown => JSON.parse(bytes.toString("utf8"));
    switch (`${method} ${place ?? ""}${rest === "versions" || rest === "recover" ? `/${rest}` : ""}`) {
      case "GET secrets":
        return get(name, rest);
      case "GET secrets/versions":
        return listVersions(name);
      case "PUT secrets":
        return secrets.get(name)?.isDeleted === true
          ? softDeleted(name)
          : answer(name, add(name, v.parse(setBody, body())));
      case "PATCH secrets":
        return change(name, rest, body());
      case "GET deletedsecrets":
        return deleted(name);
      case "POST deletedsecrets/recover":
        return recover(name);
      default:
        return badRequest(`the lab's vault does not know ${method} ${pathname}`);
    }
  };

  for (const [name, value] of Object.entries(first)) add(name, { value });
  return {
    host: answering(respond),
    put: (name, value) => idOf(name, add(name, { value })),
    remove(name) {
      const secret = secrets.get(name);
      if (secret !== undefined) secret.isDeleted = true;
    },
    enabledValues: (name) =>
      (secrets.get(name)?.versions ?? []).filter(({ enabled }) => enabled).map(({ value }) => value),
    requests,
  };
}

function newestOf({ versions }: Secret): Version {
  const [newest] = versions;
  if (newest === undefined) throw new Error("a secret has a version");
  return newest;
}

function unauthorized(): JsonAnswer {
  const message = "AKV10000: Request is missing a Bearer or PoP token.";
  return { status: 401, headers: { "www-authenticate": challenge }, body: azureError("Unauthorized", message) };
}

function notFound(name: string): JsonAnswer {
  const message = `A secret with (name/id) ${name} was not found in this key vault.`;
  return { status: 404, body: azureError("SecretNotFound", message) };
}

function badRequest(message: string): JsonAnswer {
  return { status: 400, body: azureError("BadParameter", message) };
}

const inner = (code: string, message: string, innererror: string): unknown => ({
  error: { code, message, innererror: { code: innererror } },
});

function disabled(): JsonAnswer {
  const message = "Operation get is not allowed on a disabled secret.";
  return { status: 403, body: inner("Forbidden", message, "SecretDisabled") };
}

function softDeleted(name: string): JsonAnswer {
  const message = `Secret ${name} is currently in a deleted but recoverable state, and its name cannot be reused.`;
  return { status: 409, body: inner("Conflict", message, "ObjectIsDeletedButRecoverable") };
}
