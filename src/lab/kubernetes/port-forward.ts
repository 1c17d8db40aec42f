// pods/portforward over WebSocket, as the kubelet's streaming server speaks it (k8s.io/cri-streaming
// pkg/streaming/portforward/websocket.go): one port, channel 0 data, channel 1 error, each opened with the port number in
// two bytes. Authorization and the pod's existence are decided before, by the API server.
import { connect } from "node:net";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer, type RawData, type WebSocket } from "ws";

const protocol = "v4.channel.k8s.io";
const dataChannel = 0;
const errorChannel = 1;

const upgrades = new WebSocketServer({
  noServer: true,
  // The kubelet takes the first offered protocol that it speaks; v5 is offered for exec only and not spoken here.
  handleProtocols: (offered) => (offered.has(protocol) ? protocol : false),
});

export interface Forward {
  readonly pod: string;
  readonly containerPort: number;
  /** Where the pod's process listens on this machine; absent where nothing does. */
  readonly port?: number | undefined;
}

/** Answers the upgrade and joins the WebSocket with the pod's port until either side ends. */
export function forwardPort(request: IncomingMessage, socket: Duplex, head: Buffer, forward: Forward): void {
  upgrades.handleUpgrade(request, socket, head, (webSocket) => {
    const portNumber = Buffer.alloc(2);
    portNumber.writeUInt16LE(forward.containerPort);
    send(webSocket, dataChannel, portNumber);
    send(webSocket, errorChannel, portNumber);
    if (forward.port === undefined) refuse(webSocket, forward);
    else join(webSocket, forward.port, forward);
  });
}

function join(webSocket: WebSocket, port: number, forward: Forward): void {
  const pod = connect({ host: "127.0.0.1", port });
  pod.on("data", (bytes) => {
    send(webSocket, dataChannel, bytes);
  });
  pod.once("error", () => {
    refuse(webSocket, forward);
  });
  pod.once("close", () => {
    webSocket.close();
  });
  webSocket.on("message", (message: RawData) => {
    const frame = message as Buffer; // `binaryType` is left at nodebuffer
    if (frame[0] === dataChannel) pod.write(frame.subarray(1));
  });
  webSocket.once("close", () => pod.destroy());
  webSocket.once("error", () => pod.destroy());
}

function refuse(webSocket: WebSocket, { pod, containerPort }: Forward): void {
  const port = String(containerPort);
  const cause = `dial tcp4 127.0.0.1:${port}: connect: connection refused`;
  send(webSocket, errorChannel, Buffer.from(`error forwarding port ${port} to pod ${pod}, uid : ${cause}`));
  webSocket.close();
}

function send(webSocket: WebSocket, channel: number, bytes: Buffer): void {
  if (webSocket.readyState === webSocket.OPEN) webSocket.send(Buffer.concat([Buffer.of(channel), bytes]));
}
