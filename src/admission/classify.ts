// Reads what the API server says when it refuses a create: who spoke, in which phase, and in which of the named classes a
// failed call to a hook falls. The one place that parses texts (docs/probe-classes.md); it decides nothing about a hook.
import type { FailureClass, RefusalPhase } from "./probe-report.ts";

/** The parts of a Kubernetes `Status` (or of an ApiFailure) that are read. `message` may carry kubectl's prefixes. */
export interface RefusalStatus {
  readonly reason?: string;
  readonly message: string;
}

/** How a call to a hook failed. */
export interface CallFailure {
  /** The URL that was called, where the text has it: it tells hooks of one name apart. */
  readonly url?: string;
  readonly failureClass: FailureClass;
  /** Go's text, without the wrappers and `Post "…": `. */
  readonly goText: string;
}

export type Refusal =
  | ({ readonly kind: "call-failed"; /** Absent in texts cut off on the left. */ readonly hook?: string } & CallFailure)
  | { readonly kind: "denied"; readonly hook: string; readonly message: string }
  | { readonly kind: "no-dry-run"; readonly hook: string; readonly message: string }
  | ({ readonly kind: "conversion-failed"; readonly subject: string } & CallFailure)
  | { readonly kind: "namespace-not-found"; readonly namespace: string; readonly message: string }
  /** A plugin, a policy, the authorizer or the object's own validation. */
  | { readonly kind: "refused"; readonly by: string; readonly phase: RefusalPhase; readonly message: string }
  /** The request's own deadline ran out: nothing is said of any hook. */
  | { readonly kind: "deadline"; readonly message: string }
  | { readonly kind: "unknown"; readonly message: string };

/**
 * Who refused, and why. The leftmost wrapper counts: what stands right of it is quoted from somebody else. Reads the forms
 * of Kubernetes 1.22 and later and the older ones (no `failed to call webhook: `, no quotes around the URL). Sources:
 * k8s.io/apiserver pkg/util/webhook/error.go, pkg/admission/plugin/webhook/{mutating,validating}/dispatcher.go and
 * errors/statuserror.go. A text that fits nothing is `unknown`, with the text.
 */
export function classify(status: RefusalStatus): Refusal {
  const text = status.message.trim();
  const found = wrappers
    .map(({ pattern, read }) => ({ match: pattern.exec(text), read }))
    .filter((entry): entry is { match: RegExpExecArray; read: Reader } => entry.match !== null)
    .sort((a, b) => a.match.index - b.match.index)[0];
  return found === undefined ? withoutWrapper(status, text) : found.read(found.match, text);
}

type Reader = (match: RegExpExecArray, text: string) => Refusal;

// `%q` of a name: webhook names are domains, so nothing in them is escaped; the escape is read all the same.
const quoted = String.raw`"((?:[^"\\]|\\.)*)"`;

const wrappers: readonly { readonly pattern: RegExp; readonly read: Reader }[] = [
  {
    pattern: new RegExp(`failed calling webhook ${quoted}(?:: |; )([^]*)$`),
    read: ([, hook = "", rest = ""]) => ({ kind: "call-failed", hook, ...readCall(rest) }),
  },
  {
    pattern: /failed to call webhook: ([^]*)$/,
    read: ([whole]) => ({ kind: "call-failed", ...readCall(whole) }),
  },
  {
    pattern: new RegExp(`admission webhook ${quoted} does not support dry run`),
    read: ([, hook = ""], text) => ({ kind: "no-dry-run", hook, message: text }),
  },
  {
    pattern: new RegExp(`admission webhook ${quoted} denied the request(?:: ([^]*)| without explanation)`),
    read: ([, hook = "", message = ""]) => ({ kind: "denied", hook, message }),
  },
  {
    // k8s.io/apiextensions-apiserver pkg/apiserver/conversion/webhook_converter.go
    pattern: /conversion webhook for (.+?) failed: ([^]*)$/,
    read: ([, subject = "", rest = ""]) => ({ kind: "conversion-failed", subject, ...readCall(rest) }),
  },
  {
    // k8s.io/apiserver pkg/admission/plugin/policy/generic/policy_dispatcher.go: of the mutating policies only, before any
    // mutating hook.
    pattern: /\bpolicy ['"]([^'"]*)['"] (?:with binding '[^']*' )?denied request: /,
    read: ([, policy = ""], text) => ({
      kind: "refused",
      by: `MutatingAdmissionPolicy ${policy}`,
      phase: "mutating",
      message: text,
    }),
  },
  {
    // k8s.io/apimachinery pkg/api/errors NewForbidden: the authorizer's and every plugin's form.
    pattern: /"[^"]*" is forbidden: ([^]*)$|\bis forbidden: (User "[^]*)$/,
    read: ([, body, authorizer], text) => {
      const { by, phase } = whoForbids(body ?? authorizer ?? "");
      return { kind: "refused", by, phase, message: text };
    },
  },
];

