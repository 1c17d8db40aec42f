import { describe, expect, it } from "vitest";
import { admin, backend, RotationWorld } from "./rotation-world.ts";

const t0 = "operatorTokenT0operatorTokenT0operatorTok00";
const a0 = "apiTokenA0apiTokenA0apiTokenA0apiTokenA0ap0";

/** The steps of a run, by name. */
async function stepsOf(world: RotationWorld, credential: typeof admin): Promise<string[]> {
  const steps: string[] = [];
  for (;;) {
    const answer = await world.once(credential);
    if (answer === undefined) throw new Error("nobody kills here");
    if (answer.answer === "wait" && answer.did !== undefined) steps.push(answer.did.step);
    if (answer.answer === "stop") steps.push(`stop: ${answer.why}`);
    if (answer.answer !== "wait") return steps;
    world.pass(answer.seconds);
  }
}

describe("the admin's token", () => {
  it.each(["6.0", "6.2", "6.3"] as const)(
    "on %s is replaced 30 days ahead, and the old one goes after a day",
    async (release) => {
      const world = await RotationWorld.start(release, { apiToken: a0 });
      world.watch.backend = false;
      expect(await stepsOf(world, admin)).toEqual(["mint", "delete-token", "disable-version"]);
      expect(world.isGood(a0, "osmo-admin")).toBe(false);
      expect(world.vault.enabledValues("osmo-admin-token")).toHaveLength(1);
      expect(world.failures).toEqual([]);
      expect(await stepsOf(world, admin)).toEqual([]);
    },
  );

  it("is left alone while it is not due", async () => {
    const world = await RotationWorld.start("6.2", { apiToken: a0, apiEnds: "2026-12-31" });
    world.watch.backend = false;
    const due = await world.once(admin);
    expect(due).toMatchObject({ answer: "wait", did: { step: "mint", expiresOn: "2027-03-01" } });
    const other = await RotationWorld.start("6.2", { apiToken: a0, apiEnds: "2027-01-01" });
    other.watch.backend = false;
    expect(await other.once(admin)).toEqual({ answer: "done", why: "good until 2027-01-01" });
  });

  it("is made with the proven password where there is none, user and role first", async () => {
    const world = await RotationWorld.start("6.2");
    world.watch.backend = false;
    expect(await stepsOf(world, admin)).toEqual(["create-user", "mint"]);
    const [stored] = world.vault.secrets.get("osmo-admin-token")?.versions ?? [];
    expect(stored?.expiresAt).toEqual(new Date("2027-03-01T00:00:00Z"));
    expect(stored?.tags).toEqual({
      "osmo-token": expect.stringMatching(/^fm-lab-admin-20261201T0600\d\d-\w{4}$/) as unknown,
      "osmo-user": "fleetmend",
      "managed-by": "fleetmend",
    });
    expect(world.failures).toEqual([]);
  });

  it("is made anew where the present one is dead, or a placeholder", async () => {
    const world = await RotationWorld.start("6.2");
    world.watch.backend = false;
    world.vault.put("osmo-admin-token", "placeholder");
    expect(await stepsOf(world, admin)).toEqual(["create-user", "mint", "disable-version"]);
  });

  it("is not made where no admin is proven: the recovery is explained", async () => {
    const world = await RotationWorld.start("6.2");
    world.watch = { admin: false, backend: false };
    world.osmo.lab.world.database.tokens.splice(0);
    expect(await world.once(admin)).toMatchObject({
      answer: "stop",
      why: expect.stringContaining("no admin credential could be proven") as unknown,
      todo: expect.stringContaining("restart osmo-service") as unknown,
    });
  });

  it("recovers a soft-deleted secret, and never purges it", async () => {
    const world = await RotationWorld.start("6.2", { apiToken: a0 });
    world.watch.backend = false;
    const secret = world.vault.secrets.get("osmo-admin-token");
    if (secret !== undefined) secret.deleted = true;
    expect(await stepsOf(world, admin)).toEqual(["recover-secret", "mint", "delete-token", "disable-version"]);
  });

  it("does not delete the default admin's token, whatever Key Vault holds", async () => {
    const world = await RotationWorld.start("6.2");
    world.watch.backend = false;
    world.vault.put("osmo-admin-token", world.vault.enabledValues("osmo-admin-password")[0] ?? "");
    expect(await stepsOf(world, admin)).toEqual(["create-user", "mint", "disable-version"]);
    expect(world.tokensOf("osmo-admin")).toContain("default-admin-token");
  });
});

