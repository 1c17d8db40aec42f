// From a trigger to a use case. The registration file holds no SDK: everything else is loaded at the first invocation, from
// files of their own (scripts/package/bundle-app.ts).
import type { InvocationContext } from "@azure/functions";
import type { Invocation } from "../compose-fleet.ts";
import type { Fleet } from "../fleet/fleet.ts";
import type { Alerts } from "../web/forward-alert.ts";

/** Where every queue trigger finds its storage account, and the timers their locks. */
export const storageConnection = "AzureWebJobsStorage";

/** Runs one use case of the fleet. What it reports has been sent when this resolves. Throws UnusableSettings, and as `use`. */
export async function useFleet<T>(context: InvocationContext, use: (fleet: Fleet) => Promise<T>): Promise<T> {
  const { withFleet } = await import("../compose-fleet.ts");
  return withFleet(invocationOf(context), use);
}

/** Runs forwardAlert's use case, as useFleet. */
export async function useAlerts<T>(context: InvocationContext, use: (alerts: Alerts) => Promise<T>): Promise<T> {
  const { withAlerts } = await import("../compose-fleet.ts");
  return withAlerts(invocationOf(context), use);
}

function invocationOf(context: InvocationContext): Invocation {
  const traceParent = context.traceContext?.traceParent;
  return {
    ...(traceParent !== undefined && { traceParent }),
    log: (line) => {
      context.log(line);
    },
  };
}
