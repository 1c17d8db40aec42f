// Azure Monitor's alert in, one card to Teams out.
import { app } from "@azure/functions";
import { answering, json, refuse, wrongInput } from "./http-answer.ts";
import { useAlerts } from "./invocation.ts";

app.http("forwardAlert", {
  methods: ["POST"],
  authLevel: "function",
  route: "alerts",
  handler: (request, context) =>
    answering(async () => {
      const body = await request.json().catch(() => undefined);
      if (body === undefined) return wrongInput("The body is not JSON.", "Send Azure Monitor's common alert schema.");
      const forwarded = await useAlerts(context, (alerts) => alerts.forward(body));
      return forwarded.ok ? json(200, forwarded.value) : refuse(forwarded.error);
    }),
});
