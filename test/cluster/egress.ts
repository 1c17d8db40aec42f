// The pod network: an HTTP CONNECT proxy on a UNIX socket, in the place that konnectivity has on AKS. The API server
// reaches Services and the kubelet through it, and the kubelet reaches pods. It routes as kube-proxy does and can be made
// to fail; it knows nothing of TLS or HTTP inside the connections.
import { createServer as createHttpServer, type IncomingMessage } from "node:http";
import { connect, type Socket } from "node:net";
import { rmSync } from "node:fs";
import type { Duplex } from "node:stream";
import type { EndpointSlice, Service } from "../../src/lab/kai/kube-object.ts";

/** Something that listens on a port of a pod. */
export interface PodServer {
  accept(connection: Duplex): void;
}

export type ServiceFault =
  /** Nobody listens: the dial is refused. */
  | "refused"
  /** The connection is made and nothing ever comes back. */
  | "silent"
  /** The connection is made and closed at once. */
  | "closed";

export interface PodAddress {
  readonly namespace: string;
  readonly pod: string;
  readonly port: number;
}

export interface EgressOptions {
  readonly socket: string;
  readonly kubeletPort: number;
  /** By `namespace/name`, kept up to date by the caller. */
  readonly services: ReadonlyMap<string, Service>;
  readonly endpointSlices: ReadonlyMap<string, EndpointSlice>;
  /** What listens there, if anything does. */
  readonly listener: (address: PodAddress) => PodServer | undefined;
  /** The pod with this IP. */
  readonly podOfIp: (ip: string) => { readonly namespace: string; readonly pod: string } | undefined;
  /** Between 0 and 1, to choose among endpoints. */
  readonly random: () => number;
}

export interface Egress {
  /** Makes new connections to a Service (`namespace/name`) fail in this way, or work again. */
  setFault(service: string, fault: ServiceFault | undefined): void;
  /** New connections to a Service (`namespace/name`) go to this server, whatever its endpoints are. */
  serve(service: string, server: PodServer): void;
  /** Every Service works again, with its endpoints. */
  clearFaults(): void;
  /** Closes the open connections to a Service, or to all: what ends the API server's kept-alive connections. */
  closeConnections(service?: string): void;
  /** The ready endpoints of a Service (`namespace/name`) on all its ports, as the pod network knows them now. */
  readyEndpoints(service: string): readonly PodAddress[];
  /** Connections now open to a Service. */
  connectionCount(service: string): number;
  stop(): Promise<void>;
}

type Route =
  | { readonly kind: "kubelet" }
  | { readonly kind: "service"; readonly service: string; readonly server: PodServer | undefined }
  | { readonly kind: "pod"; readonly server: PodServer | undefined };

export async function openEgress(options: EgressOptions): Promise<Egress> {
  const faults = new Map<string, ServiceFault>();
  const servers = new Map<string, PodServer>();
  const open = new Map<Duplex, string>();
  const proxy = createHttpServer();
  proxy.on("connect", (request: IncomingMessage, connection: Duplex) => {
    const target = request.url ?? "";
    const found = routeOf(target, options);
    const service = found.kind === "service" ? found.service : "";
    const server = servers.get(service);
    const route = found.kind === "service" && server !== undefined ? { ...found, server } : found;
    open.set(connection, service);
    connection.once("close", () => open.delete(connection));
    connection.on("error", () => connection.destroy());
    serve(connection, target, { route, fault: faults.get(service), kubeletPort: options.kubeletPort });
  });
  // What a crashed predecessor left would make `listen` fail.
  rmSync(options.socket, { force: true });
  await new Promise<void>((resolve, reject) => {
    proxy.once("error", reject);
    proxy.listen(options.socket, resolve);
  });
  const closeConnections = (service?: string): void => {
    for (const [connection, to] of open) if (service === undefined || to === service) connection.destroy();
  };
  return {
    setFault: (service, fault) => {
      if (fault === undefined) faults.delete(service);
      else faults.set(service, fault);
    },
    serve: (service, server) => servers.set(service, server),
    clearFaults: () => {
      faults.clear();
      servers.clear();
    },
    closeConnections,
    readyEndpoints: (service) => readyEndpoints(service, options),
    connectionCount: (service) => [...open.values()].filter((to) => to === service).length,
    stop: async () => {
      closeConnections();
      await new Promise((resolve) => proxy.close(resolve));
    },
  };
}

