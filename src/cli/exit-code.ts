// The exit codes, for scripts. docs/json-output.md lists them for users.

/** `npm run` hands each of them on as it is. 64 is EX_USAGE of BSD's sysexits.h. */
export const exitCode = { nothingWrong: 0, findings: 1, couldNotLook: 2, wrongUse: 64 } as const;

export type ExitCode = (typeof exitCode)[keyof typeof exitCode];
