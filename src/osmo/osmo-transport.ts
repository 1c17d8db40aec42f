// How a request reaches OSMO. src/kubernetes implements it: through a tunnel to a pod, and over a URL.
import type { Result } from "../result.ts";

export interface OsmoRequest {
  /** There is no PUT: writing a configuration back destroys the key that signs every JWT. */
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** With its query. On 6.0 it may hold a token: it stands in no message of a transport. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface OsmoAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** No answer. Whether OSMO acted on the request is unknown, but for `forbidden` and `not-found`: it was not sent. */
export interface TransportFailure {
  readonly kind:
    | "timeout"
    | "unreachable" // no connection, reset, TLS failure, another certificate than the pinned one
    | "forbidden" // port-forward is not allowed
    | "not-found"; // the pod is gone
  /** Hosts, pods and ports; never a path, a header or a body. */
  readonly message: string;
}

export interface OsmoTransport {
  /** Where it leads, for people, such as `osmo-control-plane/osmo-service-7d4b9c port 8000`. */
  readonly where: string;
  /** Sends once: what may be repeated is the client's decision. */
  readonly request: (request: OsmoRequest) => Promise<Result<OsmoAnswer, TransportFailure>>;
}
