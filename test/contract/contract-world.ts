// What the contract scenarios need of a world: the lab, or the real control plane. Both have KAI of family A, installed in
// `kai-scheduler`, healthy before each scenario, and a namespace `osmo-workflows` for probes.
import type { ClusterApi } from "../../src/admission/cluster-api.ts";

export interface ContractWorld {
  /** Our adapter, as a user who may repair. */
  readonly cluster: ClusterApi;
  /** Our adapter, as a user who may only read. */
  readonly reader: ClusterApi;
  /** A kubeconfig of the first user with a token, for requests whose answer is compared byte for byte. */
  readonly kubeconfig: string;
  /** A helm upgrade whose post hook never ran, pods that have loaded the new pair, and no connection from before. */
  drift(): Promise<void>;
  /** The same, with connections from before still open. */
  latentDrift(): Promise<void>;
}
