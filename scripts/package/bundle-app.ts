// The Functions app as Azure runs it: a small registration file, which is all that an instance parses to tell the host its
// functions, and the use cases with their SDKs as files of their own, read at the first invocation that needs them.
import { build, type BuildOptions, type Plugin } from "esbuild";
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { commonJsBanner } from "./commonjs-in-esm.ts";
import { refuseLazyCommonJs } from "./lazy-imports.ts";

const root = path.join(import.meta.dirname, "..", "..");

const common = {
  absWorkingDir: root,
  bundle: true,
  platform: "node",
  target: "node22",
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: "linked",
  logLevel: "silent",
} satisfies BuildOptions;

/** Empties `folder` first. Rejects where esbuild cannot resolve or parse something. */
export async function writeAppPackage(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await Promise.all([buildRegistration(folder), buildUseCases(folder)]);
  for (const name of ["host.json", "LICENSE"]) copyFileSync(path.join(root, name), path.join(folder, name));
  writeFileSync(path.join(folder, "package.json"), `${JSON.stringify(manifest(), null, 2)}\n`);
}

const useCases = "./fleetmend/compose-fleet.mjs";

/**
 * CommonJS, since the worker gives `@azure/functions-core` to require() only. The import() of the use cases stays one, of a
 * file beside it.
 */
function buildRegistration(folder: string): Promise<unknown> {
  const elsewhere: Plugin = {
    name: "use-cases-elsewhere",
    setup(bundler) {
      bundler.onResolve({ filter: /\/compose-fleet\.ts$/ }, () => ({ path: useCases, external: true }));
    },
  };
  return build({
    ...common,
    entryPoints: { index: path.join(root, "src", "functions", "register.ts") },
    outdir: path.join(folder, "dist"),
    format: "cjs",
    external: ["@azure/functions-core"],
    plugins: [elsewhere],
  });
}

/** ES modules, since only those are split by esbuild: each import() of the sources stays one, and SDKs share what they share. */
async function buildUseCases(folder: string): Promise<void> {
  const { dir, name } = path.parse(useCases);
  const { metafile } = await build({
    ...common,
    entryPoints: { [name]: path.join(root, "src", "compose-fleet.ts") },
    outdir: path.join(folder, "dist", dir),
    format: "esm",
    splitting: true,
    outExtension: { ".js": ".mjs" },
    chunkNames: "[name]-[hash]",
    banner: { js: commonJsBanner },
    metafile: true,
  });
  refuseLazyCommonJs(metafile);
}

function manifest(): object {
  const own = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")) as Record<string, unknown>;
  const { name, version, description, license, engines } = own;
  // No dependencies: nothing is installed or built where it is deployed.
  return { name, version, description, license, private: true, type: "commonjs", main: "dist/index.js", engines };
}
