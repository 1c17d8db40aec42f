// The JSON that programs read: schema/fleetmend-output.v1.json, docs/json-output.md. One version for all commands; a
// field is added freely, and none is renamed or removed without a new version. Here is what all documents share, and those
// that have no findings in them.
import { createHash } from "node:crypto";
import type { ProbeReport } from "../admission/probe-report.ts";
import type { Verdict, VerifyInput } from "../trust/verdict.ts";
import type { CommandFailure } from "./command-failure.ts";
import { exitCode } from "./exit-code.ts";
import type { Invocation } from "./invocation.ts";

const schemaVersion = 1;

/** What JSON.stringify can print as it stands. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/**
 * `value` as JSON: dates in ISO 8601, absent fields left out, and of bytes their SHA-256 and their number. Invariant: no
 * bytes leave by this door, whatever a later field holds.
 */
export function toJson(value: unknown): Json {
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Uint8Array) return { sha256: sha256(value), length: value.length };
  if (Array.isArray(value)) return value.map(toJson);
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value).filter(([, field]) => field !== undefined);
    return Object.fromEntries(entries.map(([key, field]) => [key, toJson(field)]));
  }
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean" || value === null)
    return value;
  throw new Error(`no JSON for a ${typeof value}`);
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** How every document begins. Both kinds of explain are `explain`. */
export function head(command: Invocation["command"]): { readonly schemaVersion: number; readonly command: string } {
  return { schemaVersion, command: command === "explain-files" ? "explain" : command };
}

/** Why there is no result. */
export function failureDocument(command: Invocation["command"], { kind, message, todo }: CommandFailure): Json {
  return toJson({ ...head(command), exitCode: exitCode.couldNotLook, failure: { kind, message, todo } });
}

/** `explain` on two files. */
export function verdictDocument(
  { serverName, at, go, caBundle }: VerifyInput,
  verdict: Verdict,
  words: { readonly exitCode: number; readonly sentence: string; readonly todo: string },
): Json {
  return toJson({ ...head("explain-files"), serverName, at, go, ...words, bundle: caBundle, verdict });
}

/** What the documents about a cluster begin with. */
export interface ClusterHead {
  readonly context: string;
  readonly exitCode: number;
}

/** `probe`. */
export function probeDocument(report: ProbeReport, clusterHead: ClusterHead): Json {
  return toJson({ ...head("probe"), ...clusterHead, probe: report });
}
