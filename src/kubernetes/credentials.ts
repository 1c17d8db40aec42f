// What each request carries to be let in (TLS options, headers, agent), as client-node takes it from the kubeconfig,
// and how these values are kept out of every text. Nothing is sent to the cluster here; a credential plugin is run.
import type { RequestOptions } from "node:https";
import { createSecureContext } from "node:tls";
import type { KubeConfig } from "@kubernetes/client-node";
import { failure, success, type Result } from "../result.ts";
import type { ConnectFailure } from "./connect-failure.ts";

/** TLS options, agent and headers. */
export type RequestCredentials = Omit<RequestOptions, "headers"> & {
  readonly headers: Readonly<Record<string, string>>;
};

export interface Credentials {
  /** Options for one request, renewed where the user entry says how. */
  readonly forRequest: () => Promise<Result<RequestCredentials, ConnectFailure>>;
  /** The text with every credential that was ever in use blotted out. */
  readonly withoutSecrets: (text: string) => string;
  /** Closes the kept connections. */
  readonly close: () => void;
}

/**
 * client-node starts a credential plugin without a terminal, so one that asks for a sign-in waits for ever. A browser
 * sign-in takes a minute or so.
 */
const pluginTimeoutMs = 120_000;

/** Wraps a complete KubeConfig. Nothing is run until the first `forRequest`. */
export function credentialsOf(kubeConfig: KubeConfig): Credentials {
  const secrets = new Set<string>();
  const agents = new Set<NonNullable<Exclude<RequestOptions["agent"], boolean>>>();
  const remember = (options: RequestCredentials): void => {
    for (const secret of secretsIn(options, kubeConfig)) secrets.add(secret);
    if (typeof options.agent !== "object" || agents.has(options.agent)) return;
    // client-node keeps one agent for each cluster and user, and leaves it at Node's default of one connection for
    // each request.
    Object.assign(options.agent, { keepAlive: true });
    agents.add(options.agent);
  };
  const renew = async (): Promise<Result<RequestCredentials, ConnectFailure>> => {
    const options: RequestCredentials = { headers: {} };
    try {
      await withDeadline(kubeConfig.applyToHTTPSOptions(options));
      // Fails here, and not as a puzzling network error, where a certificate or a key is not PEM.
      createSecureContext(options);
    } catch (error) {
      return failure(credentialFailure(kubeConfig, error));
    }
    remember(options);
    return success(options);
  };
  // Requests that start together share one answer: client-node would run the plugin once for each when a token expires.
  let pending: ReturnType<typeof renew> | undefined;
  return {
    forRequest: () =>
      (pending ??= renew().finally(() => {
        pending = undefined;
      })),
    withoutSecrets: (text) => [...secrets].reduce((left, secret) => left.replaceAll(secret, "[removed]"), text),
    close() {
      for (const agent of agents) agent.destroy();
    },
  };
}

async function withDeadline(work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(Object.assign(new Error("late"), { code: "ETIMEDOUT" }));
    }, pluginTimeoutMs);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function secretsIn(options: RequestCredentials, kubeConfig: KubeConfig): string[] {
  const authorization = options.headers.Authorization ?? "";
  const proxyUrl = kubeConfig.getCurrentCluster()?.proxyUrl ?? "";
  const proxyPassword = URL.canParse(proxyUrl) ? new URL(proxyUrl).password : "";
  const password = kubeConfig.getCurrentUser()?.password ?? "";
  const basic = typeof options.auth === "string" ? Buffer.from(options.auth).toString("base64") : "";
  return [authorization.replace(/^Bearer\s+/, "").trim(), password, basic, proxyPassword].filter(
    // A one-letter password cannot be blotted out without blotting out everything.
    (secret) => secret.length >= 4,
  );
}

/**
 * From the error's codes only. Its text is not used: for a plugin it is what the plugin printed, and for a plugin whose
 * output is not JSON it quotes that output.
 */
function credentialFailure(kubeConfig: KubeConfig, error: unknown): ConnectFailure {
  const user = kubeConfig.getCurrentUser();
  const context = kubeConfig.getCurrentContext();
  const plugin = pluginOf(user?.exec);
  const { code, syscall, path } = fieldsOf(error);
  const kubectl = `kubectl --context ${context} get --raw /version`;
  if (code === "ERR_INVALID_URL" || isPlainHttp(kubeConfig)) {
    return {
      kind: "server-unusable",
      message: `The server or the proxy of the context "${context}" is not a URL that can be used: https is needed.`,
      todo: `kubectl config view --minify --context ${context}   # and correct server or proxy-url`,
    };
  }
  if (plugin !== undefined && syscall?.startsWith("spawn")) {
    return {
      kind: "credentials",
      message: `The credential plugin "${plugin}" of the user "${user?.name ?? ""}" could not be started (${code ?? "unknown"}).`,
      todo: `${plugin} --version   # install it or put it on PATH; for Azure: az aks install-cli`,
    };
  }
  if (plugin !== undefined) {
    const what = code === "ETIMEDOUT" ? `gave no answer in ${pluginTimeoutMs / 1000} s` : "failed";
    return {
      kind: "credentials",
      message: `The credential plugin "${plugin}" of the user "${user?.name ?? ""}" ${what}.`,
      todo: `${kubectl}   # it shows what the plugin says, and lets you sign in`,
    };
  }
  const what = path === undefined ? "cannot be used" : `name a file that cannot be read: ${path}`;
  return {
    kind: "credentials",
    message: `The credentials of the user "${user?.name ?? ""}" ${what}${code === undefined ? "" : ` (${code})`}.`,
    todo: `${kubectl}   # it says what is wrong with them`,
  };
}

/** client-node refuses to send credentials over plain HTTP, unless the cluster also says insecure-skip-tls-verify. */
function isPlainHttp(kubeConfig: KubeConfig): boolean {
  const cluster = kubeConfig.getCurrentCluster();
  return cluster !== null && !cluster.server.startsWith("https://") && !cluster.skipTLSVerify;
}

function pluginOf(exec: unknown): string | undefined {
  if (typeof exec !== "object" || exec === null || !("command" in exec)) return undefined;
  return typeof exec.command === "string" ? exec.command : undefined;
}

function fieldsOf(error: unknown): { readonly code?: string; readonly syscall?: string; readonly path?: string } {
  if (!(error instanceof Error)) return {};
  const field = (name: string): string | undefined => {
    const value: unknown = Reflect.get(error, name);
    return typeof value === "string" ? value : undefined;
  };
  const [code, syscall, path] = [field("code"), field("syscall"), field("path")];
  return { ...(code && { code }), ...(syscall && { syscall }), ...(path && { path }) };
}
