// The ways in which the admission component's pair and bundles change: as they should, and as they should not. Each
// returns when the change has reached all that it will reach.
import type { MintedCertificate } from "../../../src/trust/mint.ts";
import { readBundles, writeBundle } from "../holder.ts";
import { until } from "../until.ts";
import { runPostHooks, upgradeWithHooks } from "./helm.ts";
import type { Installed } from "./install.ts";
import { everyPodServesItsSecret } from "./installed-pods.ts";
import { mintPair, pairData, writePair } from "./pair.ts";

/** The pair changes as it should, whoever's task it is, and the bundle follows. */
export async function rotate(installed: Installed): Promise<void> {
  const { world, family, admission } = installed;
  if (family.writer === "helm-hooks") {
    await upgradeWithHooks(world, family, "done");
    return;
  }
  const pair = await mintPair(admission.service);
  await writePair(world.as("admin", "kubectl-patch"), admission.secret, pairData(pair));
  await until("the operator has copied the pair into the bundles", () => bundlesHold(installed, pair.pem));
}

/** The Secret gets a new pair by hand, and the pods serve it; what becomes of the bundle is up to the owner. */
export async function writeNewPair(installed: Installed): Promise<void> {
  const { world, admission } = installed;
  await writePair(world.as("admin", "kubectl-patch"), admission.secret, pairData(await mintPair(admission.service)));
  await everyPodServesItsSecret(installed);
}

/** In the helm hooks' families by hand; in the operator's through the Secret, for it would take a hand's patch back. */
export async function spoilBundle(installed: Installed, bundle: string): Promise<void> {
  const { world, family, admission } = installed;
  const kubectl = world.as("admin", "kubectl-patch");
  if (family.writer === "helm-hooks") {
    for (const holder of admission.holders) await writeBundle(kubectl, holder, bundle);
    return;
  }
  await writePair(kubectl, admission.secret, { "tls.crt": Buffer.from(bundle).toString("base64") });
  await until("the operator has copied tls.crt into the bundles", () => bundlesHold(installed, bundle));
}

/** Secret, pods and bundles all change to this pair, in the order of an upgrade. */
export async function replacePairEverywhere(installed: Installed, pair: MintedCertificate): Promise<void> {
  const { world, family, admission } = installed;
  await writePair(world.as("admin", "kubectl-patch"), admission.secret, pairData(pair));
  if (family.writer === "helm-hooks") await runPostHooks(world, family);
  await until("the bundles hold the pair", () => bundlesHold(installed, pair.pem));
  await everyPodServesItsSecret(installed);
  world.egress.closeConnections();
}

/** Whether every entry of the admission component's configurations has this bundle. */
export async function bundlesHold({ world, admission }: Installed, bundle: string): Promise<boolean> {
  const bundles = await Promise.all(admission.holders.map((holder) => readBundles(world.admin, holder)));
  return bundles.flat().every((held) => held === bundle);
}
