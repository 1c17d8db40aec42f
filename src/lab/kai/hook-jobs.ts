// What KAI's helm hooks of v0.2 to v0.8 do (cmd/webhookmanager): the pre hook always makes a new pair, the post hook copies
// it into every bundle, and both clean up behind them when they succeed. A drift is the first without the second.
import { resources } from "../kubernetes/resources.ts";
import { certificatesOf, mintPair, setBundle, writePair, type KaiInstallation } from "./installation.ts";

const manager = "webhookmanager";

// The Jobs of the admission component, by its Service: v0.3 to v0.5 have one for the whole release
// (deployments/kai-scheduler/templates).
const jobNames = {
  A: { pre: "pre-install-hook", post: "post-install-hook" },
  B: { pre: "binder-pre-install-job", post: "binder-webhook-job" },
  C: { pre: "kai-admission-pre-install-job", post: "admission-webhook-job" },
} as const;

function jobsOf({ family }: KaiInstallation): { readonly pre: string; readonly post: string } {
  if (family.name === "D1" || family.name === "D4") throw new Error(`family ${family.name} has no hook Jobs`);
  return jobNames[family.name];
}

/** `pre-install,pre-upgrade`, `--upsert-secret`: a new pair for each component, even where the present one is good. */
export async function runPreHook(kai: KaiInstallation): Promise<void> {
  for (const component of kai.family.components) {
    const { pem, keyPem } = await mintPair(kai, component);
    writePair(kai, { component, pair: { certificates: pem, key: keyPem }, by: manager });
  }
  cleanUp(kai);
}

/** `post-install,post-upgrade`, `--patch-webhooks`: the bytes of `tls.crt` into every entry of the component's holders. */
export function runPostHook(kai: KaiInstallation): void {
  for (const component of kai.family.components) {
    const bundle = certificatesOf(kai, component);
    for (const holder of component.holders) setBundle(kai, { holder, bundle, by: manager });
  }
  cleanUp(kai);
}

/** `helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded`, on the Jobs and on what they run as. */
function cleanUp(kai: KaiInstallation): void {
  const { store, namespace } = kai;
  for (const name of Object.values(jobsOf(kai))) store.remove({ resource: resources.jobs, namespace, name });
  store.remove({ resource: resources.serviceAccounts, namespace, name: manager });
}

/** A hook Job that ended and was not cleaned up, and the hooks' ServiceAccount: traces of a helm run that broke off. */
export function leaveBehind(kai: KaiInstallation, hook: "pre" | "post", how: "Complete" | "Failed"): void {
  const { store, namespace, now } = kai;
  const writer = { manager: "helm", at: now() };
  const job = jobsOf(kai)[hook];
  const jobKey = { resource: resources.jobs, namespace, name: job };
  const accountKey = { resource: resources.serviceAccounts, namespace, name: manager };
  if (store.get(jobKey) === undefined) {
    const status = { conditions: [{ type: how, status: "True" }], [how === "Complete" ? "succeeded" : "failed"]: 1 };
    store.create(
      jobKey,
      { metadata: { name: job }, spec: { completions: 1, parallelism: 1, backoffLimit: 6 }, status },
      writer,
    );
  }
  if (store.get(accountKey) === undefined) store.create(accountKey, { metadata: { name: manager } }, writer);
}
