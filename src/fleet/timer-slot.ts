// Which firing of a timer a message is of: a timer that fires twice, or late, names the same run.
import { createHash } from "node:crypto";
import type { CareMessage } from "./care-message.ts";

/** The minute of the firing, RFC 3339. */
export function slotOf(at: Date): string {
  return `${at.toISOString().slice(0, 16)}:00.000Z`;
}

/** The message of one timer's slot for one cluster: the same whenever it is made. */
export function timerMessage(timer: "scan" | "probe", slot: string, cluster: string): CareMessage {
  const minute = slot.slice(0, 16).replaceAll(/[-:]/g, "").toLowerCase();
  const hash = createHash("sha256").update(cluster).digest("hex").slice(0, 12);
  return {
    version: 1,
    cluster,
    reason: timer === "scan" ? "timer" : "sentinel",
    pass: timer === "scan" ? "due" : "sentinel",
    run: `${timer}-${minute}-${hash}`,
    slot,
    attempt: 0,
    deferrals: 0,
  };
}
