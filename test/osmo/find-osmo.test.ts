import { describe, expect, it } from "vitest";
import { findOsmo } from "../../src/osmo/find-osmo.ts";
import { MemoryApi } from "../admission/memory-api.ts";

const namespace = "osmo-control-plane";
const classPath = (name: string): string =>
  `/apis/secrets-store.csi.x-k8s.io/v1/namespaces/${namespace}/secretproviderclasses/${name}`;

const csi = (secretProviderClass: string) => ({
  name: secretProviderClass,
  csi: { driver: "secrets-store.csi.k8s.io", readOnly: true, volumeAttributes: { secretProviderClass } },
});

/** osmo-service as microsoft/physical-ai-toolchain deploys it, as far as it is read. */
function service({ image = "nvcr.io/nvidia/osmo/service:6.2.10", args = adminArgs, volumes = [csi("azure")] } = {}) {
  const secretKeyRef = { name: "osmo-default-admin", key: "password" };
  const env = [
    { name: "OSMO_DEFAULT_ADMIN_PASSWORD", valueFrom: { secretKeyRef } },
    { name: "OTHER", value: "x" },
  ];
  const containers = [
    { name: "envoy", image: "envoyproxy/envoy:v1" },
    { name: "osmo-service", image, args, env },
  ];
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "osmo-service", namespace, labels: { app: "osmo-service" } },
    spec: { template: { spec: { containers, volumes: [{ name: "tmp", emptyDir: {} }, ...volumes] } } },
  };
}
const adminArgs = ["--host", "0.0.0.0", "--default_admin_username", "admin"];

function world(deployment = service(), classes: Record<string, unknown> = { azure: azure("kv-robots") }): MemoryApi {
  const cluster = new MemoryApi(() => new Date("2026-12-01T00:00:00Z"));
  cluster.put(`/apis/apps/v1/namespaces/${namespace}/deployments/osmo-service`, deployment, "helm");
  for (const [name, spec] of Object.entries(classes)) {
    cluster.put(classPath(name), { metadata: { name, namespace }, spec }, "kubectl");
  }
  return cluster;
}
const azure = (keyvaultName: string, rest: object = {}) => ({
  provider: "azure",
  parameters: { keyvaultName, tenantId: "t", ...rest },
});
const find = (cluster: MemoryApi, setting?: string) => findOsmo(cluster.api(), () => setting);

describe("OSMO of a cluster", () => {
  it("is found with its version's tag, its vault and the default admin's Secret", async () => {
    expect(await find(world())).toEqual({
      ok: true,
      value: [
        {
          namespace,
          imageTag: "6.2.10",
          vault: { vault: "known", name: "kv-robots", from: "secret-provider-class" },
          defaultAdmin: { user: "admin", secret: { namespace, name: "osmo-default-admin" }, key: "password" },
        },
      ],
    });
  });

  it("is nowhere in a cluster without it", async () => {
    expect(await find(new MemoryApi(() => new Date("2026-12-01T00:00:00Z")))).toEqual({ ok: true, value: [] });
  });

  it("has no default admin where the live arguments name none, whatever the Secret says", async () => {
    const found = await find(world(service({ args: ["--host", "0.0.0.0"] })));
    expect(found.ok && found.value[0]).not.toHaveProperty("defaultAdmin");
  });

  it.each([
    ["registry.example:5000/osmo/service:6.3.0@sha256:0a1b", "6.3.0"],
    ["registry.example:5000/osmo/service", undefined],
    ["nvcr.io/nvidia/osmo/service@sha256:0a1b", undefined],
  ])("reads the tag of %s", async (image, imageTag) => {
    const found = await find(world(service({ image })));
    expect(found.ok && found.value[0]?.imageTag).toBe(imageTag);
  });

  it("is found once for each namespace, in their order", async () => {
    const cluster = world();
    for (const other of ["osmo-two", "a-osmo"]) {
      const path = `/apis/apps/v1/namespaces/${other}/deployments/osmo-service`;
      cluster.put(path, { ...service(), metadata: { ...service().metadata, namespace: other } }, "helm");
    }
    const found = await find(cluster);
    expect(found.ok && found.value.map((each) => each.namespace)).toEqual(["a-osmo", namespace, "osmo-two"]);
  });

  it("is unknown, and not absent, where Deployments may not be listed", async () => {
    const cluster = world();
    cluster.intercept = ({ verb }) => (verb === "list" ? { kind: "forbidden", message: "cannot list" } : undefined);
    expect(await find(cluster)).toMatchObject({ ok: false, error: { plan: "stop" } });
  });
});

