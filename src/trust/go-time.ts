// The times of a certificate as Go reads them (parseTime of crypto/x509/parser.go, ReadASN1UTCTime and
// ReadASN1GeneralizedTime of cryptobyte), and as it prints them.
import { type DerReader, tag } from "./der.ts";
import type { GoRules } from "./go-rules.ts";
import { fromBytes, rfc3339 } from "./go-text.ts";
import { Malformed } from "./malformed.ts";

export interface GoTime {
  readonly date: Date;
  /** Go keeps the zone that the certificate wrote, and prints the time in it. Minutes east of UTC. */
  readonly offsetMinutes: number;
}

export function formatTime(time: GoTime): string {
  return rfc3339(time.date, time.offsetMinutes);
}

/** UTCTime may lack its seconds and either form may carry a zone, against RFC 5280 §4.1.2.5: Go reads them. */
export function parseTime(reader: DerReader, rules: GoRules): GoTime | Malformed {
  if (reader.peek(tag.utcTime)) {
    const content = reader.read(tag.utcTime);
    return (content && parseUtcTime(fromBytes(content), rules)) ?? new Malformed("x509: malformed UTCTime");
  }
  if (reader.peek(tag.generalizedTime)) {
    const content = reader.read(tag.generalizedTime);
    const time =
      content && parseDigits(/^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(Z|[+-]\d{4})$/, fromBytes(content), rules);
    return time ?? new Malformed("x509: malformed GeneralizedTime");
  }
  return new Malformed("x509: unsupported time format");
}

function parseUtcTime(text: string, rules: GoRules): GoTime | undefined {
  // RFC 5280 §4.1.2.5.1: 50 to 99 are of the twentieth century.
  const century = Number(text.slice(0, 2)) >= 50 ? "19" : "20";
  return parseDigits(/^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)?(Z|[+-]\d{4})$/, century + text, rules);
}

function parseDigits(form: RegExp, text: string, rules: GoRules): GoTime | undefined {
  const match = form.exec(text);
  if (match === null) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match
    .slice(1, 7)
    .map((digits: string | undefined) => Number(digits ?? 0));
  const offsetMinutes = parseZone(match[7] ?? "", rules);
  const local = new Date(0);
  local.setUTCFullYear(year, month - 1, day);
  local.setUTCHours(hour, minute, second);
  const isReal =
    month >= 1 &&
    local.getUTCMonth() === month - 1 &&
    local.getUTCDate() === day &&
    hour < 24 &&
    minute < 60 &&
    second < 60;
  if (!isReal || offsetMinutes === undefined) return undefined;
  return { date: new Date(local.getTime() - offsetMinutes * 60_000), offsetMinutes };
}

/** Go formats what it has parsed and wants the same text back: UTC must be `Z`, minutes must be below 60. */
function parseZone(zone: string, rules: GoRules): number | undefined {
  if (zone === "Z") return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(3));
  if (minutes >= 60 || (hours === 0 && minutes === 0) || (rules.zoneHoursLimited && hours > 24)) return undefined;
  return (zone.startsWith("-") ? -1 : 1) * (hours * 60 + minutes);
}
