// VaultApi's contract, on the vault of the rotation's own tests and on Key Vault's SDK over the wire: what holds for one holds for
// both, so that what rotation is tested with is what it meets.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openKeyVault } from "../../src/azure/key-vault.ts";
import { createVault, type Vault } from "../../src/lab/azure/vault.ts";
import { secretText } from "../../src/osmo/secret-text.ts";
import type { VaultApi } from "../../src/osmo/vault-api.ts";
import { MemoryVault } from "../osmo/memory-vault.ts";
import { startAzureWorld, type AzureWorld } from "./azure-world.ts";

interface Opened {
  readonly api: VaultApi;
  /** As somebody else does it. */
  readonly put: (name: string, value: string) => void;
  readonly remove: (name: string) => void;
}

const expiresAt = new Date("2027-03-01T00:00:00Z");
const tags = { CredentialId: "backend-operator" };
let world: AzureWorld;
let wire: Vault;
let time = Date.parse("2026-12-01T06:00:00Z");
const now = (): Date => new Date((time += 1000));

beforeAll(async () => {
  world = await startAzureWorld();
  wire = createVault({ host: "kv-osmo.vault.azure.net", identity: world.identity, now });
  await world.wire.serve("kv-osmo.vault.azure.net", wire.host);
});
afterAll(() => world.stop());

const vaults: readonly (readonly [string, () => Promise<Opened>])[] = [
  [
    "in memory",
    () => {
      const memory = new MemoryVault(now);
      return Promise.resolve({
        api: memory.api(),
        put: (name, value) => void memory.put(name, value),
        remove(name) {
          const secret = memory.secrets.get(name);
          if (secret !== undefined) secret.deleted = true;
        },
      });
    },
  ],
  [
    "on the wire",
    async () => ({
      api: await openKeyVault(world.credential, "kv-osmo"),
      put: (name, value) => void wire.put(name, value),
      remove: (name) => {
        wire.remove(name);
      },
    }),
  ],
];

let count = 0;
const freshName = (): string => `secret-${(count += 1)}`;
const valueOf = async (api: VaultApi, name: string, version: string): Promise<string> => {
  const answer = await api.value(name, version);
  if (!answer.ok) throw new Error(answer.error.message);
  return answer.value.reveal();
};

describe.each(vaults)("a vault %s", (_where, open) => {
  it("says of a name that it is absent, and then which versions it has, newest first, without a value", async () => {
    const { api } = await open();
    const name = freshName();
    expect(await api.look(name)).toEqual({ ok: true, value: { secret: "absent" } });
    const first = await api.set(name, secretText("sekret-1"), { expiresAt, tags });
    const second = await api.set(name, secretText("sekret-2"), { expiresAt, tags: {} });
    if (!first.ok || !second.ok) throw new Error("not set");
    expect(first.value).toMatchObject({ enabled: true, tags, expiresAt });
    const seen = await api.look(name);
    expect(seen).toMatchObject({
      ok: true,
      value: {
        secret: "present",
        versions: [{ version: second.value.version }, { version: first.value.version, tags }],
      },
    });
    expect(JSON.stringify(seen)).not.toContain("sekret");
    expect(await valueOf(api, name, first.value.version)).toBe("sekret-1");
    expect(await valueOf(api, name, second.value.version)).toBe("sekret-2");
  });

  it("gives no value of a disabled version, and the newest one's still", async () => {
    const { api } = await open();
    const name = freshName();
    const first = await api.set(name, secretText("one"), { expiresAt, tags });
    const second = await api.set(name, secretText("two"), { expiresAt, tags });
    if (!first.ok || !second.ok) throw new Error("not set");
    expect(await api.disable(name, first.value.version)).toEqual({ ok: true, value: undefined });
    expect(await api.value(name, first.value.version)).toMatchObject({ ok: false, error: { kind: "disabled" } });
    expect(await valueOf(api, name, second.value.version)).toBe("two");
    expect(await api.look(name)).toMatchObject({
      value: { versions: [{ enabled: true }, { version: first.value.version, enabled: false }] },
    });
  });

  it("says that a name is soft-deleted, does not set it then, and has its versions again when it is recovered", async () => {
    const { api, put, remove } = await open();
    const name = freshName();
    put(name, "before");
    remove(name);
    expect(await api.look(name)).toEqual({ ok: true, value: { secret: "soft-deleted" } });
    expect(await api.set(name, secretText("after"), { expiresAt, tags })).toMatchObject({
      ok: false,
      error: { kind: "soft-deleted" },
    });
    expect(await api.recover(name)).toEqual({ ok: true, value: undefined });
    expect(await api.set(name, secretText("after"), { expiresAt, tags })).toMatchObject({ ok: true });
    expect(await api.look(name)).toMatchObject({ value: { secret: "present", versions: [{}, {}] } });
  });

  it("knows no version that there is not", async () => {
    const { api, put } = await open();
    const name = freshName();
    put(name, "one");
    const missing = "0123456789abcdef0123456789abcdef";
    expect(await api.disable(name, missing)).toMatchObject({ ok: false, error: { kind: "not-found" } });
  });
});

