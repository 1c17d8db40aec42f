// `npm run check`: format, lint, types and tests side by side, since none needs another's result. Prints each one's output
// whole, when it ends, and fails if any of them fails.
import { spawn } from "node:child_process";

const checks = ["format:check", "lint", "types", "test:plain"];

const results = await Promise.all(
  checks.map(
    (name) =>
      new Promise((resolve) => {
        const child = spawn("npm", ["run", "--silent", name], { stdio: ["ignore", "pipe", "pipe"] });
        let output = "";
        for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += String(chunk)));
        child.once("error", (error) => {
          process.stdout.write(`✗ ${name}: ${error.message}\n`);
          resolve(1);
        });
        child.once("close", (code) => {
          process.stdout.write(`${output}${code === 0 ? "✓" : "✗"} ${name}\n`);
          resolve(code ?? 1);
        });
      }),
  ),
);
process.exitCode = results.every((code) => code === 0) ? 0 : 1;
