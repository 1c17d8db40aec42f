// The command line as commander reads it. Only reading: what was typed becomes an Invocation or a WrongUse.
import { Command, CommanderError, Option } from "commander";
import {
  type ClusterOptions,
  type FileOptions,
  type Invocation,
  type OutputOptions,
  defaultProbeNamespace,
} from "./invocation.ts";
import { type Result, failure, success } from "../result.ts";
import { type CommandFailure, wrongUse } from "./command-failure.ts";
import { type GoVersion, UnusableValue, newestGo, parseDuration, parseGoVersion, parseTime } from "./option-values.ts";

const minuteMs = 60_000;
// A scan takes about 16 requests. A repair waits for the kubelet's refresh of a Secret, which takes up to 100 s, for
// each of its moves.
const lookTimeoutMs = minuteMs;
const repairTimeoutMs = 15 * minuteMs;

/** What commander hands over: the options of the program and of the command in one. */
interface Typed {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly namespace?: string;
  readonly probeNamespace: string;
  readonly probeImage?: string;
  readonly output: "table" | "json";
  readonly color: boolean;
  readonly timeout?: number;
}

interface TypedExplain extends Typed {
  readonly bundle?: string;
  readonly served?: string;
  readonly serverName?: string;
  readonly at?: Date;
  readonly go?: GoVersion;
}

interface TypedRepair extends Typed {
  readonly yes?: boolean;
  readonly dryRun?: boolean;
  readonly allowOutage?: boolean;
}

export type Reading =
  | { readonly kind: "run"; readonly invocation: Invocation }
  /** --help or --version: the text for stdout. */
  | { readonly kind: "show"; readonly text: string };

/**
 * What `argv` (without node and the script) asks for, or what was wrong with it and what to type. Reads no file and asks
 * no cluster. `name` is how we were called, for what to type next.
 */
export function readCommandLine(
  argv: readonly string[],
  { version, name }: { readonly version: string; readonly name: string },
): Result<Reading, CommandFailure> {
  let invocation: Result<Invocation, CommandFailure> | undefined;
  let shown = "";
  const program = describeProgram(version, (found) => (invocation = found));
  const silenced = { writeOut: (text: string) => (shown += text), writeErr: () => undefined };
  for (const one of [program, ...program.commands]) one.exitOverride().configureOutput(silenced);
  const help = helpFor(argv, program, name);
  try {
    program.parse(argv, { from: "user" });
  } catch (error) {
    if (error instanceof UnusableValue) return failure(wrongUse(error.message, error.todo));
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return success({ kind: "show", text: shown });
    return failure(wrongUse(messageOf(error), help));
  }
  if (invocation === undefined) return failure(wrongUse(noCommand, help));
  return invocation.ok ? success({ kind: "run", invocation: invocation.value }) : invocation;
}

const noCommand = "No command was given.";

function helpFor(argv: readonly string[], program: Command, calledAs: string): string {
  const named = program.commands.map((one) => one.name()).find((name) => argv.includes(name));
  return `Type "${calledAs} ${named === undefined ? "" : `${named} `}--help" for what it takes.`;
}

function messageOf(error: CommanderError): string {
  return error.code === "commander.help" ? noCommand : sentence(error.message.replace(/^error: /, ""));
}

/** Commander's message, which ends without a full stop and may carry a guess on a second line. */
function sentence(message: string): string {
  const [first = "", ...rest] = message.split("\n").filter((line) => line !== "");
  return [first.charAt(0).toUpperCase() + first.slice(1).replace(/\.?$/, "."), ...rest].join(" ");
}

type Found = (invocation: Result<Invocation, CommandFailure>) => void;

function describeProgram(version: string, found: Found): Command {
  const program = new Command("fleetmend")
    .description("Finds, explains, repairs and proves broken admission webhooks of NVIDIA KAI Scheduler.")
    .version(version, "--version", "print the version")
    .helpOption("-h, --help", "print this help")
    .helpCommand(false)
    .configureHelp({ showGlobalOptions: true })
    .option("--kubeconfig <file>", "kubeconfig (default: $KUBECONFIG, then ~/.kube/config)")
    .option("--context <name>", "context of the kubeconfig (default: the current one)")
    .option("-n, --namespace <name>", "namespace of KAI Scheduler (default: wherever its hooks lead)")
    .option("--probe-namespace <name>", "namespace of the dry-run pod", defaultProbeNamespace)
    .option("--probe-image <image>", "image of the dry-run pod, where policies restrict it (never pulled)")
    .addOption(new Option("-o, --output <form>", "form of the result").choices(["table", "json"]).default("table"))
    .option("--no-color", "never colour (as does $NO_COLOR, or a pipe)")
    .addOption(
      new Option("--timeout <time>", "give up after, such as 90s or 5m (default: 60s; repair: 15m)").argParser(
        parseDuration,
      ),
    )
    .addHelpText("after", "\nExit codes: 0 nothing wrong, 1 findings, 2 could not look, 64 wrong use.");
  describeScan(program, found);
  describeExplain(program, found);
  describeProbe(program, found);
  describeRepair(program, found);
  return program;
}

