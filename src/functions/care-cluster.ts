// One cluster's care. What is thrown has the queue deliver the message again after host.json's visibilityTimeout, five times
// in all; then it goes to care-poison.
import { app } from "@azure/functions";
import { deliveryOf } from "./delivery.ts";
import { storageConnection, useFleet } from "./invocation.ts";

app.storageQueue("careCluster", {
  queueName: "care",
  connection: storageConnection,
  handler: (message, context) => useFleet(context, (fleet) => fleet.care(message, deliveryOf(context))),
});
