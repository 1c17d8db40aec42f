// Loads one packaged app as Azure's worker does and prints, as JSON, how long its registration took (ms), the resident memory
// after it (bytes) and how many functions it registered. For bench-coldstart.ts, which runs it in processes of its own.
import { readFileSync } from "node:fs";
import Module, { createRequire } from "node:module";
import path from "node:path";

const folder = path.resolve(process.argv[2] ?? ".");
const { main } = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8"));
const names = [];
const disposable = { dispose: () => undefined };
const core = {
  version: "4.0.0",
  registerFunction: ({ name }) => {
    names.push(name);
    return disposable;
  },
  registerHook: () => disposable,
  setProgrammingModel: () => undefined,
  getProgrammingModel: () => undefined,
  log: () => undefined,
};
const { require: original } = Module.prototype;
Module.prototype.require = function (id) {
  return id === "@azure/functions-core" ? core : original.call(this, id);
};

const requireApp = createRequire(path.join(folder, "package.json"));
const began = performance.now();
requireApp(path.join(folder, main));
const ms = performance.now() - began;
process.stdout.write(JSON.stringify({ ms, rss: process.memoryUsage().rss, functions: names.length }));
