// What a probe found that looking did not: a drift that kept connections hide, an API server that says something else than
// the verdict predicts, and a call that fails for reasons that no verdict knows. Everything else that a probe says is in its report.
import type { Rejection } from "../trust/verdict.ts";
import { maskTimes } from "./classify.ts";
import type { Evidence, Finding, HookReference } from "./finding.ts";
import type { HookProbe, ProbeReport } from "./probe-report.ts";
import { servedTrust, type ServedTrust } from "./served-trust.ts";
import type { ClusterSnapshot, Hook } from "./snapshot.ts";

/** The findings of a report; `snapshot` is the one that the probe was given. The verdict is taken at the report's time. */
export function probeFindings(report: ProbeReport, snapshot: ClusterSnapshot): readonly Finding[] {
  return report.hooks.flatMap((probed) => {
    const hook = snapshot.hooks.find((each) => isOf(probed.hook, each));
    if (hook === undefined) return [];
    const evidence = evidenceOf(probed, () => servedTrust(hook, snapshot, report.at));
    return evidence === undefined ? [] : [evidence];
  });
}

const isOf = (reference: HookReference, { holder, index }: Hook): boolean =>
  reference.holderKind === holder.kind && reference.holder === holder.name && reference.index === index;

function evidenceOf(probed: HookProbe, trustOf: () => ServedTrust): Finding | undefined {
  const { hook } = probed;
  if (probed.result === "latent") {
    const cause = trustOf().broken?.cause;
    const fixableBy = cause !== undefined && isForTheBundle(cause) ? "fleetmend" : "person";
    return finding({ kind: "drift-latent", hook, goText: probed.goText }, hook, fixableBy);
  }
  if (probed.result !== "failed") return undefined;
  const { failureClass, goText } = probed;
  const failed = { kind: "call-failed", hook, failureClass, goText } as const;
  // Only texts of trust are comparable: the network's are not the verdict's business.
  if (failureClass !== "trust" && failureClass !== "config") return finding(failed, hook, "person");
  const { predicted, complete } = trustOf();
  const said = maskTimes(goText);
  if (predicted.some((text) => maskTimes(text) === said)) return undefined;
  if (!complete) return finding(failed, hook, "person");
  return finding({ kind: "probe-disagrees", hook, probeText: goText, predicted }, hook, "person");
}

/** All are of a hook that refuses, now or at its next handshake. */
function finding(evidence: Evidence, hook: HookReference, fixableBy: Finding["fixableBy"]): Finding {
  const object = `${hook.holderKind.toLowerCase()}s/${hook.holder}`;
  return { ...evidence, severity: "broken", object, fixableBy };
}

/** Whether another bundle would cure it; a certificate that is expired or for another name needs another certificate. */
function isForTheBundle(cause: Rejection): boolean {
  return ["same-name-other-key", "no-issuer-in-bundle", "bundle-empty", "issuer-cannot-sign"].includes(cause.kind);
}
