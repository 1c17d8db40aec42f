// The contract of the lab: what it has in common with the real control plane, as scenarios that run on both. A
// difference is a bug of the lab.
import { X509Certificate, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { mend } from "../../src/admission/mend.ts";
import type { ClusterApi } from "../../src/admission/cluster-api.ts";
import type { ContractWorld } from "./contract-world.ts";
import {
  bundleAt,
  dryRun,
  failureOf,
  holderAt,
  look,
  mutating,
  namespace,
  podNames,
  probeNamespace,
  secretCertificates,
  secretPath,
  servedChain,
  serverName,
  validating,
  valueOf,
  verdictAt,
  webhookPort,
  writeBundle,
} from "./observed.ts";
import { rawCall, rawPatch } from "./raw-call.ts";

export interface Scenario {
  readonly name: string;
  readonly run: (world: ContractWorld) => Promise<void>;
}

const call = (path: string): string => `Post "https://${serverName}:443${path}?timeout=10s": `;
const mutateFailed = `Internal error occurred: failed calling webhook "binder.run.ai": failed to call webhook: ${call("/mutate--v1-pod")}`;
const validateFailed = `Internal error occurred: failed calling webhook "binder.run.ai": failed to call webhook: ${call("/validate--v1-pod")}`;
const noClient = 'Internal error occurred: failed calling webhook "binder.run.ai": could not get REST client: ';
const otherGeneration =
  "tls: failed to verify certificate: x509: certificate signed by unknown authority (possibly because of " +
  '"x509: invalid signature: parent certificate cannot sign this kind of certificate" while trying to verify ' +
  `candidate authority certificate "${serverName}")`;

export const scenarios: readonly Scenario[] = [
  { name: "healthy: bundle, Secret and served leaf are one certificate, and a dry run is admitted", run: healthy },
  { name: "drift: every create is refused with the text that the verdict gives", run: drift },
  { name: "latent drift: creates are admitted until the bundle's bytes change", run: latent },
  { name: "repair: a JSON Patch is refused where its test fails, and cures where it holds", run: repair },
  { name: "mend: fleetmend itself brings a drift to its end, one step at a time", run: mending },
  { name: "texts: what the API server says of bundles, pods and Leases", run: texts },
  { name: "rights: what is not allowed is refused, and told by reviews", run: rights },
];

async function healthy({ cluster }: ContractWorld): Promise<void> {
  const version = valueOf(await cluster.get("/version")) as { gitVersion: string; goVersion: string };
  expect(version.gitVersion).toMatch(/^v1\.\d+\.\d+$/);
  expect(version.goVersion).toMatch(/^go1\.\d+/);
  const secret = await secretCertificates(cluster);
  const [leaf, ...more] = await servedChain(cluster);
  expect(more).toEqual([]);
  expect(leaf).toEqual(new Uint8Array(new X509Certificate(secret).raw));
  for (const path of [mutating, validating]) {
    expect(await bundleAt(cluster, path)).toEqual(secret);
    expect(await verdictAt(cluster, path)).toMatchObject({ outcome: "trusted" });
    const [listed] = valueOf(await cluster.list(path)) as Record<string, unknown>[];
    expect(listed).not.toHaveProperty("kind");
    expect(listed).not.toHaveProperty("apiVersion");
  }
  const pod = valueOf(await dryRun(cluster));
  expect(pod).toMatchObject({
    kind: "Pod",
    apiVersion: "v1",
    metadata: { name: expect.stringMatching(/^fleetmend-contract-\w{5}$/) as unknown, namespace: "osmo-workflows" },
    status: { phase: "Pending" },
  });
  // Where the worlds answer alike, fleetmend asks alike.
  expect(await look(cluster)).toEqual({ kinds: [], requests: 13 });
}

async function drift(world: ContractWorld): Promise<void> {
  const { cluster } = world;
  const before = await bundleAt(cluster, mutating);
  await world.drift();
  expect(await bundleAt(cluster, mutating)).toEqual(before);
  const [leaf] = await servedChain(cluster);
  expect(leaf).toEqual(new Uint8Array(new X509Certificate(await secretCertificates(cluster)).raw));
  expect(leaf).not.toEqual(new Uint8Array(new X509Certificate(before).raw));
  const verdict = await verdictAt(cluster, mutating);
  expect(verdict).toMatchObject({ outcome: "broken", goText: otherGeneration });
  expect(failureOf(await dryRun(cluster))).toEqual({
    kind: "server-error",
    status: 500,
    reason: "InternalError",
    message: mutateFailed + otherGeneration,
  });
  expect((await look(cluster)).kinds).toEqual(["bundle-stale"]);
}

async function latent(world: ContractWorld): Promise<void> {
  const { cluster } = world;
  const before = await bundleAt(cluster, mutating);
  await world.latentDrift();
  expect(await verdictAt(cluster, mutating)).toMatchObject({ outcome: "broken", goText: otherGeneration });
  valueOf(await dryRun(cluster));
  // The same certificates in other bytes: another client, and a true handshake.
  await writeBundle(cluster, mutating, Buffer.concat([before, Buffer.from("\n")]));
  expect(failureOf(await dryRun(cluster)).message).toBe(mutateFailed + otherGeneration);
  // The bytes of before: the old client again, and its connection. A false green.
  await writeBundle(cluster, mutating, before);
  valueOf(await dryRun(cluster));
}

async function repair(world: ContractWorld): Promise<void> {
  const { cluster, kubeconfig } = world;
  await world.drift();
  const holder = await holderAt(cluster, mutating);
  const stale = [
    { op: "test", path: "/webhooks/0/clientConfig", value: { service: holder.webhooks[0]?.clientConfig.service } },
    { op: "add", path: "/webhooks/0/clientConfig/caBundle", value: "bmV3" },
  ];
  expect(await rawPatch(kubeconfig, `${mutating}/kai-binder`, stale, "fleetmend")).toEqual({
    status: 422,
    body: {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: "the server rejected our request due to an error in our request",
      reason: "Invalid",
      details: {},
      code: 422,
    },
  });
  expect(await holderAt(cluster, mutating)).toEqual(holder);

  const secret = await secretCertificates(cluster);
  const widened = Buffer.concat([await bundleAt(cluster, mutating), secret]);
  const mended = await writeBundle(cluster, mutating, widened);
  expect(mended.metadata.generation).toBe(holder.metadata.generation + 1);
  expect(Number(mended.metadata.resourceVersion)).toBeGreaterThan(Number(holder.metadata.resourceVersion));
  const writers = mended.metadata.managedFields.filter(({ fieldsV1 }) =>
    JSON.stringify(fieldsV1).includes("f:caBundle"),
  );
  expect(writers).toMatchObject([{ manager: "fleetmend", operation: "Update" }]);
  expect(failureOf(await dryRun(cluster)).message).toBe(validateFailed + otherGeneration);
  await writeBundle(cluster, validating, widened);
  valueOf(await dryRun(cluster));
  for (const path of [mutating, validating]) {
    await writeBundle(cluster, path, secret);
    expect(await verdictAt(cluster, path)).toMatchObject({ outcome: "trusted" });
  }
  valueOf(await dryRun(cluster));
}

async function mending(world: ContractWorld): Promise<void> {
  const { cluster } = world;
  await world.drift();
  const options = { now: () => new Date(), probeNamespace, allowOutage: false, holder: "contract" };
  const steps: string[] = [];
  // Two holders, and nothing to wait for: the pods have loaded the new pair.
  for (let calls = 0; calls < 5; calls += 1) {
    const outcome = await mend(cluster, options);
    if (outcome.outcome !== "wait") {
      expect(outcome).toMatchObject({ outcome: "done", because: { kind: "nothing-left" }, notes: [] });
      break;
    }
    steps.push(outcome.did?.action.kind ?? outcome.why);
    await sleep(outcome.seconds * 1000);
  }
  expect(steps).toEqual(["set-bundle", "set-bundle"]);
  expect((await look(cluster)).kinds).toEqual([]);
  valueOf(await dryRun(cluster));
}

async function texts({ cluster, kubeconfig }: ContractWorld): Promise<void> {
  const account = `/api/v1/namespaces/${namespace}/serviceaccounts/webhookmanager`;
  expect(failureOf(await cluster.get(account)).message).toBe('serviceaccounts "webhookmanager" not found');

  const bundle = await bundleAt(cluster, mutating);
  await writeBundle(cluster, mutating, Buffer.from("not PEM"));
  const unreadable = "unable to load root certificates: unable to parse bytes as PEM block";
  expect(failureOf(await dryRun(cluster)).message).toBe(noClient + unreadable);
  await writeBundle(cluster, mutating, new Uint8Array());
  const systemRoots = "tls: failed to verify certificate: x509: certificate signed by unknown authority";
  expect(failureOf(await dryRun(cluster)).message).toBe(mutateFailed + systemRoots);
  expect((await holderAt(cluster, mutating)).webhooks[0]?.clientConfig).not.toHaveProperty("caBundle");
  await writeBundle(cluster, mutating, bundle);
  valueOf(await dryRun(cluster));

  const nobody = { namespace, pod: "nobody", port: webhookPort, serverName };
  expect(failureOf(await cluster.handshake(nobody))).toEqual({ kind: "not-found", message: 'pods "nobody" not found' });
  const [pod = ""] = await podNames(cluster);
  expect(failureOf(await cluster.handshake({ ...nobody, pod, port: 9 })).kind).toBe("refused");

  const leases = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
  const named = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name: "fleetmend" }, spec: {} };
  // On the real control plane the Lease may be there from before, and nobody of ours may delete it.
  const created = await cluster.create(leases, named);
  const lease = valueOf(created.ok ? created : await cluster.get(`${leases}/fleetmend`)) as object;
  const taken = { ...lease, spec: { holderIdentity: randomUUID() } };
  valueOf(await cluster.replace(`${leases}/fleetmend`, taken));
  const details = { name: "fleetmend", group: "coordination.k8s.io", kind: "leases" };
  const failed = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", details, code: 409 };
  expect(await rawCall(kubeconfig, `${leases}/fleetmend`, { method: "PUT", body: taken })).toEqual({
    status: 409,
    body: {
      ...failed,
      message:
        'Operation cannot be fulfilled on leases.coordination.k8s.io "fleetmend": the object has been modified; ' +
        "please apply your changes to the latest version and try again",
      reason: "Conflict",
    },
  });
  expect(await rawCall(kubeconfig, leases, { method: "POST", body: named })).toEqual({
    status: 409,
    body: { ...failed, message: 'leases.coordination.k8s.io "fleetmend" already exists', reason: "AlreadyExists" },
  });
}

