// One cluster's last report, or that of one run; its earlier runs, and the budget.
import { app } from "@azure/functions";
import { answering, json, refuse, wrongInput } from "./http-answer.ts";
import { useFleet } from "./invocation.ts";
import { readQuery } from "./query.ts";

app.http("clusterReport", {
  methods: ["GET"],
  authLevel: "function",
  route: "clusters/{cluster}",
  handler: (request, context) =>
    answering(async () => {
      const query = readQuery(request, ["run"]);
      const example = "For example: GET /api/clusters/{cluster}?run=…";
      if (!query.ok) return wrongInput(query.error, example);
      if (query.value.run === "") return wrongInput("run is empty.", example);
      const cluster = request.params.cluster ?? "";
      const answer = await useFleet(context, (fleet) => fleet.report(cluster, query.value.run));
      return answer.ok ? json(200, answer.value) : refuse(answer.error);
    }),
});
