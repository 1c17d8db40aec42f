// The contract scenarios on the real control plane. The same ones run on the lab in test/contract/lab.test.ts: a
// difference is a bug of the lab.
import path from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, it } from "vitest";
import { connect, type Connection } from "../../src/kubernetes/connect.ts";
import { scenarios } from "../contract/scenarios.ts";
import { openClusterUnderTest } from "./cluster-under-test.ts";
import { accessOf } from "./control-plane.ts";
import { inject } from "./faults.ts";
import { installFamily, uninstall, type Installed } from "./kai/install.ts";
import { writeKubeconfig } from "./kubeconfig.ts";
import type { World } from "./world.ts";

let world: World;
let installed: Installed;
let repairer: Connection;
let reader: Connection;
let kubeconfig: string;

beforeAll(async () => {
  world = await openClusterUnderTest({ mountRefreshMs: 200 });
  kubeconfig = kubeconfigOf("repair");
  repairer = await connectWith(kubeconfig);
  reader = await connectWith(kubeconfigOf("read"));
});

function kubeconfigOf(user: "repair" | "read"): string {
  const file = path.join(world.plane.folder, `contract-${user}.kubeconfig`);
  return writeKubeconfig(file, { [user]: accessOf(world.plane, user) });
}

async function connectWith(file: string): Promise<Connection> {
  const connected = await connect({ kubeconfig: file });
  if (!connected.ok) throw new Error(connected.error.message);
  return connected.value;
}

beforeEach(async () => {
  installed = await installFamily(world, "A");
});

afterEach(() => uninstall(world));

afterAll(async () => {
  repairer.close();
  reader.close();
  await world.stop();
});

describe("the real control plane keeps the contract", () => {
  it.each(scenarios)("$name", ({ run }) =>
    run({
      cluster: repairer.cluster,
      reader: reader.cluster,
      kubeconfig,
      drift: () => inject(installed, "drift"),
      latentDrift: () => inject(installed, "latent-drift"),
    }),
  );
});
