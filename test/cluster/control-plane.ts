// Starts etcd, kube-apiserver, kube-controller-manager and the port-forward half of a kubelet, all unmodified but the
// last, on free loopback ports with a temporary folder, and stops them. What runs in the cluster is in world.ts.
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { mkdtempSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { mintCertificate } from "../../src/trust/mint.ts";
import { openApi, type Access } from "./api.ts";
import type { Binaries } from "./build.ts";
import { endOf, keepProcesses } from "./kept-processes.ts";
import { writeKubeconfig } from "./kubeconfig.ts";
import { apiServerProcess, controllerManagerProcess, etcdProcess, kubeletProcess, type Ports } from "./processes.ts";

/**
 * Who may ask: `admin` (system:masters) sets things up and is never fleetmend; the next three are fleetmend with the
 * rights of infra/kubernetes; the last two are KAI's own writers.
 */
export const users = {
  admin: { name: "admin", groups: ["system:masters"] },
  read: { name: "fleetmend-read", groups: ["fleetmend-read"] },
  prove: { name: "fleetmend-prove", groups: ["fleetmend-prove"] },
  repair: { name: "fleetmend-repair", groups: ["fleetmend-repair"] },
  webhookManager: { name: "system:serviceaccount:kai-scheduler:webhookmanager", groups: ["system:serviceaccounts"] },
  kaiOperator: { name: "system:serviceaccount:kai-scheduler:kai-operator", groups: ["system:serviceaccounts"] },
} as const;

export type User = keyof typeof users;

/** Plain data, so that vitest's global set-up can hand it to the test files. */
export interface ControlPlane {
  readonly server: string;
  /** PEM of the authority that signed the server's certificate. */
  readonly ca: string;
  /** The server's own pair, for the fault proxy to serve with as well. */
  readonly serving: { readonly certificate: string; readonly key: string };
  readonly tokens: Readonly<Record<User, string>>;
  /** Where the API server and the kubelet look for the pod network: a UNIX socket that pod-network.ts listens on. */
  readonly podNetworkSocket: string;
  readonly kubeletPort: number;
  /** Temporary; gone after `stop`. Holds the logs too. */
  readonly folder: string;
}

export interface RunningControlPlane extends ControlPlane {
  /** Ends all processes and removes the folder. It also happens by itself when this process ends, however it ends. */
  readonly stop: () => Promise<void>;
}

export const accessOf = (plane: ControlPlane, user: User): Access => ({
  server: plane.server,
  ca: plane.ca,
  token: plane.tokens[user],
});

/** Ready when it returns: about three seconds. Throws with the end of the guilty log where a process does not come up. */
export async function startControlPlane(binaries: Binaries): Promise<RunningControlPlane> {
  const folder = mkdtempSync(path.join(tmpdir(), "fleetmend-cluster-"));
  const [etcdPort, peerPort, serverPort, kubeletPort] = await freePorts(4);
  const ports = { etcdPort, peerPort, serverPort, kubeletPort };
  const plane = await writeFiles(folder, ports);
  const keeper = keepProcesses(folder);
  try {
    keeper.start(etcdProcess(binaries, folder, ports));
    keeper.start(apiServerProcess(binaries, folder, ports));
    keeper.start(kubeletProcess(binaries, plane));
    await untilReady(plane, keeper.ended);
    keeper.start(controllerManagerProcess(binaries, folder));
    return { ...plane, stop: keeper.stop };
  } catch (error) {
    await keeper.stop();
    throw error;
  }
}

/** Ports that were free a moment ago. Another process may take one before we use it; then the start fails, loudly. */
async function freePorts(count: 4): Promise<[number, number, number, number]>;
async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      return server;
    }),
  );
  return Promise.all(
    servers.map(async (server) => {
      const address = server.address();
      await new Promise((resolve) => server.close(resolve));
      if (address === null || typeof address === "string") throw new Error("a TCP server without a port");
      return address.port;
    }),
  );
}

async function writeFiles(folder: string, ports: Ports): Promise<ControlPlane> {
  const write = (name: string, text: string): void => {
    writeFileSync(path.join(folder, name), text, { mode: 0o600 });
  };
  const serving = await mintServing();
  const tokens = mapUsers(() => randomBytes(16).toString("hex"));
  const plane: ControlPlane = {
    server: `https://127.0.0.1:${ports.serverPort}`,
    ca: serving.ca,
    serving: { certificate: serving.certificate, key: serving.key },
    tokens,
    podNetworkSocket: path.join(folder, "pods.sock"),
    kubeletPort: ports.kubeletPort,
    folder,
  };
  write("serving.crt", serving.certificate);
  write("serving.key", serving.key);
  write(
    "service-accounts.key",
    generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ type: "pkcs1", format: "pem" }).toString(),
  );
  write("tokens.csv", tokenFile(tokens));
  write("egress.yaml", egressSelector(plane.podNetworkSocket));
  writeKubeconfig(path.join(folder, "controller-manager.kubeconfig"), { admin: accessOf(plane, "admin") });
  return plane;
}

/** One authority and one leaf for 127.0.0.1, used by the API server, the kubelet and the fault proxy alike. */
async function mintServing(): Promise<{ ca: string; certificate: string; key: string }> {
  const times = { notBefore: new Date(Date.now() - 3600_000), notAfter: new Date(Date.now() + 7 * 86_400_000) };
  const ca = await mintCertificate({
    ...times,
    subject: "fleetmend test cluster",
    ca: true,
    keyUsage: ["keyCertSign"],
  });
  const leaf = await mintCertificate({
    ...times,
    subject: "kube-apiserver",
    issuer: ca,
    extendedKeyUsage: ["serverAuth"],
    dnsNames: ["localhost", "kubernetes.default.svc"],
    ipAddresses: ["127.0.0.1"],
  });
  return { ca: ca.pem, certificate: leaf.pem, key: leaf.keyPem };
}

function mapUsers<T>(value: (user: User) => T): Record<User, T> {
  return Object.fromEntries((Object.keys(users) as User[]).map((user) => [user, value(user)])) as Record<User, T>;
}

function tokenFile(tokens: Record<User, string>): string {
  const lines = Object.entries(users).map(([user, { name, groups }]) =>
    [tokens[user as User], name, name, `"${groups.join(",")}"`].join(","),
  );
  return `${lines.join("\n")}\n`;
}

// The path that konnectivity takes on AKS: the API server asks a proxy on a UNIX socket to CONNECT to the Service's
// ClusterIP (k8s.io/apiserver/pkg/server/egressselector).
const egressSelector = (socket: string): string =>
  JSON.stringify({
    apiVersion: "apiserver.k8s.io/v1beta1",
    kind: "EgressSelectorConfiguration",
    egressSelections: [
      { name: "cluster", connection: { proxyProtocol: "HTTPConnect", transport: { uds: { udsName: socket } } } },
    ],
  });

async function untilReady(plane: ControlPlane, ended: Promise<never>): Promise<void> {
  const api = openApi(accessOf(plane, "admin"), "fleetmend-test");
  const ready = async (): Promise<void> => {
    const deadline = Date.now() + 60_000;
    for (;;) {
      const answer = await api.request("GET", "/readyz").catch(() => undefined);
      if (answer?.status === 200) return;
      if (Date.now() > deadline)
        throw new Error(
          `the API server is not ready after a minute:\n${endOf(path.join(plane.folder, "kube-apiserver.log"))}`,
        );
      await sleep(50);
    }
  };
  await Promise.race([ready(), ended]).finally(() => {
    api.close();
  });
}
