// Port-forward as kubelet speaks it over WebSocket (protocol v4.channel.k8s.io), for tests: the port again on both
// channels, then bytes to a local port, or the error's text.
import type { IncomingMessage } from "node:http";
import net from "node:net";
import type { Duplex } from "node:stream";
import { WebSocketServer, type WebSocket } from "ws";

export interface KubeletOptions {
  /** The local port behind the pod's, which `connect` is called with. */
  readonly behind: (path: string) => number;
  /** The text of the error channel in place of a connection. */
  readonly refusal?: string;
  /** Sends each message in pieces of one byte. */
  readonly inPieces?: boolean;
}

/** A listener for the `upgrade` event of an HTTPS server. */
export function forwardPorts(
  options: KubeletOptions,
): (request: IncomingMessage, socket: Duplex, head: Buffer) => void {
  const server = new WebSocketServer({
    noServer: true,
    handleProtocols: (offered) => (offered.has("v4.channel.k8s.io") ? "v4.channel.k8s.io" : false),
  });
  return (request, socket, head) => {
    server.handleUpgrade(request, socket, head, (client) => {
      serve(client, request.url ?? "", options);
    });
  };
}

function serve(client: WebSocket, path: string, options: KubeletOptions): void {
  const port = Number(new URL(path, "http://x").searchParams.get("ports"));
  const prefix = Buffer.of(port & 255, port >> 8);
  const send = (channel: number, bytes: Buffer): void => {
    const pieces = options.inPieces === true ? [...bytes].map((byte) => Buffer.of(byte)) : [bytes];
    for (const piece of pieces) client.send(Buffer.concat([Buffer.of(channel), piece]));
  };
  send(0, prefix);
  send(1, prefix);
  const refuse = (text: string): void => {
    send(1, Buffer.from(`error forwarding port ${port} to pod p, uid : ${text}`));
    client.close();
  };
  if (options.refusal !== undefined) {
    refuse(options.refusal);
    return;
  }
  const target = net.connect(options.behind(path), "127.0.0.1");
  target.on("error", (error) => {
    refuse(`failed to connect to localhost:${port} inside namespace "x": dial tcp4: connect: ${goText(error)}`);
  });
  target.on("data", (bytes) => {
    send(0, bytes);
  });
  target.on("close", () => {
    client.close();
  });
  client.on("message", (message: Buffer) => {
    if (message[0] === 0) target.write(message.subarray(1));
  });
  client.on("close", () => target.destroy());
}

function goText(error: Error): string {
  return error.message.includes("ECONNREFUSED") ? "connection refused" : error.message;
}
