// What can be wrong, as data. A finding carries both sides of the comparison that failed; its sentence is made in
// explain.ts. Kinds are public: never renamed, never reused (docs/findings.md lists them).
import type { CertificateSummary, Rejection } from "../trust/verdict.ts";
import type { ApiFailure, HandshakeFailure } from "./cluster-api.ts";
import type { FailureClass } from "./probe-report.ts";
import type { LastWriter, Leftover } from "./snapshot.ts";

/**
 * `broken`: the API server refuses, or will at its next handshake. `warning`: admission works, and something will break
 * it. `undetermined`: could not be looked at. `info`: worth knowing, nothing to do.
 */
export type Severity = "broken" | "warning" | "undetermined" | "info";

/** Who can put it right: fleetmend by itself, time alone, or a person (the finding says with which command). */
export type FixableBy = "fleetmend" | "time" | "person" | "nobody-needed";

/** One entry of a holder, for people and for JSON. */
export interface HookReference {
  readonly holderKind: string;
  readonly holder: string;
  readonly index: number;
  readonly name: string;
}

/**
 * Where the served side of a comparison comes from. From the Secret it is a guess: pods may serve an older pair. `unread`:
 * nothing was read, and nothing had to be, because the bundle alone decides.
 */
export type ServedFrom = "handshake" | "secret" | "unread";

/** The pods that serve one and the same chain. */
export interface ServedGroup {
  readonly pods: readonly string[];
  readonly servedFrom: ServedFrom;
  /** The leaf that they serve, where it could be parsed. */
  readonly leaf?: CertificateSummary;
}

/** The two sides of a refused handshake, and what Go says to it. */
interface RefusedHandshake {
  readonly hook: HookReference;
  readonly serverName: string;
  readonly bundle: readonly CertificateSummary[];
  readonly served: ServedGroup;
  /** How many ready pods there are in all; a refused group smaller than this breaks some calls, not every one. */
  readonly readyPods: number;
  readonly goText: string;
  readonly cause: Rejection;
  /** What the hook is asked about, and what becomes of a call that fails: the consequence for people. */
  readonly asked?: {
    readonly resources: readonly string[];
    readonly failurePolicy: string;
  };
}

/** A pair that no pod could load. Those that run keep the one that they loaded before. */
interface UnloadablePair {
  readonly secret: string;
  readonly certificate?: CertificateSummary;
  readonly detail: string;
  readonly servedBy: readonly ServedGroup[];
}

/** What would have to change for a verdict: rights, the pods' answer, the way to them, what was seen, or the verdict's rules. */
export type UndeterminedBecause = "not-allowed" | "no-handshake" | "not-a-pod" | "not-seen" | "verdict";

