// What a scan comes to: the verdict in one sentence, and when a fault is felt. Pure.
import type { Finding, FindingKind, HookReference, Severity } from "./finding.ts";
import { distinct, groupFindings, hooksOf, isSameHook, listed, referenceTo, resourcesOf } from "./hook-words.ts";
import type { Installation } from "./installation.ts";
import type { HookProbe, ProbeReport } from "./probe-report.ts";
import type { ClusterSnapshot, Hook } from "./snapshot.ts";

/** Everything that a scan saw. */
export interface Scan {
  readonly snapshot: ClusterSnapshot;
  readonly installations: readonly Installation[];
  /** Most severe first. */
  readonly findings: readonly Finding[];
  /** Absent where it was not asked for, or there is no hook to prove. */
  readonly probe?: ProbeReport;
}

/** When a fault is felt: at every call, at the next connection that the API server makes, or one of the two. */
export type Bites = "now" | "next-connection" | "unknown";

export interface Headline {
  readonly text: string;
  readonly style: "good" | "warning" | "bad";
}

/** Faults of the way to the pods: no connection is left that could hide them. */
const unreachable: ReadonlySet<FindingKind> = new Set([
  "service-missing",
  "service-port-missing",
  "service-unroutable",
  "no-ready-endpoints",
]);

/** When a broken finding on these hooks is felt, as far as the probe tells. */
export function bitesOf(finding: Finding, hooks: readonly HookReference[], probe: ProbeReport | undefined): Bites {
  if (unreachable.has(finding.kind)) return "now";
  const results = (probe?.hooks ?? []).filter((one) => hooks.some((hook) => isSameHook(hook, one.hook)));
  if (results.some(({ result }) => result === "failed")) return "now";
  if (results.some(({ result }) => result === "latent")) return "next-connection";
  return "unknown";
}

/**
 * The findings without what the probe only repeats: where a hook is broken by what was seen of it, a call that failed, or
 * that an old connection saved, is the same fault once more.
 */
export function withoutEchoes(findings: readonly Finding[]): readonly Finding[] {
  const seen = findings.filter((finding) => finding.severity === "broken" && !isEcho(finding)).flatMap(hooksOf);
  return findings.filter((finding) => !isEcho(finding) || !seen.some((one) => isSameHook(one, finding.hook)));
}

type Echo = Extract<Finding, { readonly kind: "drift-latent" | "call-failed" }>;

function isEcho(finding: Finding): finding is Echo {
  return finding.kind === "drift-latent" || finding.kind === "call-failed";
}

/** The verdict in one sentence. */
export function headlineOf(scan: Scan): Headline {
  const { snapshot, findings } = scan;
  const of = (severity: Severity): readonly Finding[] => findings.filter((finding) => finding.severity === severity);
  if (of("broken").length > 0) return brokenHeadline(scan, withoutEchoes(of("broken")));
  const subject = subjectOf(snapshot.hooks);
  const warnings = groupFindings(of("warning")).length;
  if (warnings > 0) {
    const what = warnings === 1 ? "one thing needs attention" : `${warnings} things need attention`;
    return { text: `${subject} works, but ${what}.`, style: "warning" };
  }
  if (snapshot.hooks.length === 0 && snapshot.unseen.length === 0) {
    return { text: "This cluster has no webhook of KAI Scheduler: there is nothing to look after.", style: "good" };
  }
  if (of("undetermined").length > 0) {
    return { text: "Nothing wrong was seen, but not everything could be looked at.", style: "warning" };
  }
  return healthyHeadline(scan, subject);
}

function brokenHeadline({ snapshot, probe }: Scan, broken: readonly Finding[]): Headline {
  const bites = broken.map((finding) => bitesOf(finding, hooksOf(finding), probe));
  const worst = (["now", "unknown", "next-connection"] as const).find((one) => bites.includes(one)) ?? "unknown";
  const felt = broken.filter((_, index) => bites[index] === worst);
  const references = felt.flatMap(hooksOf);
  const hooks = snapshot.hooks.filter((hook) => references.some((one) => isSameHook(one, referenceTo(hook))));
  const names = listed(distinct((hooks.length > 0 ? hooks : snapshot.hooks).map((hook) => hook.name)));
  const words = felt.every(isInPart) ? wordsInPart : brokenWords[worst];
  return { text: `${subjectOf(hooks)} ${words(names)}`, style: "bad" };
}

/** Whether some pods behind the hook are accepted: then it is chance which calls are refused. */
export function isInPart(finding: Finding): boolean {
  return "readyPods" in finding && "served" in finding && finding.served.pods.length < finding.readyPods;
}

const brokenWords: Record<Bites, (names: string) => string> = {
  now: (names) => `is broken: the API server cannot ask ${names}.`,
  "next-connection": (names) => `is about to break: ${names} is reached over old connections only.`,
  unknown: (names) => `is broken, at the latest when the API server connects anew to ${names}.`,
};

const wordsInPart = (names: string): string =>
  `is broken in part: some of the pods behind ${names} are refused, and it is chance which one a call meets.`;

/** `Pod admission`, where pods are among what the hooks are asked about; else what they are asked about. */
function subjectOf(hooks: readonly Hook[]): string {
  const resources = distinct(hooks.flatMap(resourcesOf));
  return resources.length === 0 || resources.includes("pods") ? "Pod admission" : `Admission of ${listed(resources)}`;
}

function healthyHeadline({ snapshot, probe }: Scan, subject: string): Headline {
  const trust = trustOf(snapshot.hooks.length);
  return { text: `${subject} works: ${trust} what the pods serve${proofOf(probe)}.`, style: "good" };
}

function trustOf(hooks: number): string {
  if (hooks === 1) return "the hook of KAI Scheduler trusts";
  return `${hooks === 2 ? "both" : `all ${hooks}`} hooks of KAI Scheduler trust`;
}

function proofOf(probe: ProbeReport | undefined): string {
  const came = (probe?.hooks ?? []).filter(cameThrough).length;
  return came > 0 ? ", and a dry-run pod came through" : "";
}

function cameThrough({ result }: HookProbe): boolean {
  return result === "proven" || result === "denied-by-target";
}
