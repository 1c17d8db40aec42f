// The screen of `scan`, for somebody who was woken by it: the verdict, what is wrong and why, what to type. Pure.
import { explainFinding } from "../admission/explain.ts";
import type { FixableBy, Severity } from "../admission/finding.ts";
import type { Installation } from "../admission/installation.ts";
import type { HookProbe, ProbeReport } from "../admission/probe-report.ts";
import type { ClusterSnapshot } from "../admission/snapshot.ts";
import { type FindingGroup, count, describeHooks, distinct, groupFindings, listed } from "../admission/hook-words.ts";
import { type Bites, type Scan, bitesOf, headlineOf, isInPart, withoutEchoes } from "../admission/judgement.ts";
import { type Paragraph, type Piece, type Style, blank, command, paragraph, styled } from "./typeset.ts";

export interface ScanWords {
  readonly context: string;
  /** The command line of another command on the same cluster. */
  readonly sameFlags: (command: string) => string;
}

/** The whole screen. What is only `info` is counted, not shown: `explain` has it. */
export function reportScan(scan: Scan, words: ScanWords): readonly Paragraph[] {
  const headline = headlineOf(scan);
  const shown = withoutEchoes(scan.findings).filter(({ severity, kind }) => severity !== "info" && kind !== "not-seen");
  const groups = groupFindings(shown);
  return [
    paragraph(0, [styled(headline.style, headline.text)]),
    ...groups.flatMap((group) => reportGroup(group, scan)),
    ...reportNotSeen(scan),
    ...reportNext(scan, words, ["explain"]),
    ...(needsAttention(scan) ? [blank] : []),
    paragraph(0, [styled("faint", footerOf(scan, words.context))]),
  ];
}

/** Colour is never the only carrier: each severity has a mark and a word besides. */
export const marks: Record<Severity, { readonly mark: string; readonly style: Style }> = {
  broken: { mark: "✗", style: "bad" },
  warning: { mark: "!", style: "warning" },
  undetermined: { mark: "?", style: "warning" },
  info: { mark: "·", style: "faint" },
};

const bitesWords: Record<Bites, string> = {
  now: "bites now",
  "next-connection": "bites at the next connection",
  unknown: "bites at the next connection, if not now",
};

function reportGroup(group: FindingGroup, scan: Scan): readonly Paragraph[] {
  const { first, hooks } = group;
  const { mark, style } = marks[first.severity];
  const { sentence, todo } = explainFinding(first);
  const title: Piece[] = [
    styled(style, mark),
    " ",
    styled(style, first.severity),
    " ",
    styled("strong", titleOf(group)),
  ];
  if (first.severity === "broken" && hooks.length > 0) {
    title.push(
      isInPart(first) ? ", bites where a call meets that pod" : `, ${bitesWords[bitesOf(first, hooks, scan.probe)]}`,
    );
  }
  return [
    blank,
    paragraph(0, title, 2),
    paragraph(2, [sentence]),
    ...("goText" in first ? [paragraph(2, [styled("faint", `The API server: ${first.goText}`)])] : []),
    ...(first.fixableBy === "person" ? [paragraph(2, ["→ ", todo], 4)] : []),
  ];
}

function titleOf({ first, hooks }: FindingGroup): string {
  return hooks.length > 0 ? describeHooks(hooks) : first.object;
}

/** What was asked for and not seen, in one paragraph, and the rights that would show it. */
function reportNotSeen({ snapshot, findings }: Scan): readonly Paragraph[] {
  const things = findings.flatMap((finding) => (finding.kind === "not-seen" ? [finding] : []));
  if (things.length === 0) return [];
  const { mark, style } = marks.undetermined;
  const reasons = distinct(things.map(({ reason }) => reason));
  const isForbidden = snapshot.unseen.some(({ why }) => why.kind === "forbidden");
  return [
    blank,
    paragraph(
      0,
      [styled(style, mark), " ", styled(style, "not seen"), " ", styled("strong", listed(things.map(shortPath)))],
      2,
    ),
    paragraph(2, [`${reasons.join("; ")}.`]),
    ...(isForbidden ? [paragraph(2, ["→ An administrator can allow it:"]), command(4, grantCommand(snapshot))] : []),
  ];
}

/** The path without the API's version: `namespaces/kai-scheduler/secrets/binder-webhook-tls-secret`. */
function shortPath({ what }: { readonly what: string }): string {
  return what.replace(/^\/(api|apis\/[^/]+)\/v[^/]+\//, "");
}

/** Handshakes, Secrets and the dry run are of the capability `prove`; everything else is of `read`. */
function grantCommand({ capability, unseen }: ClusterSnapshot): string {
  const isProve =
    !capability.portForward || !capability.dryRunPods || unseen.some(({ what }) => what.includes("/secrets/"));
  return `kubectl apply -f infra/kubernetes/${isProve ? "prove" : "read"}.yaml`;
}

function needsAttention({ findings }: Scan): boolean {
  return findings.some(({ severity }) => severity !== "info");
}

/** What to type, by what can be done; nothing where nothing is wrong. */
export function reportNext(
  scan: Scan,
  { sameFlags }: ScanWords,
  furtherCommands: readonly ("explain" | "probe")[],
): readonly Paragraph[] {
  if (!needsAttention(scan)) return [];
  const open = scan.findings.filter(({ severity }) => severity !== "info");
  const fixable = (by: FixableBy): boolean => open.some(({ fixableBy }) => fixableBy === by);
  // What passes by itself may still be helped: a repair widens a bundle while a pod is late.
  const isRepairable =
    fixable("fleetmend") || open.some(({ severity, fixableBy }) => severity === "broken" && fixableBy === "time");
  return [
    blank,
    paragraph(0, [styled("strong", "What to type next")]),
    ...(fixable("time") ? [paragraph(2, ["Some of it should pass by itself within two minutes."])] : []),
    ...(isRepairable ? [command(2, sameFlags("repair"), "shows the plan, and asks before it acts")] : []),
    ...furtherCommands.map((name) => command(2, sameFlags(name), furtherWords[name])),
  ];
}

const furtherWords = { explain: "all of it at length", probe: "whether a pod would come through" } as const;

function footerOf(scan: Scan, context: string): string {
  const { snapshot, installations, findings } = scan;
  const server = snapshot.server.seen ? snapshot.server.value.gitVersion : "of unknown version";
  const notes = groupFindings(findings.filter(({ severity }) => severity === "info")).length;
  return [
    `Context ${context}`,
    ...installations.map(describeInstallation),
    `API server ${server}`,
    count(snapshot.requests, "request"),
    ...noDryRun(scan.probe),
    ...(notes > 0 ? [`${count(notes, "note")} in explain`] : []),
  ].join(" · ");
}

/** Why there was no dry-run pod, where one was wanted: the verdict then rests on handshakes alone. */
function noDryRun(probe: ProbeReport | undefined): readonly string[] {
  if (probe === undefined) return [];
  const has = (result: HookProbe["result"]): boolean => probe.hooks.some((one) => one.result === result);
  if (has("no-namespace")) return [`no dry-run pod, as there is no namespace ${probe.namespace} (--probe-namespace)`];
  return has("forbidden") ? ["no dry-run pod, as it is not allowed"] : [];
}

export function describeInstallation({ family, owner, namespace }: Installation): string {
  return `KAI in ${namespace} (family ${family}, bundles by ${owner})`;
}
