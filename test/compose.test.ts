import { afterEach, describe, expect, it } from "vitest";
import { withCluster } from "../src/compose.ts";
import { soon, startServer, writeKubeconfig, type TestServer } from "./kubernetes/wire.ts";

const servers: TestServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
});

async function chosen() {
  const server = await startServer(() => ({ body: { gitVersion: "v1.37.2" } }));
  servers.push(server);
  return { server, kubeconfig: writeKubeconfig({ ...server, server: server.url }) };
}

describe("withCluster", () => {
  it("hands the cluster to the use case and closes the connections when it ends", async () => {
    const { server, kubeconfig } = await chosen();
    const result = await withCluster({ kubeconfig }, async ({ cluster, context }) => [
      context,
      await cluster.get("/version"),
    ]);
    expect(result).toEqual({ ok: true, value: ["test", { ok: true, value: { gitVersion: "v1.37.2" } }] });
    await expect.poll(server.open, soon).toBe(0);
  });

  it("closes them where the use case throws", async () => {
    const { server, kubeconfig } = await chosen();
    const thrown = withCluster({ kubeconfig }, async ({ cluster }) => {
      await cluster.get("/version");
      throw new Error("a defect");
    });
    await expect(thrown).rejects.toThrow("a defect");
    await expect.poll(server.open, soon).toBe(0);
  });

  it("does not run the use case where there is no cluster to choose", async () => {
    const result = await withCluster({ kubeconfig: "/nowhere" }, () => Promise.reject(new Error("ran")));
    expect(result).toMatchObject({ ok: false, error: { kind: "kubeconfig-missing" } });
  });
});
