// What OSMO does beyond one request and its answer: how a token dies, how a failing insert hurts others, how the default
// admin's password changes, TLS, and who is believed. Literal texts are those of the real services (test/recorded/osmo).
import { request } from "node:https";
import { describe, expect, it } from "vitest";
import type { OsmoOptions } from "../../src/lab/osmo/api-world.ts";
import { createOsmoDatabase, hashOf } from "../../src/lab/osmo/osmo-tables.ts";
import { startWithDefaultAdmin } from "../../src/lab/osmo/default-admin.ts";
import { createOsmoApi, type OsmoApi } from "../../src/lab/osmo/osmo-api.ts";
import { startOsmoServer } from "../../src/lab/osmo/osmo-server.ts";

const p0 = "P0".padEnd(43, "a");
const p1 = "P1".padEnd(43, "b");
const admin = (password: string) => ({ username: "admin", password });

class World {
  time = new Date("2026-11-30T23:59:59Z");
  readonly api: OsmoApi;

  private constructor(api: (now: () => Date) => OsmoApi) {
    this.api = api(() => this.time);
  }

  static async start(options: Partial<OsmoOptions> = {}): Promise<World> {
    const database = await createOsmoDatabase();
    const world = new World((now) => createOsmoApi({ release: "6.2", database, now, ...options }));
    startWithDefaultAdmin(world.api, admin(p0));
    return world;
  }

  async call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
    const text = body === undefined ? "" : JSON.stringify(body);
    const answer = await this.api.handle({ method, path, headers, body: text });
    return `${answer.status} ${answer.body}`;
  }

  async exchange(token: string): Promise<string> {
    const answer = await this.call("POST", "/api/auth/jwt/access_token", { token });
    return answer.startsWith("200") ? "good" : answer;
  }

  create(name: string, expiresOn: string): Promise<string> {
    return this.call("POST", `/api/auth/user/admin/access_token/${name}?expires_at=${expiresOn}&roles=osmo-admin`);
  }
}

const invalid = '400 {"message":"Access Token is invalid","error_code":"USER","workflow_id":null}';
const poolClosed = '400 {"message":"Error: connection pool is closed","error_code":"DATABASE","workflow_id":null}';

describe("a token of the lab's OSMO", () => {
  it("dies at 00:00 UTC at the start of the day on which it expires", async () => {
    const world = await World.start();
    const token = JSON.parse((await world.create("t", "2026-12-01")).slice(4)) as string;
    expect(await world.exchange(token)).toBe("good");
    world.time = new Date("2026-12-01T00:00:00Z");
    expect(await world.exchange(token)).toBe(
      '400 {"message":"Access Token has expired","error_code":"USER","workflow_id":null}',
    );
  });

  it("exchanges with no roles once its user has lost the role, and does not get it back", async () => {
    const world = await World.start();
    await world.call("DELETE", "/api/auth/user/admin/roles/osmo-admin");
    await world.call("POST", "/api/auth/user/admin/roles", { role_name: "osmo-admin" });
    const answer = await world.call("POST", "/api/auth/jwt/access_token", { token: p0 });
    const { token } = JSON.parse(answer.slice(4)) as { token: string };
    const claims = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()) as unknown;
    expect(claims).toMatchObject({ unique_name: "admin", osmo_token_name: "default-admin-token", roles: [] });
  });
});

describe("a failing insert of the lab's OSMO", () => {
  it("closes the pool under the requests that are on their way, its own included", async () => {
    const world = await World.start();
    await world.create("t", "2027-01-01");
    const answers = await Promise.all([world.exchange(p0), world.create("t", "2027-01-01"), world.exchange(p0)]);
    expect(answers).toEqual([poolClosed, poolClosed, poolClosed]);
    expect(await world.exchange(p0)).toBe("good");
  });

  it("says what is wrong when nothing else is on its way", async () => {
    const world = await World.start();
    await world.create("t", "2027-01-01");
    expect(await world.create("t", "2027-01-01")).toBe(
      '400 {"message":"Token name t already exists.","error_code":"USER","workflow_id":null}',
    );
  });

  it("hurts nobody on 6.0", async () => {
    const world = await World.start({ release: "6.0" });
    const path = "/api/auth/access_token/service/s?expires_at=2027-01-01";
    await world.call("POST", path);
    const [list] = await Promise.all([world.call("GET", "/api/auth/access_token/service"), world.call("POST", path)]);
    expect(list).toContain("200 [");
  });
});

