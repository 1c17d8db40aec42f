// A Kubernetes API in memory, as far as a repair needs it: objects by path, optimistic locking, JSON Patch as RFC 6902 says,
// generation, and managedFields of the fields that fleetmend looks at. No admission, no watch, no rights but those told.
// The real API server is in test/cluster; what is only true here proves nothing.
import type {
  ApiFailure,
  ClusterApi,
  HandshakeFailure,
  JsonPatchOperation,
  ListOptions,
  PodPort,
  ServedChain,
} from "../../src/admission/cluster-api.ts";
import { type Result, failure, success } from "../../src/result.ts";

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type KubernetesObject = Record<string, unknown> & { metadata: Record<string, unknown> };

/** One request, before it is answered. Answer it instead, or throw to end the process there. */
export type Intercept = (request: { readonly verb: string; readonly path: string }) => ApiFailure | undefined;

export class MemoryApi {
  readonly objects = new Map<string, KubernetesObject>();
  readonly requests: { readonly verb: string; readonly path: string; readonly body?: unknown }[] = [];
  /** The resources of a namespace in which a SelfSubjectRulesReview says that everything is allowed. */
  allowedResources: readonly string[] = ["*"];
  /** Whether a SelfSubjectAccessReview says yes. */
  allows: (attributes: Record<string, unknown>) => boolean = () => true;
  intercept: Intercept = () => undefined;
  /** Around each request: may throw or answer otherwise, before or after it is acted on. */
  around: (act: () => void, verb: string) => ApiFailure | undefined = (act) => {
    act();
    return undefined;
  };
  /** Called after each write of the client that changed something: the world's own moves. */
  afterWrite: (path: string) => void = () => undefined;
  serve: (target: PodPort) => Result<ServedChain, HandshakeFailure> = () =>
    failure({ kind: "not-found", message: "no such pod" });
  now: () => Date;
  #resourceVersion = 100;

  constructor(now: () => Date) {
    this.now = now;
  }

  /** Writes as somebody else: no precondition. */
  put(path: string, object: Record<string, unknown>, manager: string): KubernetesObject {
    const before = this.objects.get(path);
    const metadata = { ...before?.metadata, ...(object.metadata as Record<string, unknown> | undefined) };
    const stored: KubernetesObject = { ...structuredClone(object), metadata };
    return this.#store(path, stored, before, manager);
  }