it("tells the newest of two versions of one second", async () => {
  const still = createVault({ host: "kv-still.vault.azure.net", identity: world.identity, now: () => expiresAt });
  await world.wire.serve("kv-still.vault.azure.net", still.host);
  const api = await openKeyVault(world.credential, "kv-still");
  // By chance alone it would be right every time once in 256.
  for (let n = 0; n < 8; n += 1) {
    await api.set("name", secretText(`before-${n}`), { expiresAt, tags });
    const last = await api.set("name", secretText(`after-${n}`), { expiresAt, tags });
    const seen = await api.look("name");
    if (!last.ok || !seen.ok || seen.value.secret !== "present") throw new Error("not there");
    expect(seen.value.versions[0]?.version).toBe(last.value.version);
  }
});

describe("Key Vault, where it does not answer as it should", () => {
  it.each([
    [403, "forbidden", "Key Vault Secrets Officer"],
    [401, "forbidden", "answered 401"],
    [400, "invalid", "answered 400"],
    [429, "throttled", "answered 429"],
    [503, "server-error", "answered 503"],
  ])("%i is %s, and no text of the answer is passed on", async (status, kind, text) => {
    let writes = 0;
    await world.wire.serve("kv-odd.vault.azure.net", (request, response) => {
      if (request.headers.authorization === undefined) {
        const resource = 'resource="https://vault.azure.net"';
        const challenge = `Bearer authorization="https://login.microsoftonline.com/t", ${resource}`;
        response.writeHead(401, { "www-authenticate": challenge }).end();
        return;
      }
      writes += 1;
      response.writeHead(status, { "content-type": "application/json", "retry-after": "0" });
      response.end('{"error":{"code":"Odd","message":"sekret-caller"}}');
    });
    const api = await openKeyVault(world.credential, "kv-odd");
    const answer = await api.set("name", secretText("sekret-value"), { expiresAt, tags });
    expect(answer).toMatchObject({ ok: false, error: { kind, message: expect.stringContaining(text) as string } });
    expect(JSON.stringify(answer)).not.toContain("sekret");
    // Sent once: a second one would make a second version.
    expect(writes).toBe(1);
  });

  it.each([
    ["ForbiddenByRbac", "The identity needs Key Vault Secrets Officer on it."],
    ["AccessDenied", "The identity needs Key Vault Secrets Officer on it."],
    ["ForbiddenByConnection", "The app has no way in: the vault needs a private endpoint or a firewall rule."],
    ["ForbiddenByFirewall", "The app has no way in: the vault needs a private endpoint or a firewall rule."],
    ["Odd", "The identity needs Key Vault Secrets Officer on it, and the vault's firewall must let the app in."],
  ])("403 for %s says whether the role or the way in is missing, also to who lists", async (code, hint) => {
    await world.wire.serve("kv-shut.vault.azure.net", (request, response) => {
      if (request.headers.authorization === undefined) {
        const resource = 'resource="https://vault.azure.net"';
        const challenge = `Bearer authorization="https://login.microsoftonline.com/t", ${resource}`;
        response.writeHead(401, { "www-authenticate": challenge }).end();
        return;
      }
      response.writeHead(403, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { code: "Forbidden", message: "sekret-caller", innererror: { code } } }));
    });
    const api = await openKeyVault(world.credential, "kv-shut");
    const message = (what: string) => `kv-shut.vault.azure.net, asked ${what}, answered 403 Forbidden. ${hint}`;
    expect(await api.look("name")).toEqual({ ok: false, error: { kind: "forbidden", message: message("about name") } });
    expect(await api.set("name", secretText("sekret-value"), { expiresAt, tags })).toEqual({
      ok: false,
      error: { kind: "forbidden", message: message("to set name") },
    });
  });

  it("403 for listing alone stays one, where the secret itself is only not there", async () => {
    await world.wire.serve("kv-half.vault.azure.net", (request, response) => {
      const isList = request.url?.includes("/versions") === true;
      if (request.headers.authorization === undefined || !isList) {
        wire.host(request, response);
        return;
      }
      response.writeHead(403, { "content-type": "application/json" });
      response.end('{"error":{"code":"Forbidden","message":"sekret-caller"}}');
    });
    const api = await openKeyVault(world.credential, "kv-half");
    expect(await api.look("absent")).toMatchObject({ ok: false, error: { kind: "forbidden" } });
  });

  it("nobody there is unreachable", async () => {
    const api = await openKeyVault(world.credential, "kv-gone");
    expect(await api.set("name", secretText("value"), { expiresAt, tags })).toMatchObject({
      ok: false,
      error: { kind: "unreachable" },
    });
  });
});
