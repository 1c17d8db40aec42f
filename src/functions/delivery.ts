// What the queue says of a message.
import type { InvocationContext } from "@azure/functions";
import type { Delivery } from "../fleet/fleet.ts";

/** Where the host does not say how often, the message counts as delivered for the first time. */
export function deliveryOf({ triggerMetadata }: InvocationContext): Delivery {
  const dequeueCount = Number(triggerMetadata?.dequeueCount);
  return { dequeueCount: Number.isInteger(dequeueCount) && dequeueCount > 0 ? dequeueCount : 1 };
}
