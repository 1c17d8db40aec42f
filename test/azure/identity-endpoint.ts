// One managed identity endpoint for a whole process. @azure/msal-node keeps the first IDENTITY_ENDPOINT and IDENTITY_HEADER
// that it has read for as long as the process lives (ManagedIdentityClient.identitySource), and test files share processes:
// so each world answers behind the same address.
import { createServer } from "node:http";
import type { Identity } from "../../src/lab/azure/identity.ts";
import { listen } from "../../src/lab/listen.ts";

interface Shared {
  readonly endpoint: string;
  identity: Identity | undefined;
}

const name = Symbol.for("fleetmend.test.identity-endpoint");

/** From now on the process's identity is this one. For IDENTITY_ENDPOINT; any IDENTITY_HEADER will do. */
export async function identityEndpointFor(identity: Identity): Promise<string> {
  const started = Reflect.get(globalThis, name) as Promise<Shared> | undefined;
  const shared = await (started ?? start());
  Reflect.set(globalThis, name, Promise.resolve(shared));
  shared.identity = identity;
  return shared.endpoint;
}

async function start(): Promise<Shared> {
  const server = createServer((request, response) => {
    const { identity } = shared;
    if (identity === undefined) throw new Error("the endpoint is told before it is asked");
    const url = new URL(identity.endpoint);
    url.search = new URL(request.url ?? "/", url).search;
    void fetch(url, { headers: { "x-identity-header": identity.header } }).then(async (answer) => {
      response.writeHead(answer.status, { "content-type": "application/json" }).end(await answer.text());
    });
  });
  const { port } = await listen(server);
  // It keeps no process alive; nobody knows which file is the last to need it.
  server.unref();
  const shared: Shared = { endpoint: `http://127.0.0.1:${port}/msi/token`, identity: undefined };
  return shared;
}
