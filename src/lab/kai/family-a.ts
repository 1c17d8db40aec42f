// The objects that the chart of KAI Scheduler v0.5.5 makes for its binder webhook, as they stand in a cluster after an
// installation (server's defaults included). Family A: helm hook Jobs write the Secret and the bundles (hook-jobs.ts).
// Left out: the other Deployments of the chart, which fleetmend does not read.
import type { NewObject } from "../kubernetes/store.ts";

export const serviceName = "binder";
export const secretName = "binder-webhook-tls-secret";
export const configurationName = "kai-binder";
export const hookName = "binder.run.ai";
export const webhookPort = 9443;

/** The name that the API server verifies, and KAI puts into its certificate. */
export function serverNameIn(namespace: string): string {
  return `${serviceName}.${namespace}.svc`;
}

function helmMetadata(name: string, namespace: string): NewObject["metadata"] {
  return {
    name,
    annotations: {
      "meta.helm.sh/release-name": "kai-scheduler",
      "meta.helm.sh/release-namespace": namespace,
    },
    labels: { "app.kubernetes.io/managed-by": "Helm" },
  };
}

/** The chart has no caBundle: until the post hook writes one, the API server uses its system roots. */
export function mutatingConfiguration(namespace: string): NewObject {
  const webhook = { ...webhookOf(namespace, "/mutate--v1-pod", ["CREATE"]), reinvocationPolicy: "IfNeeded" };
  return { metadata: helmMetadata(configurationName, namespace), webhooks: [webhook] };
}

export function validatingConfiguration(namespace: string): NewObject {
  const webhook = webhookOf(namespace, "/validate--v1-pod", ["CREATE", "UPDATE"]);
  return { metadata: helmMetadata(configurationName, namespace), webhooks: [webhook] };
}

function webhookOf(namespace: string, path: string, operations: readonly string[]) {
  return {
    admissionReviewVersions: ["v1"],
    clientConfig: { service: { name: serviceName, namespace, path, port: 443 } },
    failurePolicy: "Fail",
    matchPolicy: "Equivalent",
    name: hookName,
    namespaceSelector: {
      matchExpressions: [{ key: "kubernetes.io/metadata.name", operator: "NotIn", values: ["kube-system", namespace] }],
    },
    objectSelector: {},
    rules: [{ apiGroups: [""], apiVersions: ["v1"], operations, resources: ["pods"], scope: "*" }],
    sideEffects: "None",
    timeoutSeconds: 10,
  };
}

export function service(namespace: string): NewObject {
  return {
    metadata: helmMetadata(serviceName, namespace),
    spec: {
      clusterIP: "10.96.26.224",
      clusterIPs: ["10.96.26.224"],
      internalTrafficPolicy: "Cluster",
      ipFamilies: ["IPv4"],
      ipFamilyPolicy: "SingleStack",
      ports: [
        { name: "webhook", port: 443, protocol: "TCP", targetPort: webhookPort },
        { name: "http-metrics", port: 8080, protocol: "TCP", targetPort: 8080 },
      ],
      selector: { app: serviceName },
      sessionAffinity: "None",
      type: "ClusterIP",
    },
    status: { loadBalancer: {} },
  };
}

/** Its endpoints are filled in by the controller. */
export function endpointSlice(serviceUid: string): NewObject {
  return {
    metadata: {
      name: `${serviceName}-274l2`,
      generateName: `${serviceName}-`,
      labels: {
        "app.kubernetes.io/managed-by": "Helm",
        "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
        "kubernetes.io/service-name": serviceName,
      },
      ownerReferences: [
        {
          apiVersion: "v1",
          blockOwnerDeletion: true,
          controller: true,
          kind: "Service",
          name: serviceName,
          uid: serviceUid,
        },
      ],
    },
    addressType: "IPv4",
    endpoints: [],
    ports: [
      { name: "http-metrics", port: 8080, protocol: "TCP" },
      { name: "webhook", port: webhookPort, protocol: "TCP" },
    ],
  };
}

export function deployment(namespace: string, replicas: number): NewObject {
  const metadata = helmMetadata(serviceName, namespace);
  return {
    metadata: {
      ...metadata,
      annotations: { "deployment.kubernetes.io/revision": "1", ...Object(metadata.annotations) },
    },
    spec: {
      progressDeadlineSeconds: 600,
      replicas,
      revisionHistoryLimit: 10,
      selector: { matchLabels: { app: serviceName } },
      strategy: { type: "Recreate" },
      template: { metadata: { labels: { app: serviceName } }, spec: podSpec() },
    },
  };
}

function podSpec() {
  return {
    containers: [
      {
        args: ["--webhook-addr=9443", "--health-probe-bind-address=:8081", "--metrics-bind-address=:8080"],
        image: "registry.invalid/kai-scheduler/binder:v0.5.5",
        imagePullPolicy: "IfNotPresent",
        name: serviceName,
        ports: [{ containerPort: webhookPort, name: "webhook", protocol: "TCP" }],
        readinessProbe: {
          failureThreshold: 3,
          httpGet: { path: "/readyz", port: 8081, scheme: "HTTP" },
          periodSeconds: 10,
          successThreshold: 1,
          timeoutSeconds: 1,
        },
        resources: { limits: { cpu: "500m", memory: "256Mi" }, requests: { cpu: "250m", memory: "128Mi" } },
        terminationMessagePath: "/dev/termination-log",
        terminationMessagePolicy: "File",
        volumeMounts: [{ mountPath: "/tmp/k8s-webhook-server/serving-certs", name: "certs", readOnly: true }],
      },
    ],
    dnsPolicy: "ClusterFirst",
    restartPolicy: "Always",
    schedulerName: "default-scheduler",
    securityContext: {},
    serviceAccount: serviceName,
    serviceAccountName: serviceName,
    terminationGracePeriodSeconds: 30,
    volumes: [{ name: "certs", secret: { defaultMode: 420, secretName } }],
  };
}
