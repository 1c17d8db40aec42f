// `npm run package`: out/app (what azd deploys) and out/fleetmend-app.zip, the same as one file. Starts the package and fails
// unless it registers exactly its functions.
import { statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { appFunctions, differences, entriesOf, functionsIn } from "./package/app-functions.ts";
import { writeAppPackage } from "./package/bundle-app.ts";
import { zip } from "./package/zip.ts";

const out = path.join(import.meta.dirname, "..", "out");
const folder = path.join(out, "app");
const file = path.join(out, "fleetmend-app.zip");
const shown = (target: string): string => path.relative(process.cwd(), target);
const kib = (bytes: number): string => `${Math.ceil(bytes / 1024)} KiB`;

await writeAppPackage(folder);
const wrong = differences(await functionsIn(folder));
if (wrong.length > 0) {
  process.stderr.write(`${wrong.join("\n")}\n`);
  process.exitCode = 1;
} else {
  const bytes = zip(entriesOf(folder));
  writeFileSync(file, bytes);
  const registration = statSync(path.join(folder, "dist", "index.js")).size;
  process.stdout.write(
    [
      ...appFunctions.map(([name, trigger]) => `  ${name.padEnd(20)}${trigger}`),
      `${appFunctions.length} functions, as expected. Registration file: ${kib(registration)}.`,
      `${shown(folder)}, ${shown(file)} (${kib(bytes.length)})`,
      "",
    ].join("\n"),
  );
}
