// The lab's kube-apiserver on the wire: TLS, a bearer token or client certificate, authorization, and the paths that fleetmend calls. Everything
// else is answered with 404 and a Status that says so.
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { TLSSocket } from "node:tls";
import type { ServingCertificate } from "../authority.ts";
import { listen, type Listening } from "../listen.ts";
import type { Kubelet } from "./kubelet.ts";
import type { Writer } from "./managed-fields.ts";
import { createObject, getObject, listObjects, patchObject, replaceObject } from "./object-calls.ts";
import { createPod } from "./pod-create.ts";
import { forwardPort } from "./port-forward.ts";
import { parsePath, resources, type Target, type Verb } from "./resources.ts";
import { reviewAnswer } from "./reviews.ts";
import { mayDo, type Right } from "./rights.ts";
import {
  answer,
  badRequest,
  forbidden,
  internalError,
  notFound,
  notInTheLab,
  unauthorized,
  type Answer,
  type Attributes,
} from "./status.ts";
import type { Store } from "./store.ts";
import type { WebhookClients } from "./webhook-client.ts";

/** Who calls, and what it may do. */
export interface User {
  readonly name: string;
  readonly rights: readonly Right[];
}

/** What a request brings to say who sends it. */
export interface Login {
  readonly authorization: string | undefined;
  /** Of a client certificate that the server's client CA has signed. */
  readonly certificateUser: string | undefined;
}

export interface ApiServerOptions {
  readonly store: Store;
  readonly clients: WebhookClients;
  readonly kubelet: Kubelet;
  readonly now: () => Date;
  readonly serving: ServingCertificate;
  /** Signs client certificates; absent: nobody logs in with one. */
  readonly clientCaPem?: string;
  /** Undefined for 401. */
  readonly authenticate: (login: Login) => User | undefined;
  /** How long each request waits before it is looked at. Default 0. */
  readonly latencyMs?: number;
  /** `GET /version`. */
  readonly version: Readonly<Record<string, string>>;
}

interface ApiRequest {
  readonly method: string;
  readonly url: URL;
  readonly contentType: string;
  readonly body: unknown;
  readonly user: User;
  readonly writer: Writer;
}

/** The server, which does not listen yet. */
export function createApiServer(options: ApiServerOptions): Server {
  const { serving, clientCaPem } = options;
  const clients = clientCaPem === undefined ? {} : { requestCert: true, rejectUnauthorized: false, ca: clientCaPem };
  const server = createServer({ ...serving, ...clients, ALPNProtocols: ["http/1.1"] }, (request, response) => {
    void respond(request, response, options);
  });
  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    upgrade({ request, socket, head }, options);
  });
  return server;
}

/** Starts it on a free port of 127.0.0.1. */
export function startApiServer(options: ApiServerOptions): Promise<Listening> {
  return listen(createApiServer(options));
}

async function respond(request: IncomingMessage, response: ServerResponse, options: ApiServerOptions): Promise<void> {
  await sleep(options.latencyMs ?? 0);
  const user = callerOf(request, options);
  const { code, body } = user === undefined ? unauthorized() : await answerTo(request, user, options);
  response.writeHead(code, { "content-type": "application/json", "cache-control": "no-cache, private" });
  response.end(JSON.stringify(body));
}

function callerOf({ headers, socket }: IncomingMessage, { authenticate }: ApiServerOptions): User | undefined {
  const certificate = socket instanceof TLSSocket && socket.authorized ? socket.getPeerX509Certificate() : undefined;
  const [, certificateUser] = /^CN=(.+)$/m.exec(certificate?.subject ?? "") ?? [];
  return authenticate({ authorization: headers.authorization, certificateUser });
}

/** A defect of the lab is answered with 500, so that it is seen where it was met. */
async function answerTo(request: IncomingMessage, user: User, options: ApiServerOptions): Promise<Answer> {
  const url = new URL(request.url ?? "/", "https://127.0.0.1");
  const text = await textOf(request);
  try {
    return await route(
      {
        method: request.method ?? "GET",
        url,
        contentType: request.headers["content-type"] ?? "",
        body: text === "" ? undefined : (JSON.parse(text) as unknown),
        user,
        writer: { manager: url.searchParams.get("fieldManager") ?? agentOf(request), at: options.now() },
      },
      options,
    );
  } catch (error) {
    if (error instanceof SyntaxError) return badRequest(`the body is not JSON: ${error.message}`);
    return internalError(`a defect of the lab: ${String(error)}`);
  }
}

