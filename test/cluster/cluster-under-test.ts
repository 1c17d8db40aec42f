// What a test file asks for first: a world in the run's control plane, empty of KAI, with fleetmend's rights applied.
import { inject } from "vitest";
import "./global-setup.ts";
import { prepareCluster, uninstall } from "./kai/install.ts";
import { applyRights } from "./rights.ts";
import { startWorld, testSettings, type World, type WorldSettings } from "./world.ts";

/** Stop it in `afterAll`. Between scenarios of a file, `uninstall(world)` empties it again. */
export async function openClusterUnderTest(settings: Partial<WorldSettings> = {}): Promise<World> {
  const world = await startWorld(inject("controlPlane"), { ...testSettings, ...settings });
  await prepareCluster(world);
  await uninstall(world);
  await applyRights(world.admin);
  return world;
}
