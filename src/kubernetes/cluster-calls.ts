// ClusterApi over one session: which HTTP request each call is, what is retried, and how a list is paged.
import type { ApiFailure, ClusterApi, ListOptions } from "../admission/cluster-api.ts";
import { failure, success, type Result } from "../result.ts";
import { callOnce, type ApiCall } from "./api-call.ts";
import { handshakeWithPod } from "./port-forward.ts";
import { retrying } from "./retry.ts";
import type { Session } from "./session.ts";

/** Field manager of everything that fleetmend writes: managedFields tell its bundles from another writer's. */
const fieldManager = "fleetmend";

/** The calls. Reads are tried up to three times; a write is sent once, because it may have happened. */
export function clusterCalls(session: Session, requestCount: () => number): ClusterApi {
  return {
    server: session.server,
    requestCount,
    get: (path) => read(session, path, {}),
    list: (path, options) => listAll(session, path, options ?? {}),
    create: (path, body, options) =>
      write(session, {
        method: "POST",
        path,
        query: { fieldManager, ...(options?.dryRun === true && { dryRun: "All" }) },
        body,
      }),
    replace: (path, body) => write(session, { method: "PUT", path, query: { fieldManager }, body }),
    patch: (path, operations) =>
      write(session, {
        method: "PATCH",
        path,
        query: { fieldManager },
        body: operations,
        contentType: "application/json-patch+json",
      }),
    handshake: (target) => handshakeWithPod(session, target),
  };
}

function read(
  session: Session,
  path: string,
  query: Readonly<Record<string, string>>,
): Promise<Result<unknown, ApiFailure>> {
  return retrying(() => callOnce(session, { method: "GET", path, query }), session.sleep);
}

async function write(session: Session, call: ApiCall): Promise<Result<unknown, ApiFailure>> {
  const result = await callOnce(session, call);
  return result.ok ? result : failure(result.error.failure);
}

/**
 * Pages through a collection. Where the continue token expires on the way (410, after about five minutes, or when etcd
 * is compacted: Kubernetes API concepts, "Retrieving large results sets in chunks") the list starts afresh, once:
 * pages of different ages must not be mixed.
 */
async function listAll(
  session: Session,
  path: string,
  options: ListOptions,
): Promise<Result<readonly unknown[], ApiFailure>> {
  let items: unknown[] = [];
  let token = "";
  let hasRestarted = false;
  for (;;) {
    const answer = await read(session, path, pageQuery(session.pageSize, options, token));
    if (!answer.ok && answer.error.status === 410 && token !== "" && !hasRestarted) {
      hasRestarted = true;
      items = [];
      token = "";
      continue;
    }
    const page = answer.ok ? parsePage(path, answer.value) : answer;
    if (!page.ok) return page;
    items.push(...page.value.items);
    token = page.value.token;
    if (token === "") return success(items);
  }
}

function pageQuery(pageSize: number, options: ListOptions, token: string): Record<string, string> {
  return {
    limit: pageSize.toString(),
    ...(options.labelSelector !== undefined && { labelSelector: options.labelSelector }),
    ...(options.fieldSelector !== undefined && { fieldSelector: options.fieldSelector }),
    ...(token !== "" && { continue: token }),
  };
}

interface Page {
  readonly items: readonly unknown[];
  readonly token: string;
}

function parsePage(path: string, value: unknown): Result<Page, ApiFailure> {
  const { items, metadata } = (value ?? {}) as { readonly items?: unknown; readonly metadata?: unknown };
  // An empty list of some extension servers is `null`.
  if (!Array.isArray(items) && items !== null) {
    return failure({ kind: "unreachable", message: `the answer to ${path} is not a Kubernetes list` });
  }
  const token =
    typeof metadata === "object" && metadata !== null && "continue" in metadata ? metadata.continue : undefined;
  return success({ items: (items ?? []) as readonly unknown[], token: typeof token === "string" ? token : "" });
}
