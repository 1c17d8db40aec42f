// The managed identity endpoint of an App Service or Functions app (IDENTITY_ENDPOINT, api-version 2019-08-01), and which
// tokens are good. Tokens are opaque. Not here: what an identity may do.
import { randomBytes, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import { listen } from "../listen.ts";
import { answering, urlOf, type JsonAnswer } from "./json-exchange.ts";

/** What tokens are asked for, by the names that a managed identity uses. */
export const audiences = {
  arm: "https://management.azure.com",
  vault: "https://vault.azure.net",
  monitor: "https://monitor.azure.com",
  /** The AKS server application of every tenant (Microsoft Learn, "Azure Kubernetes Service: kubelogin"). */
  aks: "6dae42f8-4368-4678-94ff-3960e28e3630",
} as const;

export type Audience = keyof typeof audiences;

export interface Identity {
  readonly endpoint: string;
  /** For IDENTITY_HEADER: who does not send it gets nothing. */
  readonly header: string;
  readonly clientId: string;
  /** The name under which clusters know the identity. */
  readonly objectId: string;
  /** Whether an Authorization header carries a token for this audience that is still good. */
  accepts(authorization: string | undefined, audience: Audience): boolean;
  /** Every token given out so far is refused from now on, as after a long sleep. */
  revoke(): void;
  /** How many tokens were given out. */
  readonly issued: () => number;
  readonly stop: () => Promise<void>;
}

const lifetimeSeconds = 24 * 60 * 60;

interface Token {
  readonly audience: Audience;
  readonly expires: number;
}

export interface IdentityOptions {
  readonly now?: () => Date;
  /** The token that a real API server knows the identity by. Default: a random one, as for every other audience. */
  readonly aksToken?: string;
}

/** Listens with plain http on 127.0.0.1, as the platform does. */
export async function startIdentity({ now = () => new Date(), aksToken }: IdentityOptions = {}): Promise<Identity> {
  const header = randomUUID();
  const clientId = randomUUID();
  const tokens = new Map<string, Token>();
  let issued = 0;

  const issue = (audience: Audience): JsonAnswer => {
    const token = (audience === "aks" ? aksToken : undefined) ?? randomBytes(48).toString("base64url");
    const expires = Math.floor(now().getTime() / 1000) + lifetimeSeconds;
    tokens.set(token, { audience, expires });
    issued += 1;
    return {
      status: 200,
      body: {
        access_token: token,
        expires_on: String(expires),
        resource: audiences[audience],
        token_type: "Bearer",
        client_id: clientId,
      },
    };
  };
  const respond = (request: IncomingMessage): JsonAnswer => {
    const query = urlOf(request).searchParams;
    if (request.method !== "GET" || query.get("api-version") !== "2019-08-01") return refusal("unsupported request");
    if (request.headers["x-identity-header"] !== header) return refusal("the header X-IDENTITY-HEADER is wrong", 403);
    if (query.get("client_id") !== clientId) return refusal("no identity of this client_id is assigned to the app");
    const audience = audienceOf(query.get("resource") ?? "");
    return audience === undefined ? refusal("the lab has no such resource") : issue(audience);
  };
  const { port, stop } = await listen(createServer(answering((request) => Promise.resolve(respond(request)))));
  return {
    endpoint: `http://127.0.0.1:${port}/msi/token`,
    header,
    clientId,
    objectId: randomUUID(),
    accepts(authorization = "", audience) {
      const token = tokens.get(/^Bearer (.+)$/.exec(authorization)?.[1] ?? "");
      return token?.audience === audience && token.expires * 1000 > now().getTime();
    },
    revoke() {
      tokens.clear();
    },
    issued: () => issued,
    stop,
  };
}

function audienceOf(resource: string): Audience | undefined {
  const name = resource.replace(/\/$/, "");
  return (Object.keys(audiences) as Audience[]).find((audience) => audiences[audience] === name);
}

function refusal(message: string, status = 400): JsonAnswer {
  return { status, body: { statusCode: status, message, correlationId: randomUUID() } };
}
