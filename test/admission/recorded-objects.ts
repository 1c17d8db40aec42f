// The recorded objects of KAI installations (src/lab/kai/recorded), and how a test changes them. Pods and private keys were
// not recorded: pods are made from their endpoints and Deployments, pairs are minted.
import { readFileSync } from "node:fs";
import path from "node:path";
import { parse } from "yaml";
import { generateKeys, mintKaiCertificate } from "../../src/trust/mint.ts";
import type { KeyPair, MintedCertificate } from "../../src/trust/mint.ts";

export interface ManagedFields {
  manager: string;
  operation: string;
  time: string;
  fieldsType?: string;
  fieldsV1: Record<string, unknown>;
}

export interface KubeObject {
  metadata: {
    name: string;
    namespace?: string;
    uid: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
    ownerReferences?: { apiVersion: string; kind: string; name: string; uid: string; controller?: boolean }[];
    managedFields?: ManagedFields[];
    creationTimestamp?: string;
  };
}

export interface HolderObject extends KubeObject {
  webhooks: {
    name: string;
    clientConfig: {
      caBundle?: string;
      url?: string;
      service?: { name: string; namespace: string; path: string; port?: number };
    };
    failurePolicy: string;
    matchConditions?: unknown[];
  }[];
}

export interface SecretObject extends KubeObject {
  data: Record<string, string>;
}

export interface ServiceObject extends KubeObject {
  spec: {
    type?: string;
    clusterIP?: string;
    selector?: Record<string, string>;
    ports: { name: string; port: number; targetPort: number | string }[];
  };
}

export interface SliceObject extends KubeObject {
  ports: { name: string; port: number }[];
  endpoints: {
    addresses: string[];
    conditions: { ready?: boolean };
    targetRef?: { kind: string; name: string; namespace?: string; uid: string };
  }[];
}

interface PodSpec {
  containers: { image: string; ports?: { name: string; containerPort: number }[]; volumeMounts?: unknown[] }[];
  volumes?: { name: string; secret?: { secretName: string } }[];
}

export interface DeploymentObject extends KubeObject {
  spec: {
    replicas: number;
    strategy: { type: string };
    template: { metadata: { labels: Record<string, string> }; spec: PodSpec };
  };
  status: { readyReplicas?: number };
}

export interface PodObject extends KubeObject {
  spec: PodSpec;
  status: { startTime: string };
}

export interface Recording {
  mutating: HolderObject[];
  validating: HolderObject[];
  services: ServiceObject[];
  slices: SliceObject[];
  deployments: DeploymentObject[];
  pods: PodObject[];
  secrets: SecretObject[];
  jobs: (KubeObject & { status?: unknown })[];
  accounts: KubeObject[];
  kaiConfig?: KubeObject & { spec: Record<string, unknown> };
}

const folder = path.join(import.meta.dirname, "..", "..", "src", "lab", "kai", "recorded");

const parsed = new Map<string, Recording>();

/** A recorded installation, to be changed at will. Pods were not recorded: each is made from its endpoint and its Deployment. */
export function recording(version: string): Recording {
  const known = parsed.get(version) ?? read(version);
  parsed.set(version, known);
  return structuredClone(known);
}

function read(version: string): Recording {
  const items = <T>(name: string) =>
    (parse(readFileSync(path.join(folder, version, `${name}.yaml`), "utf8")) as { items: T[] }).items;
  const slices = items<SliceObject>("endpointslices");
  const deployments = items<DeploymentObject>("deployments");
  const hasConfig = !version.startsWith("v0.5") && !version.startsWith("v0.7") && !version.startsWith("v0.8");
  const [kaiConfig] = hasConfig ? items<NonNullable<Recording["kaiConfig"]>>("kai-config") : [];
  return {
    mutating: items("mutatingwebhookconfigurations"),
    validating: items("validatingwebhookconfigurations"),
    services: items("services"),
    slices,
    deployments,
    pods: slices.flatMap(({ endpoints, metadata }) =>
      endpoints.flatMap(({ targetRef }) =>
        targetRef ? [podOf(targetRef, deployments, metadata.labels?.["kubernetes.io/service-name"] ?? "")] : [],
      ),
    ),
    secrets: items("secrets"),
    jobs: [],
    accounts: [],
    ...(kaiConfig && { kaiConfig }),
  };
}