describe("the default admin of the lab's OSMO", () => {
  it("loses the old password before the new one is there", async () => {
    const world = await World.start();
    const { tokens } = world.api.world.database;
    const between: number[] = [];
    expect(startWithDefaultAdmin(world.api, admin(p1), () => between.push(tokens.length))).toMatchObject({
      start: "up",
    });
    expect(between).toEqual([0]);
    expect(await world.exchange(p0)).toBe(invalid);
    expect(await world.exchange(p1)).toBe("good");
  });

  it.each([42, 44, 64])(
    "keeps the old password when the new one has %i characters: the process exits",
    async (length) => {
      const world = await World.start();
      expect(startWithDefaultAdmin(world.api, admin("x".repeat(length)))).toEqual({
        start: "exit",
        log: "OSMOUserError: Default admin password must be 43 characters long",
      });
      expect(await world.exchange(p0)).toBe("good");
    },
  );

  it("crash-loops on a value that the API has made, with the old token gone, and recovers with a fresh one", async () => {
    const world = await World.start();
    const minted = JSON.parse((await world.create("bridge", "2026-12-30")).slice(4)) as string;
    const clash = { start: "exit", log: "OSMOUserError: Token name default-admin-token already exists." };
    expect(startWithDefaultAdmin(world.api, admin(minted))).toEqual(clash);
    expect(startWithDefaultAdmin(world.api, admin(minted))).toEqual(clash);
    expect(await world.exchange(p0)).toBe(invalid);
    expect(await world.exchange(minted)).toBe("good");
    expect(startWithDefaultAdmin(world.api, admin(p1))).toMatchObject({ start: "up" });
  });

  it("is not repaired by a restart with the same password", async () => {
    const world = await World.start();
    const row = world.api.world.database.tokens.find(({ hash }) => hash === hashOf(p0));
    if (row === undefined) throw new Error("the default admin has a token");
    row.expiresOn = "2026-11-30";
    expect(startWithDefaultAdmin(world.api, admin(p0))).toMatchObject({ start: "up" });
    expect(await world.exchange(p0)).toContain("Access Token has expired");
  });
});

describe("the lab's OSMO behind its gateway", () => {
  const list = "/api/auth/user/admin/access_token";

  it("asks for a JWT, and for the role", async () => {
    const world = await World.start({ identity: "gateway" });
    expect(await world.call("GET", list)).toBe("401 Jwt is missing");
    const jwt = async (token: string) => {
      const answer = await world.call("POST", "/api/auth/jwt/access_token", { token });
      return { authorization: `Bearer ${(JSON.parse(answer.slice(4)) as { token: string }).token}` };
    };
    const headers = await jwt(p0);
    expect(await world.call("GET", list, undefined, headers)).toContain("200 [");
    await world.call("DELETE", "/api/auth/user/admin/roles/osmo-admin", undefined, headers);
    expect(await world.call("GET", list, undefined, await jwt(p0))).toBe("403 access denied");
    world.time = new Date("2026-12-01T00:05:00Z");
    expect(await world.call("GET", list, undefined, headers)).toBe("401 Jwt is expired");
  });
});

describe("the lab's OSMO on the wire", () => {
  it("writes the token of a 6.0 exchange into its access log, and serves TLS with a certificate of its own", async () => {
    const world = await World.start({ release: "6.0" });
    const plain = await startOsmoServer({ api: world.api });
    await fetch(`${plain.url}/api/auth/jwt/access_token?access_token=${p0}`);
    expect(plain.accessLog).toEqual([`"GET /api/auth/jwt/access_token?access_token=${p0} HTTP/1.1" 200`]);
    await plain.stop();

    const tls = await startOsmoServer({ api: (await World.start({ release: "6.3" })).api, tls: true });
    const status = await new Promise((resolve, reject) => {
      request(`${tls.url}/health`, { ca: tls.certificate, agent: false }, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .on("error", reject)
        .end();
    });
    expect(status).toBe(200);
    await expect(fetch(tls.url.replace("https", "http"))).rejects.toThrow("fetch failed");
    await tls.stop();
  });
});
