// How a use case comes to the API of one cluster, and why it may not. src/azure and src/kubernetes implement it.
import type { ClusterApi } from "../admission/cluster-api.ts";
import type { Result } from "../result.ts";
import type { ManagedCluster } from "./managed-cluster.ts";

/** Why a cluster was not looked at. The kinds are public: reports, telemetry and alerts carry them. */
export const notAssessedKinds = [
  "stopped",
  "creating",
  "deleting",
  "removed", // ARM no longer knows it
  "no-dns", // the API server's name does not resolve from here: a private zone that is not linked
  "no-route", // resolves, and no connection comes about, or nothing is said in it
  "authorized-ip-ranges", // as no-route, and the cluster lets in only some addresses
  "tls-failed", // its certificate is not of the CA that ARM told, also after asking anew
  "unauthorized", // 401
  "forbidden", // 403, by the cluster or by ARM
  "local-accounts", // no Entra: the only credential is cluster-admin, which is not used unless a setting allows it
  "throttled",
  "unavailable", // ARM or the API server answers 5xx, or not in time
  "gave-up", // every try of a message failed; `message` has the last error
] as const;
export type NotAssessedKind = (typeof notAssessedKinds)[number];

export interface NotAssessed {
  readonly kind: NotAssessedKind;
  /** What happened, for people. No secret in it. */
  readonly message: string;
  /** What to do about it: a command, a setting, or whom to ask. */
  readonly todo: string;
  /** Whether the next try may well succeed. */
  readonly passing: boolean;
  readonly retryAfterSeconds?: number;
}

export interface OpenCluster {
  readonly api: ClusterApi;
  /** Closes the kept connections. */
  close(): void;
}

export interface ClusterAccess {
  /**
   * The cluster's API. Server and CA come from the table where they were learnt under the same etag, else from ARM; so a
   * cluster that was opened before costs no request to ARM. Nothing is sent to the cluster.
   */
  open(cluster: ManagedCluster): Promise<Result<OpenCluster, NotAssessed>>;
  /** Forgets what was learnt: the next `open` asks ARM. After a TLS failure, or a change of the cluster. */
  forget(clusterId: string): Promise<void>;
}
