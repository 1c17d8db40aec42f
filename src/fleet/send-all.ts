// Sends care messages, some at a time.
import type { CareMessage, CareQueue } from "./care-message.ts";

/** How many requests to the queue are under way at once: enough for hundreds of clusters within a timer's time. */
const atOnce = 16;

/** Tries each message once. Those that could not be sent do not stop the others; the first error is thrown at the end. */
export async function sendAll(queue: CareQueue, messages: readonly CareMessage[]): Promise<void> {
  await eachOf(messages, (message) => queue.send(message));
}

/** `act` on each, some at a time; the first error is thrown when all have been tried. */
export async function eachOf<T>(items: readonly T[], act: (item: T) => Promise<void>): Promise<void> {
  const left = [...items];
  const failures: unknown[] = [];
  const work = async (): Promise<void> => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) {
      await act(item).catch((error: unknown) => failures.push(error));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  if (failures.length > 0) throw failures[0];
}