// What stands after `is forbidden: `, and who writes it there. The order of the plugins and their two phases:
// kube-apiserver pkg/kubeapiserver/options/plugins.go (AllOrderedPlugins); a plugin speaks in the mutating phase if its
// `Admit` says it, in the validating phase if its `Validate` does.
const forbidders: readonly { readonly body: RegExp; readonly by: string; readonly phase: RefusalPhase }[] = [
  { body: /^User "/, by: "RBAC", phase: "authorization" },
  { body: /^(violates PodSecurity |Not allowed by PodSecurity)/, by: "PodSecurity", phase: "validating" },
  {
    body: /^(exceeded quota|failed quota|status unknown for quota|insufficient quota to )/,
    by: "ResourceQuota",
    phase: "quota",
  },
  {
    body: /^\[?((minimum|maximum) \S+ usage per |\S+ max limit to request ratio per )/,
    by: "LimitRanger",
    phase: "validating",
  },
  { body: /^ValidatingAdmissionPolicy '/, by: "ValidatingAdmissionPolicy", phase: "validating" },
  { body: /^unable to create new content in namespace /, by: "NamespaceLifecycle", phase: "mutating" },
  {
    body: /^(error looking up service account |no service account specified )/,
    by: "ServiceAccount",
    phase: "mutating",
  },
  { body: /^no PriorityClass with name /, by: "Priority", phase: "mutating" },
  { body: /^pod rejected: RuntimeClass /, by: "RuntimeClass", phase: "mutating" },
];

function whoForbids(body: string): { by: string; phase: RefusalPhase } {
  const found = forbidders.find((entry) => entry.body.test(body));
  if (found === undefined) return { by: "an admission plugin", phase: "unknown" };
  const policy = /^ValidatingAdmissionPolicy '([^']*)'/.exec(body)?.[1];
  return { by: policy === undefined ? found.by : `${found.by} ${policy}`, phase: found.phase };
}

function withoutWrapper(status: RefusalStatus, text: string): Refusal {
  const namespace = /namespaces "([^"]*)" not found/.exec(text)?.[1];
  if (namespace !== undefined) return { kind: "namespace-not-found", namespace, message: text };
  // finisher.go and the dispatchers; the second is client-go's text for a 504 without a body.
  if (
    /Timeout: request did not complete within requested timeout|unable to return a response in the time allotted/.test(
      text,
    )
  )
    return { kind: "deadline", message: text };
  // The two quota refusals that are not `forbidden` (pkg/admission/plugin/resourcequota/controller.go).
  if (/insufficient quota to match these scopes|resource quota evaluation timed out/.test(text))
    return { kind: "refused", by: "ResourceQuota", phase: "quota", message: text };
  if (status.reason === "Invalid" || /"[^"]*" is invalid: /.test(text))
    return { kind: "refused", by: "the object's validation", phase: "schema", message: text };
  return { kind: "unknown", message: text };
}

// Between `failed calling webhook "W": ` and Go's text. Kubernetes before 1.22 has none of the first two.
const callWrapper = /^(could not get REST client: |failed to call webhook: |received invalid webhook response: )/;
// net/url Error: `Post %q: …`; no quotes before Go 1.14.
const post = /^Post (?:"((?:[^"\\]|\\.)*)"|(\S+)): ([^]*)$/;

function readCall(rest: string): CallFailure {
  const wrapper = callWrapper.exec(rest)?.[1];
  const inner = rest.slice(wrapper?.length ?? 0);
  const called = post.exec(inner);
  if (called === null) return { failureClass: classOfAnswer(wrapper, inner), goText: inner };
  const url = called[1] ?? called[2] ?? "";
  const goText = called[3] ?? "";
  return { url, failureClass: failureClassOf(goText), goText };
}

