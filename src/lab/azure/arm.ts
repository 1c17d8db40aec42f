// Azure Resource Manager for one subscription, as far as fleetmend asks it: LIST and GET of managed clusters, and the user's
// credential. Not here: writes of any kind, and the administrator's credential, which fleetmend never asks for.
import type { IncomingMessage, RequestListener } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { armDocument, armIdOf, userKubeconfig, type ArmCluster } from "./arm-cluster.ts";
import { createThrottle, type ArmCall, type Throttle } from "./arm-throttle.ts";
import type { Identity } from "./identity.ts";
import { answering, azureError, urlOf, type JsonAnswer } from "./json-exchange.ts";

export interface ArmOptions {
  readonly subscription: string;
  /** Asked at each request. */
  readonly clusters: () => readonly ArmCluster[];
  readonly identity: Identity;
  readonly now: () => Date;
  /** Default: as Azure throttles. `none` leaves only storms. */
  readonly throttle?: "as-azure" | "none";
  readonly latencyMs?: number;
  /** Clusters on one page of a LIST. Default 25. */
  readonly pageSize?: number;
}

export interface Arm {
  readonly host: RequestListener;
  /** Requests so far by kind; throttled ones are counted as `throttled` only. */
  readonly requests: Readonly<Record<ArmCall | "throttled", number>>;
  /** The next `calls` requests get 429 with this Retry-After. */
  readonly storm: Throttle["storm"];
}

interface Asked {
  readonly call: ArmCall;
  /** The bucket that it is taken from. */
  readonly scope: string;
  readonly answer: () => JsonAnswer;
}

/** Answers for management.azure.com. */
export function createArm(options: ArmOptions): Arm {
  const { identity, now, latencyMs = 0 } = options;
  const requests = { list: 0, get: 0, credentials: 0, throttled: 0 };
  const throttle = createThrottle(now, options.throttle === "none");

  const respond = async (request: IncomingMessage): Promise<JsonAnswer> => {
    await sleep(latencyMs);
    if (!identity.accepts(request.headers.authorization, "arm")) return unauthenticated();
    const url = urlOf(request);
    const version = url.searchParams.get("api-version");
    if (version === null || !/^\d{4}-\d{2}-\d{2}(-preview)?$/.test(version)) return wrongVersion();
    const asked = askedFor(request.method ?? "GET", url, options);
    if (!("call" in asked)) return asked;
    const wait = throttle.retryAfter(asked.call, asked.scope);
    if (wait !== undefined) {
      requests.throttled += 1;
      return throttled(wait);
    }
    requests[asked.call] += 1;
    return asked.answer();
  };
  return {
    host: answering(respond),
    requests,
    storm: (calls, seconds) => {
      throttle.storm(calls, seconds);
    },
  };
}

const provider = "/providers/microsoft.containerservice/managedclusters";

/** Paths are compared without regard to case, as ARM does. */
function askedFor(method: string, url: URL, options: ArmOptions): Asked | JsonAnswer {
  const root = `/subscriptions/${options.subscription}`;
  const path = url.pathname.toLowerCase();
  if (!path.startsWith(`${root}/`)) return subscriptionNotFound();
  if (method === "GET" && path === root + provider) {
    return { call: "list", scope: root, answer: () => listPage(url, options) };
  }
  const [, id = "", action] = /^(.+\/managedclusters\/[^/]+)(\/listclusterusercredential)?$/.exec(path) ?? [];
  const cluster = options.clusters().find((each) => armIdOf(each).toLowerCase() === id);
  if (cluster === undefined) return notFound(url.pathname);
  if (method === "GET" && action === undefined) {
    return { call: "get", scope: id, answer: () => ({ status: 200, body: armDocument(cluster) }) };
  }
  if (method !== "POST" || action === undefined) return notInTheLab(method, url.pathname);
  const scope = `${root} ${cluster.location}`;
  return { call: "credentials", scope, answer: () => ({ status: 200, body: credentials(cluster) }) };
}

function listPage(url: URL, { clusters, pageSize = 25 }: ArmOptions): JsonAnswer {
  const all = clusters();
  const start = Number(url.searchParams.get("$skiptoken") ?? "0");
  const end = start + pageSize;
  const next = new URL(url);
  next.searchParams.set("$skiptoken", String(end));
  const more = end < all.length ? { nextLink: next.href } : {};
  return { status: 200, body: { value: all.slice(start, end).map(armDocument), ...more } };
}

function credentials(cluster: ArmCluster): unknown {
  const value = Buffer.from(userKubeconfig(cluster)).toString("base64");
  return { kubeconfigs: [{ name: "clusterUser", value }] };
}

function throttled(seconds: number): JsonAnswer {
  const message = "The request was throttled. Please retry later.";
  return { status: 429, headers: { "retry-after": String(seconds) }, body: azureError("Throttled", message) };
}

function unauthenticated(): JsonAnswer {
  const message = "Authentication failed. The 'Authorization' header is missing or invalid.";
  return { status: 401, body: azureError("AuthenticationFailed", message) };
}

function wrongVersion(): JsonAnswer {
  const message = "The api-version query parameter (?api-version=) is required for all requests.";
  return { status: 400, body: azureError("MissingApiVersionParameter", message) };
}

function subscriptionNotFound(): JsonAnswer {
  return { status: 404, body: azureError("SubscriptionNotFound", "The subscription could not be found.") };
}

function notFound(path: string): JsonAnswer {
  return { status: 404, body: azureError("ResourceNotFound", `The Resource '${path}' was not found.`) };
}

function notInTheLab(method: string, path: string): JsonAnswer {
  return { status: 404, body: azureError("NotInTheLab", `the lab does not have this: ${method} ${path}`) };
}
