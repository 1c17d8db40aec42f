// The calls that admission makes on one cluster. src/kubernetes implements this over the real API, against a cluster or
// the lab; nothing here knows an SDK. Answers are `unknown` until admission's parser has looked at them.
import type { Result } from "../result.ts";

/** Why a call did not give an answer. Branch on `kind`; `message` is the server's own text, for people. */
export interface ApiFailure {
  readonly kind:
    | "unauthorized" // 401
    | "forbidden" // 403 by the authorizer (reason Forbidden, "… cannot …"): also quota and Pod Security, see `message`
    | "not-found" // 404
    | "conflict" // 409: another writer was faster, or the object exists
    | "invalid" // 400, 422: also a failed JSON Patch `test`
    | "throttled" // 429
    | "server-error" // 5xx: also every refused webhook call
    | "timeout" // no answer in time; a write may have happened
    | "unreachable"; // no connection, reset, TLS failure; a write may have happened
  /** The HTTP status, where there was an answer. */
  readonly status?: number;
  /** `Status.reason` of the answer, such as `Forbidden` or `InternalError`. */
  readonly reason?: string;
  readonly message: string;
  /**
   * Of `timeout` and `unreachable`, where no request came about: the server's name does not resolve (`dns`), no connection
   * to it or to the proxy (`connect`), or no TLS session, as where its certificate is of another CA (`tls`).
   */
  readonly cause?: "dns" | "connect" | "tls";
  readonly retryAfterSeconds?: number;
}

/** RFC 6902, the operations that fleetmend uses. Paths are JSON Pointers (RFC 6901). */
export type JsonPatchOperation =
  | { readonly op: "test"; readonly path: string; readonly value: unknown }
  | { readonly op: "add"; readonly path: string; readonly value: unknown }
  | { readonly op: "replace"; readonly path: string; readonly value: unknown }
  | { readonly op: "remove"; readonly path: string };

export interface PodPort {
  readonly namespace: string;
  readonly pod: string;
  readonly port: number;
  /** Sent as SNI and not verified here: the verdict verifies. */
  readonly serverName: string;
}

export interface ServedChain {
  /** DER, leaf first, in the order served, nothing left out. */
  readonly chain: readonly Uint8Array[];
}

/** Why no chain was read from a pod. */
export interface HandshakeFailure {
  readonly kind:
    | "forbidden" // port-forward is not allowed
    | "not-found" // the pod is gone
    | "refused" // nothing listens on the port
    | "tls" // TLS was spoken, and OpenSSL (here) or the server ended it: `message` has its error
    | "not-tls" // something else listens
    | "timeout"
    | "unreachable"; // the tunnel broke
  readonly message: string;
}

export interface ListOptions {
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

export interface ClusterApi {
  /** The URL of the API server that answers, for the report. */
  readonly server: string;
  /** Requests sent so far, retries and port-forwards included. */
  requestCount(): number;
  /** GET of one object. Retried a few times on throttling, 5xx, timeouts and resets. */
  get(path: string): Promise<Result<unknown, ApiFailure>>;
  /** GET of a collection, page by page (`limit` and `continue`); all items, each as its own object without kind. */
  list(path: string, options?: ListOptions): Promise<Result<readonly unknown[], ApiFailure>>;
  /** POST. Never retried. `dryRun` asks for `dryRun=All`. Field manager `fleetmend`. */
  create(path: string, body: unknown, options?: { readonly dryRun?: boolean }): Promise<Result<unknown, ApiFailure>>;
  /** PUT of the whole object; its resourceVersion is the precondition. Never retried. Field manager `fleetmend`. */
  replace(path: string, body: unknown): Promise<Result<unknown, ApiFailure>>;
  /** PATCH with `application/json-patch+json`. Never retried. Field manager `fleetmend`. */
  patch(path: string, operations: readonly JsonPatchOperation[]): Promise<Result<unknown, ApiFailure>>;
  /** A TLS handshake with one pod over port-forward; the chain is read and the connection closed. */
  handshake(target: PodPort): Promise<Result<ServedChain, HandshakeFailure>>;
}
