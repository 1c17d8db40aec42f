// How often a read is tried and how long is waited in between. Writes never come here.
import { success, failure, type Result } from "../result.ts";

/** A failed attempt, and whether another one is worth it. */
export interface Attempt<F> {
  readonly failure: F;
  readonly transient: boolean;
  readonly retryAfterSeconds?: number;
}

// Three attempts bridge a restarted connection and one throttled second, and a person at a terminal does not notice
// them. Waiting longer is the caller's decision: mend observes again anyway.
const backoffMs = [250, 1000];
/** A server that asks for a longer pause gets it from the caller, not from us: a request should not hang unexplained. */
const longestRetryAfterSeconds = 10;

/** The first success, or the failure of the last attempt. At most three attempts. */
export async function retrying<T, F>(
  attempt: () => Promise<Result<T, Attempt<F>>>,
  sleep: (milliseconds: number) => Promise<void>,
): Promise<Result<T, F>> {
  for (let number = 0; ; number += 1) {
    const result = await attempt();
    if (result.ok) return success(result.value);
    const pause = backoffMs[number];
    const { transient, retryAfterSeconds = 0 } = result.error;
    if (pause === undefined || !transient || retryAfterSeconds > longestRetryAfterSeconds) {
      return failure(result.error.failure);
    }
    await sleep(Math.max(pause, retryAfterSeconds * 1000));
  }
}
