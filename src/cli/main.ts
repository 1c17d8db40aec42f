// The way in: reads the command line, runs one command, answers its exit code. What a command does is in its own file,
// which is loaded only when it was typed: `--help` and an offline `explain` never load the Kubernetes SDK.
import { realpathSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Result } from "../result.ts";
import { version } from "../version.ts";
import type { CliIo } from "./cli-io.ts";
import { type CommandFailure, exitCodeOf } from "./command-failure.ts";
import { readCommandLine } from "./command-line.ts";
import { type ExitCode, exitCode } from "./exit-code.ts";
import type { Invocation } from "./invocation.ts";
import { calledAs } from "./shell-word.ts";
import type { Session } from "./session.ts";
import { type Terminal, openTerminal } from "./terminal.ts";
import { command, paragraph, typeset } from "./typeset.ts";

/**
 * Runs what `argv` (without node and the script) asks for, and answers the exit code: 0 nothing wrong, 1 findings, 2
 * could not look, 64 wrong use. Writes the result to `io.stdout` and everything else to `io.stderr`. Never throws, and
 * leaves the process alone.
 */
export async function main(argv: readonly string[], io: CliIo): Promise<ExitCode> {
  try {
    const reading = readCommandLine(argv, { version, name: calledAs(io.env) });
    if (!reading.ok) return refuse(reading.error, io);
    if (reading.value.kind === "show") {
      io.stdout.write(reading.value.text);
      return exitCode.nothingWrong;
    }
    return await run(reading.value.invocation, io);
  } catch (error) {
    // The one place where a defect of ours ends. It is neither a finding nor health.
    io.stderr.write(`fleetmend: this is a defect of fleetmend, please report it.\n${stackOf(error)}\n`);
    return exitCode.couldNotLook;
  }
}

function refuse(failure: CommandFailure, io: CliIo): ExitCode {
  const todo = failure.kind === "no-connection" ? command(0, failure.todo) : paragraph(0, [failure.todo]);
  const page = { width: io.stderr.columns ?? 80, colour: false };
  io.stderr.write(typeset([paragraph(0, [`fleetmend: ${failure.message}`]), todo], page));
  return exitCodeOf(failure);
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

async function run(invocation: Invocation, io: CliIo): Promise<ExitCode> {
  const terminal = openTerminal(io, invocation);
  const answer = await runCommand(invocation, io, terminal);
  if (answer.ok) return answer.value;
  if (invocation.output === "json" && answer.error.kind !== "wrong-use") {
    const { failureDocument } = await import("./json-document.ts");
    terminal.showJson(failureDocument(invocation.command, answer.error));
  }
  return refuse(answer.error, io);
}

type Answer = Promise<Result<ExitCode, CommandFailure>>;

async function runCommand(invocation: Invocation, io: CliIo, terminal: Terminal): Answer {
  if (invocation.command === "explain-files") {
    const { explainFiles } = await import("./explain-files.ts");
    return explainFiles(invocation, terminal, io.now());
  }
  const { inSession } = await import("./session.ts");
  return inSession(io, terminal, invocation, (session) => runOnCluster(invocation, session));
}

async function runOnCluster(invocation: Exclude<Invocation, { command: "explain-files" }>, session: Session): Answer {
  switch (invocation.command) {
    case "scan": {
      const { scan } = await import("./scan.ts");
      return scan(session, invocation.probe);
    }
    case "explain": {
      const { explainCluster } = await import("./explain-cluster.ts");
      return explainCluster(session);
    }
    case "probe": {
      const { probeHooks } = await import("./probe.ts");
      return probeHooks(session);
    }
    case "repair": {
      const { repair } = await import("./repair.ts");
      return repair(session, invocation);
    }
  }
}

const script = process.argv[1];
if (script !== undefined && realpathSync(script) === fileURLToPath(import.meta.url)) {
  const { processIo } = await import("./process-io.ts");
  process.exitCode = await main(process.argv.slice(2), processIo());
}
