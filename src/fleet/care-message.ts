// The message that has one cluster cared for. Storage queues deliver it at least once, late and out of order.
import * as v from "valibot";

/** Why the message was sent. */
export const careReasons = ["timer", "sentinel", "event", "order", "continuation"] as const;
export type CareReason = (typeof careReasons)[number];

export const careMessage = v.strictObject({
  version: v.literal(1),
  /** The lower-case resource id. */
  cluster: v.pipe(v.string(), v.minLength(1)),
  reason: v.picklist(careReasons),
  /**
   * `due`: full where the last full pass is six hours old, the cluster was not well, or its resource has changed; else a
   * sentinel pass. `probe`: a look and a probe, never a repair. `plan`: a look and a plan, nothing written.
   */
  pass: v.picklist(["due", "full", "sentinel", "probe", "plan"]),
  /** Names the run in reports and telemetry. A continuation keeps that of the run it goes on with. */
  run: v.pipe(v.string(), v.regex(/^[0-9a-z-]{1,64}$/)),
  /** The timer's slot in RFC 3339: at most one message of a slot has an effect. */
  slot: v.optional(v.pipe(v.string(), v.isoTimestamp())),
  /** Counts the continuations of a run: 0 is its first message. */
  attempt: v.pipe(v.number(), v.integer(), v.minValue(0)),
  /** How often the message was put off because somebody else cared for the cluster. */
  deferrals: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0)), 0),
  /** Who asked, for an order: the Entra principal where platform authentication is on, else `key`. */
  caller: v.optional(v.string()),
});
export type CareMessage = v.InferOutput<typeof careMessage>;

export interface CareQueue {
  /** Sends the message so that it is seen in `delaySeconds` (0 to 7 days) at the earliest. Throws StoreError. */
  send(message: CareMessage, options?: { readonly delaySeconds?: number }): Promise<void>;
}
