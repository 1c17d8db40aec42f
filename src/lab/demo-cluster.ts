// `npm run demo:cluster`: the whole story of one fault, on the lab, told by the real command line. Needs nothing but Node, takes
// some seconds, and ends with 0 only if every act ended as told.
import { processIo } from "../cli/process-io.ts";
import { blank, command, paragraph, styled, type Paragraph } from "../cli/typeset.ts";
import { createStage } from "./demo-cluster-stage.ts";
import { story } from "./demo-cluster-story.ts";
import { createPage, tell } from "./demo-page.ts";
import { startLab } from "./start.ts";

const dayMs = 24 * 60 * 60 * 1000;

const opening: readonly Paragraph[] = [
  paragraph(0, [styled("strong", "fleetmend demo")]),
  blank,
  paragraph(0, [
    "A small Kubernetes API with NVIDIA KAI Scheduler v0.5.5 runs in this process. It is simulated, but everything goes over the wire: its API server calls the webhook for every pod, over TLS, with real certificates. No cluster of yours is touched.",
  ]),
];

function closing(seconds: number): readonly Paragraph[] {
  return [
    blank,
    blank,
    paragraph(0, [`Told in ${seconds} s. Everything that was started for it has been stopped.`]),
    paragraph(0, ["To look at a cluster of your own, which changes nothing there, type:"]),
    command(2, "npm run -s fleetmend -- scan"),
  ];
}

/** The exit code. What was started is stopped, also at Ctrl-C. */
async function run(): Promise<number> {
  const began = Date.now();
  const io = processIo();
  const lab = await startLab({ installedAt: new Date(began - 212 * dayMs), mountRefreshMs: 1000 });
  process.once("SIGINT", () => void lab.stop().then(() => process.exit(130)));
  // So that the commands are what they are shown to be, without further options.
  process.env.KUBECONFIG = lab.kubeconfig;
  const page = createPage(io);
  page.say(opening);
  try {
    if (!(await tell(page, createStage(lab, io), story))) return 1;
  } finally {
    await lab.stop();
  }
  page.say(closing(Math.round((Date.now() - began) / 1000)));
  return 0;
}

process.exitCode = await run();
