// What is known of one token under rotation before the next step is planned: plain data, values as fingerprints only.
import type { OsmoRoutes, OsmoUser, TokenRow } from "./osmo-api.ts";

/** What the exchange of a value said, in this run. `unknown` is not here: with it nothing is planned. */
export type Verdict =
  | { readonly verdict: "good"; readonly user: string; readonly tokenName: string }
  /** It exchanges, but for somebody else, or without the role. */
  | { readonly verdict: "wrong"; readonly user: string; readonly tokenName: string; readonly why: string }
  | { readonly verdict: "dead"; readonly why: "invalid" | "expired" | "length" };

export interface VersionView {
  readonly version: string;
  readonly enabled: boolean;
  readonly createdAt: Date;
  /** The token's name by the version's tag. */
  readonly taggedName?: string;
  /** By its tag: it was copied from the Kubernetes Secret, where its readers had it already. */
  readonly isAdopted?: boolean;
  /** Of an enabled version. */
  readonly fingerprint?: string;
  readonly verdict?: Verdict;
}

export interface CopyView {
  /** Undefined where the Secret has no such key, or an empty one. */
  readonly fingerprint?: string;
  readonly verdict?: Verdict;
  /** Synced by the Secrets Store CSI driver (its label): ours to wait for, not to write. */
  readonly managed: boolean;
}

export interface ConsumerView {
  readonly namespace: string;
  readonly name: string;
  /** The fingerprint in its pod template, put there by the restart that was done for it. */
  readonly restartedFor?: string;
  /** Every pod is of the present template and ready. */
  readonly isRolledOut: boolean;
  /** A pod of the present template is in CrashLoopBackOff. */
  readonly isCrashing: boolean;
  /** The creation of its youngest pod. */
  readonly youngestPod?: Date;
  /** Why it reads no token: `--method dev`, or another login method. */
  readonly readsNoToken?: string;
}

export interface TokenView {
  readonly at: Date;
  readonly routes: OsmoRoutes;
  /** The credential that was proven to be an admin's in this run. Absent: none is; everybody was asked. */
  readonly admin?: { readonly source: string; readonly user: string };
  readonly softDeleted: boolean;
  /** Newest first. */
  readonly versions: readonly VersionView[];
  readonly user: OsmoUser | "any" | undefined;
  /** Those of the credential's user; on 6.0 those of all services. */
  readonly tokens: readonly TokenRow[];
  /** Absent where the credential has no copy; `missing` where there is no Secret. */
  readonly copy?: CopyView | "missing";
  readonly consumers: readonly ConsumerView[];
  /** When the backend was last heard of, where it is online. */
  readonly heartbeat?: Date;
}
