// The screen of a probe: what was proven of each hook, how, and what was not. Pure.
import type { HandshakeAnswer, HookProbe, ProbeReport, RefusalPhase } from "../admission/probe-report.ts";
import { type Standing, isProven, standingOf } from "../admission/probe-standing.ts";
import type { ClusterSnapshot } from "../admission/snapshot.ts";
import { count, describeHooks, listed } from "../admission/hook-words.ts";
import { utc } from "./certificate-text.ts";
import { type ExitCode, exitCode } from "./exit-code.ts";
import { type Paragraph, type Style, blank, paragraph, styled } from "./typeset.ts";

/** Of a repair: where a hook is neither refused nor proven, trusted handshakes are enough. */
export function exitCodeAfterRepair(report: ProbeReport): ExitCode {
  return isProven(report) ? exitCode.nothingWrong : exitCodeOfProbe(report);
}

/** 1 where a hook is refused, 2 where one was not proven, else 0. */
export function exitCodeOfProbe(report: ProbeReport): ExitCode {
  const standings = report.hooks.map(standingOf);
  if (standings.includes("bad")) return exitCode.findings;
  return standings.includes("open") ? exitCode.couldNotLook : exitCode.nothingWrong;
}

const marks: Record<Standing, { readonly mark: string; readonly style: Style }> = {
  good: { mark: "✓", style: "good" },
  bad: { mark: "✗", style: "bad" },
  open: { mark: "?", style: "warning" },
};

/** The whole screen: the verdict, a paragraph for each set of hooks with the same result, and whom we asked. */
export function reportProbe(report: ProbeReport, snapshot: ClusterSnapshot): readonly Paragraph[] {
  const groups = [...groupProbes(report.hooks)].sort((a, b) => rank(a) - rank(b));
  return [
    headline(report),
    ...groups.flatMap(reportHooks),
    blank,
    paragraph(0, [styled("faint", handshakesOf(snapshot))]),
    paragraph(0, [styled("faint", `Asked ${report.apiServer} at ${utc(report.at)}; ${dryRunOf(report)}.`)]),
  ];
}

function headline(report: ProbeReport): Paragraph {
  const number = report.hooks.length;
  const of = (standing: Standing): number => report.hooks.filter((one) => standingOf(one) === standing).length;
  if (number === 0) return paragraph(0, [styled("warning", "There is no hook of KAI Scheduler to prove.")]);
  if (of("bad") > 0) {
    const isLatent = report.hooks.every((one) => one.result === "latent" || standingOf(one) !== "bad");
    const when = isLatent ? "Refused at the next connection" : "Refused";
    return paragraph(0, [styled("bad", `${when}: ${of("bad")} of ${count(number, "hook")}.`)]);
  }
  if (of("open") > 0)
    return paragraph(0, [styled("warning", `Not proven: ${of("open")} of ${count(number, "hook")}.`)]);
  return paragraph(0, [styled("good", `${allHooks(number)} proven.`)]);
}

function allHooks(number: number): string {
  if (number === 1) return "The hook is";
  return number === 2 ? "Both hooks are" : `All ${number} hooks are`;
}

