// The part of `@azure/functions-core` that `@azure/functions` 4 uses, as types. The module itself exists only inside
// Azure's Node worker (github.com/Azure/azure-functions-nodejs-worker, types-core), never on a registry.

/** A value on its way between host and library; exactly one property is set. */
export interface TypedData {
  readonly string?: string;
  readonly json?: string;
  readonly bytes?: Uint8Array;
  readonly int?: number;
  readonly double?: number;
  readonly http?: HttpData;
}

export interface HttpData {
  readonly method?: string;
  readonly url?: string;
  readonly nullableHeaders?: Readonly<Record<string, { readonly value: string }>>;
  readonly nullableQuery?: Readonly<Record<string, { readonly value: string }>>;
  readonly nullableParams?: Readonly<Record<string, { readonly value: string }>>;
  readonly body?: TypedData;
  readonly statusCode?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cookies?: readonly unknown[];
}

export interface Binding {
  readonly type: string;
  readonly direction: "in" | "out";
  readonly [option: string]: unknown;
}

export interface FunctionMetadata {
  readonly name: string;
  readonly bindings: Readonly<Record<string, Binding>>;
  readonly retryOptions?: unknown;
}

export type FunctionCallback = (...inputs: unknown[]) => unknown;

export interface TraceContext {
  readonly traceParent: string;
  readonly traceState?: string;
}

export interface RetryContext {
  readonly retryCount: number;
  readonly maxRetryCount: number;
  /** Of the try before. */
  readonly exception?: { readonly message: string };
}

export interface CoreInvocationContext {
  readonly invocationId: string;
  readonly request: {
    readonly invocationId: string;
    readonly functionId: string;
    readonly inputData: readonly { readonly name: string; readonly data: TypedData }[];
    readonly triggerMetadata: Readonly<Record<string, TypedData>>;
    readonly traceContext: TraceContext;
    readonly retryContext?: RetryContext;
  };
  readonly metadata: FunctionMetadata;
  /** The library warns of a log line after the handler's end unless this says `postInvocationHooks`. */
  state?: "preInvocationHooks" | "invocation" | "postInvocationHooks";
  log(level: string, category: string, message: string): void;
}

export interface InvocationResponse {
  readonly outputData?: readonly { readonly name: string; readonly data: TypedData }[];
  readonly returnValue?: TypedData | null;
}

export interface ProgrammingModel {
  readonly name: string;
  readonly version: string;
  getInvocationModel(context: CoreInvocationContext): {
    getArguments(): Promise<{ context: unknown; inputs: unknown[] }>;
    invokeFunction(context: unknown, inputs: unknown[], callback: FunctionCallback): Promise<unknown>;
    getResponse(context: unknown, result: unknown): Promise<InvocationResponse>;
  };
  getCapabilities?(capabilities: Record<string, string>): Promise<Record<string, string>>;
}

export const hookNames = ["appStart", "appTerminate", "preInvocation", "postInvocation"] as const;
export type HookName = (typeof hookNames)[number];
export type Hook = (context: Record<string, unknown>) => unknown;
