import { describe, expect, it } from "vitest";
import type { FindingKind } from "../../src/admission/finding.ts";
import { checkedDocument, outputSchema } from "./output-schema.ts";
import { onLab } from "./on-lab.ts";

const kinds: Record<FindingKind, true> = {
  "bundle-stale": true,
  "bundle-empty": true,
  "bundle-unparsable": true,
  "certificate-expired": true,
  "certificate-not-yet-valid": true,
  "certificate-wrong-name": true,
  "certificate-unusable": true,
  "next-certificate-refused": true,
  "secret-key-mismatch": true,
  "secret-key-missing": true,
  "secret-unusable": true,
  "secret-bad-certificate": true,
  "secret-absent": true,
  "pod-serves-older": true,
  "replicas-differ": true,
  "holders-differ": true,
  "service-missing": true,
  "no-ready-endpoints": true,
  "service-port-missing": true,
  "service-unroutable": true,
  "pod-not-serving": true,
  "no-hooks": true,
  "operator-down": true,
  "operator-absent": true,
  "operator-blind": true,
  "owner-unknown": true,
  "foreign-last-writer": true,
  "bundle-wider-than-needed": true,
  "fails-open": true,
  "hook-leftover": true,
  "expires-soon": true,
  "trust-undetermined": true,
  "not-seen": true,
  "probe-disagrees": true,
  "call-failed": true,
  "drift-latent": true,
};

describe("the published schema", () => {
  it("lists every kind of finding", () => {
    const { $defs } = outputSchema as { $defs: { finding: { properties: { kind: { enum: string[] } } } } };
    expect([...$defs.finding.properties.kind.enum].sort()).toEqual(Object.keys(kinds).sort());
  });

  it("describes why there is no result", async () => {
    await using cluster = await onLab();
    const { code, stdout } = await cluster.fleetmend(["scan", "--context", "none", "--output", "json"]);
    expect(checkedDocument(stdout)).toMatchObject({ exitCode: 2, failure: { kind: "no-connection" } });
    expect(code).toBe(2);
  });
});
