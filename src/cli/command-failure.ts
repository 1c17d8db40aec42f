// Why a command could not do what was asked, before or instead of a result: data, in its own channel beside findings.
import type { ApiFailure } from "../admission/cluster-api.ts";
import { exitCode } from "./exit-code.ts";

/** `message` says what happened, `todo` what to type next. Neither holds a secret. */
export interface CommandFailure {
  readonly kind:
    | "wrong-use" // what was typed
    | "no-connection" // kubeconfig, context, credentials
    | "api" // the cluster answered nothing, or no
    | "timeout"; // --timeout
  readonly message: string;
  readonly todo: string;
}

export function wrongUse(message: string, todo: string): CommandFailure {
  return { kind: "wrong-use", message, todo };
}

/** 64 for what was typed, 2 for everything that kept us from looking. */
export function exitCodeOf(failure: CommandFailure): typeof exitCode.wrongUse | typeof exitCode.couldNotLook {
  return failure.kind === "wrong-use" ? exitCode.wrongUse : exitCode.couldNotLook;
}

/** What a person does about a request that was not answered. */
export function apiFailure(error: ApiFailure, context: string): CommandFailure {
  return {
    kind: "api",
    message: `The cluster of context "${context}" could not be looked at: ${error.message}`,
    todo: todoOf(error, context),
  };
}

function todoOf(error: ApiFailure, context: string): string {
  switch (error.kind) {
    case "unauthorized":
      return `Your credentials were not accepted. Sign in again, then see that this works: kubectl --context ${context} auth whoami`;
    case "forbidden":
      return "Let an administrator grant the rights of infra/kubernetes/read.yaml, then type the same again.";
    case "throttled":
      return "The API server asks for patience. Type the same again in a minute.";
    case "unreachable":
    case "timeout":
      return `See that this works from here (VPN, private cluster, stopped cluster?): kubectl --context ${context} get --raw /version`;
    case "not-found":
    case "conflict":
    case "invalid":
    case "server-error":
      return `See what the API server says of itself: kubectl --context ${context} get --raw '/readyz?verbose'`;
  }
}
