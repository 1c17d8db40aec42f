// Probes one cluster now: whether pods are let in, and where not, why.
import { app } from "@azure/functions";
import { orderByHand } from "./order-by-hand.ts";

app.http("probeNow", {
  methods: ["POST"],
  authLevel: "function",
  route: "clusters/{cluster}/probe",
  handler: (request, context) => orderByHand(request, context, "probe"),
});
