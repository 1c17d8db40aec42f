// How the lab's API server calls a webhook: over a real TLS connection, accepted or refused by our verdict on the chain
// that was really served. Connections are kept alive per client configuration, bundle bytes included, as in the real one
// (k8s.io/apiserver pkg/util/webhook/client.go): a drift stays hidden until the next handshake. TLS itself is OpenSSL's.
import { Agent, request as httpRequest, type IncomingMessage } from "node:http";
import { connect, type TLSSocket } from "node:tls";
import { failure, success, type Result } from "../../result.ts";
import type { GoRelease, Verdict, VerifyInput } from "../../trust/verdict.ts";
import type { Webhook } from "./stored-object.ts";

/** Where a Service's connections end, or what Go's dialler says instead. */
export type Route = (service: Webhook["clientConfig"]["service"]) => Result<{ readonly port: number }, string>;

export interface WebhookClientOptions {
  readonly verify: (input: VerifyInput) => Verdict;
  readonly go: GoRelease;
  readonly now: () => Date;
  readonly route: Route;
  /** How long an unused connection is kept. 90 s in net/http's transport, and in controller-runtime's server. */
  readonly idleMs: number;
}

export interface WebhookClients {
  /** POSTs a review; the answer's JSON, or what the API server says after `failed calling webhook "…": `. */
  call(webhook: Webhook, review: unknown): Promise<Result<unknown, string>>;
  /** Ends all kept connections, as a restart of the API server does. */
  close(): void;
}

/** Go's own words for a connection that did not come about; the message is what follows `Post "…": `. */
class DialFailure extends Error {}

/** One set of clients, as one API server process has it. */
export function createWebhookClients(options: WebhookClientOptions): WebhookClients {
  const agents = new Map<string, Agent>();

  const agentOf = ({ clientConfig }: Webhook): Agent => {
    const key = JSON.stringify(clientConfig);
    const agent = agents.get(key) ?? verifyingAgent(clientConfig, options);
    agents.set(key, agent);
    return agent;
  };

  return {
    async call(webhook, review) {
      const unreadable = unreadableBundle(webhook, options);
      if (unreadable !== undefined) return failure(`could not get REST client: ${unreadable}`);
      return post(webhook, review, agentOf(webhook));
    },
    close() {
      for (const agent of agents.values()) agent.destroy();
      agents.clear();
    },
  };
}

/** `unable to load root certificates: …` where the bundle holds no certificate that Go can read; it is asked first. */
function unreadableBundle({ clientConfig }: Webhook, { verify, go, now }: WebhookClientOptions): string | undefined {
  const verdict = verify({ ...serverOf(clientConfig), chain: [], at: now(), go });
  return verdict.outcome === "broken" && verdict.stage === "config" ? verdict.goText : undefined;
}

function serverOf({ caBundle = "", service }: Webhook["clientConfig"]): { caBundle: Uint8Array; serverName: string } {
  return { caBundle: Buffer.from(caBundle, "base64"), serverName: `${service.name}.${service.namespace}.svc` };
}

/** An agent of plain HTTP whose connections are TLS connections that the verdict has trusted. */
function verifyingAgent(clientConfig: Webhook["clientConfig"], options: WebhookClientOptions): Agent {
  const agent = new Agent({ keepAlive: true, timeout: options.idleMs, scheduling: "lifo" });
  agent.createConnection = (_, callback) => {
    dial(clientConfig, options).then(
      (socket) => callback?.(null, socket),
      (error: unknown) => callback?.(error as Error, undefined as never),
    );
    return undefined;
  };
  return agent;
}

async function dial(clientConfig: Webhook["clientConfig"], options: WebhookClientOptions): Promise<TLSSocket> {
  const route = options.route(clientConfig.service);
  if (!route.ok) throw new DialFailure(route.error);
  const { serverName, caBundle } = serverOf(clientConfig);
  const socket = connect({
    host: "127.0.0.1",
    port: route.value.port,
    servername: serverName,
    ALPNProtocols: ["http/1.1"],
    // Not OpenSSL's answer but the verdict's, below.
    rejectUnauthorized: false,
  });
  await new Promise<void>((resolve, reject) => {
    socket.once("secureConnect", resolve).once("error", reject);
  });
  const chain = servedChain(socket);
  const verdict = options.verify({ caBundle, serverName, chain, at: options.now(), go: options.go });
  if (verdict.outcome === "trusted") return socket;
  socket.destroy();
  throw new DialFailure(verdict.outcome === "broken" ? verdict.goText : `the lab has no verdict: ${verdict.reason}`);
}

/** The certificates in the order served. `getPeerCertificate(true)` would leave some out. */
function servedChain(socket: TLSSocket): Uint8Array[] {
  const chain: Uint8Array[] = [];
  for (let each = socket.getPeerX509Certificate(); each !== undefined; each = each.issuerCertificate) {
    chain.push(each.raw);
  }
  return chain;
}

async function post(webhook: Webhook, review: unknown, agent: Agent): Promise<Result<unknown, string>> {
  const { clientConfig, timeoutSeconds } = webhook;
  const { port, path = "/" } = clientConfig.service;
  const host = `${serverOf(clientConfig).serverName}:${String(port)}`;
  const url = `https://${host}${path}?timeout=${String(timeoutSeconds)}s`;
  try {
    const body = JSON.stringify(review);
    const text = await exchange({
      agent,
      host,
      path: `${path}?timeout=${String(timeoutSeconds)}s`,
      body,
      timeoutSeconds,
    });
    return success(JSON.parse(text) as unknown);
  } catch (error) {
    return failure(`failed to call webhook: Post "${url}": ${goWordsOf(error)}`);
  }
}

interface Exchange {
  readonly agent: Agent;
  readonly host: string;
  readonly path: string;
  readonly body: string;
  readonly timeoutSeconds: number;
}

async function exchange(call: Exchange): Promise<string> {
  const response = await send(call);
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

function send(call: Exchange): Promise<IncomingMessage> {
  const { agent, host, path, body, timeoutSeconds } = call;
  const headers = { host, "content-type": "application/json", "content-length": Buffer.byteLength(body) };
  const signal = AbortSignal.timeout(timeoutSeconds * 1000);
  return new Promise((resolve, reject) => {
    const request = httpRequest({ agent, path, method: "POST", headers, signal }, resolve);
    request.once("error", (error: NodeJS.ErrnoException) => {
      // A kept connection that the server has just ended: net/http dials anew (Transport.shouldRetryRequest).
      if (request.reusedSocket && error.code === "ECONNRESET") send(call).then(resolve, reject);
      else reject(error);
    });
    request.end(body);
  });
}

/** The few ends of a call that the lab's own backends can give, as net/http words them. */
function goWordsOf(error: unknown): string {
  if (error instanceof DialFailure) return error.message;
  const { name, code } = error as NodeJS.ErrnoException;
  if (name === "AbortError" || name === "TimeoutError") return "context deadline exceeded";
  if (code === "ECONNRESET") return "EOF";
  return `the lab has no words of Go for ${code ?? String(error)}`;
}
