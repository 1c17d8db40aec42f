// Plain HTTPS to an API server, without our own adapter: what is sent is what the test says, and so is the answer.
import { readFileSync } from "node:fs";
import { request } from "node:https";
import { parse } from "yaml";

export interface RawCall {
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** A user of the kubeconfig. Default: the first. */
  readonly user?: string;
}

export interface RawAnswer {
  readonly status: number;
  readonly body: unknown;
}

interface KubeconfigShape {
  readonly clusters: readonly { readonly cluster: { server: string; "certificate-authority-data": string } }[];
  readonly users: readonly { readonly name: string; readonly user: { readonly token: string } }[];
}

/** One request to the server of a kubeconfig with a CA and a token, over a connection of its own. */
export function rawCall(kubeconfig: string, path: string, call: RawCall = {}): Promise<RawAnswer> {
  const { clusters, users } = parse(readFileSync(kubeconfig, "utf8")) as KubeconfigShape;
  const cluster = clusters[0]?.cluster;
  const user = users.find(({ name }) => name === (call.user ?? name))?.user;
  if (cluster === undefined || user === undefined) throw new Error("the kubeconfig names no cluster or no user");
  const body = call.body === undefined ? undefined : JSON.stringify(call.body);
  const options = {
    method: call.method ?? "GET",
    ca: Buffer.from(cluster["certificate-authority-data"], "base64"),
    agent: false,
    headers: { authorization: `Bearer ${user.token}`, "content-type": "application/json", ...call.headers },
  };
  return new Promise((resolve, reject) => {
    const sent = request(`${cluster.server}${path}`, options, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      response.on("end", () => {
        resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) });
      });
    });
    sent.on("error", reject).end(body);
  });
}

/** A JSON Patch as `manager`. */
export function rawPatch(kubeconfig: string, path: string, operations: unknown, manager: string): Promise<RawAnswer> {
  return rawCall(kubeconfig, `${path}?fieldManager=${manager}`, {
    method: "PATCH",
    body: operations,
    headers: { "content-type": "application/json-patch+json" },
  });
}
