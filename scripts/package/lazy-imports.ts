// A trap of esbuild's splitting: what an import() of a CommonJS package becomes has a default export only, so that
// `const { Client } = await import("package")` is undefined in the bundle and nowhere else.
import type { Metafile } from "esbuild";

/** Throws, with the files, where something bundled imports CommonJS by import(). A file of ours in between mends it. */
export function refuseLazyCommonJs({ inputs }: Metafile): void {
  const lazy = Object.entries(inputs).flatMap(([file, { imports }]) =>
    imports
      .filter(({ kind, path }) => kind === "dynamic-import" && inputs[path]?.format === "cjs")
      .map(({ path }) => `${file} imports ${path} by import(), which is CommonJS: its names would be lost.`),
  );
  // Not what packages do among themselves: that they have tried.
  const ours = lazy.filter((line) => !line.startsWith("node_modules/"));
  if (ours.length > 0) throw new Error(ours.join("\n"));
}
