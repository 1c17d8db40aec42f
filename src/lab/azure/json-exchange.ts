// Reading requests and writing JSON answers, for the lab's Azure hosts. Not here: what they say.
import type { IncomingMessage, RequestListener } from "node:http";

export interface JsonAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Absent: an empty body. */
  readonly body?: unknown;
}

/** Answers each request with JSON; a defect of the lab is a 500 that says so. */
export function answering(respond: (request: IncomingMessage) => Promise<JsonAnswer>): RequestListener {
  return (request, response) => {
    void respond(request)
      .catch((error: unknown): JsonAnswer => ({ status: 500, body: azureError("LabDefect", String(error)) }))
      .then(({ status, headers = {}, body }) => {
        response.writeHead(status, { "content-type": "application/json; charset=utf-8", ...headers });
        response.end(body === undefined ? "" : JSON.stringify(body));
      });
  };
}

/** The form in which ARM, Key Vault and others word an error. */
export function azureError(code: string, message: string): unknown {
  return { error: { code, message } };
}

/** The whole body, as it came. */
export async function bytesOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** The request's URL; the host is the one that was asked. */
export function urlOf(request: IncomingMessage): URL {
  return new URL(request.url ?? "/", `https://${request.headers.host ?? "lab.invalid"}`);
}
