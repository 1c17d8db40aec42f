// Azure says that a cluster has changed: Event Grid's push, in its own schema or in that of CloudEvents.
import { app } from "@azure/functions";
import { useFleet } from "./invocation.ts";

app.eventGrid("clusterChanged", {
  handler: (event, context) => useFleet(context, (fleet) => fleet.changed(event)),
});
