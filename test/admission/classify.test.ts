// The API server's texts, as it writes them and as people have reported them, each with what is read from it.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { classify, failureClassOf, maskTimes } from "../../src/admission/classify.ts";
import type { FailureClass } from "../../src/admission/probe-report.ts";

const call = (cause: string): string =>
  `Internal error occurred: failed calling webhook "binder.run.ai": failed to call webhook: Post "https://binder.kai-scheduler.svc:443/mutate--v1-pod?timeout=10s": ${cause}`;

const wrapped = (text: string): string => `Internal error occurred: failed calling webhook "binder.run.ai": ${text}`;

// Every cause that the API server can write after `Post "…": `, by class.
const causes: readonly (readonly [FailureClass, string])[] = [
  ["trust", "x509: certificate signed by unknown authority"],
  [
    "trust",
    'tls: failed to verify certificate: x509: certificate signed by unknown authority (possibly because of "x509: invalid signature: parent certificate cannot sign this kind of certificate" while trying to verify candidate authority certificate "binder.kai-scheduler.svc")',
  ],
  ["trust", "tls: failed to parse certificate from server: x509: malformed tbs certificate"],
  ["trust", "tls: failed to parse certificate from server: P256 point not on curve"],
  ["trust", "tls: server sent certificate containing RSA key larger than 8192 bits"],
  ["trust", "tls: server's certificate contains an unsupported type of public key: <nil>"],
  [
    "trust",
    "x509: failed to load system roots and no roots provided; open /etc/ssl/certs/ca-certificates.crt: permission denied",
  ],
  ["handshake", "tls: invalid signature by the server certificate: ECDSA verification failure"],
  ["handshake", "tls: invalid signature by the server certificate: expected an ECDSA public key, got *rsa.PublicKey"],
  ["handshake", "tls: certificate used with invalid signature algorithm"],
  ["handshake", "remote error: tls: protocol version not supported"],
  ["handshake", "tls: server selected unsupported protocol version 302"],
  ["handshake", "remote error: tls: handshake failure"],
  ["handshake", "remote error: tls: bad certificate"],
  ["handshake", "remote error: tls: certificate required"],
  ["handshake", "remote error: tls: internal error"],
  ["handshake", "remote error: tls: unrecognized name"],
  ["handshake", "remote error: tls: no application protocol"],
  ["handshake", "tls: received empty certificates message"],
  [
    "handshake",
    "tls: received unexpected handshake message of type *tls.certificateMsg when waiting for *tls.certificateMsg",
  ],
  ["handshake", "tls: alert(200)"],
  ["connection-refused", "dial tcp 10.96.0.9:443: connect: connection refused"],
  ["service-not-found", 'service "binder" not found'],
  ["service-port-not-found", 'no service port 443 found for service "binder"'],
  ["no-endpoints", 'no endpoints available for service "binder"'],
  ["service-unroutable", 'unsupported service type "ExternalName"'],
  ["service-unroutable", 'cannot route to service with ClusterIP "None"'],
  ["timeout", "context deadline exceeded"],
  ["timeout", "net/http: TLS handshake timeout"],
  ["timeout", "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"],
  ["timeout", "net/http: request canceled (Client.Timeout exceeded while awaiting headers)"],
  ["timeout", "dial tcp 10.244.2.18:9443: i/o timeout"],
  ["timeout", "dial tcp 10.96.0.9:443: connect: connection timed out"],
  ["connection-closed", "EOF"],
  ["connection-closed", "unexpected EOF"],
  ["connection-closed", "read tcp 10.0.0.1:5000->10.96.0.9:443: read: connection reset by peer"],
  ["connection-closed", "write tcp 10.0.0.1:5000->10.96.0.9:443: write: broken pipe"],
  ["no-route", "dial tcp 10.96.0.9:443: connect: no route to host"],
  ["no-route", "dial tcp 10.96.0.9:443: connect: network is unreachable"],
  ["tunnel", "proxy error from /run/proxy.sock while dialing 10.96.7.7:443, code 503: 503 Service Unavailable"],
  [
    "connection-refused",
    "proxy error from /run/proxy.sock while dialing 10.96.7.7:443, code 502: 502 dial tcp 10.96.7.7:443: connect: connection refused",
  ],
  ["tunnel", "No agent available"],
  ["tunnel", "proxyconnect tcp: dial tcp 10.0.0.3:3128: connect: connection refused"],
  ["dns", "dial tcp: lookup hooks.example.com on 10.0.0.10:53: no such host"],
  ["dns", "dial tcp: lookup hooks.example.com on 10.0.0.10:53: read udp 10.0.0.1:1->10.0.0.10:53: i/o timeout"],
  ["not-tls", "http: server gave HTTP response to HTTPS client"],
  ["not-tls", "tls: first record does not look like a TLS handshake"],
  ["not-tls", 'unexpected 28 bytes of buffered data from CONNECT proxy "/etc/kubernetes/konnectivity/proxy.sock"'],
  ["bad-response", 'net/http: HTTP/1.x transport connection broken: malformed HTTP response "garbage"'],
  ["unknown", "something that Go will say one day"],
];

