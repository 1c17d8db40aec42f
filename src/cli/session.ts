// One command on one cluster: the connection, the words before it, and the time that it may take.
import type { ClusterApi } from "../admission/cluster-api.ts";
import { type Result, failure } from "../result.ts";
import type { CliIo } from "./cli-io.ts";
import type { CommandFailure } from "./command-failure.ts";
import { type ClusterOptions, type OutputOptions, defaultProbeNamespace } from "./invocation.ts";
import { calledAs, shellWord } from "./shell-word.ts";
import type { Terminal } from "./terminal.ts";
import { paragraph, styled } from "./typeset.ts";

export interface Session {
  readonly io: CliIo;
  readonly terminal: Terminal;
  readonly options: OutputOptions & { readonly cluster: ClusterOptions };
  readonly cluster: ClusterApi;
  readonly context: string;
  /** Aborted when --timeout has passed. */
  readonly deadline: AbortSignal;
}

/** Runs `work` on the cluster that the options choose. `work` sees to the deadline, which counts from here. */
export async function inSession<T>(
  io: CliIo,
  terminal: Terminal,
  options: Session["options"],
  work: (session: Session) => Promise<Result<T, CommandFailure>>,
): Promise<Result<T, CommandFailure>> {
  const { kubeconfig, context, timeoutMs } = options.cluster;
  const deadline = io.timeout(timeoutMs);
  const choice = { ...(kubeconfig !== undefined && { kubeconfig }), ...(context !== undefined && { context }) };
  const ran = await io.withCluster(choice, async (chosen) => {
    const words = `Looking at context ${chosen.context} (${chosen.cluster.server}) …`;
    terminal.tell([paragraph(0, [styled("faint", words)])]);
    return work({ io, terminal, options, deadline, ...chosen });
  });
  if (ran.ok) return ran.value;
  return failure({ kind: "no-connection", message: ran.error.message, todo: ran.error.todo });
}

/** `work`, or a failure as soon as the deadline passes. What was begun goes on unobserved: only for work that writes nothing. */
export async function beforeDeadline<T>(
  session: Session,
  work: Promise<Result<T, CommandFailure>>,
): Promise<Result<T, CommandFailure>> {
  const { deadline, options } = session;
  const late = new Promise<Result<T, CommandFailure>>((resolve) => {
    const end = (): void => {
      resolve(failure(timedOut(options.cluster.timeoutMs)));
    };
    if (deadline.aborted) end();
    else deadline.addEventListener("abort", end, { once: true });
  });
  return Promise.race([work, late]);
}

function timedOut(timeoutMs: number): CommandFailure {
  return {
    kind: "timeout",
    message: `The cluster did not answer everything within ${timeoutMs / 1000} s.`,
    todo: "Give it longer (--timeout 5m), or see whether it answers at all: kubectl get --raw /readyz",
  };
}

/** The command line of `command` on the same cluster with the same flags, to be copied. */
export function sameFlags(session: Session, command: string): string {
  const { kubeconfig, context, namespace, probeNamespace, probeImage } = session.options.cluster;
  const flags = [
    ...(kubeconfig === undefined ? [] : ["--kubeconfig", kubeconfig]),
    ...(context === undefined ? [] : ["--context", context]),
    ...(namespace === undefined ? [] : ["--namespace", namespace]),
    ...(probeNamespace === defaultProbeNamespace ? [] : ["--probe-namespace", probeNamespace]),
    ...(probeImage === undefined ? [] : ["--probe-image", probeImage]),
  ];
  return [calledAs(session.io.env), ...command.split(" "), ...flags.map(shellWord)].join(" ");
}