  api(): ClusterApi {
    const call = <T>(verb: string, path: string, body: unknown, answer: () => Result<T, ApiFailure>) => {
      this.requests.push({ verb, path, ...(body !== undefined && { body }) });
      let answered: Result<T, ApiFailure> | undefined;
      const instead = this.around(() => {
        const intercepted = this.intercept({ verb, path });
        answered = intercepted === undefined ? answer() : failure(intercepted);
      }, verb);
      return Promise.resolve(instead === undefined && answered !== undefined ? answered : failure(instead ?? lost));
    };
    return {
      server: "https://memory.test",
      requestCount: () => this.requests.length,
      get: (path) => call("get", path, undefined, () => this.#get(path)),
      list: (path, options) => call("list", path, undefined, () => success(this.#list(path, options ?? {}))),
      create: (path, body) => call("create", path, body, () => this.#create(path, body as KubernetesObject)),
      replace: (path, body) => call("replace", path, body, () => this.#replace(path, body as KubernetesObject)),
      patch: (path, operations) => call("patch", path, operations, () => this.#patch(path, operations)),
      handshake: (target) => {
        this.requests.push({ verb: "handshake", path: `${target.namespace}/${target.pod}` });
        let answered: Result<ServedChain, HandshakeFailure> | undefined;
        const instead = this.around(() => {
          answered = this.serve(target);
        }, "handshake");
        const reset: HandshakeFailure = { kind: "unreachable", message: "the tunnel broke" };
        return Promise.resolve(instead === undefined && answered !== undefined ? answered : failure(reset));
      },
    };
  }

  #written(path: string, object: KubernetesObject, before: KubernetesObject | undefined): Result<unknown, ApiFailure> {
    const stored = this.#store(path, object, before, "fleetmend");
    if (stored !== before) this.afterWrite(path);
    return success(structuredClone(stored));
  }

  #get(path: string): Result<unknown, ApiFailure> {
    if (path === "/version") return success({ gitVersion: "v1.37.2", goVersion: "go1.26.8" });
    const object = this.objects.get(path);
    return object === undefined ? notFound(path) : success(structuredClone(object));
  }

  #list(path: string, options: ListOptions): unknown[] {
    const selector = Object.entries(parseSelector(options.labelSelector ?? ""));
    // A list of all namespaces has none in its path.
    const within = (key: string): string =>
      path.includes("/namespaces/") ? key : key.replace(/\/namespaces\/[^/]+(?=\/)/, "");
    return [...this.objects]
      .map(([key, object]) => [within(key), object] as const)
      .filter(([key]) => key.startsWith(`${path}/`) && !key.slice(path.length + 1).includes("/"))
      .map(([, object]) => object)
      .filter((object) => {
        const labels = (object.metadata.labels ?? {}) as Record<string, string>;
        return selector.every(([key, value]) => labels[key] === value);
      })
      .map((object) => structuredClone(object));
  }

  #create(path: string, body: KubernetesObject): Result<unknown, ApiFailure> {
    if (path.endsWith("/selfsubjectaccessreviews")) {
      const { resourceAttributes } = body.spec as { resourceAttributes: Record<string, unknown> };
      return success({ ...body, status: { allowed: this.allows(resourceAttributes) } });
    }
    if (path.endsWith("/selfsubjectrulesreviews")) {
      const everything = { verbs: ["*"], apiGroups: ["*"], resources: this.allowedResources };
      return success({ ...body, status: { resourceRules: [everything], nonResourceRules: [], incomplete: false } });
    }
    const key = `${path}/${String(body.metadata.name)}`;
    if (this.objects.has(key)) return failure({ kind: "conflict", status: 409, message: `${key} already exists` });
    return this.#written(key, structuredClone(body), undefined);
  }

  #replace(path: string, body: KubernetesObject): Result<unknown, ApiFailure> {
    const before = this.objects.get(path);
    if (before === undefined) return notFound(path);
    const wanted = body.metadata.resourceVersion;
    if (wanted !== undefined && wanted !== before.metadata.resourceVersion) {
      return failure({ kind: "conflict", status: 409, message: "the object has been modified" });
    }
    return this.#written(path, structuredClone(body), before);
  }

  #patch(path: string, operations: readonly JsonPatchOperation[]): Result<unknown, ApiFailure> {
    const before = this.objects.get(path);
    if (before === undefined) return notFound(path);
    const patched = applyJsonPatch(before as unknown as Json, operations);
    if (patched === undefined) {
      return failure({ kind: "invalid", status: 422, message: "the server rejected our request" });
    }
    return this.#written(path, patched as KubernetesObject, before);
  }

  #store(
    path: string,
    object: KubernetesObject,
    before: KubernetesObject | undefined,
    manager: string,
  ): KubernetesObject {
    const isSame = before !== undefined && JSON.stringify(object) === JSON.stringify(before);
    if (isSame) return before;
    this.#resourceVersion += 1;
    const generation = Number(before?.metadata.generation ?? object.metadata.generation ?? 1);
    const isChanged = before !== undefined && specOf(object) !== specOf(before);
    const stored: KubernetesObject = {
      ...object,
      metadata: {
        ...object.metadata,
        uid: before?.metadata.uid ?? object.metadata.uid ?? `uid-${this.#resourceVersion}`,
        resourceVersion: this.#resourceVersion.toString(),
        generation: isChanged ? generation + 1 : generation,
        managedFields: managedFieldsAfter(object, before, { manager, time: this.now() }),
      },
    };
    this.objects.set(path, stored);
    return stored;
  }
}

