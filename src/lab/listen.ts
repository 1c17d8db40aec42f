// Listening on loopback and stopping again, connections included: one way of it for all servers of the lab.
import type { Server } from "node:net";

export interface Listening {
  readonly port: number;
  readonly stop: () => Promise<void>;
}

/** Listens on a free port of 127.0.0.1. `stop` ends open connections, idle or not. */
export async function listen(server: Server): Promise<Listening> {
  const open = new Set<{ destroy(): unknown }>();
  server.on("connection", (socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("a listening TCP server has a port");
  return {
    port: address.port,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        for (const socket of open) socket.destroy();
      }),
  };
}
