// The rules for a new token and its value: NVIDIA/OSMO src/service/core/auth/objects.py and src/lib/utils/common.py.
import { randomBytes } from "node:crypto";
import { osmoError, serverError, type OsmoAnswer } from "./answers.ts";
import type { OsmoRelease } from "./release.ts";

const namePattern = /^[a-zA-Z]([a-zA-Z0-9_-]*[a-zA-Z0-9])?$/;

/** 64 hexadecimal digits in 6.0 (`secrets.token_hex(32)`), 43 characters later (`secrets.token_urlsafe(32)`). */
export function newTokenValue(release: OsmoRelease): string {
  return randomBytes(32).toString(release === "6.0" ? "hex" : "base64url");
}

export function nameRefusal(name: string): OsmoAnswer | undefined {
  if (namePattern.test(name)) return undefined;
  return osmoError(`Token name ${name} must match regex ${namePattern.source}`);
}

export interface DateRules {
  readonly release: OsmoRelease;
  readonly now: Date;
  /** `service_auth.max_token_duration`, such as `365d`. */
  readonly maximum: string;
}

/** The date in its normal form, or the answer that refuses it. Unpadded dates are accepted, as by Python's strptime. */
export function expiryDate(text: string, { release, now, maximum }: DateRules): string | OsmoAnswer {
  const date = parseDate(text);
  if ("why" in date) {
    // 6.2 and 6.3 parse before they validate: the exception is nobody's.
    if (release !== "6.0") return serverError(date.why);
    return osmoError(`Invalid date format ${text}. Date must be in YYYY-MM-DD format (e.g. 2025-12-31)`);
  }
  const today = now.toISOString().slice(0, 10);
  if (date.value <= today) return osmoError(`Expiration date must be past the current date (${today})`);
  const last = new Date(Date.parse(today) + Number.parseInt(maximum, 10) * 86_400_000).toISOString().slice(0, 10);
  if (date.value <= last) return date.value;
  return osmoError(
    release === "6.0"
      ? `Access token cannot last longer than ${maximum}`
      : `Access token expiration date cannot be more than ${maximum} from now`,
  );
}

function parseDate(text: string): { readonly value: string } | { readonly why: string } {
  const match = /^(\d{4})-(1[0-2]|0?[1-9])-(3[01]|[12]\d|0?[1-9])/.exec(text);
  if (match === null) return { why: `time data '${text}' does not match format '%Y-%m-%d'` };
  const rest = text.slice(match[0].length);
  if (rest !== "") return { why: `unconverted data remains: ${rest}` };
  const [, year = "", month = "", day = ""] = match;
  const value = `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`;
  const exists = new Date(`${value}T00:00:00Z`).toISOString().startsWith(value);
  return exists ? { value } : { why: "day is out of range for month" };
}
