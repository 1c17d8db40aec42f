import { describe, expect, it } from "vitest";
import type { ApiFailure, ClusterApi } from "../../src/admission/cluster-api.ts";
import { withCluster } from "../../src/compose.ts";
import { failure } from "../../src/result.ts";
import { checkedDocument } from "./output-schema.ts";
import { onLab } from "./on-lab.ts";

/** A private cluster's API server whose way to the pods is shut; port-forward goes another way, and works. */
const withPodCreatesThatTimeOut: typeof withCluster = async (choice, use) =>
  withCluster(choice, async ({ cluster, context }) => {
    const create: ClusterApi["create"] = async (path, body, options) =>
      path.endsWith("/pods") ? failure(timedOut) : cluster.create(path, body, options);
    return use({ cluster: { ...cluster, create }, context });
  });

const timedOut: ApiFailure = {
  kind: "server-error",
  status: 500,
  reason: "InternalError",
  message:
    'Internal error occurred: failed calling webhook "binder.run.ai": failed to call webhook: Post "https://binder.kai-scheduler.svc:443/mutate--v1-pod?timeout=10s": context deadline exceeded',
};

describe("scan", () => {
  it("needs three lines for a healthy cluster", async () => {
    await using cluster = await onLab();
    const { code, stdout, text } = await cluster.fleetmend(["scan"]);
    expect(text).toContain(
      "Pod admission works: both hooks of KAI Scheduler trust what the pods serve, and a dry-run pod came through.",
    );
    expect(text).toContain(
      "Context lab · KAI in kai-scheduler (family A, bundles by kai-helm-hooks) · API server v1.37.2",
    );
    expect(stdout.split("\n").length).toBeLessThanOrEqual(5);
    expect(code).toBe(0);
  });

  it("says of a drift that it bites now, and what to type next", async () => {
    await using cluster = await onLab();
    await cluster.lab.inject("drift");
    const { code, stdout, text } = await cluster.fleetmend(["scan"]);
    expect(text).toMatch(/^Pod admission is broken: the API server cannot ask binder\.run\.ai\./);
    expect(text).toContain("✗ broken binder.run.ai in kai-binder (mutating and validating), bites now");
    expect(stdout).toContain(`\n  fleetmend repair --kubeconfig ${cluster.lab.kubeconfig}\n`);
    expect(stdout.split("\n").length).toBeLessThanOrEqual(26);
    expect(code).toBe(1);
  });

  it("says of a drift that kept connections hide that it bites at the next one", async () => {
    await using cluster = await onLab();
    await cluster.lab.inject("latent-drift");
    const { code, text } = await cluster.fleetmend(["scan"]);
    expect(text).toMatch(/^Pod admission is about to break: binder\.run\.ai is reached over old connections only\./);
    expect(text).toContain(
      "✗ broken binder.run.ai in kai-binder (mutating and validating), bites at the next connection",
    );
    expect(text.match(/✗ broken/g)).toHaveLength(1);
    expect(code).toBe(1);
  });

  it("says of one pod among several that it is chance whether it is felt", async () => {
    await using cluster = await onLab({ replicas: 2 });
    await cluster.lab.inject("stale-pod");
    const { code, text } = await cluster.fleetmend(["scan"]);
    expect(text).toMatch(/^Pod admission is broken in part: some of the pods behind binder\.run\.ai are refused/);
    expect(text).toContain("bites where a call meets that pod");
    expect(text).toContain("fleetmend repair");
    expect(code).toBe(1);
  });

  it("does not call admission healthy because certificates are, where the control plane cannot reach the pods", async () => {
    await using cluster = await onLab();
    const { code, text } = await cluster.fleetmend(["scan"], { withCluster: withPodCreatesThatTimeOut });
    expect(text).toMatch(/^Pod admission is broken: the API server cannot ask binder\.run\.ai\./);
    expect(text).toContain("context deadline exceeded");
    expect(text).toContain("→ Look at the way from the control plane to the pods, and not at certificates");
    expect(text).not.toContain("fleetmend repair");
    expect(code).toBe(1);
  });

  it("asks for no pod with --no-probe, and says that it does not know when a fault is felt", async () => {
    await using cluster = await onLab();
    await cluster.lab.inject("latent-drift");
    const { code, text } = await cluster.fleetmend(["scan", "--no-probe"]);
    expect(text).toContain("bites at the next connection, if not now");
    expect(code).toBe(1);
  });

  it("says with the capability read what it cannot see, and how to allow it", async () => {
    await using cluster = await onLab({ capability: "read" });
    const { code, text } = await cluster.fleetmend(["scan"]);
    expect(text).toMatch(/^Nothing wrong was seen, but not everything could be looked at\./);
    expect(text).toContain("? not seen namespaces/kai-scheduler/pods/*/portforward and");
    expect(text).toContain("kubectl apply -f infra/kubernetes/prove.yaml");
    expect(code).toBe(2);
  });

  it("tells nothing on stdout but the document with --output json", async () => {
    await using cluster = await onLab();
    await cluster.lab.inject("drift");
    const { code, stdout } = await cluster.fleetmend(["scan", "--output", "json"]);
    const document = checkedDocument(stdout);
    expect(document).toMatchObject({ schemaVersion: 1, command: "scan", context: "lab", exitCode: 1 });
    expect(document.findings).toContainEqual(expect.objectContaining({ kind: "bundle-stale", severity: "broken" }));
    expect(code).toBe(1);
  });

  it("names the npm script in what to type, where it was called by it", async () => {
    await using cluster = await onLab();
    await cluster.lab.inject("drift");
    const { stdout } = await cluster.fleetmend(["scan"], { env: { npm_lifecycle_event: "fleetmend" } });
    expect(stdout).toContain("  npm run -s fleetmend -- repair --kubeconfig");
  });
});

describe("explain on a cluster", () => {
  it("shows both sides, Go's text, the refused candidate, the last writer and how we know", async () => {
    await using cluster = await onLab();
    await cluster.lab.inject("drift");
    const { code, text } = await cluster.fleetmend(["explain"]);
    for (const words of [
      "✗ broken bundle-stale binder.run.ai in kai-binder (mutating and validating)",
      "presented in a TLS handshake with us.",
      "Last written by webhookmanager (Update, 2026-05-03 10:00 UTC): the bundle of binder.run.ai in kai-binder",
      "parent certificate cannot sign this kind of certificate",
      "Candidates refused 1. binder.kai-scheduler.svc",
      "KAI in kai-scheduler (family A, bundles by kai-helm-hooks), delivered by helm",
      "v1.37.2, built with go1.26.8",
    ]) {
      expect(text).toContain(words);
    }
    expect(code).toBe(1);
  });

  it("has all verdicts in its document", async () => {
    await using cluster = await onLab();
    const { code, stdout } = await cluster.fleetmend(["explain", "--output", "json"]);
    const document = checkedDocument(stdout);
    expect(document).toMatchObject({
      command: "explain",
      verdicts: [
        { servedFrom: "handshake", verdict: { outcome: "trusted" } },
        { servedFrom: "handshake", verdict: { outcome: "trusted" } },
      ],
    });
    expect(code).toBe(0);
  });
});
