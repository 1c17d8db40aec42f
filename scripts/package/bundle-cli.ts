// The command line as a package for npm: JavaScript, since Node strips no types below node_modules, and without
// dependencies, since they are in the bundle. Written into a folder; `npm pack` there makes the tarball.
import { build } from "esbuild";
import { chmodSync, copyFileSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { commonJsBanner } from "./commonjs-in-esm.ts";
import { refuseLazyCommonJs } from "./lazy-imports.ts";

const root = path.join(import.meta.dirname, "..", "..");

/** Empties `folder` first. Rejects where esbuild cannot resolve or parse something. */
export async function writeCliPackage(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const { metafile } = await build({
    entryPoints: { fleetmend: path.join(root, "src", "cli", "main.ts") },
    outdir: path.join(folder, "dist"),
    absWorkingDir: root,
    bundle: true,
    platform: "node",
    target: "node22",
    // ES modules, so that esbuild splits at each import(): `--help` parses nothing of the Kubernetes SDK.
    format: "esm",
    splitting: true,
    chunkNames: "[name]-[hash]",
    banner: { js: `#!/usr/bin/env node\n${commonJsBanner}` },
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: "linked",
    logLevel: "silent",
    metafile: true,
  });
  refuseLazyCommonJs(metafile);
  chmodSync(path.join(folder, "dist", "fleetmend.js"), 0o755);
  for (const name of ["README.md", "LICENSE", "CHANGELOG.md", "SECURITY.md"]) {
    copyFileSync(path.join(root, name), path.join(folder, name));
  }
  // What the output names: the rights to apply, and the form of --output json.
  for (const name of ["infra/kubernetes", "schema"]) {
    cpSync(path.join(root, name), path.join(folder, name), { recursive: true });
  }
  writeFileSync(path.join(folder, "package.json"), `${JSON.stringify(manifest(), null, 2)}\n`);
}

function manifest(): object {
  const own = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")) as Record<string, unknown>;
  const { name, version, description, license, engines } = own;
  return {
    name,
    version,
    description,
    license,
    type: "module",
    bin: { fleetmend: "dist/fleetmend.js" },
    files: ["dist", "infra", "schema"],
    engines,
  };
}
