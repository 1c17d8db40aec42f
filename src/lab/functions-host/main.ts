// The host as a process of its own, for an app that must start with an environment (NODE_EXTRA_CA_CERTS, HTTPS_PROXY):
// `node src/lab/functions-host/main.ts <app folder> [--settings local.settings.json] [--port n] [--key k]`. Without
// --settings the environment is the settings. Prints one line of JSON when it listens, its log on stderr.
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { type LogLine, showLogLine } from "./log-line.ts";
import { AppRefused } from "./refusal.ts";
import { type Host, startFunctionsHost } from "./start-functions-host.ts";

/** What the first line of stdout says, as JSON. */
export interface HostStarted {
  readonly url: string;
  readonly keys: Host["keys"];
  readonly functions: readonly string[];
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    settings: { type: "string" },
    port: { type: "string" },
    key: { type: "string" },
    polling: { type: "string" },
    quiet: { type: "boolean" },
  },
});

/** `Values` of a local.settings.json; it is the file's only part that Azure would know as app settings. */
function settingsIn(file: string): Readonly<Record<string, string>> {
  const { Values } = JSON.parse(readFileSync(file, "utf8")) as { readonly Values?: Record<string, string> };
  if (Values === undefined) throw new AppRefused(`${file} has no "Values".`);
  return Values;
}

function ownEnvironment(): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

async function run(): Promise<void> {
  const appFolder = positionals[0] ?? ".";
  const host = await startFunctionsHost({
    appFolder,
    settings: values.settings === undefined ? ownEnvironment() : settingsIn(values.settings),
    ...(values.port === undefined ? {} : { port: Number(values.port) }),
    ...(values.key === undefined ? {} : { keys: { default: values.key } }),
    ...(values.polling === undefined ? {} : { maxPollingIntervalMs: Number(values.polling) }),
    log: (line: LogLine) => {
      if (values.quiet !== true) process.stderr.write(`${showLogLine(line, new Date())}\n`);
    },
  });
  const started: HostStarted = { url: host.url, keys: host.keys, functions: host.functions.map(({ name }) => name) };
  process.stdout.write(`${JSON.stringify(started)}\n`);
  const stop = (): void => {
    void host.stop().then((left) => process.exit(left === 0 ? 0 : 1));
  };
  process.once("SIGINT", stop);
  process.once("SIGTERM", stop);
  // Whoever started us with an IPC channel and died takes us along.
  if (process.channel !== undefined) process.once("disconnect", stop);
}

try {
  await run();
} catch (error) {
  const isTaken = (error as NodeJS.ErrnoException).code === "EADDRINUSE";
  if (!(error instanceof AppRefused) && !isTaken) throw error;
  const message = isTaken ? `The port ${values.port} is taken: choose another one, or 0 for any that is free.` : null;
  process.stderr.write(`${message ?? (error as Error).message}\n`);
  process.exitCode = 1;
}
