import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { run } from "./memory-io.ts";

const folder = mkdtempSync(path.join(tmpdir(), "fleetmend-"));
const prose = path.join(folder, "prose.txt");
writeFileSync(prose, "this is not a certificate");
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const files = ["--bundle", prose, "--served", prose, "--server-name", "binder.kai-scheduler.svc"];

const cases: readonly { readonly argv: readonly string[]; readonly says: readonly string[] }[] = [
  { argv: [], says: ["No command was given.", 'Type "fleetmend --help"'] },
  { argv: ["sacn"], says: ["Unknown command 'sacn'.", "Did you mean scan?"] },
  { argv: ["scan", "now"], says: ["Too many arguments", 'Type "fleetmend scan --help"'] },
  { argv: ["scan", "--contxt", "a"], says: ["Unknown option '--contxt'.", "Did you mean --context?", "scan --help"] },
  { argv: ["scan", "--context"], says: ["argument missing", 'Type "fleetmend scan --help"'] },
  { argv: ["scan", "--output", "yaml"], says: ["Allowed choices are table, json."] },
  { argv: ["scan", "--yes"], says: ["Unknown option '--yes'."] },
  { argv: ["scan", "--timeout", "soon"], says: ['"soon" is not a duration.', "--timeout 90s"] },
  { argv: ["scan", "--timeout", "0"], says: ['"0" is not a duration.'] },
  { argv: ["explain", "--at", "yesterday"], says: ['"yesterday" is not a time.', "--at 2026-12-01T03:00:00Z"] },
  { argv: ["explain", "--at", "2026-02-30"], says: ['"2026-02-30" is not a time.'] },
  { argv: ["explain", "--at", "2026-12-01T03:00:00"], says: ["with Z or an offset"] },
  { argv: ["explain", "--go", "latest"], says: ['"latest" is not a Go release.', "--go 1.24"] },
  { argv: ["explain", "--go", "1.18"], says: ["The rules of Go 1.18 are not known; 1.19 is the first."] },
  {
    argv: ["explain", "--bundle", prose],
    says: ["all three of --bundle, --served and --server-name", "Type: fleetmend"],
  },
  { argv: ["explain", ...files, "--context", "a"], says: ["without a cluster", "Leave them out"] },
  { argv: ["explain", ...files, "--bundle", path.join(folder, "none")], says: ["ENOENT", "after --bundle"] },
  { argv: ["explain", ...files, "--served", folder], says: ["EISDIR", "after --served"] },
  { argv: ["explain", ...files], says: ["holds no certificate", "-----BEGIN CERTIFICATE-----"] },
];

describe("wrong use", () => {
  it.each(cases)("answers 64 and what to type for: $argv", async ({ argv, says }) => {
    const { code, stdout, stderr } = await run(argv);
    const oneLine = stderr.replaceAll(/\s+/g, " ");
    for (const words of says) expect(oneLine).toContain(words);
    expect(stdout).toBe("");
    expect(code).toBe(64);
  });
});

describe("help", () => {
  it.each(["scan", "explain", "probe", "repair"])(
    "of %s goes to stdout, names the shared options and answers 0",
    async (command) => {
      const { code, stdout, stderr } = await run([command, "--help"]);
      expect(stdout).toContain(`Usage: fleetmend ${command}`);
      expect(stdout).toContain("--kubeconfig <file>");
      expect(stderr).toBe("");
      expect(code).toBe(0);
    },
  );

  it("lists the four commands and the exit codes", async () => {
    const { stdout } = await run(["--help"]);
    for (const words of ["scan ", "explain ", "probe ", "repair ", "64 wrong use"]) expect(stdout).toContain(words);
  });

  it("takes shared options before the command as well", async () => {
    const { stderr } = await run(["--output", "yaml", "scan"]);
    expect(stderr.replaceAll(/\s+/g, " ")).toContain("Allowed choices are table, json.");
  });
});
