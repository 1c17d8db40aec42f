import { X509Certificate } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { connect, type Connection } from "../../src/kubernetes/connect.ts";
import { startLab, type Fault, type Lab } from "../../src/lab/start.ts";
import { keyPool } from "../../src/lab/key-pool.ts";
import {
  dryRun,
  mutating,
  namespace,
  podNames,
  secretCertificates,
  servedChain,
  serverName,
  validating,
  valueOf,
  verdictAt,
} from "../contract/observed.ts";

const keys = keyPool();
let lab: Lab;
let connection: Connection;
beforeEach(async () => {
  lab = await startLab({ podStartMs: 50, keys });
  const connected = await connect({ kubeconfig: lab.kubeconfig });
  if (!connected.ok) throw new Error(connected.error.message);
  connection = connected.value;
});
afterEach(async () => {
  connection.close();
  await lab.stop();
});

/** `admitted`, or what the API server says after the URL of the call or instead of it. */
async function createAnswer(): Promise<string> {
  const answer = await dryRun(connection.cluster);
  return answer.ok ? "admitted" : answer.error.message.replace(/^Internal error occurred: failed calling webhook /, "");
}

const at = (path: string) =>
  `"binder.run.ai": failed to call webhook: Post "https://${serverName}:443${path}?timeout=10s": `;
const mutate = at("/mutate--v1-pod");
const validate = at("/validate--v1-pod");
const unknownAuthority = "tls: failed to verify certificate: x509: certificate signed by unknown authority";
const stale = expect.stringContaining(`${unknownAuthority} (possibly because of`) as unknown;

const cases: readonly {
  readonly fault: Fault;
  readonly mutating: string;
  readonly validating: string;
  readonly create: unknown;
  readonly secretIsServed: boolean;
}[] = [
  {
    fault: "drift",
    mutating: "broken",
    validating: "broken",
    create: stale,
    secretIsServed: true,
  },
  {
    fault: "aborted-upgrade",
    mutating: "broken",
    validating: "broken",
    create: stale,
    secretIsServed: true,
  },
  {
    fault: "latent-drift",
    mutating: "broken",
    validating: "broken",
    create: "admitted",
    secretIsServed: true,
  },
  {
    fault: "empty-bundle",
    mutating: "broken",
    validating: "broken",
    create: mutate + unknownAuthority,
    secretIsServed: true,
  },
  {
    fault: "garbage-bundle",
    mutating: "broken",
    validating: "broken",
    create:
      '"binder.run.ai": could not get REST client: unable to load root certificates: ' +
      "unable to parse bytes as PEM block",
    secretIsServed: true,
  },
  {
    fault: "expired",
    mutating: "broken",
    validating: "broken",
    create: expect.stringContaining("x509: certificate has expired or is not yet valid: current time") as unknown,
    secretIsServed: true,
  },
  {
    fault: "wrong-name",
    mutating: "broken",
    validating: "broken",
    create:
      `${mutate}tls: failed to verify certificate: ` +
      "x509: certificate is valid for binder.kai-staging.svc, not binder.kai-scheduler.svc",
    secretIsServed: true,
  },
  {
    fault: "key-mismatch",
    mutating: "trusted",
    validating: "trusted",
    create: "admitted",
    secretIsServed: false,
  },
  {
    fault: "one-holder",
    mutating: "trusted",
    validating: "broken",
    create: expect.stringContaining(`${validate}${unknownAuthority} (possibly`) as unknown,
    secretIsServed: true,
  },
  {
    fault: "stale-pod",
    mutating: "broken",
    validating: "broken",
    create: stale,
    secretIsServed: false,
  },
];

describe("a fault of the lab", () => {
  it.each(cases)("$fault does what it does in life, and a helm upgrade heals it", async (expected) => {
    const { cluster } = connection;
    expect(await createAnswer()).toBe("admitted");
    await lab.inject(expected.fault);
    expect((await verdictAt(cluster, mutating)).outcome).toBe(expected.mutating);
    expect((await verdictAt(cluster, validating)).outcome).toBe(expected.validating);
    expect(await createAnswer()).toEqual(expected.create);
    const [leaf] = await servedChain(cluster);
    const inSecret = new Uint8Array(new X509Certificate(await secretCertificates(cluster)).raw);
    expect(Buffer.compare(inSecret, leaf ?? new Uint8Array()) === 0).toBe(expected.secretIsServed);
    await lab.heal();
    expect(await createAnswer()).toBe("admitted");
  });

  it("latent-drift bites when the API server's connections are gone", async () => {
    await lab.inject("latent-drift");
    expect(await createAnswer()).toBe("admitted");
    lab.restartApiServer();
    expect(await createAnswer()).toEqual(stale);
  });

  it("aborted-upgrade is a drift that leaves the traces of a helm upgrade that broke off", async () => {
    await lab.inject("aborted-upgrade");
    expect(await createAnswer()).toEqual(stale);
    const jobs = valueOf(await connection.cluster.list(`/apis/batch/v1/namespaces/${namespace}/jobs`));
    expect(jobs).toMatchObject([
      { metadata: { name: "pre-install-hook" }, status: { conditions: [{ type: "Complete", status: "True" }] } },
    ]);
    const account = `/api/v1/namespaces/${namespace}/serviceaccounts/webhookmanager`;
    expect(valueOf(await connection.cluster.get(account))).toMatchObject({ kind: "ServiceAccount" });
  });
});

describe("a restart of a Deployment with strategy Recreate", () => {
  const deployment = `/apis/apps/v1/namespaces/${namespace}/deployments/binder`;
  const restart = () =>
    connection.cluster.patch(deployment, [
      {
        op: "add",
        path: "/spec/template/metadata/annotations",
        value: { "kubectl.kubernetes.io/restartedAt": "2026-12-01T00:00:00Z" },
      },
    ]);
  const readyReplicas = async () =>
    (valueOf(await connection.cluster.get(deployment)) as { status: { readyReplicas?: number } }).status.readyReplicas;

  it("is an outage until the new pod is ready, and then serves the present Secret", async () => {
    await lab.inject("stale-pod");
    const [old] = await podNames(connection.cluster);
    valueOf(await restart());
    expect(await createAnswer()).toBe(`${mutate}dial tcp 10.96.26.224:443: connect: connection refused`);
    await expect.poll(readyReplicas).toBe(1);
    expect(await podNames(connection.cluster)).not.toContain(old);
    expect(await createAnswer()).toBe("admitted");
  });

  it("ends in a crash loop where the key does not belong to the certificate", async () => {
    await lab.inject("key-mismatch");
    expect(await createAnswer()).toBe("admitted");
    valueOf(await restart());
    const states = async () =>
      (
        valueOf(
          await connection.cluster.list(`/api/v1/namespaces/${namespace}/pods`, { labelSelector: "app=binder" }),
        ) as { status: { containerStatuses?: unknown } }[]
      ).map(({ status }) => status.containerStatuses);
    await expect.poll(states).toMatchObject([[{ ready: false, state: { waiting: { reason: "CrashLoopBackOff" } } }]]);
    expect(await createAnswer()).toBe(`${mutate}dial tcp 10.96.26.224:443: connect: connection refused`);
  });
});
