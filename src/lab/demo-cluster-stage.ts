// What an act of the demo can do: speak, create a pod, run fleetmend, and insist on how it ended. Not here: the story.
import { Readable } from "node:stream";
import * as v from "valibot";
import type { CliIo, OutputStream } from "../cli/cli-io.ts";
import { main } from "../cli/main.ts";
import { blank, paragraph, styled, type Paragraph } from "../cli/typeset.ts";
import { createPage, insist } from "./demo-page.ts";
import type { Lab } from "./start.ts";

export interface Stage {
  readonly lab: Lab;
  readonly say: (paragraphs: readonly Paragraph[]) => void;
  /** Creates a workflow's pod, as a dry run, and shows what the API server says. */
  readonly createPod: (expected: "admitted" | "refused") => Promise<void>;
  /** Runs a command of fleetmend and shows it. Where it asks something, the answer is yes. */
  readonly fleetmend: (command: string, exitCode: number) => Promise<void>;
  /** Runs `fleetmend scan` once more, as JSON and not shown: the kinds of its findings that are `broken`. */
  readonly insistOnBroken: (expected: readonly string[]) => Promise<void>;
}

/** A stage that speaks to `io.stdout`. `io`'s environment has to lead to the lab. */
export function createStage(lab: Lab, io: CliIo): Stage {
  const { say } = createPage(io);
  const margin = indented(io);
  return {
    lab,
    say,
    async createPod(expected) {
      const { admitted, message } = await lab.createPod();
      const outcome = admitted ? styled("good", "admitted") : styled("bad", "refused");
      say([blank, paragraph(0, ["OSMO creates a pod for a workflow: ", outcome])]);
      if (!admitted) say([paragraph(2, [message])]);
      insist(admitted === (expected === "admitted"), `the pod must be ${expected}`);
    },
    async fleetmend(command, exitCode) {
      say([blank, paragraph(0, [styled("strong", `$ fleetmend ${command}`)])]);
      const code = await main(command.split(" "), { ...io, ...margin, stdin: yes(margin.stderr) });
      insist(code === exitCode, `fleetmend ${command} must end with ${exitCode}, and ended with ${code}`);
    },
    async insistOnBroken(expected) {
      const seen = await brokenKinds(io);
      insist(seen.join() === expected.join(), `scan must find ${listed(expected)}, and found ${listed(seen)}`);
    },
  };
}

function listed(kinds: readonly string[]): string {
  return kinds.length === 0 ? "nothing broken" : kinds.join(", ");
}

const indent = "  ";

/**
 * Two columns to the right, so that what fleetmend says is told from what the demo says; and one stream for both, so that
 * a copy of the demo's output has all of it.
 */
function indented({ stdout }: CliIo): { readonly stdout: OutputStream; readonly stderr: OutputStream } {
  let startsLine = true;
  const stream: OutputStream = {
    ...(stdout.isTTY === undefined ? {} : { isTTY: stdout.isTTY }),
    columns: (stdout.columns ?? 80) - indent.length,
    write(text) {
      const begin = startsLine && text !== "" && !text.startsWith("\n") ? indent : "";
      startsLine = text === "" ? startsLine : text.endsWith("\n");
      return stdout.write(begin + text.replaceAll(/\n(?=[^\n])/g, `\n${indent}`));
    },
  };
  return { stdout: stream, stderr: stream };
}

/** A terminal at which somebody types `y`. */
function yes(echo: OutputStream): CliIo["stdin"] {
  const typing = new Readable({
    read() {
      echo.write("y\n");
      this.push("y\n");
      this.push(null);
    },
  });
  return Object.assign(typing, { isTTY: true });
}

const scanDocument = v.looseObject({
  findings: v.array(v.looseObject({ kind: v.string(), severity: v.string() })),
});

async function brokenKinds(io: CliIo): Promise<readonly string[]> {
  let text = "";
  const stdout: OutputStream = { write: (chunk) => (text += chunk) };
  const silent: OutputStream = { write: () => undefined };
  await main(["scan", "--output", "json"], { ...io, stdout, stderr: silent });
  const { findings } = v.parse(scanDocument, JSON.parse(text));
  return [...new Set(findings.filter(({ severity }) => severity === "broken").map(({ kind }) => kind))].toSorted();
}
