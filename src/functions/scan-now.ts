// Looks at one cluster now, and plans; nothing is written.
import { app } from "@azure/functions";
import { orderByHand } from "./order-by-hand.ts";

app.http("scanNow", {
  methods: ["POST"],
  authLevel: "function",
  route: "clusters/{cluster}/scan",
  handler: (request, context) => orderByHand(request, context, "scan"),
});
