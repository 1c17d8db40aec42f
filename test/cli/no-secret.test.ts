// A bundle is a public field, and people put private keys into public fields: Go reads past them, so everything works.
import { X509Certificate } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { withCluster } from "../../src/compose.ts";
import { generateKeys, mintKaiCertificate } from "../../src/trust/mint.ts";
import { type OnLab, onLab } from "./on-lab.ts";

const holder = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/kai-binder";

let cluster: OnLab;
let secrets: readonly string[];

beforeAll(async () => {
  cluster = await onLab();
  const keys = await generateKeys("rsa-2048");
  const serverName = "binder.kai-scheduler.svc";
  const old = await mintKaiCertificate({ serverName, notBefore: new Date("2026-01-01T00:00:00Z"), keys });
  const caBundle = Buffer.from(old.keyPem + old.pem).toString("base64");
  const patched = await withCluster({ kubeconfig: cluster.lab.kubeconfig }, ({ cluster: api }) =>
    api.patch(holder, [{ op: "replace", path: "/webhooks/0/clientConfig/caBundle", value: caBundle }]),
  );
  expect(patched).toMatchObject({ ok: true, value: { ok: true } });
  expect(new X509Certificate(old.pem).subject).toContain(serverName);
  // A line from the middle of the key, as PEM has it, and as base64 has the PEM, at each of its three alignments.
  const line = old.keyPem.split("\n")[12] ?? "";
  expect(line.length).toBe(64);
  const inBase64 = [0, 1, 2].map((skip) => Buffer.from(line.slice(skip)).toString("base64").slice(0, 60));
  secrets = [line, ...inBase64];
});
afterAll(() => cluster[Symbol.asyncDispose]());

describe("a private key in a bundle", () => {
  it.each([
    "scan",
    "explain",
    "probe",
    "repair --dry-run",
    "scan --output json",
    "explain --output json",
    "probe --output json",
    "repair --dry-run --output json",
    "repair --yes --output json",
  ])("is not printed by: %s", async (line) => {
    const { code, stdout, stderr } = await cluster.fleetmend(line.split(" "));
    expect(stderr).not.toContain("defect");
    expect([0, 1]).toContain(code);
    for (const secret of secrets) expect(stdout + stderr).not.toContain(secret);
  });
});
