// An installation of OSMO to rotate in: the lab's OSMO, a vault, the Secrets and the operator's Deployments, whose pods read
// the token when they start, exchange it whenever they reconnect, and crash-loop on a dead one. Each request can be the last
// of its process, and after each one the consumers try what they hold.
import { inspect } from "node:util";
import { deploymentPath, secretPath } from "../../src/osmo/look-operator.ts";
import { adminSources, type RotationParts } from "../../src/osmo/rotation-parts.ts";
import { rotateToken, type RotationAnswer } from "../../src/osmo/rotate-token.ts";
import { createOsmoApi } from "../../src/osmo/create-osmo-api.ts";
import type { OsmoRequest } from "../../src/osmo/osmo-transport.ts";
import { adminToken, backendToken, madeAt, type TokenCredential } from "../../src/osmo/token-credential.ts";
import type { OsmoRelease } from "../../src/lab/osmo/release.ts";
import { hashOf } from "../../src/lab/osmo/osmo-tables.ts";
import { MemoryApi } from "../admission/memory-api.ts";
import { LabWorld, password } from "./lab-osmo.ts";
import { MemoryVault } from "./memory-vault.ts";

export const admin = adminToken({ installation: "lab" });
export const backend = backendToken({ installation: "lab" });
export const operatorSecret = secretPath({ namespace: "osmo-operator", name: "osmo-operator-token" });
const adminSecret = secretPath({ namespace: "osmo-control-plane", name: "osmo-default-admin" });
const [worker, listener] = ["worker", "listener"].map((role) => ({
  namespace: "osmo-operator",
  name: `osmo-operator-osmo-backend-${role}`,
})) as [{ namespace: string; name: string }, { namespace: string; name: string }];

/** The end of a process. */
export class Killed extends Error {}
/** OSMO did not say which routes it has: the next call tries again. */
class NotOpened extends Error {}

interface Pod {
  readonly path: string;
  readonly token: string;
  isConnected: boolean;
}

export class RotationWorld {
  readonly osmo: LabWorld;
  readonly vault: MemoryVault;
  readonly cluster: MemoryApi;
  /** Everything that was answered, for the search for canaries. */
  readonly told: string[] = [];
  /** Token values and JWTs that were ever on the wire. */
  readonly values = new Set<string>([password]);
  /** What was wrong after some request: a consumer whose credential does not exchange. */
  readonly failures: string[] = [];
  requests = 0;
  /** Which of the requests were writes, by their number. */
  readonly writes: number[] = [];
  /** Ends the process before or after this request. */
  killAt: { readonly request: number; readonly when: "before" | "after" } | undefined;
  /** Whether consumers are expected to work at every instant. */
  watch = { admin: true, backend: true };
  readonly #pods = new Map<string, Pod>();
  #podCount = 0;
  #seed = 1;

  private constructor(osmo: LabWorld) {
    this.osmo = osmo;
    const now = (): Date => osmo.time;
    this.vault = new MemoryVault(now);
    this.cluster = new MemoryApi(now);
    osmo.around = async (act) => {
      const { method = "GET", path = "" } = osmo.requests.at(-1) ?? {};
      this.#count(method !== "GET" && path !== "/api/auth/jwt/access_token");
      await act();
      this.#observe();
    };
    this.vault.around = (act, call) => {
      this.#count(call !== "look" && call !== "value");
      act();
      this.#observe();
      return undefined;
    };
    this.cluster.around = (act, verb) => {
      this.#count(verb !== "get" && verb !== "list");
      act();
      this.#observe();
      return undefined;
    };
    this.cluster.afterWrite = (path) => {
      if (path.includes("/deployments/")) this.#rollOut(path);
    };
  }

  /** `operatorToken` and `apiToken`: values that are there at the start, and until when. */
  static async start(
    release: OsmoRelease,
    tokens: { operatorToken?: string; operatorEnds?: string; apiToken?: string; apiEnds?: string } = {},
  ): Promise<RotationWorld> {
    const osmo = await LabWorld.start(release);
    const world = new RotationWorld(osmo);
    const { operatorToken, operatorEnds = "2026-12-20", apiToken, apiEnds = "2026-12-20" } = tokens;
    osmo.lab.world.database.backends.push({
      name: "default",
      version: "6.2.10",
      createdAt: osmo.time,
      lastHeartbeat: osmo.time,
    });
    world.vault.put("osmo-admin-password", password);
    world.cluster.put(adminSecret, secretOf({ password }), "kubectl");
    if (release !== "6.0" && (operatorToken !== undefined || apiToken !== undefined)) world.#users();
    const userOf = (user: string, token: string): string => (release === "6.0" ? token : user);
    if (operatorToken !== undefined) {
      const name = "backend-token-20260920060000";
      osmo.insert(userOf("backend-operator", name), name, operatorToken, ["osmo-backend"], operatorEnds);
      world.values.add(operatorToken);
    }
    if (apiToken !== undefined) {
      const name = "fm-lab-admin-20260920T060000-aaaa";
      osmo.insert(userOf("fleetmend", name), name, apiToken, ["osmo-admin"], apiEnds);
      world.vault.put("osmo-admin-token", apiToken, { "osmo-token": name });
      world.values.add(apiToken);
    }
    world.cluster.put(operatorSecret, secretOf({ token: operatorToken ?? "placeholder" }), "kubectl");
    for (const name of [worker, listener]) {
      world.cluster.put(deploymentPath(name), deploymentOf(name), "helm");
      world.#rollOut(deploymentPath(name));
    }
    return world;
  }

