import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { withCluster } from "../../src/compose.ts";
import { run } from "./memory-io.ts";
import { onLab } from "./on-lab.ts";

describe("probe", () => {
  it("proves a healthy cluster's hooks, and says what kind of connection did it", async () => {
    await using cluster = await onLab();
    const { code, text, stderr } = await cluster.fleetmend(["probe"]);
    expect(text).toContain("✓ proven binder.run.ai in kai-binder (mutating and validating)");
    expect(text).toContain("over a connection that may have been open before.");
    expect(text).toContain("Handshakes with 1 of 1 ready pod behind kai-scheduler/binder:443.");
    expect(stderr).toContain(`Looking at context lab (${cluster.lab.url})`);
    expect(code).toBe(0);
  });

  it("calls a drift that kept connections hide what it is", async () => {
    await using cluster = await onLab();
    await cluster.lab.inject("latent-drift");
    const { code, text } = await cluster.fleetmend(["probe"]);
    expect(text).toContain("Refused at the next connection: 2 of 2 hooks.");
    expect(text).toContain("HTTP 201");
    expect(code).toBe(1);
  });

  it("tells the hook that was refused from the one that was never asked", async () => {
    await using cluster = await onLab();
    await cluster.lab.inject("drift");
    const { code, text } = await cluster.fleetmend(["probe"]);
    expect(text).toContain("✗ failed binder.run.ai in kai-binder (mutating)");
    expect(text).toContain("✗ blocked binder.run.ai in kai-binder (validating) It was not asked:");
    expect(code).toBe(1);
  });

  it("says which rights are missing, and proves nothing without them", async () => {
    await using cluster = await onLab({ capability: "read" });
    const { code, text } = await cluster.fleetmend(["probe"]);
    expect(text).toContain("Not proven: 2 of 2 hooks.");
    expect(text).toContain("infra/kubernetes/prove.yaml");
    expect(code).toBe(2);
  });

  it("proves nothing in a namespace where it may not create a pod", async () => {
    await using cluster = await onLab();
    const { code, text } = await cluster.fleetmend(["probe", "--probe-namespace", "default"]);
    expect(text).toContain("? forbidden binder.run.ai in kai-binder (mutating and validating)");
    expect(text).toContain("Every ready pod's handshake is trusted.");
    expect(code).toBe(2);
  });
});

describe("a cluster that cannot be looked at", () => {
  it("answers 2 and a sentence and what is there where the context does not exist", async () => {
    await using cluster = await onLab();
    const { code, stderr, stdout } = await cluster.fleetmend(["probe", "--context", "production"]);
    expect(stderr).toContain("production");
    expect(stdout).toBe("");
    expect(code).toBe(2);
  });

  it.each([
    { name: "does not exist", content: undefined, says: "no-such-file" },
    { name: "is none", content: "hello: [", says: "kubeconfig" },
  ])("answers 2, says why and what to type where the kubeconfig $name", async ({ content, says }) => {
    const folder = mkdtempSync(path.join(tmpdir(), "fleetmend-"));
    const file = path.join(folder, content === undefined ? "no-such-file" : "kubeconfig");
    if (content !== undefined) writeFileSync(file, content);
    const { code, stderr, stdout } = await run(["scan", "--kubeconfig", file], { withCluster });
    rmSync(folder, { recursive: true });
    expect(stderr).toMatch(/^fleetmend: /);
    expect(stderr).toContain(says);
    expect(stderr.trimEnd().split("\n").length).toBeGreaterThan(1);
    expect(stdout).toBe("");
    expect(code).toBe(2);
  });

  it("answers 2 when --timeout passes first", async () => {
    await using cluster = await onLab();
    const { code, stderr } = await cluster.fleetmend(["probe", "--timeout", "7s"], { deadline: AbortSignal.abort() });
    expect(stderr).toContain("did not answer everything within 7 s.");
    expect(code).toBe(2);
  });
});
