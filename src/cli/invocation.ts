// What was typed, as data: which command with which settings. command-line.ts makes it; the commands take it.
import type { GoVersion } from "./option-values.ts";

/** The namespace that OSMO's workflows run in, where a refused pod hurts. */
export const defaultProbeNamespace = "osmo-workflows";

export interface ClusterOptions {
  /** Path of the kubeconfig; absent: $KUBECONFIG or ~/.kube/config, as kubectl does it. */
  readonly kubeconfig?: string;
  readonly context?: string;
  /** The namespace of KAI; absent: all of them. */
  readonly namespace?: string;
  /** Where the dry-run pod is asked for. */
  readonly probeNamespace: string;
  /** Absent: the one that every AKS node has. */
  readonly probeImage?: string;
  /** For the whole command. */
  readonly timeoutMs: number;
}

export interface OutputOptions {
  readonly output: "table" | "json";
  /** False after --no-color; a terminal and $NO_COLOR have their say besides. */
  readonly colour: boolean;
}

export interface FileOptions extends GoVersion {
  readonly bundle: string;
  readonly served: string;
  readonly serverName: string;
  /** Absent: now. */
  readonly at?: Date;
}

export type Invocation = OutputOptions &
  (
    | { readonly command: "scan"; readonly cluster: ClusterOptions; readonly probe: boolean }
    | { readonly command: "explain"; readonly cluster: ClusterOptions }
    | { readonly command: "explain-files"; readonly files: FileOptions }
    | { readonly command: "probe"; readonly cluster: ClusterOptions }
    | {
        readonly command: "repair";
        readonly cluster: ClusterOptions;
        readonly yes: boolean;
        readonly dryRun: boolean;
        readonly allowOutage: boolean;
      }
  );
