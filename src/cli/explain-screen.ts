// Everything that is known of a cluster's hooks, at length: for whom the one screen of `scan` is not enough. Pure.
import { explainFinding } from "../admission/explain.ts";
import type { HookReference, ServedFrom } from "../admission/finding.ts";
import { verdictsOf } from "../admission/hook-verdicts.ts";
import type { Installation } from "../admission/installation.ts";
import type { ClusterSnapshot, Hook } from "../admission/snapshot.ts";
import type { Verdict } from "../trust/verdict.ts";
import { type Scan, headlineOf } from "../admission/judgement.ts";
import { utc } from "./certificate-text.ts";
import {
  count,
  describeHooks,
  distinct,
  groupFindings,
  isSameHook,
  listed,
  referenceTo,
} from "../admission/hook-words.ts";
import { type ScanWords, describeInstallation, marks, reportNext } from "./scan-screen.ts";
import { type Paragraph, blank, paragraph, styled } from "./typeset.ts";
import { reportVerdict, section, verdictMarks } from "./verdict-screen.ts";

/** The verdict on one hook for one chain that is served behind it. */
export interface HookVerdict {
  readonly hook: HookReference;
  readonly pods: readonly string[];
  readonly servedFrom: ServedFrom;
  readonly verdict: Verdict;
}

/** Every verdict of a snapshot, in the order of its hooks. What could not be judged is a finding, not a verdict. */
export function judgeHooks(snapshot: ClusterSnapshot): readonly HookVerdict[] {
  return snapshot.hooks.flatMap((hook) =>
    verdictsOf(hook, snapshot).groups.map(({ served: { pods, servedFrom }, verdict }) => ({
      hook: referenceTo(hook),
      pods,
      servedFrom,
      verdict,
    })),
  );
}

/** All findings, `info` too; then each hook with its verdicts; then how we know. */
export function reportExplanation(
  scan: Scan,
  verdicts: readonly HookVerdict[],
  words: ScanWords,
): readonly Paragraph[] {
  const headline = headlineOf(scan);
  return [
    paragraph(0, [styled(headline.style, headline.text)]),
    ...reportFindings(scan),
    ...groupVerdicts(verdicts).flatMap((group) => reportHooks(group, scan.snapshot)),
    ...section(0, "Who writes the bundles", scan.installations.flatMap(reportInstallation)),
    ...section(0, "How we know", howWeKnow(scan, words.context)),
    ...reportNext(scan, words, ["probe"]),
  ];
}

function reportFindings({ findings }: Scan): readonly Paragraph[] {
  return groupFindings(findings).flatMap(({ first, hooks }) => {
    const { mark, style } = marks[first.severity];
    const { sentence, todo } = explainFinding(first);
    const title = hooks.length > 0 ? describeHooks(hooks) : first.object;
    return [
      blank,
      paragraph(0, [styled(style, `${mark} ${first.severity} ${first.kind}`), " ", styled("strong", title)], 2),
      paragraph(2, [sentence]),
      paragraph(2, ["→ ", todo], 4),
    ];
  });
}

/** The hooks of which everything below the title would read the same. */
function groupVerdicts(verdicts: readonly HookVerdict[]): readonly (readonly HookVerdict[])[] {
  const groups = new Map<string, HookVerdict[]>();
  for (const one of verdicts) {
    const key = JSON.stringify({ ...one, hook: one.hook.name });
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  return [...groups.values()];
}

function reportHooks(group: readonly HookVerdict[], snapshot: ClusterSnapshot): readonly Paragraph[] {
  const [first] = group;
  if (first === undefined) return [];
  const { verdict } = first;
  const { mark, style } = verdictMarks[verdict.outcome];
  const hooks = snapshot.hooks.filter((hook) => group.some((one) => isSameHook(one.hook, referenceTo(hook))));
  return [
    blank,
    paragraph(
      0,
      [
        styled(style, `${mark} ${verdict.outcome}`),
        " ",
        styled("strong", describeHooks(group.map(({ hook }) => hook))),
      ],
      2,
    ),
    paragraph(2, [servedWords(first)]),
    ...writersOf(hooks).map((words) => paragraph(2, [words])),
    ...(verdict.outcome === "undetermined" ? [paragraph(2, [`Undetermined: ${verdict.reason}`])] : []),
    ...reportVerdict(verdict, 2),
  ];
}

function servedWords({ pods, servedFrom }: HookVerdict): string {
  switch (servedFrom) {
    case "handshake":
      return `The chain is what ${listed(pods)} presented in a TLS handshake with us.`;
    case "secret":
      return `The chain is the Secret's, because port-forward is not allowed: ${listed(pods)} may serve an older one.`;
    case "unread":
      return "No chain is needed: with this bundle the API server does not even connect.";
  }
}

/** One sentence for the hooks that have one last writer. */
function writersOf(hooks: readonly Hook[]): readonly string[] {
  const writers = distinct(hooks.map(writerOf));
  return writers.map((writer) => {
    const written = hooks.filter((hook) => writerOf(hook) === writer).map(referenceTo);
    return `Last written by ${writer}: the bundle of ${describeHooks(written)}.`;
  });
}

function writerOf({ bundleWriter }: Hook): string {
  if (bundleWriter === undefined) return "nobody that managedFields name";
  const { manager, operation, time } = bundleWriter;
  return `${manager} (${operation}${time === undefined ? "" : `, ${utc(time)}`})`;
}

function reportInstallation(installation: Installation): readonly Paragraph[] {
  const { deliveredBy, evidence } = installation;
  const by = deliveredBy === undefined ? "" : `, delivered by ${deliveredBy}`;
  return [
    paragraph(2, [`${describeInstallation(installation)}${by}`]),
    ...evidence.map((fact) => paragraph(4, ["- ", fact], 6)),
  ];
}

function howWeKnow({ snapshot }: Scan, context: string): readonly Paragraph[] {
  const { at, apiServer, server, requests, unseen } = snapshot;
  const version = server.seen
    ? `${server.value.gitVersion}, built with ${server.value.goVersion}`
    : "of unknown version";
  return [
    paragraph(2, [`Context ${context}, ${apiServer}, ${version}; ${count(requests, "request")} at ${utc(at)}.`]),
    ...unseen.map(({ what, why }) => paragraph(2, [`Not seen: ${what} (${why.message})`], 4)),
  ];
}
