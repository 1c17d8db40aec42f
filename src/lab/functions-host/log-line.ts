// One line of the host's log, as Application Insights would keep it of the real one, and how it is shown.

export interface LogLine {
  /** `trace`, `debug`, `information`, `warning`, `error`. */
  readonly level: string;
  /** `user`: from the handler's context.log. Anything else is the host's or the library's own. */
  readonly category: string;
  readonly message: string;
  readonly function?: string;
  readonly invocationId?: string;
}

export type Log = (line: LogLine) => void;

/** One line for a terminal. */
export function showLogLine(line: LogLine, at: Date): string {
  const level = { information: "", warning: " warning:", error: " error:" }[line.level] ?? ` ${line.level}:`;
  return `${at.toISOString().slice(11, 23)} ${line.function ?? "host"}:${level} ${line.message}`;
}
