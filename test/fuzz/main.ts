// `npm run fuzz:trust`: makes cases, asks Go and the verdict, and says where the two differ, cut down to what matters.
// Ends with `N passed, N failed`, and with status 1 where one failed.
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { type CaseRecipe, type Question, generateCase, renderCase } from "./case-recipe.ts";
import { type Compared, compare } from "./compare.ts";
import { minimise } from "./minimise.ts";
import { type Oracle, startOracle } from "./oracle.ts";
import { seededRandom } from "./random.ts";

const { values } = parseArgs({
  options: {
    cases: { type: "string", default: "2000" },
    seed: { type: "string", default: "1" },
    go: { type: "string", default: "1.26" },
    // The first case of the seed: to go on, or to look at one again.
    from: { type: "string", default: "0" },
    // Where the differences go, as entries of test/trust/found-by-fuzzing.json.
    save: { type: "string" },
    // Prints how often Go said what, to see what the cases reach.
    census: { type: "boolean", default: false },
  },
});

/** More are of no use: they mostly have one reason. */
const enough = 20;

interface Difference extends Compared {
  readonly id: string;
  readonly question: Question;
}

interface Run {
  readonly passed: number;
  readonly differences: readonly Difference[];
  /** How often Go said what, names and numbers left out. */
  readonly census: ReadonlyMap<string, number>;
}

const oracle = await startOracle(values.go);
try {
  const ran = await run(oracle, Number(values.cases));
  if (values.census) printCensus(ran.census);
  if (values.save !== undefined) writeFileSync(values.save, `${JSON.stringify(ran.differences.map(saved), null, 2)}\n`);
  console.info(`fuzz:trust, ${oracle.version}, seed ${values.seed}, ${ran.census.size} kinds of answers`);
  console.info(`${ran.passed} passed, ${ran.differences.length} failed`);
  process.exitCode = ran.differences.length === 0 ? 0 : 1;
} finally {
  oracle.stop();
}

async function run(oracle: Oracle, cases: number): Promise<Run> {
  const differences: Difference[] = [];
  const census = new Map<string, number>();
  let passed = 0;
  for (
    let index = Number(values.from);
    passed + differences.length < cases && differences.length < enough;
    index += 1
  ) {
    const recipe = generateCase(seededRandom(Number(values.seed) * 1_000_003 + index));
    const compared = await compare(renderCase(recipe), oracle);
    census.set(kindOf(compared.go), (census.get(kindOf(compared.go)) ?? 0) + 1);
    if (compared.isSame) passed += 1;
    else differences.push(await cutDown(recipe, oracle, `fuzz/${values.seed}-${index}`));
  }
  return { passed, differences, census };
}

async function cutDown(recipe: CaseRecipe, oracle: Oracle, id: string): Promise<Difference> {
  const minimal = await minimise(recipe, async (question) => !(await compare(question, oracle)).isSame);
  const question = renderCase(minimal);
  const difference = { id, question, ...(await compare(question, oracle)) };
  console.error(`${id}\n  we: ${difference.ours}\n  go: ${difference.go}`);
  return difference;
}

function saved({ id, question, go }: Difference) {
  const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");
  const { caBundle, chain, serverName, at } = question;
  const time = at.toISOString();
  return {
    id,
    caBundleBase64: base64(caBundle),
    chain: chain.map(base64),
    serverName,
    time,
    expect: { [oracle.version]: go },
  };
}

function kindOf(text: string): string {
  return text.replaceAll(/"(?:[^"\\]|\\.)*"/g, '"…"').replaceAll(/[0-9]+/g, "0");
}

function printCensus(census: ReadonlyMap<string, number>): void {
  for (const [kind, count] of [...census].sort(([, a], [, b]) => b - a))
    console.info(`${count}\t${kind.slice(0, 200)}`);
}
