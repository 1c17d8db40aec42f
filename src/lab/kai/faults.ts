// The faults of family A by name. Each does what life does and nothing else: a hook Job that never ran, a hand on the
// Secret, a backup put back. What a fault leads to is then up to the lab's API server, kubelet and pods.
import { mintKaiCertificate } from "../../trust/mint.ts";
import type { Kubelet } from "../kubernetes/kubelet.ts";
import { resources } from "../kubernetes/resources.ts";
import type { WebhookClients } from "../kubernetes/webhook-client.ts";
import * as familyA from "./family-a.ts";
import {
  certificatesOf,
  holders,
  leaveBehind,
  runPostHook,
  runPreHook,
  setBundle,
  writePair,
  type HookOptions,
} from "./hook-jobs.ts";

export interface FaultContext extends HookOptions {
  readonly kubelet: Kubelet;
  readonly clients: WebhookClients;
  /** A pod create by somebody else, which leaves the API server with an open connection to each hook. */
  readonly createSomePod: () => Promise<void>;
}

const day = 24 * 60 * 60 * 1000;

// Field managers of hands: what kubectl calls itself in each of its commands.
const edit = "kubectl-edit";
const patch = "kubectl-patch";
const restore = "kubectl-replace";

/** Each resolves when the fault has come about: pods have loaded what they will, and old connections are gone or kept. */
export const faults = {
  /** A helm upgrade broke off between its hooks, and the old connections are gone: every pod create fails. */
  async drift(context: FaultContext) {
    await runPreHook(context);
    await context.kubelet.settled();
    context.clients.close();
  },
  /** The same, and the API server still has connections from before: everything looks well until the next handshake. */
  async "latent-drift"(context: FaultContext) {
    await context.createSomePod();
    await runPreHook(context);
    await context.kubelet.settled();
  },
  /** The post hook failed at the first installation: no bundle, so the API server asks its system roots. */
  "empty-bundle"(context: FaultContext) {
    for (const resource of holders) setBundle(context, resource, undefined, "helm");
    leaveBehind(context, "post-install-hook", "Failed");
    return Promise.resolve();
  },
  /** Somebody encoded the bundle twice by hand: there is no PEM in it. */
  "garbage-bundle"(context: FaultContext) {
    const twice = Buffer.from(certificatesOf(context)).toString("base64");
    for (const resource of holders) setBundle(context, resource, twice, edit);
    return Promise.resolve();
  },
  /** A pair out of an old backup was put back, with its bundle: it has expired. */
  async expired(context: FaultContext) {
    const now = context.now().getTime();
    await putBack(context, familyA.serverNameIn(context.namespace), {
      notBefore: new Date(now - 366 * day),
      notAfter: new Date(now - day),
    });
  },
  /** A pair of an installation in another namespace was put back, with its bundle. */
  async "wrong-name"(context: FaultContext) {
    await putBack(context, familyA.serverNameIn("kai-staging"), { notBefore: context.now() });
  },
  /** Somebody replaced `tls.crt` without `tls.key`: pods keep their old pair, until one restarts. */
  async "key-mismatch"(context: FaultContext) {
    const serverName = familyA.serverNameIn(context.namespace);
    const other = await mintKaiCertificate({ serverName, notBefore: context.now() });
    writePair(context, { certificates: other.pem }, edit);
    await context.kubelet.settled();
  },
  /** A drift, and a hand that patched the mutating configuration only. */
  async "one-holder"(context: FaultContext) {
    await faults.drift(context);
    setBundle(context, resources.mutatingWebhookConfigurations, certificatesOf(context), patch);
  },
  /** A complete helm upgrade, and one pod whose files are never refreshed: it serves the old pair. */
  async "stale-pod"(context: FaultContext) {
    const [pod] = context.store.list(resources.pods, context.namespace);
    if (pod !== undefined) context.kubelet.freeze(pod.metadata.name);
    await runPreHook(context);
    runPostHook(context);
    await context.kubelet.settled();
  },
} as const satisfies Record<string, (context: FaultContext) => Promise<void>>;

export type Fault = keyof typeof faults;

async function putBack(
  context: FaultContext,
  serverName: string,
  validity: { readonly notBefore: Date; readonly notAfter?: Date },
): Promise<void> {
  const old = await mintKaiCertificate({ serverName, ...validity });
  writePair(context, { certificates: old.pem, key: old.keyPem }, restore);
  for (const resource of holders) setBundle(context, resource, old.pem, restore);
  await context.kubelet.settled();
}