// Texts of the answer itself: the API server puts no `Post "…": ` before them.
const answers: readonly string[] = [
  "the server could not find the requested resource",
  "the server rejected our request for an unknown reason",
  "the server has asked for the client to provide credentials",
  "unknown",
  "a body that came with status 403",
  "the server does not allow this method on the requested resource",
  "the server reported a conflict",
  "the server rejected our request due to an error in our request",
  "the server has received too many requests and has asked us to try again later",
  "the server is currently unable to handle the request",
  "the server was unable to return a response in the time allotted, but may still be processing the request",
  'an error on the server ("boom") has prevented the request from succeeding',
  "the server responded with the status code 302 but did not return more information",
  "0-length response with status code: 200 and content type: application/json",
  "serializer for text/html doesn't exist",
];

describe("classify, a failed call", () => {
  it.each(causes)("is %s: %s", (failureClass, cause) => {
    expect(classify({ reason: "InternalError", message: call(cause) })).toEqual({
      kind: "call-failed",
      hook: "binder.run.ai",
      url: "https://binder.kai-scheduler.svc:443/mutate--v1-pod?timeout=10s",
      failureClass,
      goText: cause,
    });
  });

  it.each(answers)("is a bad response: %s", (text) => {
    expect(classify({ message: wrapped(`failed to call webhook: ${text}`) })).toEqual({
      kind: "call-failed",
      hook: "binder.run.ai",
      failureClass: "bad-response",
      goText: text,
    });
  });

  it.each([
    "webhook response was absent",
    'expected response.uid="c27dafd5-0000", got ""',
    "expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got admission.k8s.io/v1beta1, Kind=AdmissionReview",
  ])("is a bad response where the review is no use: %s", (text) => {
    expect(classify({ message: wrapped(`received invalid webhook response: ${text}`) })).toEqual({
      kind: "call-failed",
      hook: "binder.run.ai",
      failureClass: "bad-response",
      goText: text,
    });
  });

  it.each([
    "unable to load root certificates: unable to parse bytes as PEM block",
    "unable to load root certificates: failed to parse certificate: x509: malformed certificate",
    "unable to load root certificates: no valid certificate authority data seen",
  ])("is config where the bundle cannot be read: %s", (text) => {
    expect(classify({ message: wrapped(`could not get REST client: ${text}`) })).toEqual({
      kind: "call-failed",
      hook: "binder.run.ai",
      failureClass: "config",
      goText: text,
    });
  });

  it("keeps the hook where the API server has no further details", () => {
    expect(classify({ message: 'failed calling webhook "a.b.c"; no further details available' })).toMatchObject({
      kind: "call-failed",
      hook: "a.b.c",
      failureClass: "unknown",
    });
  });
});

interface Reported {
  readonly source: string;
  readonly message: string;
  readonly expected: Readonly<Record<string, unknown>>;
}

