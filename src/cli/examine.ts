// What a cluster is and what is wrong with it, for `scan` and `explain`: the one place that puts the findings together.
import { assess } from "../admission/assess.ts";
import { identifyInstallations } from "../admission/owner.ts";
import { probeFindings } from "../admission/probe-findings.ts";
import { mostSevereFirst } from "../admission/severity-order.ts";
import type { Scan } from "../admission/judgement.ts";
import { type Result, success } from "../result.ts";
import type { CommandFailure } from "./command-failure.ts";
import { proveHooks, takeSnapshot } from "./look.ts";
import type { Session } from "./session.ts";

/** `prove`: with a dry-run pod, where there is a hook to prove. */
export async function examine(session: Session, prove: boolean): Promise<Result<Scan, CommandFailure>> {
  const taken = await takeSnapshot(session);
  if (!taken.ok) return taken;
  const snapshot = taken.value;
  const scan = { snapshot, installations: identifyInstallations(snapshot), findings: assess(snapshot) };
  if (!prove || snapshot.hooks.length === 0) return success(scan);
  const probe = await proveHooks(session, snapshot);
  const findings = mostSevereFirst([...scan.findings, ...probeFindings(probe, snapshot)]);
  return success({ ...scan, findings, probe });
}
