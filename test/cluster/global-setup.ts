// Starts one control plane for all test files of a run, and stops it. What runs in it belongs to each file
// (cluster-under-test.ts).
import type { TestProject } from "vitest/node";
import { openApi } from "./api.ts";
import { buildControlPlane, GoMissing } from "./build.ts";
import { accessOf, startControlPlane, type ControlPlane } from "./control-plane.ts";

declare module "vitest" {
  interface ProvidedContext {
    readonly controlPlane: ControlPlane;
  }
}

const say = (line: string): void => {
  process.stderr.write(`cluster: ${line}\n`);
};

export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  try {
    const binaries = buildControlPlane(say);
    const started = Date.now();
    const plane = await startControlPlane(binaries);
    const api = openApi(accessOf(plane, "admin"), "fleetmend-test");
    const { gitVersion, goVersion } = (await api.request("GET", "/version")).body as Record<string, string>;
    api.close();
    say(
      `kube-apiserver ${gitVersion ?? ""} (${goVersion ?? ""}), ready in ${((Date.now() - started) / 1000).toFixed(1)} s`,
    );
    const { stop, ...data } = plane;
    project.provide("controlPlane", data);
    return stop;
  } catch (error) {
    if (!(error instanceof GoMissing)) throw error;
    say(error.message);
    process.exit(1);
  }
}
