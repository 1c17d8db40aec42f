// A reverse proxy on loopback between fleetmend and the API server: it counts and records every request and can answer
// itself, swallow, break or cut, before or after the API server has done what was asked. Tokens, watches and WebSocket
// upgrades pass through. It changes nothing that it passes on.
import { Agent, createServer, request as sendUpstream } from "node:https";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import tls from "node:tls";
import type { ControlPlane, User } from "./control-plane.ts";
import { writeKubeconfig } from "./kubeconfig.ts";
import { describeRequest, isRefusedByAuthorizer, messageIn, type ProxiedRequest } from "./proxied-request.ts";

export type ProxyAction =
  | { readonly do: "pass" }
  /** We answer, the API server hears nothing of it. */
  | { readonly do: "answer"; readonly status: AnswerStatus; readonly message?: string }
  /** Nothing ever comes back. `delivered`: the API server has done it all the same. */
  | { readonly do: "swallow"; readonly delivered: boolean }
  /** The connection breaks. */
  | { readonly do: "reset"; readonly delivered: boolean }
  /** As `reset`, and nothing gets through from then on: the client's process was killed here. */
  | { readonly do: "cut"; readonly delivered: boolean };

export interface FaultProxy {
  readonly server: string;
  readonly requests: readonly ProxiedRequest[];
  /** Asked for each request on its arrival. Absent: all pass. */
  onRequest: ((request: ProxiedRequest) => ProxyAction) | undefined;
  /** Whether a `cut` has come: nothing gets through any more. */
  isCut(): boolean;
  /** The requests that the authorizer refused; refusals by quota or Pod Security are not among them. */
  forbidden(): readonly ProxiedRequest[];
  /** Throws if the authorizer refused anything but what `expected` says. */
  assertNothingForbidden(expected?: (request: ProxiedRequest) => boolean): void;
  /** Forgets the requests and the cut, ends open connections and passes everything again. */
  restart(): void;
  /** Writes a kubeconfig that leads through the proxy, with the rights of these users; the last one is current. */
  kubeconfig(file: string, ...users: readonly [User, ...User[]]): string;
  stop(): Promise<void>;
}

interface Session {
  readonly plane: ControlPlane;
  /** Keeps the connections to the API server: a handshake for each of thousands of requests would be most of the work. */
  readonly agent: Agent;
  readonly connections: Set<Duplex>;
  requests: ProxiedRequest[];
  isCut: boolean;
  onRequest: FaultProxy["onRequest"];
}