/** What a change of counts as a new generation. */
function specOf(object: KubernetesObject): string {
  return JSON.stringify({ ...object, metadata: undefined, status: undefined });
}

const lost: ApiFailure = { kind: "unreachable", message: "the connection was reset" };

function notFound(path: string): { readonly ok: false; readonly error: ApiFailure } {
  return failure({ kind: "not-found", status: 404, reason: "NotFound", message: `${path} not found` });
}

function parseSelector(selector: string): Record<string, string> {
  return Object.fromEntries(
    selector
      .split(",")
      .filter((term) => term !== "")
      .map((term) => term.split("=") as [string, string]),
  );
}

interface Write {
  readonly manager: string;
  readonly time: Date;
}

/** The paths in managedFields that fleetmend reads: `f:caBundle` of each webhook and `f:tls.crt` of a Secret. */
function watchedFields(object: KubernetesObject): Map<string, unknown> {
  const webhooks = (object.webhooks ?? []) as { name: string; clientConfig: { caBundle?: string } }[];
  const data = (object.data ?? {}) as Record<string, unknown>;
  const fields = new Map<string, unknown>();
  for (const { name, clientConfig } of webhooks) {
    if (clientConfig.caBundle !== undefined) fields.set(`webhook ${name}`, clientConfig.caBundle);
  }
  if (data["tls.crt"] !== undefined) fields.set("tls.crt", data["tls.crt"]);
  return fields;
}

function fieldsV1(field: string): unknown {
  if (field === "tls.crt") return { "f:data": { "f:tls.crt": {} } };
  const name = field.slice("webhook ".length);
  return { "f:webhooks": { [`k:${JSON.stringify({ name })}`]: { "f:clientConfig": { "f:caBundle": {} } } } };
}

/** One entry for each watched field, written anew where its value changes (as Update moves ownership in Kubernetes). */
function managedFieldsAfter(object: KubernetesObject, before: KubernetesObject | undefined, write: Write): unknown[] {
  const old = before === undefined ? new Map<string, unknown>() : watchedFields(before);
  const oldEntries = (before?.metadata.managedFields ?? []) as { field: string }[];
  return [...watchedFields(object)].map(([field, value]) => {
    const kept = old.get(field) === value ? oldEntries.find((entry) => entry.field === field) : undefined;
    return (
      kept ?? {
        field,
        manager: write.manager,
        operation: "Update",
        time: write.time.toISOString().replace(/\.\d+Z$/, "Z"),
        fieldsType: "FieldsV1",
        fieldsV1: fieldsV1(field),
      }
    );
  });
}

/** RFC 6902 for the operations that fleetmend uses. Undefined where an operation fails. */
export function applyJsonPatch(document: Json, operations: readonly JsonPatchOperation[]): Json | undefined {
  const copy = structuredClone(document) as unknown;
  for (const operation of operations) {
    const tokens = operation.path
      .split("/")
      .slice(1)
      .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
    const last = tokens.pop() ?? "";
    const parent = tokens.reduce<unknown>(
      (at, token) => (typeof at === "object" && at !== null ? (at as Record<string, unknown>)[token] : undefined),
      copy,
    );
    if (typeof parent !== "object" || parent === null) return undefined;
    const target = parent as Record<string, unknown>;
    switch (operation.op) {
      case "test":
        if (!(last in target) || canonical(target[last]) !== canonical(operation.value)) return undefined;
        break;
      case "add":
        target[last] = structuredClone(operation.value);
        break;
      case "replace":
        if (!(last in target)) return undefined;
        target[last] = structuredClone(operation.value);
        break;
      case "remove":
        if (!(last in target)) return undefined;
        Reflect.deleteProperty(target, last);
        break;
    }
  }
  return copy as Json;
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([left], [right]) => (left < right ? -1 : 1)))
      : inner,
  );
}
