// The README's example of `explain` is what the command prints.
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";

const root = path.join(import.meta.dirname, "..", "..");

it("explains the README's two files as the README shows", async () => {
  const readme = readFileSync(path.join(root, "README.md"), "utf8");
  const [, line = "", shown = ""] =
    /^\$ npm run --silent fleetmend -- (explain (?:.*\\\n)*.*)\n([^`]*)^```$/m.exec(readme) ?? [];
  const argv = line.replaceAll("\\\n", " ").trim().split(/\s+/);
  expect(argv.slice(0, 3)).toEqual(["explain", "--bundle", "test/cli/explain/bundle.pem"]);
  const stdout = await new Promise<string>((resolve) => {
    const main = path.join(root, "src", "cli", "main.ts");
    execFile(process.execPath, [main, ...argv], { cwd: root }, (_error, out) => {
      resolve(out);
    });
  });
  expect(stdout).toBe(shown);
});