describe("the backend operator's token", () => {
  it("is adopted, replaced, carried to worker and listener, and the old one goes last", async () => {
    const world = await RotationWorld.start("6.2", { operatorToken: t0 });
    expect(await stepsOf(world, backend)).toEqual([
      "adopt",
      "mint",
      "write-copy",
      "restart",
      "restart",
      "delete-token",
      "disable-version",
    ]);
    expect(world.operatorToken()).toBe(world.vault.enabledValues("osmo-backend-operator-token")[0]);
    expect(world.tokensOf("osmo-backend")).toEqual([expect.stringMatching(/^fm-lab-backend-/)]);
    expect(world.failures).toEqual([]);
    expect(await stepsOf(world, backend)).toEqual([]);
  });

  it("is only copied to Key Vault while it is not due: nobody is restarted for that", async () => {
    const world = await RotationWorld.start("6.2", { operatorToken: t0, operatorEnds: "2027-02-20" });
    expect(await stepsOf(world, backend)).toEqual(["adopt"]);
    expect(world.operatorToken()).toBe(t0);
    expect(await stepsOf(world, backend)).toEqual([]);
  });

  it.each([
    ["a placeholder", (_: RotationWorld) => undefined],
    ["a deleted one", (world: RotationWorld) => world.osmo.lab.world.database.tokens.splice(1)],
  ])("is healed where it is %s", async (name, harm) => {
    const world = await RotationWorld.start("6.2", name === "a placeholder" ? {} : { operatorToken: t0 });
    world.watch.backend = false;
    harm(world);
    const steps = await stepsOf(world, backend);
    expect(steps.filter((step) => step !== "create-user")).toEqual(["mint", "write-copy", "restart", "restart"]);
    expect(world.isGood(world.operatorToken(), "osmo-backend")).toBe(true);
  });

  it("is healed where it exchanges without its role, as after the upgrade from 6.0", async () => {
    const world = await RotationWorld.start("6.2", { operatorToken: t0 });
    world.watch.backend = false;
    const row = world.osmo.lab.world.database.tokens.find(({ tokenName }) => tokenName.startsWith("backend-token"));
    if (row !== undefined) row.roles = [];
    world.osmo.lab.world.database.users.find(({ id }) => id === "backend-operator")?.roles.splice(0);
    expect(await stepsOf(world, backend)).toEqual(["give-role", "mint", "write-copy", "restart", "restart"]);
  });

  it("is nobody's where the operator runs without tokens", async () => {
    const world = await RotationWorld.start("6.2", { operatorToken: t0 });
    const path = "/apis/apps/v1/namespaces/osmo-operator/deployments/osmo-operator-osmo-backend-worker";
    const deployment = structuredClone(world.cluster.objects.get(path)) as unknown as {
      spec: { template: { spec: { containers: { args: string[] }[] } } };
    };
    deployment.spec.template.spec.containers[0]?.args.push("--method", "dev");
    world.cluster.put(path, deployment, "helm");
    expect(await world.once(backend)).toMatchObject({
      answer: "done",
      why: expect.stringContaining("--method dev") as unknown,
    });
  });

  it("waits for the CSI driver where the copy is the driver's", async () => {
    const world = await RotationWorld.start("6.2", { operatorToken: t0 });
    const secret = [...world.cluster.objects].find(([path]) => path.endsWith("/osmo-operator-token"))?.[1];
    if (secret !== undefined) secret.metadata.labels = { "secrets-store.csi.k8s.io/managed": "true" };
    const answers = [await world.once(backend), await world.once(backend), await world.once(backend)];
    expect(answers.map((answer) => (answer?.answer === "wait" ? (answer.did?.step ?? answer.why) : answer))).toEqual([
      "adopt",
      "mint",
      "the CSI driver has not brought osmo-operator/osmo-operator-token along",
    ]);
  });
});
