// The timer of the sentinel passes: a few requests to each cluster that was well.
import { app } from "@azure/functions";
import { useFleet } from "./invocation.ts";
import { tickOf, timerRetry } from "./tick.ts";

app.timer("probeFleet", {
  schedule: "%PROBE_SCHEDULE%",
  retry: timerRetry,
  handler: (timer, context) => useFleet(context, (fleet) => fleet.probe(tickOf(timer, new Date()))),
});
