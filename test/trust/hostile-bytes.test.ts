// Whatever bytes a pod serves or a bundle holds, a verdict comes back: no throw, no hang, and never `trusted` by accident.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mintCertificate, mintKaiCertificate } from "../../src/trust/mint.ts";
import type { GoRelease, VerifyInput } from "../../src/trust/verdict.ts";
import { verifyServed } from "../../src/trust/verify.ts";

const serverName = "binder.kai-scheduler.svc";
const at = new Date("2026-06-01T00:00:00Z");
const notBefore = new Date("2026-05-03T12:00:00Z");
const leaf = await mintKaiCertificate({ serverName, notBefore });
const ca = await mintCertificate({
  subject: "test-ca",
  notBefore,
  notAfter: new Date("2027-05-03T12:00:00Z"),
  ca: true,
});

const bundle = new TextEncoder().encode(`${leaf.pem}${ca.pem}`);
const release = fc.constantFrom<GoRelease>("1.19", "1.21", "1.24", "1.26");
const anyBytes = fc.uint8Array({ maxLength: 600 });

/** Some of the bytes overwritten, the end cut off, or something put in: what corruption and an attacker both do. */
function mutated(original: Uint8Array): fc.Arbitrary<Uint8Array> {
  const change = fc.record({
    at: fc.nat(original.length - 1),
    drop: fc.nat(8),
    put: fc.uint8Array({ maxLength: 8 }),
  });
  return fc.array(change, { minLength: 1, maxLength: 4 }).map((changes) => {
    const bytes = [...original];
    for (const { at: from, drop, put } of changes) bytes.splice(from, drop, ...put);
    return new Uint8Array(bytes);
  });
}

const judge = (input: Omit<VerifyInput, "serverName" | "at">) => verifyServed({ ...input, serverName, at });

describe("verifyServed", () => {
  it("trusts the minted leaf that is in the bundle, so that the cases below have something to lose", () => {
    expect(judge({ caBundle: bundle, chain: [leaf.der], go: "1.26" }).outcome).toBe("trusted");
  });

  it("answers for any bytes as bundle and chain, and trusts none", () => {
    fc.assert(
      fc.property(anyBytes, fc.array(anyBytes, { maxLength: 3 }), release, (caBundle, chain, go) => {
        expect(judge({ caBundle, chain, go }).outcome).not.toBe("trusted");
      }),
      { numRuns: 300 },
    );
  });

  it("trusts a served leaf whose bytes were changed only if it still is the leaf of the bundle", () => {
    fc.assert(
      fc.property(mutated(leaf.der), release, (served, go) => {
        const isSame = Buffer.from(served).equals(Buffer.from(leaf.der));
        expect(judge({ caBundle: bundle, chain: [served], go }).outcome === "trusted").toBe(isSame);
      }),
      { numRuns: 500 },
    );
  });

  it("answers for a bundle whose text was changed anywhere, and trusts it only for a leaf that is whole in it", () => {
    fc.assert(
      fc.property(mutated(bundle), release, (caBundle, go) => {
        const { outcome } = judge({ caBundle, chain: [leaf.der], go });
        const base64 = Buffer.from(caBundle)
          .toString("latin1")
          .replaceAll(/[\r\n\t ]/g, "");
        const isWhole = base64.includes(Buffer.from(leaf.der).toString("base64").replace(/=+$/, ""));
        if (outcome === "trusted") expect(isWhole).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it("stays quick for a chain and a bundle of many namesakes: Go's limit on signatures bounds the search", () => {
    const many = new TextEncoder().encode(ca.pem.repeat(2000));
    const chain = [leaf.der, ...Array<Uint8Array>(200).fill(ca.der)];
    expect(judge({ caBundle: many, chain, go: "1.26" }).outcome).toBe("broken");
  });
});
