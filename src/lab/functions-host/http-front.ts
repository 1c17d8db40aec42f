// The HTTP side of the host: finds the function or the webhook that a request is for, asks for its key, and answers what
// the function returned. What Event Grid's own endpoint does is in event-grid-webhook.ts.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { timingSafeEqual, createHash } from "node:crypto";
import type { HttpData } from "./core-types.ts";
import type { HostedFunction, Trigger } from "./functions-of-app.ts";
import { answerEventGrid } from "./event-grid-webhook.ts";
import type { Invoke } from "./invoke.ts";
import { type RouteMatch, routeMatcher } from "./route-template.ts";

export interface HostKeys {
  /** Opens every function of authLevel `function`. */
  readonly default: string;
  /** Opens everything. */
  readonly master: string;
  /** Event Grid's system key. */
  readonly eventGrid: string;
}

export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

export interface HttpFrontParts {
  readonly functions: readonly HostedFunction[];
  readonly keys: HostKeys;
  readonly routePrefix: string;
  readonly invoke: Invoke;
  /** Runs a timer function now; undefined: there is none of that name. */
  readonly fireTimer: (name: string) => Promise<void> | undefined;
}

interface Route {
  readonly hosted: HostedFunction;
  readonly trigger: Extract<Trigger, { kind: "http" }>;
  readonly match: RouteMatch;
}

// The platform's limit for a request's body is 100 MB (functions-bindings-http-webhook); nobody sends that here.
const largestBody = 1024 * 1024;

/** Not listening yet. */
export function createHttpFront(parts: HttpFrontParts): Server {
  const routes = parts.functions.flatMap((hosted): Route[] => {
    const { trigger } = hosted;
    if (trigger.kind !== "http") return [];
    return [{ hosted, trigger, match: routeMatcher(`${parts.routePrefix}/${trigger.route}`) }];
  });
  return createServer((request, response) => {
    answer(request, routes, parts)
      .catch((): Answer => ({ status: 500 }))
      .then((result) => {
        send(response, result);
      })
      // The client has gone.
      .catch(() => response.destroy());
  });
}

function send(response: ServerResponse, { status, headers, body }: Answer): void {
  response.writeHead(status, headers).end(body);
}

async function answer(request: IncomingMessage, routes: readonly Route[], parts: HttpFrontParts): Promise<Answer> {
  const url = urlOf(request);
  const body = await bodyOf(request);
  if (url === null) return { status: 400 };
  if (body === undefined) return { status: 413 };
  const path = decodedPath(url.pathname);
  const key = headerOf(request, "x-functions-key") ?? url.searchParams.get("code") ?? "";
  if (path === "/runtime/webhooks/eventgrid") {
    if (!isOneOf(key, [parts.keys.eventGrid, parts.keys.master])) return { status: 401 };
    return answerEventGrid({ request, url, body }, parts.functions, parts.invoke);
  }
  const [, wanted] = /^\/admin\/functions\/([^/]+)$/.exec(path) ?? [];
  if (wanted !== undefined) return runByHand(wanted, { request, body, key }, parts);
  for (const route of routes) {
    const params = route.match(path);
    if (params === undefined || !route.trigger.methods.includes(request.method ?? "")) continue;
    if (!isOneOf(key, keysFor(route, parts.keys))) return { status: 401 };
    return callFunction(route, { request, url, body, params }, parts.invoke);
  }
  return { status: 404 };
}

/** Null where Host or target is none. */
function urlOf({ url = "/", headers }: IncomingMessage): URL | null {
  // Not relative to a base: `//fleet` would name a host.
  return URL.parse(url.startsWith("/") ? `http://${headers.host ?? "127.0.0.1"}${url}` : url);
}

/** As Kestrel does before it looks for the route: `%2F` stays, and what is not UTF-8 (PathDecoder of ASP.NET Core). */
function decodedPath(path: string): string {
  return path.replaceAll(/(?:%(?!2F)[0-9A-F]{2})+/gi, (escapes) => {
    try {
      return decodeURIComponent(escapes);
    } catch {
      return escapes;
    }
  });
}

/**
 * What the portal's "Run" sends: the host answers at once and runs the function
 * (learn.microsoft.com/azure/azure-functions/functions-manually-run-non-http). Only timers here. As there, a body of JSON has
 * to say so (FunctionsController.cs of github.com/Azure/azure-functions-host).
 */
function runByHand(
  name: string,
  { request, body, key }: { readonly request: IncomingMessage; readonly body: Buffer; readonly key: string },
  parts: HttpFrontParts,
): Answer {
  if (!isOneOf(key, [parts.keys.master])) return { status: 401 };
  if (request.method !== "POST") return { status: 405 };
  const isJson = headerOf(request, "content-type")?.startsWith("application/json") === true && body.length > 0;
  if (!isJson) return { status: 400, body: 'Send content-type: application/json and {"input":""}.' };
  const run = parts.fireTimer(name);
  if (run === undefined) return { status: 404 };
  // The invocation has logged its failure.
  run.catch(() => undefined);
  return { status: 202 };
}

/** Undefined: no key is asked for. */
function keysFor({ trigger }: Route, keys: HostKeys): readonly string[] | undefined {
  switch (trigger.authLevel) {
    case "anonymous":
      return undefined;
    case "function":
      return [keys.default, keys.master];
    case "admin":
      return [keys.master];
  }
}

function isOneOf(given: string, right: readonly string[] | undefined): boolean {
  if (right === undefined) return true;
  const hash = (text: string): Buffer => createHash("sha256").update(text).digest();
  return right.some((key) => timingSafeEqual(hash(key), hash(given)));
}

interface Call {
  readonly request: IncomingMessage;
  readonly url: URL;
  readonly body: Buffer;
  readonly params: Readonly<Record<string, string>>;
}

async function callFunction({ hosted }: Route, call: Call, invoke: Invoke): Promise<Answer> {
  const { request, url, body, params } = call;
  const http: HttpData = {
    method: request.method ?? "GET",
    url: url.href,
    nullableHeaders: nullable(Object.keys(request.headers).map((name) => [name, headerOf(request, name) ?? ""])),
    nullableQuery: nullable(queryOf(url)),
    nullableParams: nullable(Object.entries(params)),
    ...(body.length > 0 ? { body: { bytes: body } } : {}),
  };
  const traceParent = headerOf(request, "traceparent");
  const { returnValue } = await invoke(hosted, {
    data: { http },
    ...(traceParent === undefined ? {} : { traceParent }),
  });
  const result = returnValue?.http;
  // A handler that returns nothing answers 204 (isolated model of the Node library).
  if (result === undefined) return { status: 204 };
  if ((result.cookies ?? []).length > 0) throw new Error("This local host sets no cookies.");
  return {
    status: Number(result.statusCode ?? "200"),
    headers: { ...result.headers },
    ...(result.body?.bytes === undefined ? {} : { body: result.body.bytes }),
  };
}

/** A name that comes twice has its values joined by commas, as .NET's StringValues has it. */
function queryOf({ searchParams }: URL): readonly (readonly [string, string])[] {
  return [...new Set(searchParams.keys())].map((name) => [name, searchParams.getAll(name).join(",")]);
}

const nullable = (entries: readonly (readonly [string, string])[]) =>
  Object.fromEntries(entries.map(([name, value]) => [name, { value }]));

export function headerOf(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value.join(", ") : value;
}

/** Undefined where it is too large. */
async function bodyOf(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length <= largestBody) chunks.push(chunk);
  }
  return length > largestBody ? undefined : Buffer.concat(chunks);
}
