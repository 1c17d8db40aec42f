import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { createOsmoApi } from "../../src/osmo/create-osmo-api.ts";
import { secretText } from "../../src/osmo/secret-text.ts";
import { good, LabWorld, password, type Fault } from "./lab-osmo.ts";

const releases = ["6.0", "6.2", "6.3"] as const;
const p0 = secretText(password);
const newToken = { user: "backend-operator", expiresOn: "2027-03-01", roles: ["osmo-backend"], description: "test" };

/** What OSMO answers when it is hit by each class of fault. */
const json = (status: number, body: unknown): Fault["answer"] => ({ status, body: JSON.stringify(body) });
const refusal = (message: string, code = "USER"): Fault["answer"] =>
  json(400, { message, error_code: code, workflow_id: null });

describe("the routes of OSMO", () => {
  it.each([
    ["6.0", "6.0"],
    ["6.2", "6.2"],
    ["6.3", "6.2"],
  ] as const)("of %s are found by one request without a secret", async (release, routes) => {
    const world = await LabWorld.start(release);
    const osmo = await world.open();
    expect(osmo.routes).toBe(routes);
    expect(world.requests).toEqual([{ method: "POST", path: "/api/auth/jwt/access_token", headers: {} }]);
  });

  it.each([
    [{ status: 404, body: "<html>" }, "no-route"],
    [{ status: 503, body: "no healthy upstream" }, "server-error"],
    [{ kind: "forbidden", message: "port-forward is not allowed" }, "forbidden"],
  ] as const)("are not guessed from %j", async (answer, kind) => {
    const world = await LabWorld.start("6.2");
    world.fault = () => ({ when: "before", answer });
    const result = await createOsmoApi(world.transport, { sleep: () => Promise.resolve() });
    expect(result).toMatchObject({ ok: false, error: { kind } });
  });
});

describe("an exchange", () => {
  it.each(releases)("on %s proves a token and its claims", async (release) => {
    const osmo = await (await LabWorld.start(release)).open();
    const { claims } = good(await osmo.exchange(p0));
    expect(claims).toEqual({
      user: release === "6.0" ? "first-admin" : "admin",
      roles: ["osmo-admin"],
      expiresAt: new Date("2026-12-01T06:05:00Z"),
      ...(release !== "6.0" && { tokenName: "default-admin-token" }),
    });
  });

  it.each([
    ["6.2", "a".repeat(43), "invalid"],
    ["6.3", "abc", "length"],
    ["6.0", "abc", "invalid"],
  ] as const)("on %s of %s says dead", async (release, value, why) => {
    const osmo = await (await LabWorld.start(release)).open();
    expect(await osmo.exchange(secretText(value))).toEqual({ exchange: "dead", why });
  });

  it("says dead from 00:00 UTC of the day on which the token expires", async () => {
    const world = await LabWorld.start("6.2");
    const token = secretText("t".repeat(43));
    world.insert("admin", "t", token.reveal(), ["osmo-admin"], "2026-12-02");
    const osmo = await world.open();
    world.time = new Date("2026-12-01T23:59:59Z");
    expect((await osmo.exchange(token)).exchange).toBe("good");
    world.time = new Date("2026-12-02T00:00:00Z");
    expect(await osmo.exchange(token)).toEqual({ exchange: "dead", why: "expired" });
  });

  it.each<[string, Fault["answer"], string]>([
    ["a 400 of a closed pool", refusal("Error: connection pool is closed", "DATABASE"), "database"],
    ["another cursor's 400", refusal("Error: cursor already closed", "DATABASE"), "database"],
    ["the text of death with another code", refusal("Access Token is invalid", "DATABASE"), "database"],
    ["nearly the text of death", refusal("Access Token is invalid."), "refused"],
    ["a 400 of the framework", json(400, { detail: "Access Token is invalid" }), "not-understood"],
    ["a 422", json(422, { detail: [{ input: { token: "x" } }] }), "not-understood"],
    ["the agent's 500", { status: 500, body: "Internal Server Error" }, "server-error"],
    ["the 500 of an overwritten key", json(500, { message: "Internal server error: " }), "signing-key"],
    ["a 500 of the database", json(500, { message: "Internal server error: connection to server" }), "server-error"],
    ["the text of death with 500", { ...refusal("Access Token is invalid"), status: 500 }, "server-error"],
    ["a 401", { status: 401, body: "Jwt is missing" }, "unauthenticated"],
    ["a 403", { status: 403, body: "access denied" }, "denied"],
    ["a 404", json(404, { detail: "Not Found" }), "no-route"],
    ["a 429", { status: 429, body: "" }, "throttled"],
    ["a success without a JWT", json(200, { token: "" }), "bad-answer"],
    ["a JWT of somebody else", json(200, { token: "a.e30.b" }), "bad-answer"],
    ["silence", { kind: "timeout", message: "no answer" }, "timeout"],
    ["a reset", { kind: "unreachable", message: "reset" }, "unreachable"],
  ])("says unknown on %s", async (_name, answer, kind) => {
    const world = await LabWorld.start("6.2");
    const osmo = await world.open();
    world.fault = () => ({ when: "after", answer });
    expect(await osmo.exchange(p0)).toMatchObject({ exchange: "unknown", failure: { kind } });
  });

  it("is tried again while the pool is closed, and says good", async () => {
    const world = await LabWorld.start("6.2");
    const osmo = await world.open();
    world.fault = (_, number) =>
      number === 2 ? { when: "before", answer: refusal("Error: connection pool is closed", "DATABASE") } : undefined;
    expect((await osmo.exchange(p0)).exchange).toBe("good");
    expect(world.requests).toHaveLength(3);
  });

  it("tells a signing key that was overwritten", async () => {
    const world = await LabWorld.start("6.2");
    const osmo = await world.open();
    world.lab.world.database.signingKey.privateKey = undefined;
    expect(await osmo.exchange(p0)).toMatchObject({ exchange: "unknown", failure: { kind: "signing-key" } });
  });
});

