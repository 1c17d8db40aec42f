// One cluster of the lab's subscription: KAI's cluster with its API server on the wire, and what ARM tells of it. Faults are
// inside it, circumstances around it. Not here: who gets which (situations.ts).
import { createAuthority, type Authority } from "../authority.ts";
import { startCluster, type Cluster, type ClusterOptions, type PodAnswer } from "../cluster.ts";
import { inject } from "../kai/faults.ts";
import { createApiServer, type Login, type User } from "../kubernetes/api-server.ts";
import { rightsOf, type Capability } from "../kubernetes/capability-rights.ts";
import { version } from "../kubernetes/version.ts";
import { armIdOf, type ArmCluster } from "./arm-cluster.ts";
import type { Identity } from "./identity.ts";
import { isCircumstance, type Circumstance, type Situation } from "./situations.ts";
import type { Wire } from "./wire.ts";

export interface SubscriptionCluster {
  /** The resource id in lower case, as fleetmend has it. */
  readonly id: string;
  readonly name: string;
  readonly resourceGroup: string;
  readonly location: string;
  readonly family: NonNullable<ClusterOptions["family"]>;
  /** What is the matter with it, as far as the lab has been told; repairs from outside do not change it. */
  readonly situation: () => Situation;
  /** What ARM tells of it now. */
  readonly arm: () => ArmCluster;
  /** Requests that its API server was sent, refused ones included. */
  readonly requests: () => number;
  /** A workflow's pod is created, as a dry run: what the API server says. */
  readonly createPod: () => Promise<PodAnswer>;
  /** Makes it the matter; resolves when it has come about. `healthy` heals. */
  readonly inject: (situation: Situation) => Promise<void>;
  /** KAI is installed anew and everything around the cluster is as it should be. */
  readonly heal: () => Promise<void>;
  /** Ends all connections that the API server keeps to webhooks. */
  readonly restartApiServer: () => void;
  /** A new CA for the API server. ARM tells the new one, under the same etag: who keeps the old one meets a TLS failure. */
  readonly rotateCertificates: () => Promise<void>;
  /** What the managed identity may do there from now on. */
  readonly grant: (capability: Capability) => Promise<void>;
  /** Sets tags of the resource, such as `fleetmend-mode`. */
  readonly tag: (tags: Readonly<Record<string, string>>) => void;
  readonly stop: () => Promise<void>;
}

export interface SubscriptionClusterOptions extends ClusterOptions {
  /** As it is when nothing is the matter; `server` is filled in. */
  readonly resource: Omit<ArmCluster, "server" | "etag"> & { readonly fqdn: string };
  readonly wire: Wire;
  readonly identity: Identity;
  readonly capability: Capability;
  readonly latencyMs: number;
}

/** Everything that changes around a cluster. */
interface State {
  circumstance: Circumstance | undefined;
  situation: Situation;
  revision: number;
  tags: Readonly<Record<string, string>>;
  rights: User["rights"];
  authority: Authority;
  requests: number;
}

/** Healthy when it resolves. */
export async function startSubscriptionCluster(options: SubscriptionClusterOptions): Promise<SubscriptionCluster> {
  const { resource, wire, family = "A" } = options;
  const cluster = await startCluster(options);
  const authority = await createAuthority(`${resource.name} CA`, cluster.now());
  // What a kubeconfig of a cluster with another CA names, and who logs in where there is no Entra.
  const others = await createAuthority("another CA", cluster.now());
  const clientCertificate = await others.certifyClient("masterclient", "system:masters");
  const state: State = {
    circumstance: undefined,
    situation: "healthy",
    revision: 1,
    tags: resource.tags,
    rights: await rightsOf(options.capability),
    authority,
    requests: 0,
  };
  const server = createApiServer({
    ...cluster,
    serving: await authority.certify({ dnsNames: [resource.fqdn] }),
    clientCaPem: others.caPem,
    version,
    latencyMs: options.latencyMs,
    authenticate: (login) => callerOf(login, state, options.identity),
  });

  const surround = (circumstance: Circumstance | undefined): void => {
    if (isSeenByArm(state.circumstance) || isSeenByArm(circumstance)) state.revision += 1;
    state.circumstance = circumstance;
    if (circumstance === "never-answers") wire.silence(resource.fqdn);
    else if (isGone(circumstance)) wire.remove(resource.fqdn);
    else wire.route(resource.fqdn, server);
  };
  const arm = (): ArmCluster => ({
    ...resource,
    ...armStateIn(state.circumstance),
    tags: state.tags,
    etag: `"${state.revision}"`,
    server: { host: resource.fqdn, caPem: state.authority.caPem, ...addressIn(state.circumstance, resource, others) },
    ...(state.circumstance === "local-accounts" ? { clientCertificate } : {}),
  });
  wire.route(resource.fqdn, server);

  const changes = changesOf(cluster, state, { surround, isBare: family === "none" });
  return {
    id: armIdOf(arm()).toLowerCase(),
    name: resource.name,
    resourceGroup: resource.resourceGroup,
    location: resource.location,
    family,
    situation: () => state.situation,
    arm,
    requests: () => state.requests,
    createPod: cluster.createPod,
    ...changes,
    restartApiServer() {
      cluster.clients.close();
    },
    async rotateCertificates() {
      state.authority = await createAuthority(`${resource.name} CA`, cluster.now());
      server.setSecureContext({ ...(await state.authority.certify({ dnsNames: [resource.fqdn] })), ca: others.caPem });
    },
    async grant(capability) {
      state.rights = await rightsOf(capability);
    },
    tag(tags) {
      state.tags = { ...state.tags, ...tags };
      state.revision += 1;
    },
    async stop() {
      wire.remove(resource.fqdn);
      await cluster.stop();
    },
  };
}

