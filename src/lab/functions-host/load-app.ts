// Loads a packaged app as Azure's Node worker does: package.json's `main`, a glob, each file in turn, then the appStart
// hooks, then no more registrations. Where the worker would go on with an app of no functions, this refuses.
// Source: startApp.ts and loadScriptFile.ts of github.com/Azure/azure-functions-nodejs-worker.
import { globSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { type CoreApi, createCoreApi, provideCoreApi } from "./core-api.ts";
import type { Log } from "./log-line.ts";
import { AppRefused } from "./refusal.ts";

export interface LoadedApp {
  readonly core: CoreApi;
  /** The worker's `appHookData`, shared by all hooks. */
  readonly appHookData: Record<string, unknown>;
  /** Runs the appTerminate hooks and forgets the app's modules, so that it can be loaded again. */
  unload(): Promise<void>;
}

/** Throws AppRefused, or what an entry file or an appStart hook throws. */
export async function loadApp(appFolder: string, log: Log): Promise<LoadedApp> {
  const { main, type } = readPackage(appFolder);
  const files = globSync(main, { cwd: appFolder }).sort();
  if (files.length === 0) {
    throw new AppRefused(`Found zero files matching the supplied pattern "${main}" (package.json, main).`);
  }
  const core = createCoreApi(log);
  const withdraw = provideCoreApi(appFolder, core);
  const appHookData = {};
  try {
    for (const file of files) await loadFile(path.join(appFolder, file), type);
    if (core.functions.length === 0) {
      throw new AppRefused("No job functions found: the entry files registered none. Azure would show an empty app.");
    }
    for (const hook of core.hooks.appStart) await hook({ hookData: {}, appHookData });
    await core.model().getCapabilities?.({});
    core.lock();
  } catch (error) {
    forget(appFolder);
    withdraw();
    throw error;
  }
  return {
    core,
    appHookData,
    async unload() {
      for (const hook of core.hooks.appTerminate) await hook({ hookData: {}, appHookData });
      forget(appFolder);
      withdraw();
    },
  };
}

function readPackage(appFolder: string): { readonly main: string; readonly type: string } {
  const file = path.join(appFolder, "package.json");
  const { main, type = "commonjs" } = contentOf(file) as { main?: unknown; type?: string };
  if (typeof main !== "string" || main === "") {
    throw new AppRefused(`${file} has no "main". Azure would report "No job functions found" and nothing else.`);
  }
  return { main, type };
}

function contentOf(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw new AppRefused(`${file} cannot be read: ${String(error)}. Azure would report "No job functions found".`);
  }
}

async function loadFile(file: string, type: string): Promise<void> {
  if (file.endsWith(".mjs") || (type === "module" && !file.endsWith(".cjs"))) {
    await import(pathToFileURL(file).href);
    return;
  }
  createRequire(file)(file);
}

function forget(appFolder: string): void {
  const { cache } = createRequire(path.join(appFolder, "package.json"));
  const inApp = Object.keys(cache).filter((file) => file.startsWith(path.join(appFolder, path.sep)));
  for (const file of inApp) Reflect.deleteProperty(cache, file);
}
