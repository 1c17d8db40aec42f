// The reports in the table: the last one of each cluster, and its last runs. Reading and writing; what is in a report is
// decided elsewhere.
import * as v from "valibot";
import { clusterKey } from "./cluster-key.ts";
import { clusterStates, type ClusterReport } from "./cluster-report.ts";
import { StoreError, type Json, type Row, type RowKey, type Table } from "./table.ts";

const time = v.pipe(v.string(), v.isoTimestamp());

// What readers rely on; the rest was written by the same table's writer below.
const row = v.object({
  version: v.literal(1),
  /** Of the claim under which it was written: a holder that lost its claim must not write over a later one. */
  fence: v.number(),
  /** False while the run goes on. */
  ended: v.boolean(),
  report: v.looseObject({
    version: v.literal(1),
    cluster: v.string(),
    name: v.string(),
    resourceGroup: v.string(),
    run: v.string(),
    startedAt: time,
    endedAt: time,
    since: time,
    state: v.picklist(clusterStates),
    headline: v.string(),
    findings: v.array(v.looseObject({ kind: v.string(), object: v.string(), severity: v.string() })),
    hooks: v.array(v.unknown()),
    notes: v.array(v.string()),
  }),
});

export interface StoredReport {
  readonly report: ClusterReport;
  readonly ended: boolean;
  readonly fence: number;
}

/** How many runs are kept of each cluster. */
export const runsKept = 20;

const latestKey = (cluster: string): RowKey => ({ partition: "report", row: clusterKey(cluster) });
const historyOf = (cluster: string): string => `run:${clusterKey(cluster)}`;

/** Newest first in the order of row keys: the time that is left to the end of all times. */
function historyKey({ cluster, startedAt, run }: ClusterReport): RowKey {
  const left = (9_999_999_999_999 - Date.parse(startedAt)).toString().padStart(13, "0");
  return { partition: historyOf(cluster), row: `${left}-${run}` };
}

/** The last report of a cluster. */
export async function latestReport(table: Table, cluster: string): Promise<StoredReport | undefined> {
  const stored = await table.get(latestKey(cluster));
  return stored && parse(stored);
}

/** The last report of every cluster. */
export async function latestReports(table: Table): Promise<readonly StoredReport[]> {
  return (await table.list("report")).flatMap((stored) => parse(stored) ?? []);
}

/** The reports of the last runs, newest first. Sentinel passes that saw no change are not among them. */
export async function runsOf(table: Table, cluster: string): Promise<readonly StoredReport[]> {
  return (await table.list(historyOf(cluster))).slice(0, runsKept).flatMap((stored) => parse(stored) ?? []);
}

/** A row of another version is as good as none: the next run writes it anew. */
function parse(stored: Row): StoredReport | undefined {
  const parsed = v.safeParse(row, stored.value);
  if (!parsed.success) return undefined;
  const { report, ended, fence } = parsed.output;
  return { report: report as unknown as ClusterReport, ended, fence };
}

/** Writes the report as the cluster's last one, unless one of a later claim is there. Throws StoreError. */
export async function putLatest(table: Table, entry: StoredReport): Promise<void> {
  await put(table, latestKey(entry.report.cluster), entry);
}

/** Writes the report among the cluster's runs, and removes what is older than the newest twenty. Throws StoreError. */
export async function putRun(table: Table, entry: StoredReport): Promise<void> {
  const { report } = entry;
  const key = historyKey(report);
  await put(table, key, entry);
  const rows = await table.list(historyOf(report.cluster));
  // A run that was begun anew after a crash has another time, and would be there twice.
  const doubles = rows.filter((one) => one.row !== key.row && one.row.endsWith(`-${report.run}`));
  const old = rows.filter((one) => !doubles.includes(one)).slice(runsKept);
  for (const one of [...doubles, ...old]) await table.remove(one);
}

/** Removes all reports of a cluster. */
export async function removeReports(table: Table, cluster: string): Promise<void> {
  const latest = await table.get(latestKey(cluster));
  const rows = await table.list(historyOf(cluster));
  for (const one of latest === undefined ? rows : [...rows, latest]) await table.remove(one);
}

const tries = 4;

async function put(table: Table, key: RowKey, entry: StoredReport): Promise<void> {
  const value = JSON.parse(JSON.stringify({ version: 1, ...entry })) as Json;
  for (let n = 0; n < tries; n += 1) {
    const stored = await table.get(key);
    if (stored !== undefined && (parse(stored)?.fence ?? 0) > entry.fence) return;
    const written = await (stored === undefined ? table.insert(key, value) : table.replace(stored, value));
    if (written !== undefined) return;
  }
  throw new StoreError(`the report of ${entry.report.name} changed under every write`);
}
