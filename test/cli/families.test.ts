// The screens on the objects of other families than the lab's: wider names, more hooks, an operator.
import { describe, expect, it } from "vitest";
import { success } from "../../src/result.ts";
import { type KaiVersion, type KaiWorld, generation, kaiWorld, pairOf } from "../admission/kai-world.ts";
import { type Run, run } from "./memory-io.ts";

const fleetmend = async (world: KaiWorld, line: string): Promise<Run & { readonly text: string }> => {
  const ran = await run(line.split(" "), {
    now: world.now,
    onSleep: (milliseconds) => {
      world.pass(milliseconds / 1000);
    },
    withCluster: async (_choice, use) => success(await use({ cluster: world.memory.api(), context: "world" })),
  });
  return { ...ran, text: ran.stdout.replaceAll(/\s+/g, " ") };
};

async function blindOperator(version: KaiVersion): Promise<KaiWorld> {
  const world = await kaiWorld({ version });
  world.setOperator("blind");
  world.writeSecret("admission", pairOf(await generation("admission.kai-scheduler.svc", 3)), "kubectl-edit");
  world.pass(300);
  return world;
}

/** Only what is there to be copied may be wider than the terminal. */
function proseWiderThan(columns: number, { stdout, stderr }: Run): readonly string[] {
  const lines = (stderr + stdout).split("\n").filter((line) => line.length > columns);
  return lines.filter((line) => !/^ +(kubectl|fleetmend|helm) /.test(line));
}

describe("a cluster with kai-operator", () => {
  it.each<{ version: KaiVersion; hooks: number; family: string }>([
    { version: "v0.7.12", hooks: 3, family: "B" },
    { version: "v0.20.1", hooks: 4, family: "D1" },
    { version: "v0.17.0", hooks: 5, family: "D4" },
  ])("is healthy in few lines: $version", async ({ version, hooks, family }) => {
    const { code, stdout, text } = await fleetmend(await kaiWorld({ version }), "scan");
    expect(text).toContain(`Pod admission works: all ${hooks} hooks of KAI Scheduler trust what the pods serve.`);
    expect(text).toContain(`KAI in kai-scheduler (family ${family},`);
    expect(text).toContain("no dry-run pod, as there is no namespace osmo-workflows (--probe-namespace)");
    expect(stdout.trimEnd().split("\n").length).toBeLessThanOrEqual(4);
    expect(code).toBe(0);
  });

  it("names hook and holders without saying their kind twice", async () => {
    const { text, code } = await fleetmend(await blindOperator("v0.20.1"), "scan");
    expect(text).toContain(
      "✗ broken admission.kai-scheduler.svc in mutating-kai-admission and validating-kai-admission, bites at the next connection, if not now",
    );
    expect(code).toBe(1);
  });

  it("ends a repair by what its handshakes say, where no pod can be asked for", async () => {
    const { text, code } = await fleetmend(await blindOperator("v0.20.1"), "repair --yes");
    expect(text).toContain("Repaired in 2 steps.");
    expect(text).toContain("? no-namespace admission.kai-scheduler.svc");
    expect(text).toContain("Every ready pod's handshake is trusted.");
    expect(text).toContain("✓ trusted queue-validation.kai.scheduler in kai-queue-validation-v2 (validating)");
    expect(code).toBe(0);
  });

  it.each(["scan", "explain", "probe", "repair --dry-run", "repair --yes"])(
    "fits into 80 columns: %s",
    async (line) => {
      const ran = await fleetmend(await blindOperator("v0.20.1"), line);
      expect(proseWiderThan(80, ran)).toEqual([]);
    },
  );

  it("does not call a Service without pods a matter of certificates", async () => {
    const world = await kaiWorld({ version: "v0.5.5" });
    world.setReady("binder-1", false);
    const { text, code } = await fleetmend(world, "scan");
    expect(text).toMatch(/^Pod admission is broken: the API server cannot ask binder\.run\.ai\./);
    expect(text).toContain("has no ready endpoint");
    expect(text).toContain("bites now");
    expect(text).not.toContain("fleetmend repair");
    expect(code).toBe(1);
  });
});