interface Around {
  readonly surround: (circumstance: Circumstance | undefined) => void;
  /** Without KAI. */
  readonly isBare: boolean;
}

function changesOf(cluster: Cluster, state: State, { surround, isBare }: Around) {
  const heal = async (): Promise<void> => {
    surround(undefined);
    if (state.situation !== "healthy" && !isCircumstance(state.situation)) await cluster.upgradeKai();
    state.situation = isBare ? "nothing-to-watch" : "healthy";
  };
  return {
    heal,
    async inject(situation: Situation) {
      if (situation === "healthy") return heal();
      if ((situation === "nothing-to-watch") !== isBare) throw new Error("a cluster has KAI or not from its start");
      if (isCircumstance(situation)) surround(situation);
      else await inject(cluster, situation);
      state.situation = situation;
    },
  };
}

/** Whether the resource changes, and its etag with it. */
function isSeenByArm(circumstance: Circumstance | undefined): boolean {
  const unseen: readonly Circumstance[] = ["never-answers", "unauthorized", "forbidden", "nothing-to-watch"];
  return circumstance !== undefined && !unseen.includes(circumstance);
}

function isGone(circumstance: Circumstance | undefined): boolean {
  return circumstance !== undefined && ["stopped", "creating", "deleting", "no-dns"].includes(circumstance);
}

function armStateIn(circumstance: Circumstance | undefined): Partial<ArmCluster> {
  switch (circumstance) {
    case "stopped":
      return { powerState: "Stopped" };
    case "creating":
      return { provisioningState: "Creating" };
    case "deleting":
      return { provisioningState: "Deleting" };
    case "no-dns":
      return { private: true };
    case "authorized-ip-ranges":
      return { authorizedIpRanges: ["203.0.113.0/24"] };
    case "local-accounts":
      return { entra: false };
    default:
      return {};
  }
}

/** A name that DNS cannot know (RFC 6761, `invalid`), for NO_PROXY; and loopback's port 1, where nobody listens. */
export const unresolvable = ".privatelink.invalid";
const nowhere = { host: "127.0.0.1", port: 1 };

function addressIn(
  circumstance: Circumstance | undefined,
  { name }: { readonly name: string },
  others: Authority,
): Partial<ArmCluster["server"]> {
  switch (circumstance) {
    case "no-dns":
      return { host: name + unresolvable };
    case "no-route":
    case "authorized-ip-ranges":
      return nowhere;
    case "tls-failed":
      return { caPem: others.caPem };
    default:
      return {};
  }
}

const everything: User["rights"] = [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }];

function callerOf(login: Login, state: State, identity: Identity): User | undefined {
  state.requests += 1;
  if (state.circumstance === "unauthorized") return undefined;
  if (state.circumstance === "local-accounts") {
    return login.certificateUser === undefined ? undefined : { name: login.certificateUser, rights: everything };
  }
  if (!identity.accepts(login.authorization, "aks")) return undefined;
  return { name: identity.objectId, rights: state.circumstance === "forbidden" ? [] : state.rights };
}
