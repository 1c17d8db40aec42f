// How each process of the control plane is started: commands and flags only. control-plane.ts writes the files they name.
import path from "node:path";
import type { Binaries } from "./build.ts";
import type { ProcessToStart } from "./keeper.ts";

export interface Ports {
  readonly etcdPort: number;
  readonly peerPort: number;
  readonly serverPort: number;
  readonly kubeletPort: number;
}

export function etcdProcess(binaries: Binaries, folder: string, { etcdPort, peerPort }: Ports): ProcessToStart {
  const client = `http://127.0.0.1:${etcdPort}`;
  const peer = `http://127.0.0.1:${peerPort}`;
  return {
    name: "etcd",
    command: binaries.etcd,
    arguments: [
      `--data-dir=${path.join(folder, "etcd")}`,
      `--listen-client-urls=${client}`,
      `--advertise-client-urls=${client}`,
      `--listen-peer-urls=${peer}`,
      `--initial-advertise-peer-urls=${peer}`,
      `--initial-cluster=default=${peer}`,
      "--unsafe-no-fsync",
      "--log-level=warn",
    ],
    log: path.join(folder, "etcd.log"),
  };
}

export function apiServerProcess(binaries: Binaries, folder: string, { etcdPort, serverPort }: Ports): ProcessToStart {
  const file = (name: string): string => path.join(folder, name);
  return {
    name: "kube-apiserver",
    command: binaries.apiServer,
    arguments: [
      `--etcd-servers=http://127.0.0.1:${etcdPort}`,
      "--bind-address=127.0.0.1",
      "--advertise-address=127.0.0.1",
      "--endpoint-reconciler-type=none",
      `--secure-port=${serverPort}`,
      `--cert-dir=${folder}`,
      `--tls-cert-file=${file("serving.crt")}`,
      `--tls-private-key-file=${file("serving.key")}`,
      "--service-cluster-ip-range=10.96.0.0/16",
      `--token-auth-file=${file("tokens.csv")}`,
      "--authorization-mode=RBAC",
      "--service-account-issuer=https://kubernetes.default.svc",
      `--service-account-key-file=${file("service-accounts.key")}`,
      `--service-account-signing-key-file=${file("service-accounts.key")}`,
      `--egress-selector-config-file=${file("egress.yaml")}`,
    ],
    log: file("kube-apiserver.log"),
  };
}

// Only the controllers that a test can see: fewer watches, less of the two cores. node-lifecycle-controller in
// particular would taint our node, which sends no heartbeats.
const controllers = [
  "clusterrole-aggregation-controller",
  "deployment-controller",
  "endpointslice-controller",
  "garbage-collector-controller",
  "job-controller",
  "namespace-controller",
  "replicaset-controller",
  "resourcequota-controller",
  "root-ca-certificate-publisher-controller",
  "serviceaccount-controller",
];

export function controllerManagerProcess(binaries: Binaries, folder: string): ProcessToStart {
  const kubeconfig = path.join(folder, "controller-manager.kubeconfig");
  return {
    name: "kube-controller-manager",
    command: binaries.controllerManager,
    arguments: [
      `--kubeconfig=${kubeconfig}`,
      `--authentication-kubeconfig=${kubeconfig}`,
      `--authorization-kubeconfig=${kubeconfig}`,
      "--secure-port=0",
      "--leader-elect=false",
      `--controllers=${controllers.join(",")}`,
      `--service-account-private-key-file=${path.join(folder, "service-accounts.key")}`,
      // The defaults (20 and 30) make a family's installation wait for its turn.
      "--kube-api-qps=500",
      "--kube-api-burst=1000",
    ],
    log: path.join(folder, "kube-controller-manager.log"),
  };
}

export function kubeletProcess(binaries: Binaries, plane: KubeletPlace): ProcessToStart {
  return {
    name: "kubelet",
    command: binaries.kubelet,
    arguments: [
      `--address=127.0.0.1:${plane.kubeletPort}`,
      `--tls-cert-file=${path.join(plane.folder, "serving.crt")}`,
      `--tls-private-key-file=${path.join(plane.folder, "serving.key")}`,
      `--pod-network=${plane.podNetworkSocket}`,
    ],
    log: path.join(plane.folder, "kubelet.log"),
  };
}

interface KubeletPlace {
  readonly folder: string;
  readonly kubeletPort: number;
  readonly podNetworkSocket: string;
}
