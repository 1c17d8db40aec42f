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
  | "no-route" // the network refuses: no route to host, network unreachable
  | "tunnel" // the API server's way into the cluster: konnectivity, egress proxy
  | "not-tls"
  | "bad-response" // HTTP status, empty or malformed AdmissionReview
  | "dns"
  | "unknown";

/**
 * Where in the API server a request was refused, in the order in which it gets there
 * (k8s.io/apiserver pkg/endpoints/handlers/create.go; kube-apiserver's AllOrderedPlugins).
 */
export type RefusalPhase =
  | "authorization" // RBAC: admission had not begun
  | "mutating" // plugins, then mutating hooks one by one in the order of their names
  | "schema" // the object's own validation: all mutating hooks have answered
  | "validating" // plugins, policies, then the validating hooks side by side
  | "quota" // ResourceQuota, the last plugin: all hooks have answered
  | "unknown";

/**
 * What our own handshakes and the verdict say of all ready pods behind a hook, for hooks where a dry run proves nothing.
 * One refused pod makes it `broken`, one that could not be judged `undetermined`.
 */
export type HandshakeAnswer =
  | { readonly trust: "trusted" }
  | { readonly trust: "broken"; readonly goText: string }
  | { readonly trust: "undetermined"; readonly reason: string };

export type HookResult =
  | {
      /** Every ready pod's handshake is trusted by the verdict, and the dry run came through this hook. */
      readonly result: "proven";
      /** `fresh` only if this run changed the bundle to bytes never seen: then a true handshake was made. */
      readonly connection: "fresh" | "maybe-reused";
    }
  | { readonly result: "denied-by-target"; readonly message: string } // it answered: trust is fine
  | {
      /** Something else refused before this hook can be known to have answered. */
      readonly result: "blocked";
      readonly by: string;
      readonly phase: RefusalPhase;
      readonly message: string;
      readonly handshake: HandshakeAnswer;
    }
  | {
      readonly result: "failed";
      readonly failureClass: FailureClass;
      /** The text after `failed to call webhook: ` (or `could not get REST client: `), `Post "…": ` taken off. */
      readonly goText: string;
      /** Where the text fits so many hooks that share the name: one of them failed, and it is not said which. */
      readonly oneOf?: number;
    }
  // Rules, selectors or conditions do not match the pod. Hooks on queues, pod groups and topologies are all here: what is
  // known of them is the handshake.
  | { readonly result: "not-reached"; readonly because: string; readonly handshake: HandshakeAnswer }
  // A matchCondition that is not decided here, a verdict that is not, or no usable answer to the dry run.
  | { readonly result: "undecided"; readonly because: string; readonly handshake: HandshakeAnswer }
  | { readonly result: "latent"; readonly goText: string } // the dry run is green and the verdict is broken
  // failurePolicy Ignore: a green answer says nothing.
  | { readonly result: "blind"; readonly because: string; readonly handshake: HandshakeAnswer }
  | { readonly result: "forbidden"; readonly message: string; readonly handshake: HandshakeAnswer }
  | { readonly result: "no-namespace"; readonly namespace: string; readonly handshake: HandshakeAnswer };

export type HookProbe = HookResult & { readonly hook: HookReference };

export interface ProbeReport {
  readonly at: Date;
  /** The API server that answered. Each one keeps its own connections: another's answer may differ. */
  readonly apiServer: string;
  readonly namespace: string;
  /** One for every hook of the snapshot, in its order. */
  readonly hooks: readonly HookProbe[];
  /** The dry run's own answer, for people: absent where none was sent. */
  readonly answer?: { readonly status: number; readonly message: string };
}
