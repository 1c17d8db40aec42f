import { afterEach, beforeEach, describe, it } from "vitest";
import { startLab, type Lab } from "../../src/lab/start.ts";
import { connect, type Connection } from "../../src/kubernetes/connect.ts";
import { keyPool } from "../../src/lab/key-pool.ts";
import { scenarios } from "./scenarios.ts";

const keys = keyPool();
let lab: Lab;
let repairer: Connection;
let reader: Connection;
beforeEach(async () => {
  lab = await startLab({ keys });
  repairer = await connectAs("lab");
  reader = await connectAs("lab-read");
});
afterEach(async () => {
  repairer.close();
  reader.close();
  await lab.stop();
});

async function connectAs(context: string): Promise<Connection> {
  const connected = await connect({ kubeconfig: lab.kubeconfig, context });
  if (!connected.ok) throw new Error(connected.error.message);
  return connected.value;
}

describe("the lab keeps the contract", () => {
  it.each(scenarios)("$name", ({ run }) =>
    run({
      cluster: repairer.cluster,
      reader: reader.cluster,
      kubeconfig: lab.kubeconfig,
      drift: () => lab.inject("drift"),
      latentDrift: () => lab.inject("latent-drift"),
    }),
  );
});
