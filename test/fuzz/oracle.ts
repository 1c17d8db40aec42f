// Builds the Go program of oracle/ and asks it. One process, one question after the other, as many under way as wanted.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import type { Question } from "./case-recipe.ts";

export interface OracleAnswer {
  /** `OK`, or Go's error, without the `Post "…": ` or `could not get REST client: ` of what is around it. */
  readonly text: string;
  readonly stage: "config" | "handshake";
}

export interface Oracle {
  /** `go1.26.8`. */
  readonly version: string;
  ask(question: Question): Promise<OracleAnswer>;
  /** Nanoseconds for each of so many readings and verifications, without TLS. */
  measure(question: Question, repeat: number): Promise<number>;
  stop(): void;
}

/**
 * `release`: `1.26` is the `go` of the PATH; `1.19` is Debian's golang-1.19 where it is installed; a release with a patch,
 * or any other, is fetched by the go command itself (GOTOOLCHAIN). Throws where there is no such Go.
 */
export async function startOracle(release = "1.26"): Promise<Oracle> {
  const folder = mkdtempSync(path.join(tmpdir(), "fleetmend-oracle-"));
  try {
    const program = build(release, folder);
    return await converse(program, folder);
  } catch (error) {
    rmSync(folder, { recursive: true });
    throw error;
  }
}

const debianGo = "/usr/lib/go-1.19/bin/go";

function build(release: string, folder: string): string {
  const sources = path.join(import.meta.dirname, "oracle");
  const program = path.join(folder, "oracle");
  const [major = "1", minor = "26"] = release.split(".");
  // The defaults of GODEBUG follow the go line of go.mod.
  const modfile = path.join(folder, "go.mod");
  writeFileSync(modfile, `module fleetmend.invalid/oracle\n\ngo ${major}.${minor}${Number(minor) < 21 ? "" : ".0"}\n`);
  const isDebian = release === "1.19" && existsSync(debianGo);
  const toolchain = release === "1.26" || isDebian ? "local" : `go${release}`;
  mkdirSync(path.join(folder, "cache"), { recursive: true });
  execFileSync(isDebian ? debianGo : "go", ["build", "-modfile", modfile, "-o", program, "."], {
    cwd: sources,
    env: { ...process.env, GOTOOLCHAIN: toolchain, GOFLAGS: "-buildvcs=false" },
    stdio: ["ignore", "ignore", "inherit"],
  });
  return program;
}

interface RawAnswer {
  readonly text: string;
  readonly stage: OracleAnswer["stage"];
  readonly nanos?: number;
}

async function converse(program: string, folder: string): Promise<Oracle> {
  // No system roots: what an API server has of them is not part of a case.
  const env = { SSL_CERT_FILE: "/dev/null", SSL_CERT_DIR: folder };
  const child = spawn(program, { env, stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const nextLine = async (): Promise<string> => {
    const line = await lines.next();
    if (line.done === true) throw new Error("the oracle ended: see what it wrote above");
    return line.value;
  };
  const version = JSON.parse(await nextLine()) as string;
  let last: Promise<unknown> = Promise.resolve();
  const request = (question: Question, repeat: number): Promise<RawAnswer> => {
    child.stdin.write(`${JSON.stringify(wire(question, repeat))}\n`);
    const answered = last.then(async () => JSON.parse(await nextLine()) as RawAnswer);
    last = answered.catch(() => undefined);
    return answered;
  };
  return {
    version,
    ask: async (question) => {
      const { text, stage } = await request(question, 0);
      return { text: new TextDecoder().decode(Buffer.from(text, "base64")), stage };
    },
    measure: async (question, repeat) => ((await request(question, repeat)).nanos ?? 0) / repeat,
    stop: () => {
      stop(child);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function wire({ caBundle, chain, serverName, at }: Question, repeat: number) {
  const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");
  return {
    bundle: base64(caBundle),
    chain: chain.map(base64),
    name: base64(Buffer.from(serverName)),
    at: at.getTime(),
    repeat,
  };
}

function stop(child: ChildProcess): void {
  child.stdin?.end();
  child.kill();
}