const trust = (hook: string, goText: string): Readonly<Record<string, unknown>> => ({
  kind: "call-failed",
  hook,
  failureClass: "trust",
  goText,
});

// Public reports, verbatim; `…` is where the quotation was cut.
const reports: readonly Reported[] = [
  {
    source: "microsoft/physical-ai-toolchain#794",
    message:
      'InternalServerError: 500 Internal error occurred: failed calling webhook "binder.run.ai": failed to call webhook: Post "https://binder.kai-scheduler.svc:443/mutate--v1-pod?timeout=10s": tls: failed to verify certi…',
    expected: trust("binder.run.ai", "tls: failed to verify certi…"),
  },
  {
    source: "sse-secure-systems/connaisseur#1168",
    message:
      'failed calling webhook "connaisseur-svc.connaisseur.svc": failed to call webhook: Post "https://connaisseur-svc.connaisseur.svc:443/mutate?timeout=30s": x509: certificate signed by unknown authority (possibly because of "x509: invalid signature: parent certificate cannot sign this kind of certificate" while trying to verify candidate authority certificate "connaisseur-svc.connaisseur.svc")',
    expected: trust(
      "connaisseur-svc.connaisseur.svc",
      'x509: certificate signed by unknown authority (possibly because of "x509: invalid signature: parent certificate cannot sign this kind of certificate" while trying to verify candidate authority certificate "connaisseur-svc.connaisseur.svc")',
    ),
  },
  {
    source: "cert-manager/cert-manager#3338 (no quotes around the URL, no second wrapper)",
    message:
      'Internal error occurred: failed calling webhook "webhook.cert-manager.io": Post https://rancher-cert-cert-manager-webhook.cert-manager.svc:443/mutate?timeout=30s: x509: certificate signed by unknown authority (possibly because of "x509: ECDSA verification failure" while trying to verify candidate authority certificate "cert-manager-webhook-ca")',
    expected: {
      ...trust(
        "webhook.cert-manager.io",
        'x509: certificate signed by unknown authority (possibly because of "x509: ECDSA verification failure" while trying to verify candidate authority certificate "cert-manager-webhook-ca")',
      ),
      url: "https://rancher-cert-cert-manager-webhook.cert-manager.svc:443/mutate?timeout=30s",
    },
  },
  {
    source: "kyverno/kyverno#4771 (quotes, no second wrapper)",
    message:
      'Internal error occurred: failed calling webhook "validate.kyverno.svc-fail": Post "https://kyverno-svc.kyverno.svc:443/validate?timeout=10s": x509: certificate signed by unknown authority (possibly because of "crypto/rsa: verification error" while trying to verify candidate authority certificate "*.kyverno.svc")',
    expected: trust(
      "validate.kyverno.svc-fail",
      'x509: certificate signed by unknown authority (possibly because of "crypto/rsa: verification error" while trying to verify candidate authority certificate "*.kyverno.svc")',
    ),
  },
  {
    source: "open-policy-agent/gatekeeper#1045",
    message:
      'Internal error occurred: failed calling webhook "check-ignore-label.gatekeeper.sh": Post https://gatekeeper-webhook-service.gatekeeper-system.svc:443/v1/admitlabel?timeout=3s: x509: certificate signed by unknown authority (possibly because of "crypto/rsa: verification error" while trying to verify candidate authority certificate "gatekeeper-ca")',
    expected: trust(
      "check-ignore-label.gatekeeper.sh",
      'x509: certificate signed by unknown authority (possibly because of "crypto/rsa: verification error" while trying to verify candidate authority certificate "gatekeeper-ca")',
    ),
  },
  {
    source: "istio/istio#33317",
    message:
      'Error: Internal error occurred: failed calling webhook "sidecar-injector.istio.io": Post https://istiod.istio-system.svc:443/inject?timeout=30s: x509: certificate signed by unknown authority',
    expected: trust("sidecar-injector.istio.io", "x509: certificate signed by unknown authority"),
  },
  {
    source: "cert-manager/cert-manager#3495",
    message:
      'Internal error occurred: failed calling webhook "webhook.cert-manager.io": Post https://cert-manager-webhook.kube-system.svc:443/mutate?timeout=10s: x509: certificate signed by unknown authority (possibly because of "x509: ECDSA verification failure" while trying to verify candidate authority certificate "cert-manager-webhook-ca")',
    expected: { kind: "call-failed", hook: "webhook.cert-manager.io", failureClass: "trust" },
  },
  {
    source: "kubernetes-sigs/kueue#622",
    message:
      'Internal error occurred: failed calling webhook "mresourceflavor.kb.io": failed to call webhook: Post "https://kueue-webhook-service.kueue-system.svc:443/mutate-kueue-x-k8s-io-v1alpha2-resourceflavor?timeout=10s": context deadline exceeded',
    expected: { kind: "call-failed", hook: "mresourceflavor.kb.io", failureClass: "timeout" },
  },
  {
    source: "fluid-cloudnative/fluid#1399",
    message:
      'create Pod … in StatefulSet … failed error: Internal error occurred: failed calling webhook "schedulepod.fluid.io": could not get REST client: unable to load root certificates: unable to parse bytes as PEM block',
    expected: {
      kind: "call-failed",
      hook: "schedulepod.fluid.io",
      failureClass: "config",
      goText: "unable to load root certificates: unable to parse bytes as PEM block",
    },
  },
  {
    source: "SeldonIO/seldon-core#956",
    message:
      'Internal error occurred: failed calling webhook "mseldondeployment.kb.io": Post https://seldon-webhook-service.seldon.svc:443/mutate-machinelearning-seldon-io-v1alpha2-seldondeployment?timeout=30s: x509: certificate is valid for seldon-webhook-service.seldon-system.svc, not seldon-webhook-service.seldon.svc',
    expected: trust(
      "mseldondeployment.kb.io",
      "x509: certificate is valid for seldon-webhook-service.seldon-system.svc, not seldon-webhook-service.seldon.svc",
    ),
  },
  {
    source: "kubernetes/ingress-nginx#12767",
    message:
      'failed calling webhook "validate.nginx.ingress.kubernetes.io": failed to call webhook: Post "https://ingress-nginx-hansi-hinterseer-admission.default.svc:443/networking/v1/ingresses?timeout=10s": tls: failed to verify certificate: x509: certificate is valid for ingress-nginx-hansi-admission, ingress-nginx-hansi-admission.default.svc, not ingress-nginx-hansi-hinterseer-admission.default.svc',
    expected: { kind: "call-failed", hook: "validate.nginx.ingress.kubernetes.io", failureClass: "trust" },
  },
  {
    source: "GoogleCloudPlatform/k8s-config-connector#406",
    message:
      'Internal error occurred: failed calling webhook "iam-validation.cnrm.cloud.google.com": Post "https://cnrm-validating-webhook.cnrm-system.svc:443/iam-validation?timeout=30s": x509: certificate relies on legacy Common Name field, use SANs or temporarily enable Common Name matching with GODEBUG=x509ignoreCN=0',
    expected: trust(
      "iam-validation.cnrm.cloud.google.com",
      "x509: certificate relies on legacy Common Name field, use SANs or temporarily enable Common Name matching with GODEBUG=x509ignoreCN=0",
    ),
  },
  {
    source: "cert-manager/cert-manager#5861",
    message:
      'failed calling webhook "webhook.cert-manager.io": failed to call webhook: Post "https://cert-manager-webhook.cert-manager.svc:443/mutate?timeout=10s": x509: certificate has expired or is not yet valid: current time 2023-03-20T10:11:17Z is after 2023-03-16T11:32:41Z',
    expected: trust(
      "webhook.cert-manager.io",
      "x509: certificate has expired or is not yet valid: current time 2023-03-20T10:11:17Z is after 2023-03-16T11:32:41Z",
    ),
  },
  {
    source: "kubernetes/kubernetes#110530 (a line of the API server's log)",
    message:
      'Failed calling webhook, failing closed pod-security-webhook.kubernetes.io: failed calling webhook "pod-security-webhook.kubernetes.io": failed to call webhook: Post "https://webhook.pod-security-webhook.svc:443/?timeout=5s": x509: certificate signed by unknown authority (possibly because of "x5…',
    expected: trust(
      "pod-security-webhook.kubernetes.io",
      'x509: certificate signed by unknown authority (possibly because of "x5…',
    ),
  },
  {
    source: "kai-scheduler/KAI-Scheduler#104",
    message:
      'Error: failed to create job pod: Internal error occurred: failed calling webhook "binder.run.ai": failed to call webhook: Post "https://binder.kai-scheduler.svc:443/mutate--v1-pod?timeout=10s": dial tcp 10.96.172.115:443: connect: connection refused',
    expected: { kind: "call-failed", hook: "binder.run.ai", failureClass: "connection-refused" },
  },
  {
    source: "kai-scheduler/KAI-Scheduler#751",
    message:
      'Error creating: Internal error occurred: failed calling webhook "admission.kai-scheduler.svc": failed to call webhook: Post "https://admission.kai-scheduler.svc:443/mutate--v1-pod?timeout=10s": dial tcp 10.96.3.36:443: connect: connection refused',
    expected: { kind: "call-failed", hook: "admission.kai-scheduler.svc", failureClass: "connection-refused" },
  },
  {
    source: "kubernetes/ingress-nginx#7135",
    message:
      'Internal error occurred: failed calling webhook "validate.nginx.ingress.kubernetes.io": Post https://ingress-nginx-controller-admission.ingress-nginx.svc:443/networking/v1beta1/ingresses?timeout=10s: no endpoints available for service "ingress-nginx-controller-admission"',
    expected: { kind: "call-failed", failureClass: "no-endpoints" },
  },
  {
    source: "MicrosoftDocs/azure-docs#62388",
    message:
      'Internal error occurred: failed calling webhook "validate.nginx.ingress.kubernetes.io": Post https://ingress-nginx-controller-admission.ingress-nginx.svc:443/extensions/v1beta1/ingresses?timeout=30s: service "ingress-nginx-controller-admission" not found',
    expected: { kind: "call-failed", failureClass: "service-not-found" },
  },
  {
    source: "Azure/AKS#3897",
    message:
      'Error creating: Internal error occurred: failed calling webhook "mutation.azure-workload-identity.io": failed to call webhook: Post "https://azure-wi-webhook-webhook-service.kube-system.svc:443/mutate-v1-pod?timeout=10s": context deadline exceeded',
    expected: { kind: "call-failed", hook: "mutation.azure-workload-identity.io", failureClass: "timeout" },
  },
  {
    source: "Azure/azure-workload-identity#863",
    message:
      'failed calling webhook "mutation.azure-workload-identity.io": failed to call webhook: Post "https://azure-wi-webhook-webhook-service.azure-workload-identity-system.svc:443/mutate-v1-pod?timeout=10s": dial tcp 10.244.2.18:9443: i/o timeout',
    expected: { kind: "call-failed", failureClass: "timeout", goText: "dial tcp 10.244.2.18:9443: i/o timeout" },
  },
  {
    source: "istio/istio#29566",
    message:
      'failed calling webhook "webhook.serving.knative.dev": Post https://webhook.<ns>.svc:443/defaulting?timeout=10s: EOF',
    expected: { kind: "call-failed", hook: "webhook.serving.knative.dev", failureClass: "connection-closed" },
  },
  {
    source: "circa10a/k8s-label-rules-webhook#15",
    message:
      'failed calling webhook "my.application.domain": Post https://x.x.x.x:31422/?timeout=30s: http: server gave HTTP response to HTTPS client',
    expected: { kind: "call-failed", hook: "my.application.domain", failureClass: "not-tls" },
  },
  {
    source: "open-policy-agent/kube-mgmt#197 (a line of the API server's log)",
    message:
      'Failed calling webhook, failing open webhook.openpolicyagent.org: failed calling webhook "webhook.openpolicyagent.org": failed to call webhook: the server could not find the requested resource',
    expected: { kind: "call-failed", hook: "webhook.openpolicyagent.org", failureClass: "bad-response" },
  },
  {
    source: "TykTechnologies/tyk-operator#124 (before `received invalid webhook response: `)",
    message:
      'Internal error occurred: failed calling webhook "mapidefinition.kb.io": expected response.uid="c27dafd5-…", got ""',
    expected: { kind: "call-failed", hook: "mapidefinition.kb.io", failureClass: "bad-response" },
  },
  {
    source: "volcano-sh/volcano#3085",
    message:
      'Error creating: admission webhook "validatepod.volcano.sh" denied the request: failed to get PodGroup for pod <default/…>: podgroups.scheduling.volcano.sh "deploy-with-volcano-pg" not found',
    expected: {
      kind: "denied",
      hook: "validatepod.volcano.sh",
      message:
        'failed to get PodGroup for pod <default/…>: podgroups.scheduling.volcano.sh "deploy-with-volcano-pg" not found',
    },
  },
  {
    source: "Azure/AKS#2197",
    message:
      'Error from server (BadRequest): admission webhook "aks-webhook-admission-controller.azmk8s.io" does not support dry run',
    expected: { kind: "no-dry-run", hook: "aks-webhook-admission-controller.azmk8s.io" },
  },
  {
    source: "Project-HAMi/HAMi#693 (a line of the API server's log)",
    message:
      'dispatcher.go:180] Failed calling webhook, failing open vgpu.hami.io: failed calling webhook "vgpu.hami.io": failed to call webhook: Post "https://hami-scheduler.kube-system.svc:443/webhook?timeout=10s": x509: certificate signed by unknown authority',
    expected: trust("vgpu.hami.io", "x509: certificate signed by unknown authority"),
  },
  {
    source: "cert-manager/cert-manager#3430",
    message:
      "Failed to watch *v1.Certificate: failed to list *v1.Certificate: conversion webhook for cert-manager.io/v1alpha2, Kind=Certificate failed: Post https://cert-manager-webhook.cert-manager.svc:443/convert?timeout=30s: x509: certificate signed by unknown authority",
    expected: {
      kind: "conversion-failed",
      subject: "cert-manager.io/v1alpha2, Kind=Certificate",
      url: "https://cert-manager-webhook.cert-manager.svc:443/convert?timeout=30s",
      failureClass: "trust",
      goText: "x509: certificate signed by unknown authority",
    },
  },
  {
    source: "NVIDIA-NeMo/nemo-platform#1551 (cut on the left: no hook's name)",
    message:
      'failed to call webhook: Post "https://volcano-admission-service.volcano-system.svc:443/pods/mutate?timeout=10s": tls: failed to verify certificate: x509: certificate signed by unknown authority',
    expected: {
      kind: "call-failed",
      url: "https://volcano-admission-service.volcano-system.svc:443/pods/mutate?timeout=10s",
      failureClass: "trust",
      goText: "tls: failed to verify certificate: x509: certificate signed by unknown authority",
    },
  },
  {
    source: "open-policy-agent/gatekeeper#1045 (another line of it: no hook at all)",
    message: "the object has been modified; please apply your changes to the latest version and try again",
    expected: { kind: "unknown" },
  },
  {
    source: "kubeflow/katib#1512 (a line of the hook's own log)",
    message: "http: TLS handshake error from 10.254.2.1:47974: remote error: tls: bad certificate",
    expected: { kind: "unknown" },
  },
];

