// When the first of the certificates ends on which admission now depends. Pure.
import { verdictsOf } from "./hook-verdicts.ts";
import type { ClusterSnapshot } from "./snapshot.ts";

/**
 * The earliest end of a certificate that a pod serves, or that vouches for one where the API server accepts it. Undefined
 * where no served certificate was seen.
 */
export function earliestServedEnd(snapshot: ClusterSnapshot): Date | undefined {
  const ends = snapshot.hooks.flatMap((hook) =>
    verdictsOf(hook, snapshot).groups.flatMap(({ served, verdict }) =>
      verdict.outcome === "trusted"
        ? [verdict.earliestExpiry]
        : served.leaf === undefined
          ? []
          : [served.leaf.notAfter],
    ),
  );
  return ends.toSorted((left, right) => left.getTime() - right.getTime())[0];
}
