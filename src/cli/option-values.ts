// What the values of options mean: durations, times, Go releases. Nothing is looked up here, not even the clock.
import type { GoRelease } from "../trust/verdict.ts";

/** Thrown at commander by the parsers below, as it expects of them, and caught in command-line.ts: it goes no further. */
export class UnusableValue extends Error {
  /** What to type instead. */
  readonly todo: string;

  constructor(message: string, todo: string) {
    super(message);
    this.todo = todo;
  }
}

const unitMs: Readonly<Record<string, number>> = { "": 1000, s: 1000, m: 60_000, h: 3_600_000 };

/** `90`, `90s`, `5m` or `1h` as milliseconds; a number alone is seconds. Throws UnusableValue for anything else, and for zero. */
export function parseDuration(text: string): number {
  const match = /^(\d{1,6})([smh]?)$/.exec(text);
  const milliseconds = Number(match?.[1] ?? 0) * (unitMs[match?.[2] ?? ""] ?? 0);
  if (milliseconds > 0) return milliseconds;
  throw new UnusableValue(`"${text}" is not a duration.`, "Type it like --timeout 90s or --timeout 5m.");
}

// RFC 3339 §5.6, with the time of day optional and the offset required where there is a time: a time without one would
// mean something else on every machine.
const rfc3339 = /^\d{4}-\d{2}-\d{2}(?:[Tt]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:[Zz]|[+-]\d{2}:\d{2}))?$/;

/** An RFC 3339 time, or a date, which is its first moment in UTC. Throws UnusableValue for anything else. */
export function parseTime(text: string): Date {
  const time = new Date(text);
  if (rfc3339.test(text) && !Number.isNaN(time.getTime()) && isOnCalendar(text)) return time;
  throw new UnusableValue(
    `"${text}" is not a time.`,
    "Type it like --at 2026-12-01T03:00:00Z (with Z or an offset) or --at 2026-12-01.",
  );
}

/** ECMAScript reads 30 February as 2 March. */
function isOnCalendar(text: string): boolean {
  const [year = 0, month = 0, day = 0] = text.slice(0, 10).split("-").map(Number);
  return new Date(Date.UTC(year, month - 1, day)).getUTCDate() === day;
}

const releases: readonly GoRelease[] = ["1.19", "1.20", "1.21", "1.22", "1.23", "1.24", "1.25", "1.26"];

/** The newest Go release whose rules are known. */
export const newestGo: GoRelease = "1.26";

export interface GoVersion {
  readonly go: GoRelease;
  /** 13 of `go1.24.13`. */
  readonly patch?: number;
}

/**
 * `1.24`, `1.24.3` or `go1.24.3` (as `GET /version` prints it) as the release whose rules apply, and its patch: a later
 * release than we know is judged as the newest known. Throws UnusableValue for anything else and for releases before 1.19.
 */
export function parseGoVersion(text: string): GoVersion {
  // What may follow (`-fips`, ` X:boringcrypto`, `rc1`) does not change the rules.
  const match = /^(?:go)?1\.(\d{1,3})(?:\.(\d{1,3}))?(?![\d.])/.exec(text);
  const minor = Number(match?.[1] ?? Number.NaN);
  const known = releases.find((release) => release === `1.${minor}`);
  if (known !== undefined) return { go: known, ...(match?.[2] === undefined ? {} : { patch: Number(match[2]) }) };
  if (minor > 26) return { go: newestGo };
  throw new UnusableValue(
    Number.isNaN(minor)
      ? `"${text}" is not a Go release.`
      : `The rules of Go ${text} are not known; 1.19 is the first.`,
    'Type it like --go 1.24; "kubectl version -o yaml" prints the API server\'s as goVersion.',
  );
}