export type Evidence =
  // A hook that the API server refuses, by cause. All of these are decided by the trust verdict.
  | ({ readonly kind: "bundle-stale" } & RefusedHandshake) // same name or other anchor: the bundle is of another generation
  | ({ readonly kind: "bundle-empty" } & RefusedHandshake)
  | ({ readonly kind: "bundle-unparsable" } & RefusedHandshake)
  | ({ readonly kind: "certificate-expired" } & RefusedHandshake)
  | ({ readonly kind: "certificate-not-yet-valid" } & RefusedHandshake)
  | ({ readonly kind: "certificate-wrong-name" } & RefusedHandshake)
  | ({ readonly kind: "certificate-unusable" } & RefusedHandshake) // any other cause: usage, constraints, parsing, limits
  // Pods still serve a leaf that is accepted; the one in their Secret will be refused as soon as they load it.
  | ({ readonly kind: "next-certificate-refused" } & RefusedHandshake)
  // What is wrong behind a hook, whether or not the hook still works.
  | ({ readonly kind: "secret-key-mismatch" } & UnloadablePair)
  | ({ readonly kind: "secret-key-missing" } & UnloadablePair)
  | ({ readonly kind: "secret-unusable" } & UnloadablePair)
  | {
      readonly kind: "secret-bad-certificate"; // expired, not yet valid or for another name: pods would serve it next
      readonly secret: string;
      readonly certificate: CertificateSummary;
      readonly serverName: string;
      readonly cause: Rejection;
    }
  | { readonly kind: "secret-absent"; readonly secret: string; readonly servedBy: readonly ServedGroup[] }
  | {
      readonly kind: "pod-serves-older"; // the Secret holds another leaf than the pod serves
      readonly secret: string;
      readonly certificate: CertificateSummary;
      readonly served: ServedGroup;
      /** When `tls.crt` was last written, where managedFields say. */
      readonly secretWrittenAt?: Date;
      /** `refreshing`: the kubelet has not had its time yet. `stale`: it has, and the pod goes on with the other leaf. */
      readonly state: "refreshing" | "stale";
    }
  | { readonly kind: "replicas-differ"; readonly service: string; readonly groups: readonly ServedGroup[] }
  | {
      readonly kind: "holders-differ"; // hooks of one backend carry different bundles
      readonly service: string;
      readonly bundles: readonly {
        readonly hook: HookReference;
        readonly certificates: readonly CertificateSummary[];
      }[];
    }
  | { readonly kind: "service-missing"; readonly service: string; readonly hooks: readonly HookReference[] }
  | {
      readonly kind: "no-ready-endpoints";
      readonly service: string;
      readonly hooks: readonly HookReference[];
      readonly pods: readonly string[];
    }
  | {
      readonly kind: "service-port-missing";
      readonly service: string;
      readonly port: number;
      readonly hooks: readonly HookReference[];
    }
  | {
      readonly kind: "service-unroutable"; // ExternalName never works; headless only with endpoint routing
      readonly service: string;
      readonly serviceType: "ExternalName" | "Headless";
      readonly hooks: readonly HookReference[];
    }
  | {
      readonly kind: "pod-not-serving"; // ready by its conditions, and no TLS server on the port that is called
      readonly service: string;
      readonly pods: readonly string[];
      readonly readyPods: number;
      readonly port: number;
      readonly because: "refused" | "not-tls";
      readonly detail: string;
      readonly hooks: readonly HookReference[];
    }
  | { readonly kind: "no-hooks"; readonly namespace: string; readonly operatorReady?: number }
  | { readonly kind: "operator-down"; readonly deployment: string; readonly replicas: number; readonly ready: number }
  | { readonly kind: "operator-absent"; readonly namespace: string }
  | {
      readonly kind: "operator-blind"; // Ready, and the bundle is not what it would write
      readonly deployment: string;
      readonly hook: HookReference;
      readonly bundle: readonly CertificateSummary[];
      readonly secret: readonly CertificateSummary[];
      /** Since when both sides have been as they are: long enough for an operator that works. */
      readonly unchangedSince: Date;
      /** Why this operator may be blind, as far as the objects tell. */
      readonly likely: "no-right-to-update" | "missing-cluster-policy-crd" | "unknown";
    }
  | { readonly kind: "owner-unknown"; readonly hook: HookReference; readonly evidence: readonly string[] }
  | {
      readonly kind: "foreign-last-writer";
      readonly hook: HookReference;
      readonly writer: LastWriter;
      readonly expected: string;
    }
  | {
      readonly kind: "bundle-wider-than-needed"; // our own widening, or another's: certificates that nothing serves
      readonly hook: HookReference;
      readonly unused: readonly CertificateSummary[];
      readonly writer?: LastWriter;
    }
  | { readonly kind: "fails-open"; readonly hook: HookReference } // failurePolicy Ignore: a fault here is silent
  | { readonly kind: "hook-leftover"; readonly leftover: Leftover }
  | {
      readonly kind: "expires-soon";
      readonly hook: HookReference;
      readonly certificate: CertificateSummary;
      readonly at: Date;
    }
  | {
      readonly kind: "trust-undetermined";
      readonly hook: HookReference;
      readonly pods: readonly string[];
      readonly reason: string;
      readonly because?: UndeterminedBecause;
    }
  | {
      readonly kind: "not-seen";
      readonly what: string;
      readonly reason: string;
      readonly failure?: ApiFailure["kind"] | HandshakeFailure["kind"];
    }
  // From the probe.
  | {
      readonly kind: "probe-disagrees"; // the API server's text is none of those that the pods' verdicts predict
      readonly hook: HookReference;
      readonly probeText: string;
      readonly predicted: readonly string[];
    }
  | {
      readonly kind: "call-failed"; // the API server could not call the hook, and no verdict of ours says why
      readonly hook: HookReference;
      readonly failureClass: FailureClass;
      readonly goText: string;
    }
  | { readonly kind: "drift-latent"; readonly hook: HookReference; readonly goText: string }; // green probe over kept-alive connections

export type FindingKind = Evidence["kind"];

export type Finding = Evidence & {
  readonly severity: Severity;
  /** The path of the object that is wrong, such as `mutatingwebhookconfigurations/kai-binder`. */
  readonly object: string;
  readonly fixableBy: FixableBy;
};
