// Repairs one cluster now; with ?dryRun=true only the plan.
import { app } from "@azure/functions";
import { orderByHand } from "./order-by-hand.ts";

app.http("repairNow", {
  methods: ["POST"],
  authLevel: "function",
  route: "clusters/{cluster}/repair",
  handler: (request, context) => orderByHand(request, context, "repair"),
});