describe("classify, texts from public reports", () => {
  it.each(reports)("reads $source", ({ message, expected }) => {
    expect(classify({ message })).toMatchObject(expected);
  });

  it.each([
    [
      "kubernetes-sigs/controller-runtime#391",
      "x509: cannot validate certificate for 100.116.232.47 because it doesn't contain any IP SANs",
    ],
    ["skupperproject/skupper#456", "x509: certificate has expired or is not yet valid"],
  ])("reads Go's text alone: %s", (_source, text) => {
    expect(failureClassOf(text)).toBe("trust");
  });
});

describe("classify, a refusal that is not a failed call", () => {
  const table: readonly Reported[] = [
    {
      source: "a denial with a message",
      message: 'admission webhook "binder.run.ai" denied the request: no such queue',
      expected: { kind: "denied", hook: "binder.run.ai", message: "no such queue" },
    },
    {
      source: "a denial without explanation",
      message: 'admission webhook "binder.run.ai" denied the request without explanation',
      expected: { kind: "denied", hook: "binder.run.ai", message: "" },
    },
    {
      source: "the authorizer",
      message:
        'pods is forbidden: User "fleetmend-read" cannot create resource "pods" in API group "" in the namespace "osmo-workflows"',
      expected: { kind: "refused", by: "RBAC", phase: "authorization" },
    },
    {
      source: "the authorizer, for a named object",
      message:
        'pods "a" is forbidden: User "fleetmend-read" cannot create resource "pods/portforward" in API group "" in the namespace "kai-scheduler"',
      expected: { kind: "refused", by: "RBAC", phase: "authorization" },
    },
    {
      source: "Pod Security",
      message:
        'pods "fleetmend-probe-x" is forbidden: violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false (container "probe" must set securityContext.allowPrivilegeEscalation=false)',
      expected: { kind: "refused", by: "PodSecurity", phase: "validating" },
    },
    {
      source: "a quota",
      message: 'pods "p" is forbidden: exceeded quota: pods, requested: pods=1, used: pods=5, limited: pods=5',
      expected: { kind: "refused", by: "ResourceQuota", phase: "quota" },
    },
    {
      source: "a quota that wants a resource named",
      message: 'pods "p" is forbidden: failed quota: compute: must specify limits.nvidia.com/gpu for: probe',
      expected: { kind: "refused", by: "ResourceQuota", phase: "quota" },
    },
    {
      source: "a quota that has no status yet",
      message: 'pods "p" is forbidden: status unknown for quota: compute, resources: pods',
      expected: { kind: "refused", by: "ResourceQuota", phase: "quota" },
    },
    {
      source: "a limit range",
      message: 'pods "p" is forbidden: minimum memory usage per Container is 64Mi, but request is 16Mi',
      expected: { kind: "refused", by: "LimitRanger", phase: "validating" },
    },
    {
      source: "a limit range, twice",
      message:
        'pods "p" is forbidden: [minimum cpu usage per Container is 50m, but request is 10m, minimum memory usage per Container is 64Mi, but request is 16Mi]',
      expected: { kind: "refused", by: "LimitRanger", phase: "validating" },
    },
    {
      source: "a ValidatingAdmissionPolicy",
      message:
        "pods \"p\" is forbidden: ValidatingAdmissionPolicy 'aks-limits' with binding 'all' denied request: failed expression: object.spec.x",
      expected: { kind: "refused", by: "ValidatingAdmissionPolicy aks-limits", phase: "validating" },
    },
    {
      source: "a MutatingAdmissionPolicy",
      message: "policy 'defaults' with binding 'all' denied request: failed evaluation: no such key: none",
      expected: { kind: "refused", by: "MutatingAdmissionPolicy defaults", phase: "mutating" },
    },
    {
      source: "a namespace that is being deleted",
      message:
        'pods "p" is forbidden: unable to create new content in namespace osmo-workflows because it is being terminated',
      expected: { kind: "refused", by: "NamespaceLifecycle", phase: "mutating" },
    },
    {
      source: "a namespace without its service account",
      message:
        'pods "p" is forbidden: error looking up service account osmo-workflows/default: serviceaccount "default" not found',
      expected: { kind: "refused", by: "ServiceAccount", phase: "mutating" },
    },
    {
      source: "a plugin that is not known",
      message: 'pods "p" is forbidden: the moon is full',
      expected: { kind: "refused", by: "an admission plugin", phase: "unknown" },
    },
    {
      source: "no such namespace",
      message: 'namespaces "osmo-workflows" not found',
      expected: { kind: "namespace-not-found", namespace: "osmo-workflows" },
    },
    {
      source: "the object's own validation",
      message: 'Pod "p" is invalid: spec.containers[0].image: Required value',
      expected: { kind: "refused", by: "the object's validation", phase: "schema" },
    },
    {
      source: "the request's deadline, from a dispatcher",
      message: "Timeout: request did not complete within requested timeout",
      expected: { kind: "deadline" },
    },
    {
      source: "the request's deadline, from the handler",
      message: "Timeout: request did not complete within requested timeout - context deadline exceeded",
      expected: { kind: "deadline" },
    },
    { source: "something else", message: "etcdserver: request timed out", expected: { kind: "unknown" } },
  ];

  it.each(table)("reads $source", ({ message, expected }) => {
    expect(classify({ message })).toMatchObject(expected);
  });
});