function describeScan(program: Command, found: Found): void {
  program
    .command("scan")
    .description("find what is wrong, in one screen; changes nothing")
    .option("--no-probe", "do not ask for a dry-run pod")
    .action((_options: unknown, self: Command) => {
      const typed = self.optsWithGlobals<Typed & { readonly probe: boolean }>();
      const cluster = clusterOf(typed, lookTimeoutMs);
      found(success({ command: "scan", ...outputOf(typed), cluster, probe: typed.probe }));
    });
}

function describeExplain(program: Command, found: Found): void {
  program
    .command("explain")
    .description("say at length what is wrong: on a cluster, or on two files without one")
    .option("--bundle <file>", "the caBundle: PEM, or the base64 that the field holds")
    .option("--served <file>", "what the webhook serves: PEM, leaf first, or DER")
    .option("--server-name <name>", "the name that the API server verifies: <service>.<namespace>.svc")
    .addOption(new Option("--at <time>", "the time of the handshake (default: now)").argParser(parseTime))
    .addOption(
      new Option("--go <release>", `Go release of the API server (default: ${newestGo})`).argParser(parseGoVersion),
    )
    .action((_options: unknown, self: Command) => {
      found(explainOf(self.optsWithGlobals()));
    });
}

function describeProbe(program: Command, found: Found): void {
  program
    .command("probe")
    .description("prove each hook with a server-side dry run and a handshake with each pod")
    .action((_options: unknown, self: Command) => {
      const typed = self.optsWithGlobals<Typed>();
      found(success({ command: "probe", ...outputOf(typed), cluster: clusterOf(typed, lookTimeoutMs) }));
    });
}

function describeRepair(program: Command, found: Found): void {
  program
    .command("repair")
    .description("show the plan, ask, repair step by step, and prove it")
    .option("-y, --yes", "do not ask")
    .option("--dry-run", "only show the plan")
    .option("--allow-outage", "allow restarts that stop admission for some seconds")
    .action((_options: unknown, self: Command) => {
      const typed = self.optsWithGlobals<TypedRepair>();
      const { yes = false, dryRun = false, allowOutage = false } = typed;
      const cluster = clusterOf(typed, repairTimeoutMs);
      found(success({ command: "repair", ...outputOf(typed), cluster, yes, dryRun, allowOutage }));
    });
}

function outputOf(typed: Typed): OutputOptions {
  return { output: typed.output, colour: typed.color };
}

function clusterOf(typed: Typed, defaultTimeoutMs: number): ClusterOptions {
  return {
    ...(typed.kubeconfig === undefined ? {} : { kubeconfig: typed.kubeconfig }),
    ...(typed.context === undefined ? {} : { context: typed.context }),
    ...(typed.namespace === undefined ? {} : { namespace: typed.namespace }),
    probeNamespace: typed.probeNamespace,
    ...(typed.probeImage === undefined ? {} : { probeImage: typed.probeImage }),
    timeoutMs: typed.timeout ?? defaultTimeoutMs,
  };
}

function explainOf(typed: TypedExplain): Result<Invocation, CommandFailure> {
  const { bundle, served, serverName, at, go } = typed;
  const offline = [bundle, served, serverName, at, go].some((value) => value !== undefined);
  if (!offline) {
    return success({ command: "explain", ...outputOf(typed), cluster: clusterOf(typed, lookTimeoutMs) });
  }
  const files = filesOf(typed);
  return files.ok ? success({ command: "explain-files", ...outputOf(typed), files: files.value }) : files;
}

function filesOf(typed: TypedExplain): Result<FileOptions, CommandFailure> {
  const { bundle, served, serverName } = typed;
  if (bundle === undefined || served === undefined || serverName === undefined) {
    return failure(
      wrongUse(
        "To explain files it takes all three of --bundle, --served and --server-name.",
        "Type: fleetmend explain --bundle ca.pem --served served.pem --server-name binder.kai-scheduler.svc",
      ),
    );
  }
  if ((typed.kubeconfig ?? typed.context ?? typed.namespace) !== undefined) {
    return failure(
      wrongUse(
        "Files are explained without a cluster: --kubeconfig, --context and --namespace mean nothing beside --bundle.",
        "Leave them out, or leave out --bundle, --served and --server-name to explain the cluster.",
      ),
    );
  }
  const at = typed.at === undefined ? {} : { at: typed.at };
  return success({ bundle, served, serverName, ...at, ...(typed.go ?? { go: newestGo }) });
}
