// `npm run demo`: fleetmend deployed in the lab, and the story of its subscription. Needs nothing but Node, takes about two
// minutes, and ends with 0 only if every act ended as told. `--keep` leaves everything up, to be asked with curl.
import { parseArgs } from "node:util";
import { processIo } from "../cli/process-io.ts";
import { blank, command, paragraph, styled, type Paragraph } from "../cli/typeset.ts";
import { createFleetStage } from "./demo-fleet-stage.ts";
import { situations, story } from "./demo-fleet-story.ts";
import { createPage, tell } from "./demo-page.ts";
import { startFleetWorld, type FleetWorld } from "./fleet-world.ts";

const clusters = 40;

const opening: readonly Paragraph[] = [
  paragraph(0, [styled("strong", "fleetmend demo")]),
  blank,
  paragraph(0, [
    `An Azure subscription with ${clusters} AKS clusters is simulated on this machine: Resource Manager, managed identity, Key Vault, Application Insights, Teams, and in each cluster an API server that calls NVIDIA KAI Scheduler's webhooks over TLS. Queues and tables are Azurite's. fleetmend is what would be deployed: its package, in a local Functions host, with the real Azure SDKs. Nothing of yours is touched.`,
  ]),
];

const next = [
  ["npm run demo -- --keep", "the same, and left up for curl"],
  ["npm run demo:cluster", "one cluster, by the command line"],
  ["npm run -s fleetmend -- scan", "a cluster of your own; changes nothing"],
  ["docs/deploy.md", "azd up, for a subscription of your own"],
] as const;

function closing(seconds: number): readonly Paragraph[] {
  return [
    blank,
    blank,
    paragraph(0, [`Told in ${seconds} s. Everything that was started for it has been stopped.`]),
    blank,
    paragraph(0, ["Where to look next:"]),
    ...next.map(([what, does]) => command(2, what.padEnd(30), does)),
  ];
}

function kept({ host }: FleetWorld): readonly Paragraph[] {
  const { url, keys } = host();
  return [
    blank,
    paragraph(0, ["It stays up until Ctrl-C. To ask it:"]),
    command(2, `url=${url} key=${keys.default}`),
    command(2, 'curl -s "$url/api/fleet" -H "x-functions-key: $key"'),
    command(2, 'curl -s "$url/api/clusters/<cluster>" -H "x-functions-key: $key"'),
    command(2, 'curl -s -X POST "$url/api/clusters/<cluster>/scan?wait=60" -H "x-functions-key: $key"'),
  ];
}

const untilInterrupted = (): Promise<void> =>
  new Promise((resolve) => {
    // Something has to keep the process alive; it is over with the signal.
    const alive = setInterval(() => undefined, 60_000);
    process.once("SIGINT", () => {
      clearInterval(alive);
      resolve();
    });
  });

/** The exit code. What was started is stopped, also at Ctrl-C. */
async function run(isKept: boolean): Promise<number> {
  const began = Date.now();
  const seconds = (): number => Math.round((Date.now() - began) / 1000);
  const page = createPage(processIo());
  page.say(opening);
  const world = await startFleetWorld({
    clusters,
    seed: 7,
    situations,
    latencyMs: 5,
    settings: { FLEETMEND_MODE: "repair" },
  });
  const interrupt = (): void => void world.stop().then(() => process.exit(130));
  process.once("SIGINT", interrupt);
  try {
    page.say([blank, paragraph(0, [`${clusters} clusters are up after ${seconds()} s.`])]);
    if (!(await tell(page, createFleetStage(page, world, seconds), story))) return 1;
    if (isKept) {
      process.off("SIGINT", interrupt);
      page.say(kept(world));
      await untilInterrupted();
    }
  } finally {
    await world.stop();
  }
  page.say(closing(seconds()));
  return 0;
}

const { values } = parseArgs({ options: { keep: { type: "boolean", default: false } } });
process.exitCode = await run(values.keep);