/** The class where no URL is in the text: nothing was called, or an answer came and was no use. */
function classOfAnswer(wrapper: string | undefined, inner: string): FailureClass {
  if (wrapper === "could not get REST client: ") return "config";
  if (wrapper === "received invalid webhook response: ") return "bad-response";
  const named = failureClassOf(inner);
  // A transport failure always names its URL. Without it the text is the answer's: an HTTP status, or its body.
  return named === "unknown" && wrapper !== undefined ? "bad-response" : named;
}

// In this order: a text belongs to the first that fits. Go's texts from crypto/tls, crypto/x509, net, net/http; the
// Service texts from kube-aggregator's and k8s.io/apiserver's pkg/util/proxy; the tunnel's from
// pkg/server/egressselector and konnectivity-client; the HTTP statuses' from NewGenericServerResponse.
const classes: readonly { readonly failureClass: FailureClass; readonly text: RegExp }[] = [
  {
    failureClass: "trust",
    text: /^(x509: |tls: failed to verify |tls: failed to parse certificate from server: |tls: server sent certificate containing RSA key larger than |tls: server's certificate contains an unsupported type of public key)/,
  },
  { failureClass: "config", text: /^unable to load root certificates: / },
  {
    failureClass: "not-tls",
    // The last one: what listens spoke before it was spoken to, which no TLS server does, and came in with the tunnel's
    // own answer (k8s.io/apiserver pkg/server/egressselector, tunnelHTTPConnect).
    text: /^(http: server gave HTTP response to HTTPS client|tls: first record does not look like a TLS handshake|unexpected \d+ bytes of buffered data from CONNECT proxy )/,
  },
  { failureClass: "handshake", text: /^(remote error: tls: |local error: tls: |tls: )/ },
  { failureClass: "service-not-found", text: /^services? "[^"]*" not found/ },
  { failureClass: "service-port-not-found", text: /^no service port .* found for service / },
  { failureClass: "no-endpoints", text: /^(no endpoints available for service |endpoints "[^"]*" not found)/ },
  {
    failureClass: "service-unroutable",
    text: /^(unsupported service type |cannot route to service with ClusterIP )/,
  },
  { failureClass: "tunnel", text: /^proxyconnect tcp: / },
  { failureClass: "dns", text: /^dial tcp: lookup |no such host$/ },
  { failureClass: "connection-refused", text: /connection refused$/ },
  // A proxy that gives the reason of the dial behind it has been taken at its word above.
  {
    failureClass: "tunnel",
    text: /^(proxy error from |reading HTTP response from CONNECT |rpc error: )|No agent available|dial timeout, backstop/,
  },
  { failureClass: "no-route", text: /(no route to host|network is unreachable)$/ },
  {
    failureClass: "timeout",
    text: /^context deadline exceeded|i\/o timeout$|^net\/http: TLS handshake timeout|^net\/http: request canceled|Client\.Timeout .*exceeded|connection timed out$/,
  },
  {
    failureClass: "connection-closed",
    text: /(^|: )(unexpected )?EOF$|connection reset by peer$|broken pipe$|use of closed network connection$|^http: server closed idle connection/,
  },
  {
    failureClass: "bad-response",
    text: /^(net\/http: HTTP\/1\.x transport connection broken: |malformed HTTP |0-length response with status code: |serializer for |an error on the server \(|the server |webhook response was absent|expected response\.uid=|expected webhook response of )/,
  },
];

/** The class of Go's own text (no wrapper, no `Post "…": `): `unknown` where none fits. */
export function failureClassOf(goText: string): FailureClass {
  return classes.find(({ text }) => text.test(goText))?.failureClass ?? "unknown";
}

/**
 * The text with the current time taken out, for comparing what the API server said with what the verdict predicts: two
 * clocks at two moments, one of them perhaps in local time. The certificate's own time after `after` or `before` stays:
 * it tells one certificate from another (Go crypto/x509/verify.go, CertificateInvalidError).
 */
export function maskTimes(goText: string): string {
  return goText.replaceAll(/current time \S+ is (after|before) /g, "current time … is $1 ");
}
