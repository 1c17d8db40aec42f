// A care message that failed for good: nothing disappears silently.
import { app } from "@azure/functions";
import { storageConnection, useFleet } from "./invocation.ts";

app.storageQueue("careClusterPoison", {
  queueName: "care-poison",
  connection: storageConnection,
  handler: (message, context) => useFleet(context, (fleet) => fleet.poisoned(message)),
});
