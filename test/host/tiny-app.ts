// Packaged apps for the tests of the local host: the real @azure/functions, bundled once, and an entry file of some lines.
import { build } from "esbuild";
import { copyFileSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

let library: Promise<string> | undefined;

/** `@azure/functions` as one file, as a package would hold it. */
async function bundledLibrary(): Promise<string> {
  const outfile = path.join(mkdtempSync(path.join(tmpdir(), "functions-library-")), "functions.js");
  await build({
    stdin: { contents: 'module.exports = require("@azure/functions")', resolveDir: import.meta.dirname },
    bundle: true,
    platform: "node",
    format: "cjs",
    external: ["@azure/functions-core"],
    outfile,
    logLevel: "silent",
  });
  return outfile;
}

export interface TinyApp {
  /** JavaScript; `app`, `output` and `require` are there. */
  readonly entry: string;
  readonly hostJson?: object;
  /** `null`: there is none. */
  readonly packageJson?: object | null;
}

export const plainHostJson = {
  version: "2.0",
  extensions: { queues: { batchSize: 2, newBatchThreshold: 1, maxDequeueCount: 2, visibilityTimeout: "00:00:00" } },
  extensionBundle: { id: "Microsoft.Azure.Functions.ExtensionBundle", version: "[4.*, 5.0.0)" },
};

/** The folder of the app, below the tests' own temporary folder. */
export async function tinyApp({
  entry,
  hostJson = plainHostJson,
  packageJson = { main: "dist/index.js" },
}: TinyApp): Promise<string> {
  library ??= bundledLibrary();
  const folder = mkdtempSync(path.join(tmpdir(), "tiny-app-"));
  mkdirSync(path.join(folder, "dist"));
  copyFileSync(await library, path.join(folder, "functions.js"));
  writeFileSync(path.join(folder, "host.json"), JSON.stringify(hostJson));
  if (packageJson !== null) writeFileSync(path.join(folder, "package.json"), JSON.stringify(packageJson));
  const opening = 'const { app, output } = require("../functions.js");\n';
  writeFileSync(path.join(folder, "dist", "index.js"), opening + entry);
  return folder;
}
