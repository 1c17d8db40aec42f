// The last report of each cluster, worst first, and the budget.
import { app } from "@azure/functions";
import { answering, json, refuse, wrongInput } from "./http-answer.ts";
import { useFleet } from "./invocation.ts";
import { readQuery } from "./query.ts";

app.http("fleet", {
  methods: ["GET"],
  authLevel: "function",
  route: "fleet",
  handler: (request, context) =>
    answering(async () => {
      const query = readQuery(request, []);
      if (!query.ok) return wrongInput(query.error, "Leave the query out: GET /api/fleet");
      const overview = await useFleet(context, (fleet) => fleet.overview());
      return overview.ok ? json(200, overview.value) : refuse(overview.error);
    }),
});
