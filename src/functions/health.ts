// Alive, and which version: all that is told without a key.
import { app } from "@azure/functions";
import { version } from "../version.ts";
import { json } from "./http-answer.ts";

app.http("health", {
  methods: ["GET"],
  authLevel: "anonymous",
  handler: () => json(200, { status: "alive", version }),
});
