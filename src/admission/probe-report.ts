// What a probe says of each hook it aimed at: types only. probe.ts makes it.
import type { HookReference } from "./finding.ts";

/** The API server's error texts as named classes (docs/probe-classes.md). */
export type FailureClass =
  | "trust" // x509 or TLS verification: `goText` is comparable with the verdict
  | "config" // could not get REST client: the bundle cannot be read
  | "handshake" // TLS, but not the certificate: alerts, protocol, key possession
  | "connection-refused"
  | "no-endpoints"
  | "service-not-found"
  | "service-port-not-found"
  | "service-unroutable" // ExternalName, headless
  | "timeout"
  | "connection-closed" // EOF, reset
  | "not-tls"
  | "bad-response" // HTTP status, empty or malformed AdmissionReview
  | "dns"
  | "unknown";

export type HookResult =
  | {
      /** Every ready pod's handshake is trusted by the verdict and the dry run came back green. */
      readonly result: "proven";
      /** `fresh` only if this run changed the bundle to bytes never seen: then a true handshake was made. */
      readonly connection: "fresh" | "maybe-reused";
    }
  | { readonly result: "denied-by-target"; readonly message: string }
  | {
      /** Something else refused first. A refusal in the validating phase proves the mutating hooks that matched. */
      readonly result: "blocked";
      readonly by: string;
      readonly phase: "authorization" | "mutating" | "validating" | "schema" | "unknown";
      readonly message: string;
    }
  | {
      readonly result: "failed";
      readonly failureClass: FailureClass;
      /** The text after `failed to call webhook: ` (or `could not get REST client: `), `Post "…": ` taken off. */
      readonly goText: string;
    }
  | { readonly result: "not-reached"; readonly because: string } // rules, selectors or conditions do not match the pod
  | { readonly result: "undecided"; readonly because: string } // a matchCondition that is not decided here, or a verdict that is not
  | { readonly result: "latent"; readonly goText: string } // the dry run is green and the verdict is broken
  | { readonly result: "blind"; readonly because: string } // failurePolicy Ignore: a green answer says nothing
  | { readonly result: "forbidden"; readonly message: string }
  | { readonly result: "no-namespace"; readonly namespace: string };

export type HookProbe = HookResult & { readonly hook: HookReference };

export interface ProbeReport {
  readonly at: Date;
  readonly apiServer: string;
  readonly namespace: string;
  readonly hooks: readonly HookProbe[];
  /** The dry run's own answer, for people: absent where none was sent. */
  readonly answer?: { readonly status: number; readonly message: string };
}
