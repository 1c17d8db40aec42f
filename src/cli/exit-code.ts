// The exit codes, for scripts, and which one a scan comes to. docs/json-output.md lists them for users.
import type { Finding, Severity } from "../admission/finding.ts";

/** `npm run` hands each of them on as it is. 64 is EX_USAGE of BSD's sysexits.h. */
export const exitCode = { nothingWrong: 0, findings: 1, couldNotLook: 2, wrongUse: 64 } as const;

export type ExitCode = (typeof exitCode)[keyof typeof exitCode];

/** 1 where something is wrong or will be, 2 where only something could not be looked at, else 0. */
export function exitCodeFor(findings: readonly Finding[]): ExitCode {
  const has = (severity: Severity): boolean => findings.some((finding) => finding.severity === severity);
  if (has("broken") || has("warning")) return exitCode.findings;
  return has("undetermined") ? exitCode.couldNotLook : exitCode.nothingWrong;
}