async function rights({ cluster, reader }: ContractWorld): Promise<void> {
  const refused = (message: string) => ({ kind: "forbidden", status: 403, reason: "Forbidden", message });
  const createPods = 'cannot create resource "pods" in API group "" in the namespace';
  expect(failureOf(await dryRun(cluster, "default"))).toEqual(
    refused(`pods is forbidden: User "fleetmend-repair" ${createPods} "default"`),
  );
  expect(failureOf(await dryRun(reader))).toEqual(
    refused(`pods is forbidden: User "fleetmend-read" ${createPods} "${probeNamespace}"`),
  );
  const secret = 'secrets "binder-webhook-tls-secret"';
  expect(failureOf(await reader.get(secretPath))).toEqual(
    refused(
      `${secret} is forbidden: User "fleetmend-read" cannot get resource "secrets" in API group "" ` +
        `in the namespace "${namespace}"`,
    ),
  );
  const holder = 'mutatingwebhookconfigurations.admissionregistration.k8s.io "kai-binder"';
  expect(failureOf(await reader.patch(`${mutating}/kai-binder`, []))).toEqual(
    refused(
      `${holder} is forbidden: User "fleetmend-read" cannot patch resource "mutatingwebhookconfigurations" in API ` +
        'group "admissionregistration.k8s.io" at the cluster scope',
    ),
  );
  const [pod = ""] = await podNames(cluster);
  const cannotForward = failureOf(await reader.handshake({ namespace, pod, port: webhookPort, serverName }));
  expect(cannotForward.kind).toBe("forbidden");
  // The adapter adds which rights it takes.
  expect(cannotForward.message).toContain(
    `pods "${pod}" is forbidden: User "fleetmend-read" cannot get resource "pods/portforward" in API group "" ` +
      `in the namespace "${namespace}"`,
  );
  expect(await mayPortForward(cluster)).toEqual({ rule: true, access: true });
  expect(await mayPortForward(reader)).toEqual({ rule: false, access: false });
}

/** What the two reviews say of a create of `pods/portforward` in KAI's namespace. */
async function mayPortForward(cluster: ClusterApi): Promise<{ readonly rule: boolean; readonly access: boolean }> {
  const reviews = "/apis/authorization.k8s.io/v1";
  const rules = valueOf(
    await cluster.create(`${reviews}/selfsubjectrulesreviews`, {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SelfSubjectRulesReview",
      spec: { namespace },
    }),
  ) as { status: { incomplete: boolean; resourceRules: { verbs: string[]; resources: string[] }[] } };
  expect(rules.status.incomplete).toBe(false);
  const resourceAttributes = { verb: "create", resource: "pods", subresource: "portforward", namespace };
  const access = valueOf(
    await cluster.create(`${reviews}/selfsubjectaccessreviews`, {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SelfSubjectAccessReview",
      spec: { resourceAttributes },
    }),
  ) as { status: { allowed: boolean } };
  return {
    rule: rules.status.resourceRules.some(
      ({ verbs, resources }) => verbs.includes("create") && resources.includes("pods/portforward"),
    ),
    access: access.status.allowed,
  };
}
