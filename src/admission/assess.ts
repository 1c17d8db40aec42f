// From what was seen to what is wrong: pure, one look, no memory. Each rule stands in the part that it belongs to.
import { assessBackend } from "./assess-backend.ts";
import { assessmentOf } from "./assess-case.ts";
import { assessLook, assessOperators, assessOwner } from "./assess-owner.ts";
import { assessSecret } from "./assess-secret.ts";
import { assessTrust } from "./assess-trust.ts";
import type { Finding } from "./finding.ts";
import { mostSevereFirst } from "./severity-order.ts";
import type { ClusterSnapshot } from "./snapshot.ts";

/**
 * Everything that is wrong with KAI's admission as far as the snapshot shows it, most severe first; of one severity, what
 * keeps calls from arriving first, then what the verdicts say, in the order of the hooks. A healthy cluster that was fully seen gives nothing above `info`.
 * Invariant: what could not be checked is `undetermined`, never `broken` and never left out.
 */
export function assess(snapshot: ClusterSnapshot): readonly Finding[] {
  const assessment = assessmentOf(snapshot);
  const { hooks, backends } = assessment;
  const findings = [
    ...backends.flatMap((backend) => assessBackend(backend, snapshot)),
    ...hooks.flatMap((hook) => assessTrust(hook, snapshot)),
    ...backends.flatMap((backend) => assessSecret(backend, snapshot)),
    ...assessOperators(assessment),
    ...hooks.flatMap(assessOwner),
    ...assessLook(assessment),
  ];
  return mostSevereFirst(findings);
}
