// What a scenario reads of a world, through our adapter: the hooks' bundles, the Secret, the pods' chains, a dry run.
import { expect } from "vitest";
import { assess } from "../../src/admission/assess.ts";
import { collect } from "../../src/admission/collect.ts";
import type { ApiFailure, ClusterApi } from "../../src/admission/cluster-api.ts";
import type { Result } from "../../src/result.ts";
import { verifyServed } from "../../src/trust/verify.ts";
import type { Verdict } from "../../src/trust/verdict.ts";

export const namespace = "kai-scheduler";
export const probeNamespace = "osmo-workflows";
export const serverName = "binder.kai-scheduler.svc";
export const webhookPort = 9443;
const admission = "/apis/admissionregistration.k8s.io/v1";
export const mutating = `${admission}/mutatingwebhookconfigurations`;
export const validating = `${admission}/validatingwebhookconfigurations`;
export const secretPath = `/api/v1/namespaces/${namespace}/secrets/binder-webhook-tls-secret`;

export interface Holder {
  readonly metadata: {
    readonly name: string;
    readonly generation: number;
    readonly resourceVersion: string;
    readonly managedFields: readonly { readonly manager: string; readonly fieldsV1: unknown }[];
  };
  readonly webhooks: readonly { readonly name: string; readonly clientConfig: ClientConfig }[];
}

export interface ClientConfig {
  readonly caBundle?: string;
  readonly service: Readonly<Record<string, unknown>>;
}

/** The value of an answer that must be one. */
export function valueOf<T>(result: Result<T, { readonly message: string }>): T {
  if (!result.ok) throw new Error(`expected an answer, and got: ${result.error.message}`);
  return result.value;
}

/** The failure of an answer that must be one. */
export function failureOf<E>(result: Result<unknown, E>): E {
  if (result.ok) throw new Error(`expected a failure, and got ${JSON.stringify(result.value)}`);
  return result.error;
}

export async function holderAt(cluster: ClusterApi, path: string): Promise<Holder> {
  return valueOf(await cluster.get(`${path}/kai-binder`)) as Holder;
}

export async function bundleAt(cluster: ClusterApi, path: string): Promise<Buffer> {
  const { webhooks } = await holderAt(cluster, path);
  return Buffer.from(webhooks[0]?.clientConfig.caBundle ?? "", "base64");
}

export async function secretCertificates(cluster: ClusterApi): Promise<Buffer> {
  const { data } = valueOf(await cluster.get(secretPath)) as { data: Record<string, string> };
  return Buffer.from(data["tls.crt"] ?? "", "base64");
}

/** The names of the binder's pods. */
export async function podNames(cluster: ClusterApi): Promise<string[]> {
  const pods = await cluster.list(`/api/v1/namespaces/${namespace}/pods`, { labelSelector: "app=binder" });
  return (valueOf(pods) as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name);
}

/** The chain that the one pod serves. */
export async function servedChain(cluster: ClusterApi): Promise<readonly Uint8Array[]> {
  const [pod, ...others] = await podNames(cluster);
  expect(others).toEqual([]);
  const served = await cluster.handshake({ namespace, pod: pod ?? "", port: webhookPort, serverName });
  return valueOf(served).chain;
}

/** The verdict on a holder's bundle and what is served now. */
export async function verdictAt(cluster: ClusterApi, path: string): Promise<Verdict> {
  const [caBundle, chain] = [await bundleAt(cluster, path), await servedChain(cluster)];
  return verifyServed({ caBundle, chain, serverName, at: new Date(), go: "1.26" });
}

export interface Look {
  /** What is wrong: the kinds of the findings above `info`, each once. */
  readonly kinds: readonly string[];
  readonly requests: number;
}

/** What fleetmend itself sees. */
export async function look(cluster: ClusterApi): Promise<Look> {
  const collected = await collect(cluster, { now: () => new Date(), probeNamespace });
  const snapshot = valueOf(collected);
  const wrong = assess(snapshot).filter(({ severity }) => severity !== "info");
  return { kinds: [...new Set(wrong.map(({ kind }) => kind))], requests: snapshot.requests };
}

/** A dry-run create that both hooks are called for. */
export function dryRun(cluster: ClusterApi, where = probeNamespace): Promise<Result<unknown, ApiFailure>> {
  const resources = { requests: { cpu: "1m", memory: "1Mi" }, limits: { cpu: "1m", memory: "1Mi" } };
  const container = { name: "probe", image: "registry.invalid/pause:1", resources };
  const pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { generateName: "fleetmend-contract-" },
    spec: { containers: [container] },
  };
  return cluster.create(`/api/v1/namespaces/${where}/pods`, pod, { dryRun: true });
}

/** Writes a bundle into the one entry of a holder, as fleetmend does it. */
export async function writeBundle(cluster: ClusterApi, path: string, bundle: Uint8Array): Promise<Holder> {
  const { webhooks } = await holderAt(cluster, path);
  const written = await cluster.patch(`${path}/kai-binder`, [
    { op: "test", path: "/webhooks/0/name", value: "binder.run.ai" },
    { op: "test", path: "/webhooks/0/clientConfig", value: webhooks[0]?.clientConfig },
    { op: "add", path: "/webhooks/0/clientConfig/caBundle", value: Buffer.from(bundle).toString("base64") },
  ]);
  return valueOf(written) as Holder;
}
