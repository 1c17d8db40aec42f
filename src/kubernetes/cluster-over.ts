// What can be done over a server and its credentials, wherever they come from: the settings of a session and the count of
// its requests.
import { setTimeout } from "node:timers/promises";
import type { ClusterApi } from "../admission/cluster-api.ts";
import { clusterCalls } from "./cluster-calls.ts";
import type { OsmoTransport } from "../osmo/osmo-transport.ts";
import type { Credentials } from "./credentials.ts";
import { osmoThroughPod, type OsmoPod } from "./osmo-through-pod.ts";

export interface SessionOptions {
  /** For one attempt of one request, the answer's last byte included. Default 15,000. */
  readonly requestTimeoutMs?: number;
  /** For one handshake with one pod. Default 10,000, the default `timeoutSeconds` of a webhook. */
  readonly handshakeTimeoutMs?: number;
  /** Objects in one page of a list. Default 250. */
  readonly pageSize?: number;
  readonly sleep?: (milliseconds: number) => Promise<void>;
}

export interface ClusterSession {
  readonly cluster: ClusterApi;
  /** A way to OSMO through one of its pods, with the same rights (get and create on pods/portforward). */
  readonly osmoThrough: (pod: OsmoPod) => OsmoTransport;
}

/** Nothing is sent. `server` has no slash at its end. */
export function clusterOver(server: string, credentials: Credentials, options: SessionOptions): ClusterSession {
  let requests = 0;
  const session = {
    server,
    credentials,
    requestTimeoutMs: options.requestTimeoutMs ?? 15_000,
    handshakeTimeoutMs: options.handshakeTimeoutMs ?? 10_000,
    pageSize: options.pageSize ?? 250,
    sleep: options.sleep ?? (async (milliseconds: number) => setTimeout(milliseconds)),
    countRequest: () => {
      requests += 1;
    },
  };
  return {
    cluster: clusterCalls(session, () => requests),
    osmoThrough: (pod) => osmoThroughPod(session, pod),
  };
}
