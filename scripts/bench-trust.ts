// `npm run bench:trust`: verdicts per second for what KAI serves, reading of bundle and chain included, beside Go's own verifier
// in the same run; and a verdict that needs no signature beside the plain parse of the same certificates by OpenSSL. Needs Go.
import { X509Certificate } from "node:crypto";
import { generateKeys, mintKaiCertificate } from "../src/trust/mint.ts";
import { verifyServed } from "../src/trust/verify.ts";
import { startOracle } from "../test/fuzz/oracle.ts";
import type { Question } from "../test/fuzz/case-recipe.ts";

const goal = 5;
const rounds = 7;
const roundMs = 300;

const serverName = "binder.kai-scheduler.svc";
const at = new Date("2026-12-01T03:00:00Z");
const [older, newer] = await Promise.all(
  ["2026-05-03T12:00:00Z", "2026-06-09T08:30:00Z"].map(async (notBefore) =>
    mintKaiCertificate({ serverName, notBefore: new Date(notBefore), keys: await generateKeys("rsa-2048") }),
  ),
);
if (older === undefined || newer === undefined) throw new Error("two certificates were asked for");
const question = (bundle: string, served: Uint8Array): Question => ({
  caBundle: Buffer.from(bundle),
  chain: [served],
  serverName,
  at,
});

const cases = [
  { name: "trusted: the served leaf is in the bundle", asked: question(newer.pem, newer.der) },
  { name: "drift: same name, other key", asked: question(older.pem, newer.der) },
  { name: "trusted, both generations in the bundle", asked: question(older.pem + newer.pem, newer.der) },
];

/** Microseconds for one call: the median of some rounds, after one that only warms up. */
function measure(call: () => unknown): number {
  const times = Array.from({ length: rounds + 1 }, () => {
    const began = performance.now();
    let calls = 0;
    while (performance.now() - began < roundMs) {
      for (let n = 0; n < 20; n += 1) call();
      calls += 20;
    }
    return ((performance.now() - began) * 1000) / calls;
  });
  return median(times.slice(1));
}

const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;

const oracle = await startOracle();
try {
  process.stdout.write(`Node ${process.version} beside ${oracle.version}, medians of ${rounds} rounds, in turns\n\n`);
  process.stdout.write(
    `${"".padEnd(50)}${"fleetmend".padStart(12)}${"Go".padStart(12)}${"ratio".padStart(8)}   verdicts/s\n`,
  );
  for (const { name, asked } of cases) {
    const own = measure(() => verifyServed({ ...asked, go: "1.26" }));
    // Warm, and then as many as take about a round.
    await oracle.measure(asked, 200);
    const go: number[] = [];
    for (let n = 0; n < rounds; n += 1) go.push((await oracle.measure(asked, 2000)) / 1000);
    const ratio = own / median(go);
    process.stdout.write(
      `${name.padEnd(50)}${us(own)}${us(median(go))}${`${ratio.toFixed(1)}×`.padStart(8)}   ${Math.round(1e6 / own)}${ratio > goal ? `  (goal ${goal}×, missed)` : ""}\n`,
    );
  }
  const parse = measure(() => new X509Certificate(newer.der).subject);
  const [{ asked }] = cases as [(typeof cases)[number]];
  // The leaf is in the bundle: both are read, compared, and no signature is checked.
  const own = measure(() => verifyServed({ ...asked, go: "1.26" }));
  process.stdout.write(
    `\nwithout a signature check: two certificates read and judged in ${us(own).trim()}, beside ${us(2 * parse).trim()} for two plain\nX509Certificate parses: ${(own / (2 * parse)).toFixed(2)}×\n`,
  );
} finally {
  oracle.stop();
}

function us(microseconds: number): string {
  return `${microseconds.toFixed(1)} µs`.padStart(12);
}