describe("the vault of an OSMO", () => {
  const vaultIn = async (cluster: MemoryApi, setting?: string) => {
    const found = await find(cluster, setting);
    return found.ok ? found.value[0]?.vault : undefined;
  };

  it("is the setting's where there is one, and no class is read", async () => {
    const cluster = world();
    expect(await vaultIn(cluster, "kv-other")).toEqual({ vault: "known", name: "kv-other", from: "setting" });
    expect(cluster.requests.map(({ verb }) => verb)).toEqual(["list"]);
  });

  it("is one where two classes name it, also in other letters", async () => {
    const cluster = world(service({ volumes: [csi("a"), csi("b")] }), { a: azure("kv-robots"), b: azure("KV-Robots") });
    expect(await vaultIn(cluster)).toMatchObject({ vault: "known", name: "kv-robots" });
  });

  const own = `the SecretProviderClass ${namespace}/azure`;
  it.each([
    [
      "no class is mounted",
      world(service({ volumes: [] })),
      `osmo-service in ${namespace} mounts no SecretProviderClass`,
    ],
    ["the class does not exist", world(service(), {}), `${own} does not exist`],
    [
      "it is another provider's",
      world(service(), { azure: { provider: "vault" } }),
      `${own} is not one of the provider azure`,
    ],
    ["no vault is named", world(service(), { azure: azure("") }), `${own} names no Key Vault`],
    ["the name is another host's", world(service(), { azure: azure("evil.example/x") }), `${own} names no Key Vault`],
    [
      "it is in another cloud",
      world(service(), { azure: azure("kv-robots", { cloudName: "AzureChinaCloud" }) }),
      `${own} is for another cloud than the public one`,
    ],
    [
      "two classes name two vaults",
      world(service({ volumes: [csi("a"), csi("b")] }), { a: azure("kv-two"), b: azure("kv-one") }),
      `osmo-service in ${namespace} mounts several vaults: kv-one, kv-two`,
    ],
  ])("is unknown, with the reason and what to do, where %s", async (_name, cluster, why) => {
    const todo = `name the Key Vault for OSMO in ${namespace} in the setting`;
    expect(await vaultIn(cluster)).toEqual({ vault: "unknown", why, todo });
  });

  it.each(["", "../../../../../api/v1/namespaces/x/secrets/y", "a/b", "A", "a."])(
    "is unknown, and nothing is read, where the class is called '%s'",
    async (name) => {
      const cluster = world(service({ volumes: [csi(name)] }));
      const why = `osmo-service in ${namespace} mounts a class without a valid name`;
      expect(await vaultIn(cluster)).toMatchObject({ vault: "unknown", why });
      expect(cluster.requests.map(({ verb }) => verb)).toEqual(["list"]);
    },
  );

  it("is unknown where the class may not be read", async () => {
    const cluster = world();
    cluster.intercept = ({ verb }) => (verb === "get" ? { kind: "forbidden", message: "cannot get" } : undefined);
    expect(await vaultIn(cluster)).toMatchObject({ vault: "unknown", why: `${own} could not be read (forbidden)` });
  });

  it("is not taken from a setting that is no vault's name", async () => {
    expect(await vaultIn(world(), "evil.example/x")).toMatchObject({ vault: "unknown" });
  });
});
