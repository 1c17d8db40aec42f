// Watches that admission only ever gets better during a repair: by the verdict for each hook and pod, and by the API
// server's own answer to a dry run over new connections.
import { X509Certificate } from "node:crypto";
import { verifyServed } from "../../src/trust/verify.ts";
import { readBundles } from "./holder.ts";
import { probeNamespace, type Installed } from "./kai/install.ts";
import { podsOf } from "./kai/installed-pods.ts";
import { kaiNamespace } from "../../src/lab/kai/recorded.ts";
import { servedLeaf } from "./served-leaf.ts";

export const probePod = {
  metadata: { name: "watch" },
  spec: { schedulerName: "kai-scheduler", containers: [{ name: "main", image: "REGISTRY/pause" }] },
};

export class AdmissionWatch {
  readonly #installed: Installed;
  #trusted = new Set<string>();
  #admits = false;
  looks = 0;

  constructor(installed: Installed) {
    this.#installed = installed;
  }

  /** Forgets what was trusted: a new fault was put in. */
  async restart(): Promise<void> {
    this.#trusted = new Set();
    this.#admits = false;
    await this.look();
  }

  /** Throws where a hook that trusted a pod does so no more, or where the API server admits no more. */
  async look(): Promise<void> {
    this.looks += 1;
    const now = await this.#trustedNow();
    const lost = [...this.#trusted].filter((pair) => !now.has(pair));
    if (lost.length > 0) throw new Error(`admission got worse: ${lost.join(", ")}`);
    this.#trusted = now;
    const admits = await this.admits();
    if (this.#admits && !admits)
      throw new Error("admission got worse: the API server admitted a pod and refuses it now");
    this.#admits = admits;
  }

  /** A dry run as the API server answers it; backends close each connection, so that each call is a new handshake. */
  async admits(): Promise<boolean> {
    const { world } = this.#installed;
    world.egress.closeConnections();
    const call = { body: probePod, query: { dryRun: "All" } };
    const answer = await world.admin.request("POST", `/api/v1/namespaces/${probeNamespace}/pods`, call);
    return answer.status === 201;
  }

  async #trustedNow(): Promise<Set<string>> {
    const { world, admission } = this.#installed;
    const serverName = `${admission.service}.${kaiNamespace}.svc`;
    const trusted = new Set<string>();
    for (const holder of admission.holders) {
      const bundles = await readBundles(world.admin, holder);
      for (const pod of podsOf(this.#installed)) {
        const leaf = await servedLeaf(world, pod);
        if (!(leaf instanceof X509Certificate)) continue;
        for (const [index, bundle] of bundles.entries()) {
          const caBundle = new TextEncoder().encode(bundle);
          const { outcome } = verifyServed({ caBundle, chain: [leaf.raw], serverName, at: new Date(), go: "1.26" });
          if (outcome === "trusted") trusted.add(`${holder.kind}/${holder.name}[${index}] for ${pod}`);
        }
      }
    }
    return trusted;
  }
}