interface Serving {
  readonly route: Route;
  readonly fault: ServiceFault | undefined;
  readonly kubeletPort: number;
}

function serve(connection: Duplex, target: string, { route, fault, kubeletPort }: Serving): void {
  if (route.kind === "kubelet") {
    pipeTo(connection, connect(kubeletPort, "127.0.0.1"));
    return;
  }
  if (fault === "refused" || (route.server === undefined && fault === undefined)) {
    // kube-proxy rejects what has no endpoint. The reason phrase ends up in the API server's error text.
    connection.end(`HTTP/1.1 502 dial tcp ${target}: connect: connection refused\r\nContent-Length: 0\r\n\r\n`);
    return;
  }
  connection.write("HTTP/1.1 200 OK\r\n\r\n");
  if (fault === "closed") connection.end();
  else if (fault === "silent") connection.resume();
  else route.server?.accept(connection);
}

function pipeTo(connection: Duplex, upstream: Socket): void {
  upstream.once("connect", () => {
    connection.write("HTTP/1.1 200 OK\r\n\r\n");
    connection.pipe(upstream).pipe(connection);
  });
  upstream.on("error", () => connection.destroy());
  upstream.once("close", () => connection.destroy());
  connection.once("close", () => upstream.destroy());
}

function routeOf(target: string, options: EgressOptions): Route {
  const [host, port] = splitTarget(target);
  if (host === "127.0.0.1" && port === options.kubeletPort) return { kind: "kubelet" };
  const pod = options.podOfIp(host) ?? podOfName(host);
  if (pod !== undefined) return { kind: "pod", server: options.listener({ ...pod, port }) };
  for (const [service, { spec }] of options.services) {
    const servicePort = spec.ports?.find((candidate) => candidate.port === port);
    if (spec.clusterIP !== host || servicePort === undefined) continue;
    return { kind: "service", service, server: endpointOf(service, servicePort.name, options) };
  }
  return { kind: "pod", server: undefined };
}

function splitTarget(target: string): [string, number] {
  const colon = target.lastIndexOf(":");
  return [target.slice(0, colon), Number(target.slice(colon + 1))];
}

/** The kubelet's form: `<pod>.<namespace>`. A pod's name may have dots, a namespace's has none. */
function podOfName(host: string): { namespace: string; pod: string } | undefined {
  const dot = host.lastIndexOf(".");
  if (dot < 0 || /^[\d.]+$/.test(host)) return undefined;
  return { pod: host.slice(0, dot), namespace: host.slice(dot + 1) };
}

/** One ready endpoint, chosen at random for each connection, as kube-proxy's iptables mode chooses. */
function endpointOf(service: string, portName: string | undefined, options: EgressOptions): PodServer | undefined {
  const ready = readyEndpoints(service, options).filter((endpoint) => endpoint.portName === (portName ?? ""));
  const chosen = ready[Math.floor(options.random() * ready.length)];
  return chosen && options.listener(chosen);
}

function readyEndpoints(service: string, { endpointSlices }: EgressOptions): (PodAddress & { portName: string })[] {
  const [namespace = "", name = ""] = service.split("/");
  return [...endpointSlices.values()]
    .filter(({ metadata }) => metadata.namespace === namespace)
    .filter(({ metadata }) => metadata.labels?.["kubernetes.io/service-name"] === name)
    .flatMap(({ endpoints, ports }) => {
      const targets = (endpoints ?? []).filter(({ conditions }) => conditions?.ready !== false);
      const pods = targets.flatMap(({ targetRef }) => (targetRef ? [targetRef.name] : []));
      return pods.flatMap((pod) =>
        (ports ?? []).map(({ name: portName = "", port }) => ({ pod, namespace, port, portName })),
      );
    });
}
