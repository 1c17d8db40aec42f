// A cluster of the subscription as Azure Resource Manager describes it, and where it is found. Types only; src/azure
// implements the directory.
import type { Result } from "../result.ts";

export interface ManagedCluster {
  /** The resource id in lower case: ARM compares without regard to case, and its own answers differ in it. */
  readonly id: string;
  readonly name: string;
  readonly resourceGroup: string;
  readonly location: string;
  readonly tags: Readonly<Record<string, string>>;
  /** ARM's own words, such as `Succeeded`, `Creating`, `Deleting`. */
  readonly provisioningState: string;
  /** `Running` or `Stopped`, ARM's `powerState.code`. */
  readonly powerState: string;
  readonly kubernetesVersion?: string;
  /** Whether Entra decides who may log in (`aadProfile` is there). */
  readonly entra: boolean;
  readonly private: boolean;
  /** Whether only some addresses may reach the API server (`apiServerAccessProfile.authorizedIPRanges`). */
  readonly authorizedIpRanges: boolean;
  /** Changes with every change of the resource: what was learnt under another one is old. */
  readonly etag: string;
}

/** Why ARM gave no answer. `throttled` carries ARM's Retry-After where it gave one. */
export interface DirectoryFailure {
  readonly kind: "forbidden" | "not-found" | "throttled" | "unavailable" | "credentials";
  readonly message: string;
  readonly todo: string;
  readonly retryAfterSeconds?: number;
}

export interface ClusterDirectory {
  /** All clusters of the subscription; one paged LIST, whatever their number. */
  list(): Promise<Result<readonly ManagedCluster[], DirectoryFailure>>;
  /** One cluster as it is now. */
  get(id: string): Promise<Result<ManagedCluster, DirectoryFailure>>;
}
