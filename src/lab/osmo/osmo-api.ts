// One OSMO process: which request goes to which route of which release, who the caller is taken for, and what a database
// that is away or a pool that was closed makes of it. Nothing here listens; osmo-server.ts does.
import { createPublicKey, verify } from "node:crypto";
import { json, notFound, osmoError, serverError, wrongMethod, type OsmoAnswer, type OsmoRequest } from "./answers.ts";
import type { ApiWorld, Call, OsmoOptions, Route } from "./api-world.ts";
import * as config from "./config-routes.ts";
import { exchangeByGet, exchangeByPost } from "./exchange.ts";
import * as legacy from "./legacy-token-routes.ts";
import * as tokens from "./token-routes.ts";
import * as users from "./user-routes.ts";

type Methods = Readonly<Record<string, Route>>;
type Routes = readonly (readonly [pattern: string, methods: Methods])[];

const byGet: Route = ({ query }, world) => exchangeByGet(query, world);
const byPost: Route = ({ request }, world) => exchangeByPost(request, world);
const health: Route = () => json({ status: "OK" });

const open: Routes = [["/health", { GET: health }]];
const authOf60: Routes = [
  ["/api/auth/login", { GET: config.getLogin }],
  ["/api/auth/keys", { GET: config.getKeys }],
  ["/api/auth/jwt/access_token", { GET: byGet }],
  ["/api/auth/access_token", { GET: legacy.describeToken }],
  ["/api/auth/access_token/service", { GET: legacy.listServiceTokens }],
  ["/api/auth/access_token/service/*", { POST: legacy.createServiceToken, DELETE: legacy.removeServiceToken }],
];
const authOf62: Routes = [
  ["/api/auth/login", { GET: config.getLogin }],
  ["/api/auth/keys", { GET: config.getKeys }],
  ["/api/auth/jwt/access_token", { GET: byGet, POST: byPost }],
  ["/api/auth/access_token", { GET: tokens.listOwnTokens }],
  // The caller's own, which fleetmend does not make: only that the path is taken, as the fingerprint sees it.
  ["/api/auth/access_token/*", { POST: () => notFound, DELETE: () => notFound }],
  ["/api/auth/user", { GET: users.listUsers, POST: users.createUser }],
  ["/api/auth/user/*", { GET: users.getUser, DELETE: users.deleteUser }],
  ["/api/auth/user/*/roles", { GET: users.listRoles, POST: users.giveRole }],
  ["/api/auth/user/*/roles/*", { DELETE: users.takeRole }],
  ["/api/auth/user/*/access_token", { GET: tokens.listTokens }],
  ["/api/auth/user/*/access_token/*", { POST: tokens.createToken, DELETE: tokens.removeToken }],
];
const configs: Routes = [
  ["/api/version", { GET: config.getVersion }],
  [
    "/api/configs/service",
    { GET: config.getServiceConfig, PATCH: config.patchServiceConfig, PUT: config.putServiceConfig },
  ],
  ["/api/configs/backend", { GET: config.listBackends }],
  ["/api/configs/backend/*", { GET: config.getBackend }],
];

/** What Envoy and the middleware of 6.0 let through without a name (prefixes). */
const publicPaths = ["/health", "/api/version", "/api/auth/login", "/api/auth/keys", "/api/auth/jwt/access_token"];
// 6.0 answers this one without a role, too.
const publicPaths60 = [...publicPaths, "/api/auth/access_token?"];

export interface OsmoApi {
  readonly world: ApiWorld;
  readonly handle: (request: OsmoRequest) => Promise<OsmoAnswer>;
}

export function createOsmoApi(options: OsmoOptions): OsmoApi {
  const { app = "service", identity = "headers", configMap } = options;
  const world: ApiWorld = { ...options, app, identity, configMap, pool: 0, inFlight: 0 };
  const auth = options.release === "6.0" ? authOf60 : authOf62;
  const routes = app === "agent" ? [...open, ...auth] : [...open, ...auth, ...configs];
  return { world, handle: async (request) => handlerOf(app)(await throughPool(request, world, routes)) };
}

/** The agent mounts the routes of auth without the handlers of errors: what it would say is only in its log. */
function handlerOf(app: ApiWorld["app"]): (answer: OsmoAnswer) => OsmoAnswer {
  if (app === "service") return (answer) => answer;
  const bare = { status: 500, contentType: "text/plain; charset=utf-8", body: "Internal Server Error" };
  return (answer) => (answer.body.includes('"error_code"') ? bare : answer);
}

