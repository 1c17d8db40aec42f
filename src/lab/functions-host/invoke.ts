// One invocation, in the worker's order (InvocationHandler.ts of github.com/Azure/azure-functions-nodejs-worker): arguments,
// preInvocation hooks, the handler, postInvocation hooks, response. Conversions and contexts are the real library's.
import { randomBytes, randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import type {
  CoreInvocationContext,
  FunctionCallback,
  InvocationResponse,
  RetryContext,
  TypedData,
} from "./core-types.ts";
import type { HostedFunction } from "./functions-of-app.ts";
import type { LoadedApp } from "./load-app.ts";
import type { Log } from "./log-line.ts";

export interface Input {
  readonly data: TypedData;
  readonly triggerMetadata?: Readonly<Record<string, TypedData>>;
  /** W3C, of the caller. Without it the invocation begins a trace of its own. */
  readonly traceParent?: string;
  readonly retryContext?: RetryContext;
}

/** Rejects with what the handler or a hook threw, or after functionTimeout. */
export type Invoke = (hosted: HostedFunction, input: Input) => Promise<InvocationResponse>;

/** Invokes functions of `app`. */
export function createInvoke(app: LoadedApp, log: Log, functionTimeoutMs: number): Invoke {
  return (hosted, input) => within(functionTimeoutMs, invokeOnce({ app, log, hosted, input }), hosted.name);
}

interface Invocation {
  readonly app: LoadedApp;
  readonly log: Log;
  readonly hosted: HostedFunction;
  readonly input: Input;
}

async function invokeOnce(invocation: Invocation): Promise<InvocationResponse> {
  const { app, log, hosted } = invocation;
  const coreContext = coreContextOf(invocation);
  const entry = { function: hosted.name, invocationId: coreContext.invocationId, category: "host" };
  const began = performance.now();
  try {
    const response = await runPhases(app, coreContext, hosted.registered.callback);
    const message = `Executed (Succeeded, ${Math.round(performance.now() - began)} ms)`;
    log({ ...entry, level: "information", message });
    return response;
  } catch (error) {
    const message = `Executed (Failed, ${Math.round(performance.now() - began)} ms): ${String(error)}`;
    log({ ...entry, level: "error", message });
    throw error;
  }
}

async function runPhases(
  app: LoadedApp,
  coreContext: CoreInvocationContext,
  callback: FunctionCallback,
): Promise<InvocationResponse> {
  const model = app.core.model().getInvocationModel(coreContext);
  const { context, inputs } = await model.getArguments();
  const shared = { hookData: {}, appHookData: app.appHookData, invocationContext: context };

  coreContext.state = "preInvocationHooks";
  const before = { ...shared, inputs, functionCallback: callback };
  for (const hook of app.core.hooks.preInvocation) await hook(before);

  coreContext.state = "invocation";
  const after: Record<string, unknown> = { ...shared, inputs: before.inputs, result: undefined, error: undefined };
  try {
    after.result = await model.invokeFunction(context, before.inputs, before.functionCallback);
  } catch (error) {
    after.error = error;
  }

  coreContext.state = "postInvocationHooks";
  for (const hook of app.core.hooks.postInvocation) await hook(after);
  if (after.error !== undefined && after.error !== null) {
    throw after.error instanceof Error ? after.error : new Error("a handler threw something that is no Error");
  }
  return model.getResponse(context, after.result);
}

function coreContextOf({ log, hosted, input }: Invocation): CoreInvocationContext {
  const invocationId = randomUUID();
  return {
    invocationId,
    metadata: hosted.registered.metadata,
    request: {
      invocationId,
      functionId: hosted.name,
      inputData: [{ name: hosted.triggerBinding, data: input.data }],
      triggerMetadata: input.triggerMetadata ?? {},
      traceContext: { traceParent: childOf(input.traceParent), traceState: "" },
      ...(input.retryContext !== undefined && { retryContext: input.retryContext }),
    },
    log: (level, category, message) => {
      log({ level, category, message, function: hosted.name, invocationId });
    },
  };
}

/** A traceparent of the caller's trace, or of a new one (www.w3.org/TR/trace-context, version 00, sampled). */
function childOf(traceParent: string | undefined): string {
  const given = /^00-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}$/.exec(traceParent ?? "")?.[1];
  return `00-${given ?? randomBytes(16).toString("hex")}-${randomBytes(8).toString("hex")}-01`;
}

// Azure restarts the worker then, which fails every other invocation of the instance too; no cancellation reaches Node.
async function within<T>(milliseconds: number, work: Promise<T>, name: string): Promise<T> {
  const ended = new AbortController();
  const late = setTimeout(milliseconds, undefined, { signal: ended.signal }).then(() => {
    throw new Error(`${name} ran longer than functionTimeout. Azure would restart the worker now.`);
  });
  late.catch(() => undefined);
  try {
    return await Promise.race([work, late]);
  } finally {
    ended.abort();
  }
}
