// Users and their roles: 6.2 and later. An unknown user is a 400 and not a 404.
import { invalid, json, objectBody, osmoError, type OsmoAnswer } from "./answers.ts";
import { closePool, type ApiWorld, type Route } from "./api-world.ts";
import type { RoleOfUser, UserRow } from "./osmo-tables.ts";
import { awareTime } from "./release.ts";

const idPattern = /^[a-zA-Z0-9]([a-zA-Z0-9_.@-]*[a-zA-Z0-9])?$/;
const none = json(null);

export const unknownUser = (id: string): OsmoAnswer => osmoError(`User ${id} not found`);
const unknownRole = (name: string): OsmoAnswer => osmoError(`Role ${name} does not exist`);

export function userOf(id: string | undefined, { database }: ApiWorld): UserRow | undefined {
  return database.users.find((user) => user.id === id);
}

/** Newest first; a count above 1000 is taken as 1000. */
export const listUsers: Route = ({ query }, world) => {
  const count = query.get("count") ?? "100";
  if (!/^\d+$/.test(count)) {
    return invalid({ mistake: "integer", loc: ["query", "count"], input: count }, world.release);
  }
  const start = Number(query.get("start_index") ?? "1");
  const roles = query.getAll("roles");
  const prefix = query.get("id_prefix") ?? "";
  const found = world.database.users
    .filter((user) => user.id.startsWith(prefix))
    .filter((user) => roles.length === 0 || user.roles.some(({ name }) => roles.includes(name)))
    .toReversed();
  const page = found.slice(start - 1, start - 1 + Math.min(Number(count), 1000));
  const users = page.map((user) => userFields(user, world));
  return json({ total_results: found.length, start_index: start, items_per_page: page.length, users });
};

export const getUser: Route = ({ parts: [id = ""] }, world) => {
  const user = userOf(id, world);
  if (user === undefined) return unknownUser(id);
  return json({ ...userFields(user, world), roles: user.roles.map((role) => roleFields(role, world)) });
};

export const createUser: Route = ({ request, caller }, world) => {
  const { database, now, release } = world;
  const parsed = objectBody(request, release);
  if ("answer" in parsed) return parsed.answer;
  const { id: name, roles = [] } = parsed.value as { readonly id?: string; readonly roles?: readonly string[] };
  if (name === undefined) return invalid({ mistake: "missing", loc: ["body", "id"], input: parsed.value }, release);
  const by = caller();
  if ("answer" in by) return by.answer;
  if (!idPattern.test(name)) return osmoError(`Username ${name} must match regex ${idPattern.source}`);
  if (userOf(name, world) !== undefined) {
    closePool(world);
    return osmoError(`User ${name} already exists`);
  }
  const missing = roles.find((role) => !database.roles.includes(role));
  if (missing !== undefined) return unknownRole(missing);
  const given = roles.map((role) => ({ name: role, assignedBy: by.user, assignedAt: now() }));
  const user: UserRow = { id: name, createdAt: now(), createdBy: by.user, roles: given };
  database.users.push(user);
  return json(userFields(user, world));
};

/** With all its tokens. */
export const deleteUser: Route = ({ parts: [id = ""] }, world) => {
  const { users, tokens } = world.database;
  const index = users.findIndex((user) => user.id === id);
  if (index < 0) return unknownUser(id);
  users.splice(index, 1);
  tokens.splice(0, tokens.length, ...tokens.filter(({ userName }) => userName !== id));
  return none;
};

export const listRoles: Route = ({ parts: [id = ""] }, world) => {
  const user = userOf(id, world);
  if (user === undefined) return unknownUser(id);
  return json({ user_id: id, roles: user.roles.map((role) => roleFields(role, world)) });
};

/** Giving a role again changes nothing, and answers with the first giving. */
export const giveRole: Route = ({ request, parts: [id = ""], caller }, world) => {
  const { database, now, release } = world;
  const parsed = objectBody(request, release);
  if ("answer" in parsed) return parsed.answer;
  const name = parsed.value.role_name;
  const loc = ["body", "role_name"];
  if (name === undefined) return invalid({ mistake: "missing", loc, input: parsed.value }, release);
  if (typeof name !== "string") return invalid({ mistake: "string", loc, input: name }, release);
  const by = caller();
  if ("answer" in by) return by.answer;
  if (!database.roles.includes(name)) return unknownRole(name);
  const user = userOf(id, world);
  if (user === undefined) {
    closePool(world);
    return unknownUser(id);
  }
  const role = user.roles.find((each) => each.name === name) ?? { name, assignedBy: by.user, assignedAt: now() };
  if (!user.roles.includes(role)) user.roles.push(role);
  return json({ user_id: id, ...roleFields(role, world) });
};

/** Silently takes the role from the user's tokens, too; and giving it back does not give it back to them. */
export const takeRole: Route = ({ parts: [id = "", name = ""] }, world) => {
  const user = userOf(id, world);
  const index = user?.roles.findIndex((role) => role.name === name) ?? -1;
  if (user === undefined || index < 0) return none;
  user.roles.splice(index, 1);
  for (const token of world.database.tokens) {
    if (token.userName === id) token.roles = token.roles.filter((role) => role !== name);
  }
  return none;
};

function userFields({ id, createdAt, createdBy }: UserRow, { release }: ApiWorld): Record<string, unknown> {
  return { id, created_at: awareTime(createdAt, release), created_by: createdBy };
}

function roleFields({ name, assignedBy, assignedAt }: RoleOfUser, { release }: ApiWorld): Record<string, unknown> {
  return { role_name: name, assigned_by: assignedBy, assigned_at: awareTime(assignedAt, release) };
}