describe("a token", () => {
  it.each(releases)("on %s is made, listed, exchanged and deleted", async (release) => {
    const world = await LabWorld.start(release, { identity: release === "6.0" ? "login" : "gateway" });
    const osmo = await world.open();
    const admin = osmo.as(good(await osmo.exchange(p0)));
    expect(await admin.user("backend-operator")).toEqual({ ok: true, value: release === "6.0" ? "any" : undefined });
    expect(await admin.createUser({ id: "backend-operator", roles: [] })).toMatchObject({ ok: true });
    expect(await admin.giveRole("backend-operator", "osmo-backend")).toMatchObject({ ok: true });
    const made = await admin.createToken({ ...newToken, name: "fm-1" });
    if (made.created !== "yes") throw new Error(made.failure.message);
    const user = release === "6.0" ? "fm-1" : "backend-operator";
    const row = { user, name: "fm-1", expiresOn: "2027-03-01", roles: ["osmo-backend"] };
    expect(await admin.tokens("backend-operator")).toMatchObject({
      ok: true,
      value: expect.arrayContaining([row]) as unknown,
    });
    expect(good(await osmo.exchange(made.token)).claims).toMatchObject({ user, roles: ["osmo-backend"] });
    expect(await admin.deleteToken(user, "fm-1")).toEqual({ ok: true, value: "deleted" });
    expect(await admin.deleteToken(user, "fm-1")).toEqual({ ok: true, value: "absent" });
    expect(await osmo.exchange(made.token)).toEqual({ exchange: "dead", why: "invalid" });
  });

  it.each<[string, Fault["answer"], "no" | "unknown"]>([
    ["400 USER", refusal("User does not have all the requested roles. Token creation failed."), "no"],
    ["400 exists, which may be our own insert", refusal("Token name fm-1 already exists."), "unknown"],
    ["400 DATABASE", refusal("Error: connection pool is closed", "DATABASE"), "unknown"],
    ["401", { status: 401 }, "no"],
    ["403", { status: 403 }, "no"],
    ["404", { status: 404 }, "no"],
    ["409", { status: 409 }, "no"],
    ["422", { status: 422 }, "no"],
    ["429", { status: 429 }, "unknown"],
    ["500", { status: 500 }, "unknown"],
    ["503", { status: 503 }, "unknown"],
    ["200 that is no token", { status: 200, body: "null" }, "unknown"],
    ["silence", { kind: "timeout", message: "no answer" }, "unknown"],
    ["a reset", { kind: "unreachable", message: "reset" }, "unknown"],
  ])("is asked for once, and %s means that its creation is: %s", async (_name, answer, created) => {
    const world = await LabWorld.start("6.2");
    const admin = await world.admin();
    world.requests.length = 0;
    world.fault = () => ({ when: "after", answer });
    expect((await admin.createToken({ ...newToken, name: "fm-1" })).created).toBe(created);
    expect(world.requests).toHaveLength(1);
  });

  it("of an unknown user is none", async () => {
    const admin = await (await LabWorld.start("6.2")).admin();
    expect(await admin.tokens("nobody")).toEqual({ ok: true, value: [] });
  });
});