export async function startFaultProxy(plane: ControlPlane): Promise<FaultProxy> {
  const session: Session = {
    plane,
    agent: new Agent({ keepAlive: true, ca: plane.ca }),
    connections: new Set(),
    requests: [],
    isCut: false,
    onRequest: undefined,
  };
  const server = createServer({ cert: plane.serving.certificate, key: plane.serving.key });
  server.on("connection", (connection: Duplex) => {
    session.connections.add(connection);
    connection.once("close", () => session.connections.delete(connection));
  });
  server.on("request", (incoming: IncomingMessage, response: ServerResponse) => {
    void handle(session, incoming, response);
  });
  server.on("upgrade", (incoming: IncomingMessage, client: Duplex, head: Buffer) => {
    handleUpgrade(session, incoming, { client, head });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("a TCP server without a port");
  const url = `https://127.0.0.1:${address.port}`;
  const forbidden = (): readonly ProxiedRequest[] => session.requests.filter(isRefusedByAuthorizer);
  return {
    server: url,
    get requests() {
      return session.requests;
    },
    get onRequest() {
      return session.onRequest;
    },
    set onRequest(hook) {
      session.onRequest = hook;
    },
    isCut: () => session.isCut,
    forbidden,
    assertNothingForbidden: (expected = () => false) => {
      const unexpected = forbidden().filter((request) => !expected(request));
      if (unexpected.length === 0) return;
      const lines = unexpected.map(({ method, path, message }) => `${method} ${path}: ${message ?? ""}`);
      throw new Error(`the authorizer refused what the manifests should allow:\n${lines.join("\n")}`);
    },
    restart: () => {
      Object.assign(session, { requests: [], isCut: false, onRequest: undefined });
      for (const connection of session.connections) connection.destroy();
    },
    kubeconfig: (file, ...names) => {
      const contexts = names.map((user) => [user, { server: url, ca: plane.ca, token: plane.tokens[user] }] as const);
      return writeKubeconfig(file, Object.fromEntries(contexts));
    },
    stop: async () => {
      session.agent.destroy();
      for (const connection of session.connections) connection.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function record(session: Session, incoming: IncomingMessage, body: string): ProxiedRequest {
  const request = describeRequest(session.requests.length + 1, incoming, body);
  session.requests.push(request);
  return request;
}

/** What is to happen to a request; from a cut on, nothing gets through. */
function decide(session: Session, request: ProxiedRequest): ProxyAction {
  if (session.isCut) return { do: "reset", delivered: false };
  const action = session.onRequest?.(request) ?? { do: "pass" };
  if (action.do !== "cut") return action;
  session.isCut = true;
  return { do: "reset", delivered: action.delivered };
}

async function handle(session: Session, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  incoming.on("error", () => undefined);
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
  } catch {
    // The client went away before it had finished asking.
    return;
  }
  const body = Buffer.concat(chunks);
  const wasCut = session.isCut;
  const request = record(session, incoming, body.toString("utf8"));
  const action = decide(session, request);
  const upstream = { session, incoming, request, body };
  switch (action.do) {
    case "pass":
      forward(upstream, response);
      return;
    case "answer":
      answer(request, response, action);
      return;
    case "swallow":
      if (action.delivered) await deliver(upstream);
      return;
    case "reset":
    case "cut":
      if (action.delivered) await deliver(upstream);
      incoming.socket.destroy();
      if (session.isCut && !wasCut) for (const connection of session.connections) connection.destroy();
  }
}

interface Upstream {
  readonly session: Session;
  readonly incoming: IncomingMessage;
  readonly request: ProxiedRequest;
  readonly body: Buffer;
}

function send({ session, incoming, request, body }: Upstream, onResponse: (response: IncomingMessage) => void): void {
  // Of one hop only (RFC 9110 §7.6.1).
  const headers = { ...incoming.headers };
  delete headers.connection;
  const url = new URL(request.path, session.plane.server);
  const outgoing = sendUpstream(url, { method: request.method, headers, agent: session.agent }, (response) => {
    request.status = response.statusCode ?? 0;
    if (request.status > 399) keepMessage(request, response);
    onResponse(response);
  });
  outgoing.on("error", () => incoming.socket.destroy());
  // A watch has no end of its own. It keeps its connection to itself, so that this listener stays the only one.
  if (request.kind === "watch") incoming.socket.once("close", () => outgoing.destroy());
  outgoing.end(body);
}

function keepMessage(request: ProxiedRequest, response: IncomingMessage): void {
  const chunks: Buffer[] = [];
  response.on("data", (chunk: Buffer) => chunks.push(chunk));
  response.on("end", () => {
    const text = Buffer.concat(chunks).toString("utf8");
    request.message = messageIn(text);
  });
}

function forward(upstream: Upstream, response: ServerResponse): void {
  send(upstream, (incoming) => {
    response.writeHead(incoming.statusCode ?? 502, incoming.headers);
    // A watch must show its headers before its first event.
    response.flushHeaders();
    incoming.pipe(response);
    incoming.on("error", () => response.destroy());
  });
}

/** The API server does it and the answer is thrown away. */
function deliver(upstream: Upstream): Promise<void> {
  return new Promise((resolve) => {
    send(upstream, (response) => {
      response.resume();
      response.once("close", resolve);
    });
  });
}

const reasons = {
  403: "Forbidden",
  409: "Conflict",
  429: "TooManyRequests",
  500: "InternalError",
  503: "ServiceUnavailable",
  504: "Timeout",
} as const;

export type AnswerStatus = keyof typeof reasons;

function answer(
  request: ProxiedRequest,
  response: ServerResponse,
  { status, message = "made by the fault proxy" }: Extract<ProxyAction, { do: "answer" }>,
): void {
  request.status = status;
  request.message = message;
  response.writeHead(status, { "content-type": "application/json", ...(status === 429 && { "retry-after": "1" }) });
  const body = {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message,
    reason: reasons[status],
    code: status,
  };
  response.end(JSON.stringify(body));
}

interface Upgrade {
  readonly client: Duplex;
  readonly head: Buffer;
}

/** A port-forward: the request's head is sent on as it came, and then both directions are piped. */
function handleUpgrade(session: Session, incoming: IncomingMessage, { client, head }: Upgrade): void {
  const request = record(session, incoming, "");
  const action = decide(session, request);
  client.on("error", () => undefined);
  if (action.do === "answer") {
    request.status = action.status;
    client.end(`HTTP/1.1 ${action.status} ${reasons[action.status]}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
    return;
  }
  if (action.do === "swallow") return;
  if (action.do !== "pass") {
    client.destroy();
    return;
  }
  const { hostname, port } = new URL(session.plane.server);
  const upstream = tls.connect({
    host: hostname,
    port: Number(port),
    ca: session.plane.ca,
    ALPNProtocols: ["http/1.1"],
  });
  upstream.write(headOf(incoming));
  upstream.write(head);
  upstream.once("data", (first: Buffer) => {
    const text = first.toString("latin1");
    request.status = Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1]);
    if (request.status > 399) request.message = messageIn(text.slice(text.indexOf("\r\n\r\n") + 4));
  });
  client.pipe(upstream).pipe(client);
  upstream.on("error", () => client.destroy());
  upstream.once("close", () => client.destroy());
  client.once("close", () => upstream.destroy());
}

function headOf({ method, url, rawHeaders }: IncomingMessage): string {
  const lines = [`${method ?? "GET"} ${url ?? "/"} HTTP/1.1`];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    lines.push(`${rawHeaders[index] ?? ""}: ${rawHeaders[index + 1] ?? ""}`);
  }
  return `${lines.join("\r\n")}\r\n\r\n`;
}
