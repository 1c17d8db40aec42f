import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { postToTeams } from "../../src/azure/teams-workflow.ts";
import { readVaultSecret } from "../../src/azure/vault-secret.ts";
import { createTeams, type Teams } from "../../src/lab/azure/teams.ts";
import { createVault } from "../../src/lab/azure/vault.ts";
import { startAzureWorld, type AzureWorld } from "./azure-world.ts";

const secrets = { teams: "sekret-value", empty: "" };
let world: AzureWorld;
let teams: Teams;
beforeAll(async () => {
  world = await startAzureWorld();
  teams = createTeams("prod-1.westeurope.logic.azure.com");
  await world.wire.serve("prod-1.westeurope.logic.azure.com", teams.host);
  const { host } = createVault({ host: "kv-1.vault.azure.net", identity: world.identity, secrets });
  await world.wire.serve("kv-1.vault.azure.net", host);
});
afterAll(() => world.stop());

const id = (name: string) => `https://kv-1.vault.azure.net/secrets/${name}`;

describe("a secret of Key Vault", () => {
  it("is read with the identity", async () => {
    expect(await readVaultSecret(world.credential, id("teams"))).toEqual({ ok: true, value: "sekret-value" });
  });

  it.each([
    ["gone", "not-configured", "There is no secret https://kv-1.vault.azure.net/secrets/gone."],
    ["empty", "not-configured", "The secret https://kv-1.vault.azure.net/secrets/empty is empty."],
  ])("that is %s is a failure that names it", async (name, kind, message) => {
    expect(await readVaultSecret(world.credential, id(name))).toEqual({ ok: false, error: { kind, message } });
  });

  it("that may not be read is a failure that says which role is needed", async () => {
    await world.wire.serve("kv-2.vault.azure.net", (_request, response) => {
      response.writeHead(403, { "content-type": "application/json" });
      response.end('{"error":{"code":"Forbidden","message":"sekret-caller"}}');
    });
    expect(await readVaultSecret(world.credential, "https://kv-2.vault.azure.net/secrets/teams")).toEqual({
      ok: false,
      error: {
        kind: "unavailable",
        message:
          "The secret https://kv-2.vault.azure.net/secrets/teams may not be read, or is disabled: the identity needs Key Vault Secrets User on the vault.",
      },
    });
  });
});

describe("a post to Teams", () => {
  it("is the message as JSON, tried again on 500 and on 429", async () => {
    teams.fail(500, 1);
    teams.fail(429, 1);
    expect(await postToTeams(teams.url, { type: "message" })).toEqual({ ok: true, value: undefined });
    expect(teams.posts).toEqual([{ type: "message" }]);
  });

  it.each([
    [
      "a wrong signature",
      () => teams.url.replace(/sig=.*/, "sig=sekret"),
      "refused",
      "The Teams workflow answered 401.",
    ],
    ["no URL", () => "sekret", "refused", "What the secret holds is not an https URL."],
    ["plain http", () => teams.url.replace("https:", "http:"), "refused", "What the secret holds is not an https URL."],
    [
      "a workflow that is gone",
      () => teams.url.replace("/workflows/", "/gone/"),
      "refused",
      "The Teams workflow answered 404.",
    ],
  ])("with %s is refused, and the URL is in no text", async (_name, url, kind, message) => {
    const answer = await postToTeams(url(), {});
    expect(answer).toMatchObject({ ok: false, error: { kind, message } });
    expect(JSON.stringify(answer)).not.toMatch(/sekret|sig=|logic\.azure/);
  });

  it("that nobody takes is unavailable, and the URL is in no text", async () => {
    world.wire.remove("prod-1.westeurope.logic.azure.com");
    const answer = await postToTeams(teams.url, {}, { deadlineMs: 300 });
    expect(answer).toEqual({
      ok: false,
      error: { kind: "unavailable", message: "The Teams workflow could not be reached within 0.3 s." },
    });
    expect(JSON.stringify(answer)).not.toMatch(/sig=|logic\.azure/);
  });
});
