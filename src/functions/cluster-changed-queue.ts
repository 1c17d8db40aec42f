// As clusterChanged, for Event Grid's storage queue as its destination: a push cannot reach an app without public access.
import { app } from "@azure/functions";
import { storageConnection, useFleet } from "./invocation.ts";

app.storageQueue("clusterChangedQueue", {
  queueName: "events",
  connection: storageConnection,
  handler: (event, context) => useFleet(context, (fleet) => fleet.changed(event)),
});
