import { afterEach, beforeEach, describe, it } from "vitest";
import { startLab, type Lab } from "../../src/lab/start.ts";
import { connect, type Connection } from "../../src/kubernetes/connect.ts";
import { keyPool } from "./key-pool.ts";
import { scenarios } from "./scenarios.ts";

const keys = keyPool();
let lab: Lab;
let connection: Connection;
beforeEach(async () => {
  lab = await startLab({ keys });
  const connected = await connect({ kubeconfig: lab.kubeconfig });
  if (!connected.ok) throw new Error(connected.error.message);
  connection = connected.value;
});
afterEach(async () => {
  connection.close();
  await lab.stop();
});

describe("the lab keeps the contract", () => {
  it.each(scenarios)("$name", ({ run }) =>
    run({
      cluster: connection.cluster,
      kubeconfig: lab.kubeconfig,
      drift: () => lab.inject("drift"),
      latentDrift: () => lab.inject("latent-drift"),
    }),
  );
});
