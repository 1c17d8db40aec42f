// What is remembered of a cluster from one care to the next: the last full pass, for the sentinel, and a run that goes on.
// It stands in the row that the claim guards.
import * as v from "valibot";
import type { BundleHistory } from "../admission/fresh-connection.ts";
import { toBase64 } from "../admission/bundle.ts";
import { careReasons } from "./care-message.ts";
import type { Json } from "./table.ts";

const time = v.pipe(v.string(), v.isoTimestamp());

const histories = v.object({
  /** Base64, each once: the hooks of one backend mostly hold the same. Certificates are public. */
  bundles: v.array(v.string()),
  hooks: v.array(
    v.object({
      hook: v.object({ holderKind: v.string(), holder: v.string(), index: v.number(), name: v.string() }),
      entries: v.array(v.object({ bundle: v.number(), since: time })),
    }),
  ),
});

const fullPass = v.object({
  at: time,
  /** ARM's etag of the cluster then. */
  etag: v.string(),
  /** Over all that is read of KAI's hooks, bundles included. */
  fingerprint: v.string(),
  /** Of the Secrets that the pods mount: a hash of tls.crt. */
  secrets: v.array(v.object({ namespace: v.string(), name: v.string(), sha256: v.string() })),
  /** The dry-run pod, where the last one came through. */
  pod: v.optional(v.record(v.string(), v.unknown())),
  certificateEnds: v.optional(time),
  /** What was found, as `kind object`. */
  findings: v.array(v.object({ kind: v.string(), severity: v.string(), object: v.string() })),
});

const runSoFar = v.object({
  run: v.string(),
  startedAt: time,
  reason: v.picklist(careReasons),
  caller: v.optional(v.string()),
  planned: v.array(v.object({ summary: v.string(), undo: v.string() })),
  done: v.array(v.object({ at: time, summary: v.string(), object: v.string(), outcome: v.string() })),
  notes: v.array(v.string()),
  histories,
  /** The budget's reservation is, or may be, held. */
  reserved: v.boolean(),
  /** Something was written to the cluster, or may have been. */
  hasWritten: v.boolean(),
  /** It waits for the budget. */
  isPutOff: v.boolean(),
});

const memory = v.object({ version: v.literal(1), full: v.optional(fullPass), run: v.optional(runSoFar) });

export type FullPass = v.InferOutput<typeof fullPass>;
export type RunSoFar = v.InferOutput<typeof runSoFar>;
export type ClusterMemory = v.InferOutput<typeof memory>;

/** Nothing remembered where there is nothing, or nothing that this version understands: the next pass is a full one. */
export function readMemory(stored: Json | undefined): ClusterMemory {
  const parsed = v.safeParse(memory, stored);
  return parsed.success ? parsed.output : { version: 1 };
}

/** As it is kept. */
export function memoryAsJson(remembered: ClusterMemory): Json {
  return JSON.parse(JSON.stringify(remembered)) as Json;
}

/** A row of the table holds 1 MiB in all. Without histories a proof only says `maybe-reused`. */
const mostHistoryBytes = 300_000;

export const noHistories: RunSoFar["histories"] = { bundles: [], hooks: [] };

export function packHistories(unpacked: readonly BundleHistory[]): RunSoFar["histories"] {
  const bundles: string[] = [];
  const indexOf = (bundle: Uint8Array): number => {
    const text = toBase64(bundle);
    const known = bundles.indexOf(text);
    return known >= 0 ? known : bundles.push(text) - 1;
  };
  const hooks = unpacked.map(({ hook, bundles: entries }) => ({
    hook: { holderKind: hook.holderKind, holder: hook.holder, index: hook.index, name: hook.name },
    entries: entries.map(({ bundle, since }) => ({ bundle: indexOf(bundle), since: since.toISOString() })),
  }));
  const size = bundles.reduce((sum, { length }) => sum + length, 0);
  return size > mostHistoryBytes ? noHistories : { bundles, hooks };
}

export function unpackHistories(packed: RunSoFar["histories"]): readonly BundleHistory[] {
  const bundles = packed.bundles.map((text) => new Uint8Array(Buffer.from(text, "base64")));
  return packed.hooks.map(({ hook, entries }) => ({
    hook,
    bundles: entries.flatMap(({ bundle, since }) => {
      const bytes = bundles[bundle];
      return bytes === undefined ? [] : [{ bundle: bytes, since: new Date(since) }];
    }),
  }));
}
