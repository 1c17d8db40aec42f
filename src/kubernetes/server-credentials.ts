// What each request carries to a server that is reached with a bearer token, or with a client certificate, and without a
// kubeconfig: TLS options, headers, agent. client-node is not loaded for it: it takes half a second and 80 MB.
import { X509Certificate } from "node:crypto";
import { Agent, type AgentOptions } from "node:https";
import { createSecureContext } from "node:tls";
import { failure, success, type Result } from "../result.ts";
import type { ConnectFailure } from "./connect-failure.ts";
import type { Credentials, RequestCredentials } from "./credentials.ts";
import { proxyFromEnvironment } from "./proxy-from-environment.ts";

export interface ServerAddress {
  /** The API server's URL; https. */
  readonly server: string;
  /** The CA that the server's certificate must be of, PEM. No other CA is accepted. */
  readonly caPem: string;
  /** Where the proxies are looked up. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Who is let in. `token` is asked before each request: it keeps what it has until it must be renewed. */
export type Login =
  | { readonly token: () => Promise<Result<string, ConnectFailure>> }
  | { readonly certificatePem: string; readonly keyPem: string };

/** Nothing is sent. Fails where the URL, the proxy's URL, the CA or the certificate cannot be used. */
export async function serverCredentials(
  address: ServerAddress,
  login: Login,
): Promise<Result<Credentials, ConnectFailure>> {
  const secrets = new Set<string>();
  const tls = tlsOptions(address, login);
  if (!tls.ok) return tls;
  const agent = await agentFor(address, secrets);
  if (!agent.ok) return agent;
  const common = { ...tls.value, agent: agent.value };
  return success({
    forRequest: () => withToken(common, login, secrets),
    withoutSecrets: (text) => [...secrets].reduce((left, secret) => left.replaceAll(secret, "[removed]"), text),
    close() {
      agent.value.destroy();
    },
  });
}

async function withToken(
  common: Omit<RequestCredentials, "headers">,
  login: Login,
  secrets: Set<string>,
): Promise<Result<RequestCredentials, ConnectFailure>> {
  if (!("token" in login)) return success({ ...common, headers: {} });
  const token = await login.token();
  if (!token.ok) return token;
  secrets.add(token.value);
  return success({ ...common, headers: { Authorization: `Bearer ${token.value}` } });
}

function tlsOptions({ server, caPem }: ServerAddress, login: Login) {
  if (!URL.canParse(server) || new URL(server).protocol !== "https:") {
    return failure(unusable(`The API server's address is not an https URL.`));
  }
  const pair = "token" in login ? {} : { cert: login.certificatePem, key: login.keyPem };
  const options = { ca: caPem, ...pair };
  try {
    // Fails here, and not as a puzzling network error, where a certificate or a key is not PEM.
    createSecureContext(options);
    // OpenSSL passes over a CA that is none, and then trusts nobody.
    new X509Certificate(caPem);
  } catch {
    return failure(unusable(`The CA or the client certificate for ${new URL(server).host} is not PEM.`));
  }
  return success(options);
}

/** One for all requests, so that connections are kept. The same proxy agent as client-node's. */
async function agentFor(
  { server, environment }: ServerAddress,
  secrets: Set<string>,
): Promise<Result<Agent, ConnectFailure>> {
  const keep: AgentOptions = { keepAlive: true };
  const proxy = proxyFromEnvironment(server, environment);
  if (proxy === undefined) return success(new Agent(keep));
  if (!URL.canParse(proxy)) return failure(unusable("The proxy in HTTPS_PROXY is not a URL."));
  const { password } = new URL(proxy);
  if (password !== "") secrets.add(password);
  const { HttpsProxyAgent } = await import("hpagent");
  return success(new HttpsProxyAgent({ ...keep, proxy }));
}

function unusable(message: string): ConnectFailure {
  return {
    kind: "server-unusable",
    message,
    todo: "az aks show --resource-group GROUP --name CLUSTER   # does it say the same?",
  };
}
