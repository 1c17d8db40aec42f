// Stands in for `@azure/functions-core`: what Azure's Node worker hands to the library, which registers its functions and
// hooks there. The worker replaces `Module.prototype.require`, and so do we: the library requires it and nothing else.
import Module from "node:module";
import path from "node:path";
import type { LogLine } from "./log-line.ts";
import {
  type FunctionCallback,
  type FunctionMetadata,
  type Hook,
  type HookName,
  hookNames,
  type ProgrammingModel,
} from "./core-types.ts";

export interface RegisteredFunction {
  readonly metadata: FunctionMetadata;
  readonly callback: FunctionCallback;
}

export interface CoreApi {
  /** What `require("@azure/functions-core")` answers. */
  readonly module: object;
  readonly functions: readonly RegisteredFunction[];
  readonly hooks: Readonly<Record<HookName, Hook[]>>;
  /** Throws where the app never registered anything. */
  model(): ProgrammingModel;
  /** From now on registering throws, as after the worker has told the host its functions. */
  lock(): void;
}

/** The worker's rules of registration: no name twice (the host compares without regard to case), none after the start. */
export function createCoreApi(log: (line: LogLine) => void): CoreApi {
  const functions: RegisteredFunction[] = [];
  const hooks: Record<HookName, Hook[]> = { appStart: [], appTerminate: [], preInvocation: [], postInvocation: [] };
  let model: ProgrammingModel | undefined;
  let locked = false;

  function registerFunction(metadata: FunctionMetadata, callback: FunctionCallback): { dispose(): void } {
    if (locked) throw new Error("A function can only be registered during app startup.");
    const taken = functions.some((other) => other.metadata.name.toLowerCase() === metadata.name.toLowerCase());
    if (taken) throw new Error(`A function with name "${metadata.name}" has already been registered.`);
    const entry = { metadata, callback };
    functions.push(entry);
    return {
      dispose: () => {
        functions.splice(functions.indexOf(entry), 1);
      },
    };
  }

  function registerHook(name: string, hook: Hook): { dispose(): void } {
    const known = hookNames.find((one) => one === name);
    if (known === undefined) throw new RangeError(`This local host does not run "${name}" hooks.`);
    hooks[known].push(hook);
    return {
      dispose: () => {
        hooks[known].splice(hooks[known].indexOf(hook), 1);
      },
    };
  }

  const module = {
    version: "4.0.0-local",
    hostVersion: "4.1037.0-local",
    registerFunction,
    registerHook,
    setProgrammingModel: (given: ProgrammingModel) => {
      model = given;
    },
    getProgrammingModel: () => model,
    log: (level: string, category: string, message: string) => {
      log({ level, category, message });
    },
  };
  return {
    module,
    functions,
    hooks,
    model() {
      if (model === undefined) throw new Error("The app has not set a programming model: it registered nothing.");
      return model;
    },
    lock: () => {
      locked = true;
    },
  };
}

const provided = new Map<string, object>();
const originalRequire = Reflect.get(Module.prototype, "require") as (this: Module, id: string) => unknown;

/**
 * Lets the modules below `folder` require `@azure/functions-core`. The answer ends it. Several apps at a time keep apart by
 * their folders.
 */
export function provideCoreApi(folder: string, api: CoreApi): () => void {
  const root = path.join(folder, path.sep);
  provided.set(root, api.module);
  Module.prototype.require = requireWithCore as NodeJS.Require;
  return () => {
    provided.delete(root);
    if (provided.size === 0) Module.prototype.require = originalRequire as NodeJS.Require;
  };
}

function requireWithCore(this: Module, id: string): unknown {
  if (id !== "@azure/functions-core") return originalRequire.call(this, id);
  for (const [root, module] of provided) if (this.filename.startsWith(root)) return module;
  return originalRequire.call(this, id);
}
