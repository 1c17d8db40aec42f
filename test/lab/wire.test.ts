import { existsSync, readFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import type { Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startWire, type Wire } from "../../src/lab/azure/wire.ts";

let wire: Wire;
beforeAll(async () => {
  wire = await startWire();
  await wire.serve("management.azure.com", (request, response) => {
    response.end(`ARM at ${request.url ?? ""}`);
  });
  await wire.serve("kv-lab.vault.azure.net", (_request, response) => {
    response.end("a vault");
  });
});
afterAll(() => wire.stop());

interface Tunnel {
  readonly status: number;
  readonly socket: Socket;
}

function tunnelTo(authority: string): Promise<Tunnel> {
  const { hostname: host, port } = new URL(wire.proxyUrl);
  return new Promise((resolve, reject) => {
    httpRequest({ host, port, method: "CONNECT", path: authority })
      .once("connect", ({ statusCode = 0 }, socket) => {
        resolve({ status: statusCode, socket });
      })
      .once("error", reject)
      .end();
  });
}

async function get(host: string, path: string, ca = readFileSync(wire.caFile)): Promise<string> {
  const { socket } = await tunnelTo(`${host}:443`);
  return new Promise((resolve, reject) => {
    const createConnection = () => connectTls({ socket, servername: host, ca });
    const request = httpsRequest({ host, path, createConnection }, (response) => {
      let text = "";
      response.on("data", (chunk: Buffer) => (text += chunk.toString()));
      response.once("end", () => {
        resolve(text);
      });
    });
    request.once("error", reject).end();
  });
}

it("answers for each host with the host's own server and a certificate of the CA in the file", async () => {
  await expect(get("management.azure.com", "/subscriptions")).resolves.toBe("ARM at /subscriptions");
  await expect(get("kv-lab.vault.azure.net", "/")).resolves.toBe("a vault");
});

it("is not trusted by those who do not know its CA", async () => {
  await expect(get("management.azure.com", "/", Buffer.from(""))).rejects.toMatchObject({
    code: "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  });
});

it.each(["example.com:443", "management.azure.com:80", "evil.management.azure.com:443"])(
  "refuses the unknown host %s with 502",
  async (authority) => {
    const { status, socket } = await tunnelTo(authority);
    socket.destroy();
    expect(status).toBe(502);
  },
);

it("lets a host be silent, and be unknown again", async () => {
  wire.silence("silent.example");
  const silent = await tunnelTo("silent.example:443");
  silent.socket.destroy();
  wire.remove("silent.example");
  const removed = await tunnelTo("silent.example:443");
  removed.socket.destroy();
  expect([silent.status, removed.status]).toEqual([200, 502]);
});

it("removes its CA file when it stops", async () => {
  const other = await startWire();
  await other.stop();
  expect(existsSync(other.caFile)).toBe(false);
});
