// What is under way in the host: invocations, and the completing of messages after them. For a stop that cuts nothing off.
import { setTimeout } from "node:timers/promises";

export interface Running {
  /** Counts the work until it has ended, one way or the other, and answers it. */
  track<T>(work: Promise<T>): Promise<T>;
  /** Resolves when nothing runs any more, or after so many milliseconds; answers how much still does. */
  settle(withinMs: number): Promise<number>;
}

export function createRunning(): Running {
  const running = new Set<Promise<unknown>>();
  return {
    async track(work) {
      running.add(work);
      try {
        return await work;
      } finally {
        running.delete(work);
      }
    },
    async settle(withinMs) {
      const ended = new AbortController();
      const all = async (): Promise<void> => {
        while (running.size > 0) await Promise.allSettled(running);
      };
      await Promise.race([all(), setTimeout(withinMs, undefined, { signal: ended.signal }).catch(() => undefined)]);
      ended.abort();
      return running.size;
    },
  };
}
