// Connects to a cluster whose server and CA are known and whose token somebody else obtains: ClusterApi without a
// kubeconfig. connect.ts is the way with one.
import type { ClusterApi } from "../admission/cluster-api.ts";
import { success, type Result } from "../result.ts";
import { clusterOver, type SessionOptions } from "./cluster-over.ts";
import type { ConnectFailure } from "./connect-failure.ts";
import { serverCredentials, type Login, type ServerAddress } from "./server-credentials.ts";

export type { Login } from "./server-credentials.ts";

export interface ServerConnectOptions extends SessionOptions, Omit<ServerAddress, "environment"> {
  readonly login: Login;
  /** Where the proxies are looked up. Default: the process's own. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

export interface ServerConnection {
  readonly api: ClusterApi;
  /** Closes the kept connections. Calls after it open new ones. */
  readonly close: () => void;
}

/**
 * Nothing is sent to the cluster, and no token is asked for: both happen at the first call, where a failure to obtain a
 * token is an `unauthorized` failure. The token is renewed by whoever gives it, and is in no text.
 */
export async function connectServer(options: ServerConnectOptions): Promise<Result<ServerConnection, ConnectFailure>> {
  const { environment = process.env } = options;
  const server = options.server.replace(/\/+$/, "");
  const credentials = await serverCredentials({ server, caPem: options.caPem, environment }, options.login);
  if (!credentials.ok) return credentials;
  const { close } = credentials.value;
  return success({ api: clusterOver(server, credentials.value, options).cluster, close });
}
