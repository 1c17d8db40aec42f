// A byte stream to one port of one pod, through the API server. Only the port-forward protocol is here: nothing knows
// what is spoken over it.
import type { IncomingMessage } from "node:http";
import type { RequestOptions } from "node:https";
import { Duplex } from "node:stream";
import type WebSocket from "ws";
import { failure, success, type Result } from "../result.ts";
import type { Answer, ExchangeFailure } from "./exchange.ts";
import { collect, unreachable } from "./exchange.ts";

// The protocol of kubelet's port-forward over WebSocket (k8s.io/kubelet/pkg/cri/streaming/portforward/websocket.go):
// the first byte of a message is its channel, 0 for data and 1 for the error of the first port, and the first two bytes
// on each channel are the port again.
const protocol = "v4.channel.k8s.io";
const dataChannel = 0;
const errorChannel = 1;
const portPrefixLength = 2;

export interface PodTunnel {
  readonly stream: Duplex;
  /** The error channel's text, when one comes: what kept the node from connecting, or broke the connection. */
  readonly refusal: Promise<string>;
  /** The first bytes that the pod sent, at most two. */
  firstBytes(): Uint8Array;
  /** Ends the tunnel at once. */
  close(): void;
}

/** The upgrade was answered with a status, or not at all. */
export type TunnelFailure =
  | { readonly kind: "answered"; readonly answer: Answer }
  | { readonly kind: "broken"; readonly failure: ExchangeFailure };

/**
 * Opens the tunnel. It is open before the node has connected to the pod: whether something listens shows later, in
 * `refusal`. `signal` ends the opening, not the open tunnel.
 */
export async function openPodTunnel(
  url: URL,
  options: RequestOptions,
  signal: AbortSignal,
): Promise<Result<PodTunnel, TunnelFailure>> {
  const { default: WebSocketClient } = await import("ws");
  return new Promise((resolve) => {
    const socket = new WebSocketClient(url, [protocol], { ...options, perMessageDeflate: false });
    const onAbort = (): void => {
      socket.terminate();
    };
    signal.addEventListener("abort", onAbort, { once: true });
    const settle = (result: Result<PodTunnel, TunnelFailure>): void => {
      signal.removeEventListener("abort", onAbort);
      resolve(result);
    };
    socket.on("unexpected-response", (request, response) => {
      void collectAnswer(response, url).then((result) => {
        request.destroy();
        settle(result);
      });
    });
    socket.on("error", (error) => {
      settle(failure({ kind: "broken", failure: unreachable(url, error) }));
    });
    socket.on("open", () => {
      settle(success(tunnelOver(socket)));
    });
  });
}

async function collectAnswer(response: IncomingMessage, url: URL): Promise<Result<never, TunnelFailure>> {
  try {
    const answer = { status: response.statusCode ?? 0, headers: response.headers, body: await collect(response) };
    return failure({ kind: "answered", answer });
  } catch (error) {
    return failure({ kind: "broken", failure: unreachable(url, error) });
  }
}

function tunnelOver(socket: WebSocket): PodTunnel {
  const refusal = Promise.withResolvers<string>();
  let firstBytes = Buffer.alloc(0);
  const stream = new Duplex({
    read: () => undefined,
    write(chunk: Buffer, _encoding, done) {
      socket.send(Buffer.concat([Buffer.of(dataChannel), chunk]), done);
    },
  });
  // TLS reports a broken stream to its own listeners; without one here, Node would throw it.
  stream.on("error", () => undefined);
  const toSkip = new Map([
    [dataChannel, portPrefixLength],
    [errorChannel, portPrefixLength],
  ]);
  socket.on("message", (message: Buffer) => {
    const channel = message[0] ?? -1;
    const skipped = Math.min(toSkip.get(channel) ?? 0, message.length - 1);
    toSkip.set(channel, (toSkip.get(channel) ?? 0) - skipped);
    const bytes = message.subarray(1 + skipped);
    if (bytes.length === 0) return;
    if (channel === errorChannel) refusal.resolve(bytes.toString("utf8"));
    if (channel !== dataChannel) return;
    if (firstBytes.length < 2) firstBytes = Buffer.concat([firstBytes, bytes]).subarray(0, 2);
    stream.push(bytes);
  });
  socket.on("close", () => stream.push(null));
  return {
    stream,
    refusal: refusal.promise,
    firstBytes: () => firstBytes,
    close() {
      stream.destroy();
      socket.terminate();
    },
  };
}
