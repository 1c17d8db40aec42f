// What `helm install` and `helm upgrade` write for KAI: the release's objects and Secret, with helm's field manager, and
// the hooks at their places in families A to C. Rendering is replaced by the recorded objects.
import { createIfMissing, type Api } from "../api.ts";
import { holderCollection } from "../holder.ts";
import type { KubeObject } from "../../../src/lab/kai/kube-object.ts";
import { until } from "../until.ts";
import type { World } from "../world.ts";
import type { Component, Family } from "../../../src/lab/kai/families.ts";
import { grantHookRights, patchWebhooks, preHookJob, revokeHookRights, upsertSecret } from "./helm-hooks.ts";
import { secretsPath } from "./pair.ts";
import { kaiNamespace, readRelease, type Release } from "../../../src/lab/kai/recorded.ts";
import { deploymentsAreReady } from "./rollout.ts";

export const deploymentsPath = `/apis/apps/v1/namespaces/${kaiNamespace}/deployments`;
export const servicesPath = `/api/v1/namespaces/${kaiNamespace}/services`;
export const configsPath = "/apis/kai.scheduler/v1/configs";
const jobsPath = `/apis/batch/v1/namespaces/${kaiNamespace}/jobs`;

/** `helm install --wait` of a family A to C. */
export async function installWithHooks(world: World, family: Family): Promise<void> {
  const helm = world.as("admin", "helm");
  const release = readRelease(family.version);
  await createServiceAccounts(helm, release);
  await runPreHooks(world, family);
  await createAll(helm, release);
  await writeReleaseSecret(helm, 1, "deployed");
  await deploymentsAreReady(world);
  await runPostHooks(world, family);
}

/** How far `helm upgrade` gets: `pre-hook` is an upgrade that was killed, or ran out of time, before its post hook. */
export type UpgradeEnd = "pre-hook" | "done";

/**
 * `helm upgrade` with nothing changed: the hooks make a new pair all the same. Killed before the post hook, it leaves a
 * Complete Job, the hooks' rights and a release Secret in `pending-upgrade`.
 */
export async function upgradeWithHooks(world: World, family: Family, end: UpgradeEnd): Promise<void> {
  const helm = world.as("admin", "helm");
  await writeReleaseSecret(helm, 2, "pending-upgrade");
  if (end === "pre-hook") {
    await grantHookRights(world);
    // A second killed upgrade finds the first one's Job, and leaves one just like it.
    await createIfMissing(helm, jobsPath, preHookJob(family.components[0]));
    await eachComponent(family, (component) => upsertSecret(world.as("webhookManager", "webhookmanager"), component));
    await until("the pre hook's Job is complete", () => isComplete(helm, "pre-install-hook"));
    return;
  }
  await runPreHooks(world, family);
  await runPostHooks(world, family);
  await writeReleaseSecret(helm, 2, "deployed");
}

async function isComplete(helm: Api, job: string): Promise<boolean> {
  const { status } = await helm.get<KubeObject & { status?: { succeeded?: number; completionTime?: string } }>(
    `${jobsPath}/${job}`,
  );
  return status?.completionTime !== undefined;
}

async function runPreHooks(world: World, family: Family): Promise<void> {
  await grantHookRights(world);
  await eachComponent(family, (component) => upsertSecret(world.as("webhookManager", "webhookmanager"), component));
  await revokeHookRights(world);
}

export async function runPostHooks(world: World, family: Family): Promise<void> {
  await grantHookRights(world);
  await eachComponent(family, (component) => patchWebhooks(world.as("webhookManager", "webhookmanager"), component));
  await revokeHookRights(world);
}

async function eachComponent(family: Family, work: (component: Component) => Promise<void>): Promise<void> {
  await Promise.all(family.components.map(work));
}

/** The part of `helm install` in the operator's families: the operator's Deployment, its account, and `kai-config`. */
export async function installOperator(world: World, family: Family): Promise<void> {
  const helm = world.as("admin", "helm");
  const release = readRelease(family.version);
  await createServiceAccounts(helm, release);
  const own = release.deployments.filter(({ metadata }) => metadata.ownerReferences === undefined);
  for (const deployment of own) await helm.create(deploymentsPath, deployment);
  await writeReleaseSecret(helm, 1, "deployed");
  await createConfig(world, family, release);
}

/** v0.20.1 creates `kai-config` as a hook of helm; v0.17.0 applies it from a Job of its own, server-side. */
async function createConfig(world: World, family: Family, { config }: Release): Promise<void> {
  if (config === undefined) throw new Error(`${family.version} has no kai-config`);
  if (family.name === "D4") {
    const deployer = world.as("admin", "kai-config-deployer");
    const call = { body: config, contentType: "application/apply-patch+yaml", query: { force: "true" } };
    const answer = await deployer.request("PATCH", `${configsPath}/kai-config`, call);
    if (answer.status > 299) throw new Error(`applying kai-config: ${JSON.stringify(answer.body)}`);
  } else {
    await world.as("admin", "helm").create(configsPath, config);
  }
}

async function createServiceAccounts(helm: Api, { deployments }: Release): Promise<void> {
  const names = new Set(deployments.map(({ spec }) => spec.template.spec.serviceAccountName ?? "default"));
  const path = `/api/v1/namespaces/${kaiNamespace}/serviceaccounts`;
  await Promise.all([...names].map((name) => createIfMissing(helm, path, { metadata: { name } })));
}

async function createAll(helm: Api, release: Release): Promise<void> {
  const creations: [string, readonly KubeObject[]][] = [
    [servicesPath, release.services],
    [deploymentsPath, release.deployments],
    [holderCollection("mutating"), release.mutating],
    [holderCollection("validating"), release.validating],
  ];
  for (const [path, objects] of creations) await Promise.all(objects.map((object) => helm.create(path, object)));
}

/** Only the labels tell anything to others than helm itself; the payload is not a release. */
async function writeReleaseSecret(helm: Api, revision: number, status: string): Promise<void> {
  const name = `sh.helm.release.v1.${kaiNamespace}.v${revision}`;
  const labels = { name: kaiNamespace, owner: "helm", status, version: String(revision) };
  await createIfMissing(helm, secretsPath, { metadata: { name, labels }, type: "helm.sh/release.v1", data: {} });
  await helm.merge(`${secretsPath}/${name}`, { metadata: { labels } });
}