/** A request takes a turn or two of the loop: others can be on their way at the same time, and share its pool. */
async function throughPool(request: OsmoRequest, world: ApiWorld, routes: Routes): Promise<OsmoAnswer> {
  const before = world.pool;
  world.inFlight += 1;
  try {
    await turn();
    const own = world.pool;
    const answer = answerTo(request, world, routes);
    const hasFailedInsert = world.pool !== own;
    if (hasFailedInsert && world.inFlight === 1) return answer;
    await turn();
    return world.pool === before ? answer : osmoError("Error: connection pool is closed", "DATABASE");
  } finally {
    world.inFlight -= 1;
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function answerTo(request: OsmoRequest, world: ApiWorld, routes: Routes): OsmoAnswer {
  const url = new URL(request.path, "http://osmo.invalid");
  const refusal = refusalAtTheDoor(request, world);
  if (refusal !== undefined) return refusal;
  const matches = routes.flatMap(([pattern, methods]) => {
    const parts = partsOf(pattern, url.pathname);
    return parts === undefined ? [] : [{ parts, methods }];
  });
  const [match] = matches;
  if (match === undefined) return notFound;
  const route = match.methods[request.method];
  if (route === undefined) return wrongMethod;
  if (!world.database.isUp && !(url.pathname === "/health" && world.release !== "6.0"))
    return serverError(databaseIsDown);
  return route({ request, query: url.searchParams, parts: match.parts, caller: callerOf(request, world) }, world);
}

const databaseIsDown =
  'connection to server at "127.0.0.1", port 55432 failed: Connection refused\n' +
  "\tIs the server running on that host and accepting TCP/IP connections?\n";

function partsOf(pattern: string, path: string): readonly string[] | undefined {
  const wanted = pattern.split("/");
  const given = path.split("/");
  if (wanted.length !== given.length) return undefined;
  if (!wanted.every((part, index) => part === "*" || part === given[index])) return undefined;
  return given.filter((_, index) => wanted[index] === "*").map(decodeURIComponent);
}

/** Without login information the caller is whoever the header says, and `testuser` without one. The JWT is not looked at. */
function callerOf({ headers }: OsmoRequest, { identity }: ApiWorld): Call["caller"] {
  const user = headers["x-osmo-user"];
  return () => {
    if (user !== undefined) return { user };
    if (identity === "headers") return { user: "testuser" };
    return { answer: json({ detail: "Could not find header for user, x-osmo-user" }, 400) };
  };
}

/** The middleware of 6.0 (by `x-osmo-roles`), or Envoy and the authorisation in front (by the JWT). */
function refusalAtTheDoor(request: OsmoRequest, world: ApiWorld): OsmoAnswer | undefined {
  const { identity, release } = world;
  const isPublic = (release === "6.0" ? publicPaths60 : publicPaths).some((path) => request.path.startsWith(path));
  if (isPublic || identity === "headers") return undefined;
  if (identity === "gateway") return gatewayRefusal(request, world);
  const roles = (request.headers["x-osmo-roles"] ?? "").split(",");
  if (release !== "6.0" || roles.includes("osmo-admin")) return undefined;
  return json({ message: "Forbidden", error_code: 403 }, 403);
}

function gatewayRefusal({ headers }: OsmoRequest, { database, now }: ApiWorld): OsmoAnswer | undefined {
  const plain = (status: number, body: string): OsmoAnswer => ({ status, contentType: "text/plain", body });
  const jwt = headers["x-osmo-auth"] ?? headers.authorization?.replace(/^Bearer /, "");
  if (jwt === undefined) return plain(401, "Jwt is missing");
  const [head = "", payload = "", signature = ""] = jwt.split(".");
  const key = createPublicKey(database.signingKey.publicKey.export({ format: "pem", type: "spki" }));
  const isSigned = verify("sha256", Buffer.from(`${head}.${payload}`), key, Buffer.from(signature, "base64url"));
  if (!isSigned) return plain(401, "Jwt verification fails");
  const claims = JSON.parse(Buffer.from(payload, "base64url").toString()) as { exp: number; roles: readonly string[] };
  if (claims.exp * 1000 <= now().getTime()) return plain(401, "Jwt is expired");
  return claims.roles.includes("osmo-admin") ? undefined : plain(403, "access denied");
}
