// The timer that has every cluster of the subscription looked at.
import { app } from "@azure/functions";
import { useFleet } from "./invocation.ts";
import { tickOf, timerRetry } from "./tick.ts";

app.timer("scanFleet", {
  schedule: "%SCAN_SCHEDULE%",
  retry: timerRetry,
  handler: (timer, context) => useFleet(context, (fleet) => fleet.scan(tickOf(timer, new Date()))),
});
