// What OSMO keeps in PostgreSQL, as far as credentials go: users, roles, tokens by hash, the service's configuration, and
// backends. With the constraints that decide behaviour; not with SQL.
import { createHash, generateKeyPair, randomUUID, type KeyObject } from "node:crypto";
import { promisify } from "node:util";

export interface RoleOfUser {
  readonly name: string;
  readonly assignedBy: string;
  readonly assignedAt: Date;
}

export interface UserRow {
  readonly id: string;
  readonly createdAt: Date;
  readonly createdBy: string;
  readonly roles: RoleOfUser[];
}

export interface TokenRow {
  readonly userName: string;
  readonly tokenName: string;
  /** SHA-256 of the value, in hexadecimal. The value itself is kept nowhere. */
  readonly hash: string;
  /** `YYYY-MM-DD`: the token dies at 00:00 UTC at the start of that day. */
  expiresOn: string;
  readonly description: string;
  roles: string[];
}

export interface BackendRow {
  readonly name: string;
  readonly version: string;
  readonly createdAt: Date;
  lastHeartbeat: Date;
}

export interface SigningKey {
  readonly id: string;
  readonly publicKey: KeyObject;
  /** Undefined once a PUT has written the mask over it. */
  privateKey: KeyObject | undefined;
}

export interface OsmoDatabase {
  /** Whether PostgreSQL answers. */
  isUp: boolean;
  readonly users: UserRow[];
  readonly roles: readonly string[];
  readonly tokens: TokenRow[];
  readonly backends: BackendRow[];
  readonly signingKey: SigningKey;
  serviceBaseUrl: string;
  maxTokenDuration: string;
}

let sharedKeys: Promise<{ readonly publicKey: KeyObject; readonly privateKey: KeyObject }> | undefined;

/** An empty database, with the roles that OSMO ships. All of one process sign with one RSA key: making it is slow. */
export async function createOsmoDatabase(): Promise<OsmoDatabase> {
  sharedKeys ??= promisify(generateKeyPair)("rsa", { modulusLength: 2048 });
  const { publicKey, privateKey } = await sharedKeys;
  return {
    isUp: true,
    users: [],
    roles: ["osmo-admin", "osmo-backend", "osmo-ctrl", "osmo-default", "osmo-user"],
    tokens: [],
    backends: [],
    signingKey: { id: randomUUID(), publicKey, privateKey },
    serviceBaseUrl: "",
    maxTokenDuration: "365d",
  };
}

export const hashOf = (value: string): string => createHash("sha256").update(value).digest("hex");

export type InsertFailure = "name-exists" | "hash-exists";

/**
 * The primary key (user, name), and `unique_access_token`: the hash is unique over the whole table (NVIDIA/OSMO 6.2.10,
 * src/utils/connectors/postgres.py:1190). OSMO tells both with the same words.
 */
export function insertToken(database: OsmoDatabase, row: TokenRow): InsertFailure | undefined {
  const isNamed = ({ userName, tokenName }: TokenRow): boolean =>
    userName === row.userName && tokenName === row.tokenName;
  if (database.tokens.some(isNamed)) return "name-exists";
  if (database.tokens.some(({ hash }) => hash === row.hash)) return "hash-exists";
  database.tokens.push(row);
  return undefined;
}

/** Whether there was one to delete. */
export function deleteToken(database: OsmoDatabase, userName: string, tokenName: string): boolean {
  const index = database.tokens.findIndex((row) => row.userName === userName && row.tokenName === tokenName);
  if (index >= 0) database.tokens.splice(index, 1);
  return index >= 0;
}
