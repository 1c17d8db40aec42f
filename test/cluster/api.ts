// A plain client of our API server for everything that the tests' world does: no retries, no SDK, each request visible.
// fleetmend itself never uses it.
import https from "node:https";
import type { KubeObject } from "../../src/lab/kai/kube-object.ts";

export interface Access {
  /** `https://127.0.0.1:port`. */
  readonly server: string;
  /** PEM of the authority that signed the server's certificate. */
  readonly ca: string;
  readonly token: string;
}

export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

export interface ObjectList<T> {
  readonly items: readonly T[];
  readonly resourceVersion: string;
}

interface ListMetadata {
  readonly metadata: { readonly resourceVersion: string };
}

/** The server answered with a status above 299. `message` is the server's own. */
export class ApiError extends Error {
  readonly status: number;
  readonly reason: string;
  constructor(method: string, path: string, answer: Answer) {
    const status = (answer.body ?? {}) as { message?: string; reason?: string };
    super(`${method} ${path}: ${answer.status} ${status.message ?? JSON.stringify(answer.body)}`);
    this.status = answer.status;
    this.reason = status.reason ?? "";
  }
}

export interface Call {
  readonly body?: unknown;
  /** Default `application/json`, for PATCH `application/merge-patch+json`. */
  readonly contentType?: string;
  readonly query?: Readonly<Record<string, string>>;
}

export interface Api {
  readonly access: Access;
  /** The answer, whatever its status. Throws only where there is no answer. */
  request(method: string, path: string, call?: Call): Promise<Answer>;
  /** These throw an {@link ApiError} on any status above 299. */
  get<T extends KubeObject>(path: string): Promise<T>;
  list<T extends KubeObject>(path: string): Promise<ObjectList<T>>;
  create<T extends KubeObject>(path: string, body: unknown, query?: Call["query"]): Promise<T>;
  replace<T extends KubeObject>(path: string, body: unknown): Promise<T>;
  /** A JSON merge patch (RFC 7386). */
  merge<T extends KubeObject>(path: string, body: unknown): Promise<T>;
  remove(path: string, options?: unknown): Promise<void>;
  /** Ends the kept-alive connections. */
  close(): void;
}

/** A client with one user's token. Writes carry `fieldManager`, as the program that it plays would be recorded. */
export function openApi(access: Access, fieldManager: string): Api {
  const agent = new https.Agent({ keepAlive: true, ca: access.ca, maxSockets: 16 });
  const request = (method: string, path: string, call: Call = {}): Promise<Answer> => {
    const query = new URLSearchParams(call.query);
    if (["POST", "PUT", "PATCH"].includes(method)) query.set("fieldManager", fieldManager);
    const url = new URL(path, access.server);
    for (const [name, value] of query) url.searchParams.set(name, value);
    return send(agent, access, method, url, call);
  };
  const strict = async (method: string, path: string, call?: Call): Promise<unknown> => {
    const answer = await request(method, path, call);
    if (answer.status > 299) throw new ApiError(method, path, answer);
    return answer.body;
  };
  return {
    access,
    request,
    get: async <T>(path: string) => (await strict("GET", path)) as T,
    list: async <T>(path: string): Promise<ObjectList<T>> => {
      const list = (await strict("GET", path)) as Pick<ObjectList<T>, "items"> & ListMetadata;
      return { items: list.items, resourceVersion: list.metadata.resourceVersion };
    },
    create: async <T>(path: string, body: unknown, query?: Call["query"]) =>
      (await strict("POST", path, { body, ...(query && { query }) })) as T,
    replace: async <T>(path: string, body: unknown) => (await strict("PUT", path, { body })) as T,
    merge: async <T>(path: string, body: unknown) => (await strict("PATCH", path, { body })) as T,
    remove: async (path, options) => {
      await strict("DELETE", path, options === undefined ? {} : { body: options });
    },
    close: () => {
      agent.destroy();
    },
  };
}

function send(agent: https.Agent, access: Access, method: string, url: URL, call: Call): Promise<Answer> {
  const text = call.body === undefined ? undefined : JSON.stringify(call.body);
  const json = method === "PATCH" ? "application/merge-patch+json" : "application/json";
  const headers = {
    authorization: `Bearer ${access.token}`,
    ...(text !== undefined && { "content-type": call.contentType ?? json, "content-length": Buffer.byteLength(text) }),
  };
  return new Promise((resolve, reject) => {
    const request = https.request(url, { method, agent, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        resolve({ status: response.statusCode ?? 0, body: parse(Buffer.concat(chunks).toString("utf8")) });
      });
    });
    request.on("error", reject);
    request.end(text);
  });
}

/** JSON where it is JSON; some of the server's answers (health, errors of its front) are plain text. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return { message: text };
  }
}

/** Whether an error came from the server or from the connection to it, and not from a mistake in our code. */
export const isFromServer = (error: unknown): boolean =>
  error instanceof ApiError || (error instanceof Error && "code" in error && typeof error.code === "string");

/** Removes an object and does not mind if there is none. */
export async function removeIfThere(api: Api, path: string, options?: unknown): Promise<void> {
  await api.remove(path, options).catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.status !== 404) throw error;
  });
}

/** Creates an object, or leaves the one that is there as it is. */
export async function createIfMissing(api: Api, path: string, body: unknown): Promise<void> {
  await api.create(path, body).catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.status !== 409) throw error;
  });
}
