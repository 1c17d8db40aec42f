// What every request to one cluster shares. Types and nothing else; cluster-over.ts makes it.
import type { Credentials } from "./credentials.ts";

export interface Session {
  /** The API server's URL without a slash at the end; it may have a path of its own. */
  readonly server: string;
  readonly credentials: Credentials;
  readonly requestTimeoutMs: number;
  readonly handshakeTimeoutMs: number;
  /** Objects asked for in one page of a list. */
  readonly pageSize: number;
  readonly sleep: (milliseconds: number) => Promise<void>;
  /** Notes one request. */
  readonly countRequest: () => void;
}
