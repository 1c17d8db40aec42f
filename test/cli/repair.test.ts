import { describe, expect, it } from "vitest";
import { checkedDocument } from "./output-schema.ts";
import { onLab } from "./on-lab.ts";

describe("repair", () => {
  it("shows the plan, does it step by step, and proves it over a new connection", async () => {
    await using cluster = await onLab();
    await cluster.lab.inject("drift");
    const { code, text, stderr } = await cluster.fleetmend(["repair", "--yes"]);
    expect(stderr).toContain("The plan, ");
    expect(stderr).toContain("undo");
    expect(text).toMatch(/^Repaired in \d steps?\./);
    expect(text).toContain("Both hooks are proven.");
    expect(text).toContain("Handshakes with 1 of 1 ready pod behind kai-scheduler/binder:443.");
    expect(code).toBe(0);
    expect((await cluster.fleetmend(["scan"])).code).toBe(0);
  });

  it("writes nothing with --dry-run, and says what to type to do it", async () => {
    await using cluster = await onLab();
    await cluster.lab.inject("drift");
    const { code, stdout, stderr } = await cluster.fleetmend(["repair", "--dry-run"]);
    expect(stdout).toMatch(/^The plan, \d steps?:/);
    expect(stdout).toContain(`fleetmend repair --kubeconfig ${cluster.lab.kubeconfig}\n`);
    expect(stderr).not.toContain("Proceed?");
    expect(code).toBe(1);
    expect((await cluster.fleetmend(["scan"])).code).toBe(1);
  });

  it.each([
    { name: "y", typed: "y\n", code: 0, says: "Repaired in" },
    { name: "no", typed: "no\n", code: 1, says: "Nothing was written." },
    { name: "an empty line", typed: "\n", code: 1, says: "Nothing was written." },
    { name: "the end of the input", typed: "", code: 1, says: "Nothing was written." },
  ])("asks, and goes on or not for: $name", async ({ typed, code, says }) => {
    await using cluster = await onLab();
    await cluster.lab.inject("drift");
    const ran = await cluster.fleetmend(["repair"], { typed });
    expect(ran.stderr).toContain("Proceed? [y/N]");
    expect(ran.text).toContain(says);
    expect(ran.code).toBe(code);
  });

  it("wants --yes where nobody can be asked", async () => {
    await using cluster = await onLab();
    await cluster.lab.inject("drift");
    const { code, stderr } = await cluster.fleetmend(["repair"]);
    expect(stderr.replaceAll(/\s+/g, " ")).toContain(`fleetmend repair --yes --kubeconfig ${cluster.lab.kubeconfig}`);
    expect(code).toBe(64);
  });

  it("says before the question which rights are missing, and gives the manifest", async () => {
    await using cluster = await onLab({ capability: "prove" });
    await cluster.lab.inject("drift");
    const { code, text, stderr } = await cluster.fleetmend(["repair"], { typed: "y\n" });
    expect(stderr).not.toContain("Proceed?");
    expect(text).toContain("Not allowed:");
    expect(text).toContain("kind: ClusterRole");
    expect(code).toBe(1);
  });

  it("has nothing to do on a healthy cluster, and asks nothing", async () => {
    await using cluster = await onLab();
    const { code, text, stderr } = await cluster.fleetmend(["repair"]);
    expect(text).toContain("There is nothing that fleetmend repairs by itself.");
    expect(stderr).not.toContain("Proceed?");
    expect(code).toBe(0);
  });

  it("finishes the step in flight at Ctrl-C, gives the Lease back, and says what was done and how to go on", async () => {
    await using cluster = await onLab();
    await cluster.lab.inject("drift");
    let interrupt = (): void => undefined;
    const ran = await cluster.fleetmend(["repair", "--yes"], {
      onInterrupt: (listener) => {
        interrupt = listener;
        return () => undefined;
      },
      onSleep: () => {
        interrupt();
      },
    });
    expect(ran.stderr).toContain("Stopping after the request in flight.");
    expect(ran.text).toMatch(/^Interrupted; the repair has not come to its end\. Done so far, 1 step:/);
    expect(ran.stdout).toContain(`\n  fleetmend repair --kubeconfig ${cluster.lab.kubeconfig}\n`);
    expect(ran.code).toBe(1);
    // Another repairer need not wait for the Lease.
    const next = await cluster.fleetmend(["repair", "--yes"], { identity: "cli/bob@desk/2" });
    expect(next.stderr).not.toMatch(/It waits|another repairer/i);
    expect(next.stderr.match(/Lease/g)).toEqual(["Lease"]);
    expect(next.code).toBe(0);
  });

  it("ends between two calls when --timeout passes, and is not done, however well admission works by then", async () => {
    await using cluster = await onLab({ replicas: 2 });
    await cluster.lab.inject("stale-pod");
    const deadline = new AbortController();
    const ran = await cluster.fleetmend(["repair", "--yes"], {
      deadline: deadline.signal,
      // The long wait is the one for the kubelet.
      onSleep: (milliseconds) => {
        if (milliseconds > 2000) deadline.abort();
      },
    });
    expect(ran.text).toMatch(
      /^The time given by --timeout is over; the repair has not come to its end\. Done so far, 2/,
    );
    expect(ran.stderr).toContain("as the kubelet refreshes the mount");
    expect(ran.code).toBe(1);
  });

  it("has the plan, the steps and the proof in its document, and neither bytes nor secrets", async () => {
    await using cluster = await onLab();
    await cluster.lab.inject("drift");
    const { code, stdout } = await cluster.fleetmend(["repair", "--yes", "--output", "json"]);
    const document = checkedDocument(stdout);
    expect(document).toMatchObject({ command: "repair", outcome: "nothing-left", exitCode: 0, missingRights: [] });
    expect(document.done).toContainEqual(expect.objectContaining({ kind: "set-bundle" }));
    expect(stdout).not.toMatch(/PRIVATE|BEGIN|MII[A-Za-z0-9]/);
    expect(code).toBe(0);
  });
});
