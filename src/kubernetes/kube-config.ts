// Finds and reads the kubeconfig: a named file, KUBECONFIG, ~/.kube/config, or the pod's own service account. Nothing is
// sent and no credential is asked for here.
import { readFileSync } from "node:fs";
import path from "node:path";
import type { KubeConfig } from "@kubernetes/client-node";
import { failure, success, type Result } from "../result.ts";
import type { ConnectFailure } from "./connect-failure.ts";
import { proxyFromEnvironment } from "./proxy-from-environment.ts";

export interface KubeConfigOptions {
  /** A file, as in `--kubeconfig`. Nothing else is looked at where it is given. */
  readonly kubeconfig?: string;
  /** A context of the file other than its current one. */
  readonly context?: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

type Loaded = Result<KubeConfig, ConnectFailure>;

/**
 * The KubeConfig with its current context set and complete: its cluster and user are there, and a proxy of the
 * environment is filled in where the cluster names none. Several files in KUBECONFIG are merged as kubectl does: the
 * first to define a name or the current context wins, and a missing file is skipped (Kubernetes docs, "Organizing
 * Cluster Access Using kubeconfig Files", merging). client-node 2.0.1 by itself stops at a missing file and at a
 * name defined twice, and takes the last current context. Not checked: that the server answers or the user may log in.
 */
export async function loadKubeConfig(options: KubeConfigOptions): Promise<Loaded> {
  const loaded = await readSources(options);
  if (!loaded.ok) return loaded;
  const kubeConfig = loaded.value;
  if (options.context !== undefined) kubeConfig.setCurrentContext(options.context);
  const incomplete = contextFailure(kubeConfig);
  if (incomplete !== undefined) return failure(incomplete);
  fillInProxy(kubeConfig, options.environment);
  return success(kubeConfig);
}

async function readSources(options: KubeConfigOptions): Promise<Loaded> {
  // Loading client-node takes about half a second and 80 MB (most of it models that are not used here), so not before
  // a cluster is asked for.
  const { KubeConfig } = await import("@kubernetes/client-node");
  const named = options.kubeconfig ?? options.environment.KUBECONFIG;
  if (named) {
    const files = options.kubeconfig ? [options.kubeconfig] : named.split(path.delimiter).filter(Boolean);
    return mergeFiles(files, () => new KubeConfig());
  }
  const kubeConfig = new KubeConfig();
  try {
    kubeConfig.loadFromDefault();
  } catch (error) {
    return failure(unreadable("the default kubeconfig", error));
  }
  // With nothing to load, client-node falls back on http://localhost:8080 under this name, which no one means.
  if (kubeConfig.getCurrentContext() === "loaded-context") return failure(missing("~/.kube/config"));
  return success(kubeConfig);
}

function mergeFiles(files: readonly string[], empty: () => KubeConfig): Loaded {
  const merged = empty();
  let found = 0;
  for (const file of files) {
    const next = empty();
    try {
      next.loadFromString(readFileSync(file, "utf8"));
      next.makePathsAbsolute(path.dirname(path.resolve(file)));
    } catch (error) {
      if (codeOf(error) === "ENOENT") continue;
      return failure(unreadable(file, error));
    }
    found += 1;
    addMissing(merged, next);
  }
  return found === 0 ? failure(missing(files.join(" and "))) : success(merged);
}

function addMissing(merged: KubeConfig, next: KubeConfig): void {
  const isNew =
    (there: readonly { readonly name: string }[]) =>
    ({ name }: { readonly name: string }): boolean =>
      !there.some((entry) => entry.name === name);
  merged.clusters.push(...next.clusters.filter(isNew(merged.clusters)));
  merged.users.push(...next.users.filter(isNew(merged.users)));
  merged.contexts.push(...next.contexts.filter(isNew(merged.contexts)));
  // The type says `string`; an absent current-context is undefined, and an empty one is as good as absent.
  if (!merged.currentContext) merged.currentContext = next.currentContext;
}

function contextFailure(kubeConfig: KubeConfig): ConnectFailure | undefined {
  const name = kubeConfig.getCurrentContext() as string | undefined;
  const known = kubeConfig.contexts.map((context) => context.name);
  const todo = `kubectl config get-contexts   # then: --context NAME${known.length > 0 ? ` (${known.join(", ")})` : ""}`;
  if (!name) return { kind: "context-missing", message: "The kubeconfig has no current context.", todo };
  const context = kubeConfig.getContextObject(name);
  if (context === null) return { kind: "context-missing", message: `The kubeconfig has no context "${name}".`, todo };
  const absent =
    kubeConfig.getCurrentCluster() === null
      ? `cluster "${context.cluster}"`
      : kubeConfig.getCurrentUser() === null
        ? `user "${context.user}"`
        : undefined;
  if (absent === undefined) return undefined;
  return {
    kind: "context-incomplete",
    message: `The context "${name}" names the ${absent}, which the kubeconfig does not have.`,
    todo: `kubectl config view --context ${name}   # and add the missing entry, or choose another context`,
  };
}

/** client-node knows `proxy-url` only; kubectl also goes through the proxy of the environment, and so do we. */
function fillInProxy(kubeConfig: KubeConfig, environment: KubeConfigOptions["environment"]): void {
  const current = kubeConfig.getCurrentCluster();
  if (current === null || current.proxyUrl) return;
  const proxyUrl = proxyFromEnvironment(current.server, environment);
  if (proxyUrl === undefined) return;
  kubeConfig.clusters = kubeConfig.clusters.map((cluster) =>
    cluster.name === current.name ? { ...cluster, proxyUrl } : cluster,
  );
}

function missing(where: string): ConnectFailure {
  return {
    kind: "kubeconfig-missing",
    message: `There is no kubeconfig at ${where}.`,
    todo: "az aks get-credentials --resource-group GROUP --name CLUSTER   # or name a file: --kubeconfig FILE",
  };
}

function unreadable(file: string, error: unknown): ConnectFailure {
  return {
    kind: "kubeconfig-unreadable",
    message: `${file} cannot be read as a kubeconfig${whereIn(error)}.`,
    todo: `kubectl config view --kubeconfig ${file}   # kubectl says what it does not understand`,
  };
}

/** The place of a fault, never its text: a YAML parser quotes the lines around it, and a token may be among them. */
function whereIn(error: unknown): string {
  const code = codeOf(error);
  if (code !== undefined) return ` (${code})`;
  const mark = error instanceof Error && "mark" in error ? error.mark : undefined;
  const line = typeof mark === "object" && mark !== null && "line" in mark ? mark.line : undefined;
  return typeof line === "number" ? ` (YAML, line ${line + 1})` : "";
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}