describe("classify, texts inside texts", () => {
  it("takes a denial that quotes a failed call as a denial", () => {
    const message =
      'admission webhook "outer.example.com" denied the request: failed calling webhook "binder.run.ai": failed to call webhook: Post "https://a:443/": EOF';
    expect(classify({ message })).toMatchObject({ kind: "denied", hook: "outer.example.com" });
  });

  it("takes a failed call whose answer quotes a denial as a failed call", () => {
    const message = wrapped(
      'failed to call webhook: an error on the server ("admission webhook \\"x.y.z\\" denied the request: no") has prevented the request from succeeding',
    );
    expect(classify({ message })).toMatchObject({ kind: "call-failed", hook: "binder.run.ai" });
  });

  it("takes a policy that quotes a failed call as the policy", () => {
    const message =
      'pods "p" is forbidden: ValidatingAdmissionPolicy \'p\' denied request: failed calling webhook "a.b.c": EOF';
    expect(classify({ message })).toMatchObject({ kind: "refused", by: "ValidatingAdmissionPolicy p" });
  });

  it("takes a hook that denies with a quota's words as a denial", () => {
    const message = 'admission webhook "a.b.c" denied the request: pods "p" is forbidden: exceeded quota: q';
    expect(classify({ message })).toMatchObject({ kind: "denied", hook: "a.b.c" });
  });
});