  #users(): void {
    const at = this.osmo.time;
    const role = (name: string) => [{ name, assignedBy: "admin", assignedAt: at }];
    this.osmo.lab.world.database.users.push(
      { id: "backend-operator", createdAt: at, createdBy: "admin", roles: role("osmo-backend") },
      { id: "fleetmend", createdAt: at, createdBy: "admin", roles: role("osmo-admin") },
    );
  }

  /** The parts of a new process. */
  async parts(holder = "test/1"): Promise<RotationParts> {
    const { transport } = this.osmo;
    const noting = {
      where: transport.where,
      request: async (request: OsmoRequest) => {
        const answer = await transport.request(request);
        if (answer.ok && answer.value.status === 200) this.#remember(answer.value.body);
        return answer;
      },
    };
    const osmo = await createOsmoApi(noting, { sleep: () => Promise.resolve() });
    if (!osmo.ok) throw new NotOpened(osmo.error.message);
    return {
      osmo: osmo.value,
      vault: this.vault.api(),
      cluster: this.cluster.api(),
      now: () => this.osmo.time,
      random: () => {
        this.#seed = (this.#seed * 16807) % 2147483647;
        return this.#seed / 2147483647;
      },
      admin: adminSources(admin),
      lease: { namespace: "osmo-control-plane", holder },
    };
  }

  #remember(body: string): void {
    const token = /^"([\w-]{43}|[0-9a-f]{64})"$/.exec(body)?.[1] ?? /"(eyJ[\w.-]+)"/.exec(body)?.[1];
    if (token !== undefined) this.values.add(token);
  }

  pass(seconds: number): void {
    this.osmo.time = new Date(this.osmo.time.getTime() + seconds * 1000);
    this.#beat();
  }

  /** Calls again until there is nothing left to do, as the timer and the queue would. Killed processes are replaced. */
  async run(credential: TokenCredential, limit = 60): Promise<RotationAnswer> {
    for (let call = 0; call < limit; call += 1) {
      const answer = await this.once(credential);
      if (answer === undefined) {
        this.pass(31);
        continue;
      }
      if (answer.answer !== "wait") return answer;
      this.pass(answer.seconds);
    }
    throw new Error(`no end after ${limit} calls: ${this.told.at(-2) ?? ""}`);
  }

  /** One call in a process of its own. Undefined where it was killed, or did not come to anything. */
  async once(credential: TokenCredential, holder?: string): Promise<RotationAnswer | undefined> {
    try {
      const answer = await rotateToken(await this.parts(holder), credential);
      this.told.push(JSON.stringify(answer), inspect(answer, { depth: 9 }));
      return answer;
    } catch (error) {
      if (error instanceof Killed || error instanceof NotOpened) return undefined;
      throw error;
    }
  }

  #count(isWrite: boolean): void {
    this.requests += 1;
    if (isWrite) this.writes.push(this.requests);
    if (this.killAt?.when === "before" && this.killAt.request === this.requests) throw new Killed();
  }

  /** After each request: the consumers try, and the process may end. */
  #observe(): void {
    this.#beat();
    if (this.watch.admin && !this.adminValues().some((value) => this.isGood(value, "osmo-admin"))) {
      this.failures.push(`request ${this.requests}: no admin credential exchanges`);
    }
    if (this.watch.backend) {
      const held = [...this.#pods.values()].map(({ token }) => token);
      const copy = this.operatorToken();
      for (const value of [...held, copy]) {
        if (!this.isGood(value, "osmo-backend"))
          this.failures.push(`request ${this.requests}: the operator cannot reconnect`);
      }
    }
    if (this.killAt?.when === "after" && this.killAt.request === this.requests) throw new Killed();
  }

  adminValues(): string[] {
    return [...this.vault.enabledValues("osmo-admin-token"), ...this.vault.enabledValues("osmo-admin-password")];
  }

  operatorToken(): string {
    const { data } = this.cluster.objects.get(operatorSecret) as unknown as { data: { token: string } };
    return Buffer.from(data.token, "base64").toString();
  }

  isGood(value: string, role: string): boolean {
    const today = this.osmo.time.toISOString().slice(0, 10);
    const row = this.osmo.lab.world.database.tokens.find(({ hash }) => hash === hashOf(value));
    return row !== undefined && row.expiresOn > today && row.roles.includes(role);
  }

  /** Tokens of ours that stand in no enabled version. */
  orphans(credential: TokenCredential): string[] {
    const kept = new Set(this.vault.enabledValues(credential.vaultSecret).map(hashOf));
    return this.osmo.lab.world.database.tokens
      .filter(({ tokenName, hash }) => madeAt(credential, tokenName) !== undefined && !kept.has(hash))
      .map(({ tokenName }) => tokenName);
  }

  tokensOf(role: string): string[] {
    const { tokens } = this.osmo.lab.world.database;
    return tokens.filter(({ roles }) => roles.includes(role)).map(({ tokenName }) => tokenName);
  }

  /** What was written anywhere but where a value belongs: answers, the Lease, tags, Deployments. */
  written(): string {
    const objects = [...this.cluster.objects].filter(([path]) => !path.includes("/secrets/"));
    const tags = [...this.vault.secrets.values()].flatMap(({ versions }) => versions.map(({ tags: each }) => each));
    const { tokens } = this.osmo.lab.world.database;
    return JSON.stringify([
      this.told,
      objects,
      tags,
      tokens.map(({ description, tokenName }) => [description, tokenName]),
    ]);
  }

  canaries(): string[] {
    const written = this.written();
    return [...this.values].filter((value) => written.includes(value) || written.includes(value.slice(0, 24)));
  }

  /** The new pod starts first: it reads the Secret once (subPath), and the old one ends when it is ready. */
  #rollOut(path: string): void {
    const deployment = this.cluster.objects.get(path) as unknown as Deployment;
    const { name, namespace, generation } = deployment.metadata;
    const token = this.operatorToken();
    const annotations = deployment.spec.template.metadata.annotations ?? {};
    const isConnected = this.isGood(token, "osmo-backend");
    const old = this.#pods.get(path);
    this.#podCount += 1;
    const pod = { path: `/api/v1/namespaces/${namespace}/pods/${name}-${this.#podCount}`, token, isConnected };
    const state = isConnected ? { running: {} } : { waiting: { reason: "CrashLoopBackOff" } };
    this.cluster.put(
      pod.path,
      {
        metadata: {
          name: `${name}-${this.#podCount}`,
          labels: { app: name },
          creationTimestamp: this.osmo.time.toISOString(),
          annotations,
        },
        status: { containerStatuses: [{ state }] },
      },
      "kube-controller-manager",
    );
    if (old !== undefined && (isConnected || !old.isConnected)) this.cluster.objects.delete(old.path);
    if (old === undefined || isConnected || !old.isConnected) this.#pods.set(path, pod);
    const replicas = old !== undefined && old.isConnected && !isConnected ? 2 : 1;
    const available = isConnected ? { availableReplicas: 1 } : {};
    const status = { observedGeneration: generation, replicas, updatedReplicas: 1, ...available };
    this.cluster.objects.set(path, { ...(deployment as object), status } as never);
    this.#beat();
  }

  /** The listener's heartbeat, every 20 s in life. An open connection is never asked for its token again. */
  #beat(): void {
    const pod = this.#pods.get(deploymentPath(listener));
    const [row] = this.osmo.lab.world.database.backends;
    if (pod?.isConnected === true && row !== undefined) row.lastHeartbeat = new Date(this.osmo.time.getTime() + 1);
  }
}

interface Deployment {
  readonly metadata: { readonly name: string; readonly namespace: string; readonly generation: number };
  readonly spec: { readonly template: { readonly metadata: { readonly annotations?: Record<string, string> } } };
}

function secretOf(values: Record<string, string>): Record<string, unknown> {
  const data = Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString("base64")]);
  return { metadata: {}, data: Object.fromEntries(data) as unknown };
}

function deploymentOf({ namespace, name }: { namespace: string; name: string }): Record<string, unknown> {
  const container = { name: "backend", args: ["--host", "http://osmo-agent", "--login_method", "token"] };
  const template = { metadata: { labels: { app: name } }, spec: { containers: [container] } };
  return { metadata: { name, namespace, generation: 1 }, spec: { replicas: 1, template } };
}
