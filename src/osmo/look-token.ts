// Observes one token under rotation: Key Vault, OSMO and, where it has one, its copy and the pods that read it. All of it, or
// the reason why nothing can be planned.
import { failure, success, type Result } from "../result.ts";
import { proveAdmin, type ProvenAdmin } from "./look-admin.ts";
import { haltOfOsmo, type Halt } from "./look-failure.ts";
import { readConsumer, readCopy, type ReadCopy } from "./look-operator.ts";
import { readSecret, type ReadSecret } from "./look-vault.ts";
import type { Exchange } from "./osmo-api.ts";
import { exchangesOf, verdictOf, type RotationParts } from "./rotation-parts.ts";
import type { SecretText } from "./secret-text.ts";
import type { TokenCredential } from "./token-credential.ts";
import type { ConsumerView, CopyView, TokenView, VersionView } from "./token-view.ts";

export interface TokenLook {
  readonly view: TokenView;
  /** The values seen, by their fingerprints: for the step that sends one. */
  readonly values: ReadonlyMap<string, SecretText>;
  readonly admin: ProvenAdmin | undefined;
}

interface Looking {
  readonly parts: RotationParts;
  readonly credential: TokenCredential;
  readonly exchange: (token: SecretText) => Promise<Exchange>;
  readonly values: Map<string, SecretText>;
}

export async function lookAtToken(parts: RotationParts, credential: TokenCredential): Promise<Result<TokenLook, Halt>> {
  const looking: Looking = { parts, credential, exchange: exchangesOf(parts.osmo), values: new Map() };
  const secret = await readSecret(parts.vault, credential.vaultSecret);
  if (!secret.ok) return secret;
  const versions = await versionViews(looking, secret.value);
  if (!versions.ok) return versions;
  const copy = await copyView(looking);
  if (!copy.ok) return copy;
  const consumers = await consumerViews(looking);
  if (!consumers.ok) return consumers;
  const admin = await proveAdmin(parts, looking.exchange);
  if (!admin.ok) return admin;
  const known = admin.value === undefined ? nothingKnown : await askOsmo(looking, admin.value);
  if (!known.ok) return known;
  const view: TokenView = {
    at: parts.now(),
    routes: parts.osmo.routes,
    softDeleted: secret.value.softDeleted,
    versions: versions.value,
    consumers: consumers.value,
    ...known.value,
    ...(copy.value !== undefined && { copy: copy.value }),
    ...(admin.value !== undefined && { admin: { source: admin.value.source, user: admin.value.user } }),
  };
  return success({ view, values: looking.values, admin: admin.value });
}

async function versionViews(looking: Looking, secret: ReadSecret): Promise<Result<readonly VersionView[], Halt>> {
  const views: VersionView[] = [];
  for (const { version, enabled, createdAt, tags, value } of secret.versions) {
    const taggedName = tags[tokenTag];
    const isAdopted = tags[originTag] === adopted;
    const known = { version, enabled, createdAt, isAdopted, ...(taggedName !== undefined && { taggedName }) };
    const judged = value === undefined ? success({}) : await judge(looking, value);
    if (!judged.ok) return judged;
    views.push({ ...known, ...judged.value });
  }
  return success(views);
}

/** The tag of a version that names its token. */
export const tokenTag = "osmo-token";
/** The tag of a version that says where its value was first. */
export const originTag = "origin";
export const adopted = "kubernetes";

async function judge({ parts, credential, exchange, values }: Looking, value: SecretText) {
  values.set(value.fingerprint, value);
  const exchanged = await exchange(value);
  if (exchanged.exchange === "unknown") return failure(haltOfOsmo(exchanged.failure, parts.osmo.where));
  const verdict = verdictOf(exchanged, credential, parts.osmo.routes);
  return success({ fingerprint: value.fingerprint, ...(verdict !== undefined && { verdict }) });
}

async function copyView(looking: Looking): Promise<Result<CopyView | "missing" | undefined, Halt>> {
  const { parts, credential } = looking;
  if (credential.copy === undefined) return success(undefined);
  const read: Result<ReadCopy | "missing", Halt> = await readCopy(
    parts.cluster,
    credential.copy.secret,
    credential.copy.key,
  );
  if (!read.ok || read.value === "missing") return read;
  const { value, managed } = read.value;
  if (value === undefined) return success({ managed });
  const judged = await judge(looking, value);
  return judged.ok ? success({ managed, ...judged.value }) : judged;
}

async function consumerViews({ parts, credential }: Looking): Promise<Result<readonly ConsumerView[], Halt>> {
  const views: ConsumerView[] = [];
  for (const name of credential.copy?.consumers ?? []) {
    const read = await readConsumer(parts.cluster, name);
    if (!read.ok) return read;
    if (read.value === undefined) {
      return failure({ plan: "done", why: `there is no Deployment ${name.namespace}/${name.name} here` });
    }
    views.push(read.value);
  }
  return success(views);
}

const nothingKnown = success({ user: undefined, tokens: [] });

async function askOsmo({ parts, credential }: Looking, { calls }: ProvenAdmin) {
  const user = await calls.user(credential.user);
  if (!user.ok) return failure(haltOfOsmo(user.error, parts.osmo.where));
  const tokens = await calls.tokens(credential.user);
  if (!tokens.ok) return failure(haltOfOsmo(tokens.error, parts.osmo.where));
  const asked = { user: user.value, tokens: tokens.value };
  const name = credential.copy?.backend;
  if (name === undefined) return success(asked);
  const backends = await calls.backends();
  if (!backends.ok) return failure(haltOfOsmo(backends.error, parts.osmo.where));
  const heartbeat = backends.value.find((backend) => backend.name === name && backend.online)?.lastHeartbeat;
  return success({ ...asked, ...(heartbeat !== undefined && { heartbeat }) });
}