describe("classify, any text", () => {
  const pieces = ["failed calling webhook ", '"a.b.c"', ": ", "denied the request", "Post ", "is forbidden: ", "User "];

  it("is read, and kept where it fits nothing", () => {
    const text = fc.array(fc.oneof(fc.constantFrom(...pieces), fc.string())).map((parts) => parts.join(""));
    fc.assert(
      fc.property(text, (message) => {
        const refusal = classify({ message });
        if (refusal.kind === "unknown") expect(refusal.message).toBe(message.trim());
      }),
    );
  });
});

describe("maskTimes", () => {
  it("makes the same expiry at two moments and in two zones equal", () => {
    const early =
      "x509: certificate has expired or is not yet valid: current time 2026-01-15T12:00:00Z is after 2026-01-14T12:00:00Z";
    const late =
      "x509: certificate has expired or is not yet valid: current time 2026-01-15T14:00:05+02:00 is after 2026-01-14T12:00:00Z";
    expect(maskTimes(early)).toBe(maskTimes(late));
  });

  it("keeps apart two certificates that expired at different times", () => {
    const one = "current time 2026-01-15T12:00:00Z is after 2026-01-14T12:00:00Z";
    const other = "current time 2026-01-15T12:00:00Z is after 2025-01-14T12:00:00Z";
    expect(maskTimes(one)).not.toBe(maskTimes(other));
  });

  it("keeps apart expired and not yet valid", () => {
    const expired = "current time 2026-01-15T12:00:00Z is after 2026-01-14T12:00:00Z";
    const early = "current time 2026-01-15T12:00:00Z is before 2026-01-14T12:00:00Z";
    expect(maskTimes(expired)).not.toBe(maskTimes(early));
  });

  it("leaves a text without times as it is", () => {
    expect(maskTimes("x509: certificate signed by unknown authority")).toBe(
      "x509: certificate signed by unknown authority",
    );
  });
});
