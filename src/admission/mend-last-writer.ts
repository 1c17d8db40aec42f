// With whom fleetmend would fight: who last wrote the object of a step, as far as managedFields say.
import { isSameEntry } from "./plan-case.ts";
import type { Step } from "./repair-plan.ts";
import type { ClusterSnapshot } from "./snapshot.ts";

/**
 * The object, as kubectl names it, and the field manager that last wrote what the step is to write. An absent bundle has no
 * writer: whoever took it away cannot be told.
 */
export function lastWriterOf(
  { action }: Step,
  snapshot: ClusterSnapshot,
): { readonly object: string; readonly writer: string } {
  const unknown = "a writer that managedFields do not name";
  switch (action.kind) {
    case "set-bundle": {
      const hook = snapshot.hooks.find((one) => action.entries.some((entry) => isSameEntry(entry.hook, one)));
      return { object: shortPath(action.holderPath), writer: hook?.bundleWriter?.manager ?? unknown };
    }
    case "set-secret-certificates":
    case "force-reconcile": {
      const secrets = snapshot.backends.flatMap(({ secret }) => (secret?.seen === true ? [secret.value] : []));
      const secret = secrets.find(({ namespace, name }) => action.secretPath.endsWith(`/${namespace}/secrets/${name}`));
      return { object: shortPath(action.secretPath), writer: secret?.lastWriter?.manager ?? unknown };
    }
    case "restart-deployment":
      return { object: shortPath(action.deploymentPath), writer: unknown };
  }
}

const shortPath = (path: string): string => path.split("/").slice(-2).join("/");
