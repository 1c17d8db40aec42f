// The recorded answers of Go itself to bundles and chains, text for text (test/corpora; limbo/* are of the C2SP x509-limbo
// corpus, Apache-2.0, with Go's answers). All are what crypto/tls says in a handshake: to a leaf with a DSA key, which
// x509.Verify by itself accepts, that it cannot use it.
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import type { Verdict, VerifyInput } from "../../src/trust/verdict.ts";
import { verifyServed } from "../../src/trust/verify.ts";
import { releaseOf } from "../fuzz/compare.ts";

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

  it.each([
    { go: "1.19", recorded: "go1.19.8" },
    { go: "1.19", patch: 8, recorded: "go1.19.8" },
    { go: "1.26", recorded: "go1.26.8" },
    { go: "1.26", patch: 8, recorded: "go1.26.8" },
  ] as const)("says what $recorded says, for Go $go patch $patch, and never anything else", (row) => {
    const all = emptyCount();
    const release = "patch" in row ? { go: row.go, patch: row.patch } : { go: row.go };
    for (const { expect: expected, ...rest } of cases) {
      count(all, rest.id, judge(release, rest), expected[row.recorded]);
    }
    report(`trust.json, Go ${row.go}${"patch" in row ? `.${row.patch}` : ""}`, all);
    expect(all.wrong).toEqual([]);
    expect(all.undetermined).toEqual([]);
    expect(all.decided).toBe(cases.length);
  });
});

interface FoundCase extends Omit<TrustCase, "caBundle" | "expect"> {
  readonly desc: string;
  readonly caBundleBase64: string;
  /** By the version of the Go that was asked. */
  readonly expect: Readonly<Record<string, string>>;
}

// What `npm run fuzz:trust` found and cut down: to each of these the verdict once said something else than Go.
describe("found-by-fuzzing.json", () => {
  const file = path.join(import.meta.dirname, "found-by-fuzzing.json");
  const cases = (JSON.parse(readFileSync(file, "utf8")) as readonly FoundCase[]).flatMap(({ expect: said, ...rest }) =>
    Object.entries(said).map(([version, text]) => ({ ...rest, version, text })),
  );

  it.each(cases)("$id, $version: $desc", ({ version, text, caBundleBase64, chain, serverName, time }) => {
    const caBundle = base64(caBundleBase64);
    const at = new Date(time);
    const verdict = verifyServed({ caBundle, chain: chain.map(base64), serverName, at, ...releaseOf(version) });
    expect(answerOf(verdict)).toBe(text);
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
