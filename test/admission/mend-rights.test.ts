import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { accessDenied, manifestFor } from "../../src/admission/mend-rights.ts";
import { MemoryApi } from "./memory-api.ts";

const holder = {
  group: "admissionregistration.k8s.io",
  resource: "mutatingwebhookconfigurations",
  name: "kai-binder",
  verb: "patch",
};
const secret = { group: "", resource: "secrets", name: "tls", namespace: "kai-scheduler", verb: "patch" };

describe("rights", () => {
  it("asks for each write by name and gives back what is denied", async () => {
    const memory = new MemoryApi(() => new Date("2026-12-01T03:00:00Z"));
    memory.allows = ({ resource }) => resource !== "secrets";
    expect(await accessDenied(memory.api(), [holder, secret])).toEqual([secret]);
    expect(memory.requests.map(({ body }) => body)).toEqual([
      {
        apiVersion: "authorization.k8s.io/v1",
        kind: "SelfSubjectAccessReview",
        spec: { resourceAttributes: holder },
      },
      {
        apiVersion: "authorization.k8s.io/v1",
        kind: "SelfSubjectAccessReview",
        spec: { resourceAttributes: secret },
      },
    ]);
  });

  it("lets the write tell where the question is not answered", async () => {
    const memory = new MemoryApi(() => new Date("2026-12-01T03:00:00Z"));
    memory.intercept = () => ({ kind: "server-error", message: "no" });
    expect(await accessDenied(memory.api(), [holder])).toEqual([]);
  });

  it("writes a manifest of exactly what is missing, a role for each namespace", () => {
    const documents = parseAllDocuments(manifestFor([holder, secret])).map((document) => document.toJS() as unknown);
    expect(documents).toEqual([
      {
        apiVersion: "rbac.authorization.k8s.io/v1",
        kind: "ClusterRole",
        metadata: { name: "fleetmend-repair-missing" },
        rules: [
          {
            apiGroups: ["admissionregistration.k8s.io"],
            resources: ["mutatingwebhookconfigurations"],
            resourceNames: ["kai-binder"],
            verbs: ["patch"],
          },
        ],
      },
      {
        apiVersion: "rbac.authorization.k8s.io/v1",
        kind: "Role",
        metadata: { name: "fleetmend-repair-missing", namespace: "kai-scheduler" },
        rules: [{ apiGroups: [""], resources: ["secrets"], resourceNames: ["tls"], verbs: ["patch"] }],
      },
    ]);
  });
});
