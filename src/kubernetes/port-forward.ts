// The handshake with one pod: tunnel, TLS, and why there is no chain where there is none.
import type { HandshakeFailure, PodPort, ServedChain } from "../admission/cluster-api.ts";
import { failure, success, type Result } from "../result.ts";
import { failureOf } from "./api-failure.ts";
import type { Answer } from "./exchange.ts";
import { openPodTunnel, type PodTunnel, type TunnelFailure } from "./pod-tunnel.ts";
import { retrying, type Attempt } from "./retry.ts";
import { readServedChain } from "./served-chain.ts";
import type { Session } from "./session.ts";

type Handshake = Result<ServedChain, Attempt<HandshakeFailure>>;

/**
 * Reads the chain that a pod serves, and closes the connection. Tried up to three times where the API server is busy or
 * the connection breaks; a pod that refuses or is silent is an answer. Counted as one request each time.
 */
export function handshakeWithPod(session: Session, target: PodPort): Promise<Result<ServedChain, HandshakeFailure>> {
  return retrying(() => handshakeOnce(session, target), session.sleep);
}

async function handshakeOnce(session: Session, target: PodPort): Promise<Handshake> {
  const options = await session.credentials.forRequest();
  if (!options.ok) return final("unreachable", options.error.message);
  session.countRequest();
  const deadline = AbortSignal.timeout(session.handshakeTimeoutMs);
  const late = `no TLS handshake with ${target.pod}:${target.port} within ${session.handshakeTimeoutMs / 1000} s`;
  const headers = { ...options.value.headers, "User-Agent": "fleetmend" };
  const opened = await openPodTunnel(portForwardUrl(session.server, target), { ...options.value, headers }, deadline);
  if (!opened.ok) {
    if (deadline.aborted) return final("timeout", late);
    return upgradeFailure(opened.error, target.namespace, session.credentials.withoutSecrets);
  }
  const tunnel = opened.value;
  try {
    return await Promise.race([
      chainThrough(tunnel, target.serverName),
      tunnel.refusal.then(refusalFailure),
      whenAborted(deadline).then(() => final("timeout", late)),
    ]);
  } finally {
    tunnel.close();
  }
}

/** The address of the tunnel to one port of a pod. */
export function portForwardUrl(server: string, { namespace, pod, port }: Omit<PodPort, "serverName">): URL {
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(pod)}/portforward`;
  const url = new URL(`${server}${path}?ports=${port}`);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  return url;
}

async function chainThrough(tunnel: PodTunnel, serverName: string): Promise<Handshake> {
  const served = await readServedChain(tunnel.stream, serverName);
  if (served.ok) return success(served.value);
  if (!isTlsRecord(tunnel.firstBytes())) return final("not-tls", "what listens on the port does not speak TLS");
  if (served.error.kind === "tls") return final("tls", served.error.message);
  return failure({ failure: { kind: "unreachable", message: served.error.message }, transient: true });
}

/** A server's first record is a handshake (22) or an alert (21), of version 3.x (RFC 8446 §5.1). Silence is no proof. */
function isTlsRecord(bytes: Uint8Array): boolean {
  const [type, version] = bytes;
  return type === undefined || ((type === 22 || type === 21) && (version === undefined || version === 3));
}

function upgradeFailure(error: TunnelFailure, namespace: string, withoutSecrets: (text: string) => string): Handshake {
  if (error.kind === "broken") {
    const { message, transient } = error.failure;
    return failure({ failure: { kind: "unreachable", message: withoutSecrets(message) }, transient });
  }
  const { message, retryAfterSeconds } = failureOf(error.answer);
  const kind = upgradeKind(error.answer);
  // Where `get` is allowed and `create` is not, the API server 1.37 ends its text after "is forbidden: ".
  const hint = kind === "forbidden" ? ` (get and create on pods/portforward in ${namespace} are needed)` : "";
  return failure({
    failure: { kind, message: withoutSecrets(message.replace(/:?\s*$/, "")) + hint },
    transient: error.answer.status === 429 || error.answer.status >= 500,
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  });
}

function upgradeKind({ status }: Answer): HandshakeFailure["kind"] {
  if (status === 403) return "forbidden";
  return status === 404 ? "not-found" : "unreachable";
}

/**
 * The texts of kubelet and of the container runtimes, which send no code. Such as containerd's `dial tcp4
 * 127.0.0.1:8443: connect: connection refused` and `failed to find sandbox "…" in store: not found`
 * (internal/cri/server/sandbox_portforward*.go), and kubelet's `pod … is not running`.
 */
function refusalFailure(text: string): Handshake {
  if (/connection refused/i.test(text)) return final("refused", text);
  if (/not found|does not exist|no such|not running|exited/i.test(text)) return final("not-found", text);
  if (/timed? ?out/i.test(text)) return final("timeout", text);
  return failure({ failure: { kind: "unreachable", message: text }, transient: true });
}

function final(kind: HandshakeFailure["kind"], message: string): Handshake {
  return failure({ failure: { kind, message }, transient: false });
}

function whenAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener(
      "abort",
      () => {
        resolve();
      },
      { once: true },
    );
  });
}