function groupProbes(hooks: readonly HookProbe[]): readonly (readonly HookProbe[])[] {
  const groups = new Map<string, HookProbe[]>();
  for (const one of hooks) {
    const key = JSON.stringify({ ...one, hook: undefined });
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  return [...groups.values()];
}

function rank(group: readonly HookProbe[]): number {
  const [first] = group;
  return first === undefined ? 3 : (["bad", "open", "good"] as const).indexOf(standingOf(first));
}

function reportHooks(group: readonly HookProbe[]): readonly Paragraph[] {
  const [first] = group;
  if (first === undefined) return [];
  const { mark, style } = marks[standingOf(first)];
  const title = describeHooks(group.map(({ hook }) => hook));
  return [
    blank,
    paragraph(0, [styled(style, `${mark} ${resultWord(first)}`), " ", styled("strong", title)], 2),
    paragraph(2, [describeResult(first)]),
  ];
}

/** A hook that no pod reaches is none the worse for it: what is known of it is its handshakes. */
function resultWord(probe: HookProbe): string {
  const isByHandshake = probe.result === "not-reached" || probe.result === "blind";
  return isByHandshake && standingOf(probe) === "good" ? "trusted" : probe.result;
}

/** What was seen of one hook, in one or two sentences. */
export function describeResult(probe: HookProbe): string {
  switch (probe.result) {
    case "proven":
      return `Every ready pod's handshake is trusted and the dry run came through, ${connectionWords[probe.connection]}.`;
    case "denied-by-target":
      return sentences("It answered, and refused the pod by its own rules: trust is fine", probe.message);
    case "blocked":
      return sentences(
        `${askedWords(probe.phase)}: ${probe.by} refused first (${probe.phase})`,
        ...blockedWords(probe),
      );
    case "failed":
      return `The API server could not ask ${whom(probe)} (${probe.failureClass}): ${probe.goText}`;
    case "not-reached":
      return sentences(`A pod does not reach it: ${probe.because}`, handshakeWords(probe.handshake));
    case "undecided":
      return sentences(`Not decided: ${probe.because}`, handshakeWords(probe.handshake));
    case "latent":
      return `The dry run came through over an old connection; the next one will be refused: ${probe.goText}`;
    case "blind":
      return sentences(`A green dry run says nothing here: ${probe.because}`, handshakeWords(probe.handshake));
    case "forbidden":
      return sentences(`The dry run is not allowed: ${probe.message}`, handshakeWords(probe.handshake), moreRights);
    case "no-namespace":
      return sentences(
        `There is no namespace ${probe.namespace}: name one of KAI's users with --probe-namespace`,
        handshakeWords(probe.handshake),
      );
  }
}

/** Validating hooks are asked side by side, and one error returns; a quota speaks after all of them. */
const askedWords = (phase: RefusalPhase): string =>
  phase === "mutating" || phase === "authorization" ? "It was not asked" : "It is not known to have answered";

/** KAI's mutating and validating hook share a name, and not every text of the API server tells them apart. */
const whom = ({ oneOf }: Extract<HookProbe, { result: "failed" }>): string =>
  oneOf === undefined ? "it" : `it or another of the ${oneOf} hooks of this name`;

/** The refusal's own text is left out where the handshake says the same at length. */
function blockedWords({ message, handshake }: Extract<HookProbe, { result: "blocked" }>): readonly string[] {
  return handshake.trust === "broken" ? [handshakeWords(handshake)] : [message, handshakeWords(handshake)];
}

const moreRights = "An administrator can allow both with infra/kubernetes/prove.yaml";

/** One text of several, each ended by a full stop. */
function sentences(...texts: readonly string[]): string {
  return texts.map((text) => (/[.!?]$/.test(text) ? text : `${text}.`)).join(" ");
}

const connectionWords = {
  fresh: "over a new connection",
  "maybe-reused": "over a connection that may have been open before",
} as const;

function handshakeWords(handshake: HandshakeAnswer): string {
  switch (handshake.trust) {
    case "trusted":
      return "Every ready pod's handshake is trusted.";
    case "broken":
      return `A handshake with its pods is refused: ${handshake.goText}`;
    case "undetermined":
      return `Handshakes do not tell either: ${handshake.reason}`;
  }
}

/** How many ready pods of each backend were asked by ourselves. */
function handshakesOf(snapshot: ClusterSnapshot): string {
  const backends = snapshot.backends.map(({ namespace, service, port, pods }) => {
    const ready = pods.filter((pod) => pod.ready);
    const asked = ready.filter((pod) => pod.served?.from === "handshake");
    return `${asked.length} of ${count(ready.length, "ready pod")} behind ${namespace}/${service}:${port}`;
  });
  return backends.length === 0 ? "No handshakes." : `Handshakes with ${listed(backends)}.`;
}

function dryRunOf({ answer, namespace }: ProbeReport): string {
  if (answer === undefined) return "no dry-run pod was asked for";
  return `dry-run pod in ${namespace}: HTTP ${answer.status}`;
}
