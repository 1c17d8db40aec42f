// Waiting for what controllers do, by looking again.
import { setTimeout as sleep } from "node:timers/promises";

/** Looks every 20 ms until `holds` answers true. Throws with `what` after `timeoutMs`. */
export async function until(what: string, holds: () => boolean | Promise<boolean>, timeoutMs = 20_000): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`waited ${timeoutMs} ms in vain for: ${what}`);
    await sleep(20);
  }
}
