// The one place where the command line and the functions meet the adapters. It wires and does nothing else.
import type { ClusterApi } from "./admission/cluster-api.ts";
import type { ConnectFailure } from "./kubernetes/connect-failure.ts";
import { success, type Result } from "./result.ts";

export type { ConnectFailure } from "./kubernetes/connect-failure.ts";

export interface ClusterChoice {
  /** A kubeconfig file. Default: KUBECONFIG, then ~/.kube/config, then the service account of the pod we run in. */
  readonly kubeconfig?: string;
  /** Default: the kubeconfig's current context. */
  readonly context?: string;
  /** For one attempt of one request. */
  readonly requestTimeoutMs?: number;
  /** For one TLS handshake with one pod. */
  readonly handshakeTimeoutMs?: number;
}

/** The cluster that was chosen, and under which name. */
export interface ChosenCluster {
  readonly cluster: ClusterApi;
  readonly context: string;
}

/**
 * Runs one use case on the chosen cluster, and closes the connections when it ends, however it ends, so that the process
 * can exit. Fails where no cluster can be chosen; what the cluster answers is for `use`, and what `use` throws is thrown.
 */
export async function withCluster<T>(
  choice: ClusterChoice,
  use: (chosen: ChosenCluster) => Promise<T>,
): Promise<Result<T, ConnectFailure>> {
  // Not loaded for commands that need no cluster: it brings client-node, which takes half a second.
  const { connect } = await import("./kubernetes/connect.ts");
  const connection = await connect(choice);
  if (!connection.ok) return connection;
  try {
    return success(await use(connection.value));
  } finally {
    connection.value.close();
  }
}
