// Keeps the API server's connections to the pod hooks open: what hides a drift.
import { probeNamespace, type Installed } from "./kai/install.ts";

/**
 * Pod creates in the probe's namespace, so that the API server holds connections open, and keeps them for 90 s. Several at
 * once, so that a request has a connection even while another one is under way.
 */
export async function warmConnections({ world, family }: Installed): Promise<void> {
  const pod = {
    metadata: { name: "warm" },
    spec: {
      schedulerName: family.schedulerName ?? "default-scheduler",
      containers: [{ name: "main", image: "REGISTRY/pause" }],
    },
  };
  const call = { body: pod, query: { dryRun: "All" } };
  const path = `/api/v1/namespaces/${probeNamespace}/pods`;
  const answers = await Promise.all([1, 2, 3].map(() => world.admin.request("POST", path, call)));
  const refused = answers.find(({ status }) => status !== 201);
  if (refused) throw new Error(`a pod create is refused: ${JSON.stringify(refused.body)}`);
}

/** Goes on using the kept-alive connections, which would close after 90 s, until the returned function is called. */
export function keepConnectionsWarm(installed: Installed): () => void {
  const timer = setInterval(() => {
    // Once a connection has been lost the drift shows; that is nothing to fail over.
    warmConnections(installed).catch(() => undefined);
  }, 20_000);
  return () => {
    clearInterval(timer);
  };
}