/** Without a `fieldManager` the first part of the user agent stands (managedfields.PrefixFromUserAgent). */
function agentOf(request: IncomingMessage): string {
  return request.headers["user-agent"]?.split("/")[0] ?? "unknown";
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

async function route(request: ApiRequest, options: ApiServerOptions): Promise<Answer> {
  const { method, url, body, user } = request;
  if (method === "GET" && url.pathname === "/version") return answer(options.version);
  const review = method === "POST" ? reviewAnswer(url.pathname, body, user.rights) : undefined;
  if (review !== undefined) return review;
  const target = parsePath(url.pathname);
  const verb = target === undefined ? undefined : verbOf(method, target);
  if (target === undefined || verb === undefined || !target.resource.verbs.includes(verb)) {
    return notInTheLab(`${method} ${url.pathname}`);
  }
  const attributes = attributesOf(verb, target);
  if (!mayDo(user.rights, attributes)) return forbidden(user.name, attributes);
  return handle(verb, target, request, options);
}

function verbOf(method: string, { name, namespace, resource, subresource }: Target): Verb | undefined {
  if (subresource !== "") return undefined;
  switch (method) {
    case "GET":
      return name === "" ? "list" : "get";
    case "PATCH":
      return name === "" ? undefined : "patch";
    case "PUT":
      return name === "" ? undefined : "update";
    case "POST":
      return name === "" && (namespace !== "" || !resource.namespaced) ? "create" : undefined;
    default:
      return undefined;
  }
}

/** A namespace is an object in itself: a Role in it may allow it to be read (RequestInfoFactory). */
function attributesOf(verb: string, { resource, namespace, name, subresource }: Target): Attributes {
  return { verb, resource, subresource, name, namespace: resource === resources.namespaces ? name : namespace };
}

async function handle(verb: Verb, target: Target, request: ApiRequest, options: ApiServerOptions): Promise<Answer> {
  const { store, clients } = options;
  const { url, body, user, writer, contentType } = request;
  switch (verb) {
    case "get":
      return getObject(store, target);
    case "list":
      return listObjects(store, target, url.searchParams);
    case "update":
      return replaceObject(store, target, body, writer);
    case "patch":
      if (contentType !== "application/json-patch+json") return notInTheLab(`PATCH with ${contentType}`);
      return patchObject(store, target, body, writer);
    case "create": {
      const dryRun = url.searchParams.get("dryRun") === "All";
      if (target.resource !== resources.pods) return createObject(store, target, body, writer);
      return createPod({ target, dryRun, body, user: user.name, writer }, store, clients);
    }
  }
}

interface Upgrade {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
}

/** Port-forward. Kubernetes 1.35 and later ask for `create` besides `get` where it comes as a WebSocket. */
function upgrade({ request, socket, head }: Upgrade, options: ApiServerOptions): void {
  const url = new URL(request.url ?? "/", "https://127.0.0.1");
  const target = parsePath(url.pathname);
  const user = callerOf(request, options);
  if (user === undefined) {
    refuseUpgrade(socket, unauthorized());
    return;
  }
  if (target?.resource !== resources.pods || target.subresource !== "portforward") {
    refuseUpgrade(socket, notInTheLab(`WebSocket ${url.pathname}`));
    return;
  }
  const denied = ["get", "create"]
    .map((verb) => attributesOf(verb, target))
    .find((attributes) => !mayDo(user.rights, attributes));
  if (denied !== undefined) refuseUpgrade(socket, forbidden(user.name, denied));
  else if (options.store.get(target) === undefined) refuseUpgrade(socket, notFound(target.resource, target.name));
  else {
    const containerPort = Number(url.searchParams.get("ports"));
    const port = options.kubelet.portOf(target.name, containerPort);
    forwardPort(request, socket, head, { pod: target.name, containerPort, port });
  }
}

function refuseUpgrade(socket: Duplex, { code, body }: Answer): void {
  const text = JSON.stringify(body);
  const head = [
    `HTTP/1.1 ${String(code)} Refused`,
    "Content-Type: application/json",
    `Content-Length: ${String(Buffer.byteLength(text))}`,
    "Connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${text}`);
}
