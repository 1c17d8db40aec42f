// A TLS handshake with one pod straight through the pod network: for set-up that must know what a pod serves. fleetmend
// asks the API server for a port-forward instead.
import { X509Certificate } from "node:crypto";
import { duplexPair } from "node:stream";
import tls from "node:tls";
import type { World } from "./world.ts";

/** The certificate that the pod (`namespace/name`) presents on 9443, or undefined where nothing listens. */
export async function servedLeaf(world: World, pod: string): Promise<X509Certificate | undefined> {
  const [namespace = "", name = ""] = pod.split("/");
  const server = world.kubelet.listener({ namespace, pod: name, port: 9443 });
  if (server === undefined) return undefined;
  const [near, far] = duplexPair();
  server.accept(far);
  const socket = tls.connect({ socket: near, rejectUnauthorized: false });
  try {
    return await new Promise((resolve, reject) => {
      socket.once("error", reject);
      socket.once("secureConnect", () => {
        resolve(socket.getPeerX509Certificate());
      });
    });
  } finally {
    socket.destroy();
  }
}
