// `npm run cluster`: starts the playground and keeps it in the foreground, or, with words behind it, types them into the
// one that runs.
import { createInterface } from "node:readline";
import path from "node:path";
import { Command, Option } from "commander";
import { GoMissing } from "./build.ts";
import { familyNames, startPlayground } from "./playground.ts";
import { listenForLines, sendLine } from "./remote-control.ts";
import type { FamilyName } from "../../src/lab/kai/families.ts";

const folder = path.join(import.meta.dirname, "..", "..", ".cache", "cluster");
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const progress = (line: string): void => void process.stderr.write(`cluster: ${line}\n`);

interface Options {
  readonly family: FamilyName;
  readonly mountRefresh: string;
}

const program = new Command("cluster")
  .description("A real Kubernetes control plane with NVIDIA KAI's webhooks, to try fleetmend on.")
  .argument("[words...]", "typed into a cluster that already runs, such as: inject drift")
  .addOption(new Option("--family <name>", "the KAI family to install").choices(familyNames).default("A"))
  .option("--mount-refresh <seconds>", "from a Secret's change to the changed files in a pod; in life 30 to 100", "5")
  .action(async (words: readonly string[], options: Options) => {
    if (words.length > 0) await typeInto(words.join(" "));
    else await keep(options);
  });

await program.parseAsync();

async function typeInto(line: string): Promise<void> {
  const answer = await sendLine(folder, line);
  say(answer ?? "no cluster runs; start one in another terminal: npm run cluster");
  if (answer === undefined) process.exitCode = 1;
}

async function keep({ family, mountRefresh }: Options): Promise<void> {
  if ((await sendLine(folder, "faults")) !== undefined) {
    say("a cluster is already running in another terminal; type into it, such as: npm run cluster -- family D1");
    process.exitCode = 1;
    return;
  }
  const signal = new Promise<void>((resolve) => {
    for (const name of ["SIGINT", "SIGTERM", "SIGHUP"])
      process.once(name, () => {
        resolve();
      });
  });
  try {
    const mountRefreshMs = Number(mountRefresh) * 1000;
    const playground = await startPlayground({ family, mountRefreshMs, folder, progress });
    const stopListening = await listenForLines(folder, playground.run);
    say(playground.welcome);
    const input = createInterface({ input: process.stdin });
    input.on("line", (line) => {
      if (line.trim() !== "") void playground.run(line).then(say);
    });
    await signal;
    progress("stopping");
    input.close();
    stopListening();
    await playground.stop();
  } catch (error) {
    if (!(error instanceof GoMissing)) throw error;
    progress(error.message);
    process.exitCode = 1;
  }
}
