// Connects to one cluster: the kubeconfig, its credentials, and the calls of ClusterApi over them. The only place that
// puts the parts of this folder together.
import { failure, success, type Result } from "../result.ts";
import { clusterOver, type ClusterSession, type SessionOptions } from "./cluster-over.ts";
import type { ConnectFailure } from "./connect-failure.ts";
import { credentialsOf } from "./credentials.ts";
import { loadKubeConfig } from "./kube-config.ts";

export interface ConnectOptions extends SessionOptions {
  /** A kubeconfig file. Default: KUBECONFIG, then ~/.kube/config, then the service account of the pod we run in. */
  readonly kubeconfig?: string;
  /** Default: the kubeconfig's current context. */
  readonly context?: string;
  /** Where KUBECONFIG and the proxies are looked up. Default: the process's own. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

export interface Connection extends ClusterSession {
  /** The context's name. */
  readonly context: string;
  /** Closes the kept connections, so that the process can end. Calls after it open new ones. */
  close(): void;
}

/**
 * Reads the kubeconfig and obtains credentials once, so that a plugin that fails or needs a sign-in shows here and not
 * in the middle of a repair. Nothing is sent to the cluster: whether it answers shows at the first call.
 */
export async function connect(options: ConnectOptions = {}): Promise<Result<Connection, ConnectFailure>> {
  const { environment = process.env } = options;
  const loaded = await loadKubeConfig({ ...options, environment });
  if (!loaded.ok) return loaded;
  const kubeConfig = loaded.value;
  const server = kubeConfig.getCurrentCluster()?.server.replace(/\/+$/, "") ?? "";
  if (!URL.canParse(server)) return failure(notAUrl(kubeConfig.getCurrentContext()));
  const credentials = credentialsOf(kubeConfig);
  const first = await credentials.forRequest();
  if (!first.ok) return first;
  return success({
    ...clusterOver(server, credentials, options),
    context: kubeConfig.getCurrentContext(),
    close: credentials.close,
  });
}

function notAUrl(context: string): ConnectFailure {
  return {
    kind: "server-unusable",
    message: `The server of the context "${context}" is not a URL.`,
    todo: `kubectl config view --minify --context ${context}   # and correct server`,
  };
}
