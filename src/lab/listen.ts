// Listening on loopback and stopping again, connections included: one way of it for all servers of the lab.
import type { Server } from "node:net";

export interface Listening {
  readonly port: number;
  readonly stop: () => Promise<void>;
}

/** Listens on 127.0.0.1, on a free port unless one is named. `stop` ends open connections, idle or not. */
export async function listen(server: Server, wanted = 0): Promise<Listening> {
  const open = new Set<{ destroy(): unknown }>();
  server.on("connection", (socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(wanted, "127.0.0.1", resolve);
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
