// What a test file asks for first: a world in the run's control plane, empty of KAI, with fleetmend's rights applied.
import { inject } from "vitest";
import "./global-setup.ts";
import { prepareCluster, uninstall } from "./kai/install.ts";
import { kaiNamespace } from "../../src/lab/kai/recorded.ts";
import { applyRights } from "./rights.ts";
import { until } from "./until.ts";
import { startWorld, testSettings, type World, type WorldSettings } from "./world.ts";

/** Stop it in `afterAll`. Between scenarios of a file, `uninstall(world)` empties it again. */
export async function openClusterUnderTest(settings: Partial<WorldSettings> = {}): Promise<World> {
  const world = await startWorld(inject("controlPlane"), { ...testSettings, ...settings });
  await prepareCluster(world);
  await uninstall(world);
  await applyRights(world.admin);
  await until("the authorizer has heard of the rights", () => haveRights(world));
  return world;
}

/** It learns of them by a watch: a request that comes too early is refused. One right per kind of binding is asked for. */
async function haveRights(world: World): Promise<boolean> {
  const paths = [
    "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations?limit=1",
    `/api/v1/namespaces/${kaiNamespace}/pods?limit=1`,
  ];
  const users = (["read", "prove", "repair"] as const).map((user) => world.as(user, "fleetmend-test"));
  const answers = await Promise.all(users.flatMap((api) => paths.map((path) => api.request("GET", path))));
  return answers.every(({ status }) => status === 200);
}
