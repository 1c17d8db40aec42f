// The recorded answers of Go itself to bundles and chains, text for text (test/corpora; limbo/* are of the C2SP x509-limbo
// corpus, Apache-2.0, with Go's answers).
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import type { Verdict, VerifyInput } from "../../src/trust/verdict.ts";
import { verifyServed } from "../../src/trust/verify.ts";

interface TrustCase {
  readonly id: string;
  readonly caBundle: string;
  readonly chain: readonly string[];
  readonly serverName: string;
  readonly time: string;
  readonly expect: Readonly<Record<"go1.19.8" | "go1.26.8", string>>;
}

interface PemCase {
  readonly id: string;
  readonly caBundleBase64: string;
  readonly expect: string;
}

function readCorpus(name: string): unknown {
  return JSON.parse(readFileSync(path.join(import.meta.dirname, "..", "corpora", name), "utf8"));
}

const base64 = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, "base64"));

const answerOf = (verdict: Verdict): string => {
  if (verdict.outcome === "undetermined") return `undetermined: ${verdict.reason}`;
  return verdict.outcome === "trusted" ? "OK" : verdict.goText;
};

interface Count {
  decided: number;
  readonly undetermined: string[];
  readonly wrong: string[];
}

function count(count: Count, id: string, verdict: Verdict, expected: string): void {
  const answer = answerOf(verdict);
  if (verdict.outcome === "undetermined") count.undetermined.push(id);
  else if (answer === expected) count.decided += 1;
  else count.wrong.push(`${id}\n   we: ${answer}\n   go: ${expected}`);
}

const emptyCount = (): Count => ({ decided: 0, undetermined: [], wrong: [] });

const report = (name: string, { decided, undetermined, wrong }: Count): void => {
  const open = undetermined.length === 0 ? "" : ` (${undetermined.join(", ")})`;
  console.info(`${name}: ${decided} decided, ${undetermined.length} undetermined${open}, ${wrong.length} wrong`);
};

describe("corpora/trust.json", () => {
  const cases = readCorpus("trust.json") as readonly TrustCase[];

  // Without the patch, two chains that only a newer 1.26 stops searching stay open. No TLS server can use a DSA key, so
  // that what Verify alone was recorded to say about one is never asked.
  it.each([
    { go: "1.19", recorded: "go1.19.8", open: ["limbo/webpki::forbidden-dsa-leaf"] },
    { go: "1.19", patch: 8, recorded: "go1.19.8", open: ["limbo/webpki::forbidden-dsa-leaf"] },
    {
      go: "1.26",
      recorded: "go1.26.8",
      open: [
        "limbo/pathological::pathological-chain-distinct-subject-same-key",
        "limbo/pathological::pathological-chain-same-subject-same-key",
        "limbo/webpki::forbidden-dsa-leaf",
      ],
    },
    { go: "1.26", patch: 8, recorded: "go1.26.8", open: ["limbo/webpki::forbidden-dsa-leaf"] },
  ] as const)("says what $recorded says, for Go $go patch $patch, and never anything else", (row) => {
    const all = emptyCount();
    const release = "patch" in row ? { go: row.go, patch: row.patch } : { go: row.go };
    for (const { expect: expected, ...rest } of cases) {
      count(all, rest.id, judge(release, rest), expected[row.recorded]);
    }
    report(`trust.json, Go ${row.go}${"patch" in row ? `.${row.patch}` : ""}`, all);
    expect(all.wrong).toEqual([]);
    expect(all.undetermined).toEqual(row.open);
  });
});

type Release = Pick<VerifyInput, "go" | "patch">;

function judge(release: Release, { caBundle, chain, serverName, time }: Omit<TrustCase, "expect">): Verdict {
  return verifyServed({
    caBundle: new TextEncoder().encode(caBundle),
    chain: chain.map(base64),
    serverName,
    at: new Date(time),
    ...release,
  });
}

describe("corpora/pem.json", () => {
  const cases = readCorpus("pem.json") as readonly PemCase[];
  const releases = ["1.19", "1.20", "1.21", "1.22", "1.23", "1.24", "1.25", "1.26"] as const;

  it.each(releases)("reads every bundle as Go %s does", (go) => {
    const all = emptyCount();
    for (const { id, caBundleBase64, expect: expected } of cases) {
      // A junk leaf: what is asked is only what became of the bundle.
      const verdict = verifyServed({
        caBundle: base64(caBundleBase64),
        chain: [new Uint8Array([0])],
        serverName: "a.b.svc",
        at: new Date("2026-01-15T12:00:00Z"),
        go,
      });
      const reading = bundleReading(verdict);
      if (reading === expected) all.decided += 1;
      else all.wrong.push(`${id}: we say ${reading}, Go says ${expected}`);
    }
    report(`pem.json, Go ${go}`, all);
    expect(all.wrong).toEqual([]);
    expect(all.decided).toBe(cases.length);
  });
});

/** In the corpus's words. */
function bundleReading(verdict: Verdict): string {
  if (verdict.outcome !== "broken" || verdict.stage !== "config") return `OK ${verdict.bundle.length} cert(s)`;
  return verdict.goText.replace("unable to load root certificates: ", "");
}
