// List and watch of one collection, kept as a map, in the manner of client-go's reflector: after any error it lists
// again and reports what changed meanwhile. Deletions carry the last known object.
import https from "node:https";
import type { IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { Api } from "./api.ts";
import { keyOf, type KubeObject } from "../../src/lab/kai/kube-object.ts";

export interface Watched<T extends KubeObject> {
  /** By `namespace/name`. */
  readonly objects: ReadonlyMap<string, T>;
  stop(): void;
}

export type OnChange<T> = (object: T, change: "set" | "deleted") => void;

/** Resolves after the first list, when every object has been reported. `path` is a collection, such as `/api/v1/pods`. */
export async function watch<T extends KubeObject>(api: Api, path: string, onChange: OnChange<T>): Promise<Watched<T>> {
  const objects = new Map<string, T>();
  const stopped = new AbortController();
  let version = await relist(api, path, objects, onChange);
  const follow = async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      try {
        await stream(api, path, version, stopped.signal, (type, object) => {
          version = object.metadata.resourceVersion ?? version;
          if (type !== "BOOKMARK") apply(objects, type, object as T, onChange);
        });
      } catch {
        // The server went away, or the version is too old: a fresh list is the answer to both.
        version = await relistUntilDone(api, path, objects, onChange, version, stopped.signal);
      }
    }
  };
  void follow();
  return {
    objects,
    stop: () => {
      stopped.abort();
    },
  };
}

async function relistUntilDone<T extends KubeObject>(
  ...[api, path, objects, onChange, version, stopped]: [Api, string, Map<string, T>, OnChange<T>, string, AbortSignal]
): Promise<string> {
  while (!stopped.aborted) {
    await sleep(50);
    const listed = await relist(api, path, objects, onChange).catch(() => undefined);
    if (listed !== undefined) return listed;
  }
  return version;
}

async function relist<T extends KubeObject>(
  ...[api, path, objects, onChange]: [Api, string, Map<string, T>, OnChange<T>]
): Promise<string> {
  const { items, resourceVersion } = await api.list<T>(path);
  const listed = new Set(items.map(keyOf));
  for (const [key, object] of objects) if (!listed.has(key)) apply(objects, "DELETED", object, onChange);
  for (const item of items) apply(objects, "MODIFIED", item, onChange);
  return resourceVersion;
}

function apply<T extends KubeObject>(objects: Map<string, T>, type: string, object: T, onChange: OnChange<T>): void {
  const key = keyOf(object);
  if (type === "DELETED") objects.delete(key);
  else objects.set(key, object);
  onChange(object, type === "DELETED" ? "deleted" : "set");
}

type OnEvent = (type: string, object: KubeObject) => void;

/** One watch request. Resolves when the server ends it, rejects on an error event or a broken connection. */
function stream(api: Api, path: string, version: string, signal: AbortSignal, onEvent: OnEvent): Promise<void> {
  const url = new URL(path, api.access.server);
  url.search = new URLSearchParams({ watch: "true", resourceVersion: version, allowWatchBookmarks: "true" }).toString();
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${api.access.token}` };
    const request = https.request(url, { ca: api.access.ca, headers, agent: false, signal }, (response) => {
      if (response.statusCode !== 200) {
        response.resume();
        reject(new Error(`watch ${path}: ${response.statusCode ?? 0}`));
        return;
      }
      readLines(response, onEvent, reject);
      response.on("end", resolve);
      response.on("error", reject);
    });
    request.on("error", reject);
    request.end();
  });
}

function readLines(response: IncomingMessage, onEvent: OnEvent, reject: (error: Error) => void): void {
  let rest = "";
  response.setEncoding("utf8");
  response.on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const event = JSON.parse(line) as { type: string; object: KubeObject };
      if (event.type === "ERROR") reject(new Error(line));
      else onEvent(event.type, event.object);
    }
  });
}
