// A timer trigger: waits for the next time of its schedule, runs the function, tries a failed run again as its retry policy
// says, never has two runs at a time. What Azure keeps of it in a blob (so that a restart notices a missed run) is kept here only while the host runs.
// Source: TimerListener.cs of github.com/Azure/azure-webjobs-sdk-extensions; FunctionExecutorExtensions.cs of azure-webjobs-sdk.
import { setTimeout as setTimer } from "node:timers";
import { setTimeout } from "node:timers/promises";
import type { RetryContext } from "./core-types.ts";
import type { HostedFunction, Trigger } from "./functions-of-app.ts";
import type { Invoke } from "./invoke.ts";
import type { Log } from "./log-line.ts";
import { nextOccurrence } from "./schedule.ts";

export interface TimerListener {
  /** Runs the function now, as the host would at its next time, after a run that is under way. Rejects with its last try. */
  fire(options?: { readonly isPastDue?: boolean }): Promise<void>;
  /** As `fire`, beside the schedule and once: its next time stays. As TimerTriggerBinding.cs has it for the portal's "Run". */
  fireByHand(): Promise<void>;
  stop(): void;
}

export interface TimerParts {
  readonly hosted: HostedFunction;
  readonly trigger: Extract<Trigger, { kind: "timer" }>;
  readonly invoke: Invoke;
  readonly log: Log;
  readonly now: () => Date;
}

// setTimeout takes 2^31 - 1 ms at the most.
const longestWaitMs = 24 * 24 * 60 * 60 * 1000;
// What .NET's default DateTime looks like: the schedule has not run yet.
const never = "0001-01-01T00:00:00+00:00";

/** Waits already. `fire` works also after `stop`, with one try. */
export function startTimer({ hosted, trigger, invoke, log, now }: TimerParts): TimerListener {
  let status = { Last: never, Next: nextOccurrence(trigger.schedule, now()).toISOString(), LastUpdated: never };
  let previous: Promise<unknown> = Promise.resolve();
  let waiting: NodeJS.Timeout | undefined;
  const stopped = new AbortController();

  async function invokeWith(isPastDue: boolean, retryContext?: RetryContext): Promise<void> {
    const timer = {
      Schedule: { AdjustForDST: true },
      // As the extension hands it over: of before this run, so Next is the time that this run is for.
      ScheduleStatus: trigger.useMonitor ? status : null,
      IsPastDue: isPastDue,
    };
    await invoke(hosted, {
      data: { json: JSON.stringify(timer) },
      ...(retryContext !== undefined && { retryContext }),
    });
  }

  async function invokeWithRetries(isPastDue: boolean): Promise<void> {
    const { maxRetryCount, delayMs } = trigger.retry ?? { maxRetryCount: 0, delayMs: 0 };
    let exception: { readonly message: string } | undefined;
    for (let retryCount = 0; ; retryCount += 1) {
      try {
        const context = { retryCount, maxRetryCount, ...(exception !== undefined && { exception }) };
        await invokeWith(isPastDue, trigger.retry === undefined ? undefined : context);
        return;
      } catch (error) {
        if (retryCount === maxRetryCount || stopped.signal.aborted) throw error;
        exception = { message: error instanceof Error ? error.message : String(error) };
        await setTimeout(delayMs, undefined, { signal: stopped.signal });
      }
    }
  }

  async function run(isPastDue: boolean): Promise<void> {
    const began = now();
    try {
      await invokeWithRetries(isPastDue);
    } finally {
      const at = began.getTime() > Date.parse(status.Next) ? began : new Date(status.Next);
      const next = nextOccurrence(trigger.schedule, at).toISOString();
      status = { Last: at.toISOString(), Next: next, LastUpdated: at.toISOString() };
    }
  }

  function inTurn(work: () => Promise<void>): Promise<void> {
    const mine = previous.then(work);
    previous = mine.catch(() => undefined);
    return mine;
  }

  function wait(): void {
    if (stopped.signal.aborted) return;
    const milliseconds = Date.parse(status.Next) - now().getTime();
    waiting = setTimer(
      () => {
        if (milliseconds > longestWaitMs) wait();
        // The invocation has logged its failure; the schedule goes on.
        else
          void inTurn(() => run(false))
            .catch(() => undefined)
            .then(wait);
      },
      Math.max(0, Math.min(milliseconds, longestWaitMs)),
    );
  }

  log({ level: "information", category: "host", function: hosted.name, message: `Next run at ${status.Next}` });
  if (trigger.runOnStartup) void inTurn(() => run(false)).catch(() => undefined);
  wait();
  return {
    fire: ({ isPastDue = false } = {}) => inTurn(() => run(isPastDue)),
    fireByHand: () => inTurn(() => invokeWith(false)),
    stop() {
      stopped.abort();
      clearTimeout(waiting);
    },
  };
}
