// The order in which findings are told.
import type { Finding, Severity } from "./finding.ts";

const order: Readonly<Record<Severity, number>> = { broken: 0, warning: 1, undetermined: 2, info: 3 };

/** Most severe first; those of one severity stay in the order that they have. */
export function mostSevereFirst(findings: readonly Finding[]): readonly Finding[] {
  return findings.toSorted((left, right) => order[left.severity] - order[right.severity]);
}