function podOf(
  { name, uid }: { readonly name: string; readonly uid: string },
  deployments: readonly DeploymentObject[],
  service: string,
): PodObject {
  const deployment = deployments.find((one) => one.metadata.name === service);
  if (deployment === undefined) throw new Error(`no Deployment ${service} was recorded`);
  const { metadata, spec } = structuredClone(deployment.spec.template);
  return {
    metadata: { name, uid, namespace: "kai-scheduler", labels: metadata.labels },
    spec,
    status: { startTime: deployment.metadata.creationTimestamp ?? "" },
  };
}

/** Another pod of the same Deployment, ready. */
export function addReplica(recorded: Recording, service: string, name: string): void {
  const slice = recorded.slices.find((one) => one.metadata.labels?.["kubernetes.io/service-name"] === service);
  if (slice === undefined) throw new Error(`no EndpointSlice of ${service} was recorded`);
  const targetRef = { kind: "Pod", name, namespace: "kai-scheduler", uid: `uid-of-${name}` };
  slice.endpoints.push({ addresses: ["10.244.9.9"], conditions: { ready: true }, targetRef });
  recorded.pods.push(podOf(targetRef, recorded.deployments, service));
}

let keysOfGeneration: Promise<readonly KeyPair[]> | undefined;

/** Two RSA pairs for a whole test file: one for each generation of certificates. */
async function keysOf(generation: "first" | "second"): Promise<KeyPair> {
  keysOfGeneration ??= Promise.all([generateKeys("rsa-2048"), generateKeys("rsa-2048")]);
  const [first, second] = await keysOfGeneration;
  const keys = generation === "first" ? first : second;
  if (keys === undefined) throw new Error("no keys");
  return keys;
}

/** What KAI would make for a Service, in one of two generations. */
export async function pairFor(
  service: string,
  generation: "first" | "second",
  madeAt: { readonly notBefore?: string; readonly notAfter?: string; readonly serverName?: string } = {},
): Promise<MintedCertificate> {
  return mintKaiCertificate({
    serverName: madeAt.serverName ?? `${service}.kai-scheduler.svc`,
    notBefore: new Date(madeAt.notBefore ?? (generation === "first" ? "2026-05-03T12:00:00Z" : "2026-06-09T08:30:00Z")),
    ...(madeAt.notAfter !== undefined && { notAfter: new Date(madeAt.notAfter) }),
    keys: await keysOf(generation),
  });
}

/** The Service whose pods mount each of KAI's Secrets. */
export const servers: Readonly<Record<string, string>> = {
  "binder-webhook-tls-secret": "binder",
  "admission-webhook-tls-secret": "kai-admission",
  "queuecontroller-webhook-tls-secret": "queuecontroller",
  "kai-admission-webhook-tls-secret": "admission",
  "queue-webhook-tls-secret": "queue-controller",
  "podgroup-webhook-tls-secret": "podgroup-controller",
};

export const base64 = (pem: string): string => Buffer.from(pem).toString("base64");

/** The recording with pairs whose private keys are known, in the Secrets and in the bundles: a healthy installation. */
export async function healthy(version: string): Promise<Recording> {
  const recorded = recording(version);
  for (const secret of recorded.secrets) {
    const service = servers[secret.metadata.name] ?? "";
    if (!recorded.services.some(({ metadata }) => metadata.name === service)) continue;
    const { pem, keyPem } = await pairFor(service, "first");
    secret.data = { "tls.crt": base64(pem), "tls.key": base64(keyPem) };
    setBundles(recorded, service, pem);
  }
  return recorded;
}

/** Writes the bundle of every hook of a Service, or of those that `only` picks. */
export function setBundles(
  { mutating, validating }: Recording,
  service: string,
  pem: string,
  only: (holder: HolderObject, kind: "mutating" | "validating") => boolean = () => true,
): void {
  const holders = [
    ...mutating.filter((one) => only(one, "mutating")),
    ...validating.filter((one) => only(one, "validating")),
  ];
  for (const { webhooks } of holders) {
    for (const { clientConfig } of webhooks) {
      if (clientConfig.service?.name === service) clientConfig.caBundle = base64(pem);
    }
  }
}

export function secretOf({ secrets }: Recording, service: string): SecretObject {
  const secret = secrets.find(({ metadata }) => servers[metadata.name] === service);
  if (secret === undefined) throw new Error(`no Secret of ${service} was recorded`);
  return secret;
}

/** The certificates of well-formed PEM, in order. */
export function ders(pem: string): readonly Uint8Array[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  return blocks.map((block) => new Uint8Array(Buffer.from(block.replaceAll(/-----[^-]*-----|\s/g, ""), "base64")));
}
