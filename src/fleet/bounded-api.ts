// The time that one invocation may spend on a cluster. Each call has a time-out of its own; this bounds their number.
import type { ApiFailure, ClusterApi } from "../admission/cluster-api.ts";
import { failure } from "../result.ts";

/** The same API, with requests counted from here on; what is called after `end` is not sent, and answers `timeout`. A call in flight is not cut off. */
export function boundedApi(api: ClusterApi, end: Date, now: () => Date): ClusterApi {
  const isOver = (): boolean => now() >= end;
  const before = api.requestCount();
  const late: ApiFailure = {
    kind: "timeout",
    message: "the cluster did not answer everything within the time of one care",
  };
  return {
    server: api.server,
    requestCount: () => api.requestCount() - before,
    get: async (path) => (isOver() ? failure(late) : api.get(path)),
    list: async (path, options) => (isOver() ? failure(late) : api.list(path, options)),
    create: async (path, body, options) => (isOver() ? failure(late) : api.create(path, body, options)),
    replace: async (path, body) => (isOver() ? failure(late) : api.replace(path, body)),
    patch: async (path, operations) => (isOver() ? failure(late) : api.patch(path, operations)),
    handshake: async (target) =>
      isOver() ? failure({ kind: "timeout", message: late.message }) : api.handshake(target),
  };
}