describe("the configuration", () => {
  const url = "http://osmo-gateway.osmo-control-plane.svc.cluster.local";

  it.each(releases)("of %s is patched in one key and read back", async (release) => {
    const world = await LabWorld.start(release);
    const admin = await world.admin();
    expect(await admin.serviceBaseUrl()).toEqual({ ok: true, value: "" });
    world.requests.length = 0;
    expect(await admin.setServiceBaseUrl(url)).toEqual({ ok: true, value: { change: "made" } });
    expect(world.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "PATCH /api/configs/service",
      "GET /api/configs/service",
    ]);
    expect(JSON.parse(world.requests[0]?.body ?? "")).toMatchObject({ configs_dict: { service_base_url: url } });
  });

  it("in a ConfigMap is left to Helm", async () => {
    const admin = await (await LabWorld.start("6.3", { configMap: { serviceBaseUrl: "" } })).admin();
    expect(await admin.setServiceBaseUrl(url)).toEqual({ ok: true, value: { change: "managed-by-configmap" } });
  });

  it("is not believed to be changed by a 200", async () => {
    const world = await LabWorld.start("6.3", { configMap: { serviceBaseUrl: "http://old" } });
    world.lab.world.database.users.push({ id: "configmap-sync", createdAt: world.time, createdBy: "x", roles: [] });
    world.insert("configmap-sync", "t", "c".repeat(43), ["osmo-admin"]);
    const admin = await world.admin(secretText("c".repeat(43)));
    expect(await admin.setServiceBaseUrl(url)).toEqual({
      ok: true,
      value: { change: "not-taken", value: "http://old" },
    });
  });

  it("is looked at again when the answer to the patch is lost", async () => {
    const world = await LabWorld.start("6.2");
    const admin = await world.admin();
    world.fault = ({ method }) =>
      method === "PATCH" ? { when: "after", answer: { kind: "timeout", message: "late" } } : undefined;
    expect(await admin.setServiceBaseUrl(url)).toEqual({ ok: true, value: { change: "made" } });
  });
});

describe("backends and who is believed", () => {
  it("reads a heartbeat without a zone as UTC", async () => {
    const world = await LabWorld.start("6.2");
    const lastHeartbeat = new Date("2026-12-01T05:57:59.500Z");
    world.lab.world.database.backends.push({
      name: "default",
      version: "6.2.10",
      createdAt: world.time,
      lastHeartbeat,
    });
    const admin = await world.admin();
    expect(await admin.backends()).toEqual({ ok: true, value: [{ name: "default", online: false, lastHeartbeat }] });
  });

  it.each([
    ["6.0", "headers", true],
    ["6.0", "login", false],
    ["6.2", "headers", true],
    ["6.2", "login", true],
    ["6.2", "gateway", false],
    ["6.3", "gateway", false],
  ] as const)("says whether %s with %s lets anybody in: %s", async (release, identity, value) => {
    const osmo = await (await LabWorld.start(release, { identity })).open();
    expect(await osmo.isOpenToAnybody()).toEqual({ ok: true, value });
  });
});

describe("a secret", () => {
  it("shows its fingerprint in text, JSON and the inspector", () => {
    const shown = `[secret ${p0.fingerprint}]`;
    expect([String(p0), JSON.stringify({ p0 }), inspect({ p0 })]).toEqual([
      shown,
      `{"p0":"${shown}"}`,
      `{ p0: ${shown} }`,
    ]);
    expect(p0.fingerprint).toMatch(/^sha256:[0-9a-f]{12}$/);
  });

  it("is in no failure, whatever the answer repeats", async () => {
    const canary = secretText("canary-canary-canary-canary-canary-canary-c");
    const texts: string[] = [];
    for (const status of [200, 400, 401, 403, 404, 405, 409, 422, 429, 500, 503]) {
      for (const code of ["USER", "DATABASE", undefined]) {
        const world = await LabWorld.start("6.2");
        world.insert("admin", "canary", canary.reveal(), ["osmo-admin"]);
        const osmo = await world.open();
        const proven = good(await osmo.exchange(canary));
        const admin = osmo.as(proven);
        const echo = `${canary.reveal()} ${proven.jwt.reveal()} Bearer eyJhbGciOiJSUzI1NiJ9.x`;
        world.fault = () => ({
          when: "before",
          answer: json(status, { message: echo, error_code: code, detail: [{ input: { token: echo } }] }),
        });
        const results = [
          await osmo.exchange(canary),
          await osmo.isOpenToAnybody(),
          await admin.tokens("admin"),
          await admin.createToken({ ...newToken, name: "n" }),
          await admin.deleteToken("admin", "n"),
          await admin.user("admin"),
          await admin.setServiceBaseUrl("http://x"),
          await admin.backends(),
        ];
        texts.push(JSON.stringify(results), inspect(results, { depth: 9 }));
        expect(texts.join("")).not.toContain(proven.jwt.reveal().slice(0, 30));
      }
    }
    expect(texts.join("")).not.toContain("canary-canary");
    expect(texts.join("")).not.toContain("eyJ");
    expect(texts).toHaveLength(66);
  });
});
