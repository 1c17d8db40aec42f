import { describe, expect, it } from "vitest";
import { failure, success, type Result } from "../../src/result.ts";
import {
  createAlerts,
  type AlertParts,
  type PostFailure,
  type WorkflowUrlFailure,
} from "../../src/web/forward-alert.ts";
import { admissionBroken, commonAlert } from "../../src/lab/azure/common-alert.ts";

const url = "https://prod-1.westeurope.logic.azure.com/workflows/w/triggers/manual/paths/invoke?sig=abc123secret";

interface Answers {
  readonly url?: Result<string, WorkflowUrlFailure>;
  readonly post?: Result<void, PostFailure>;
}

/** The use case with ports that answer as told, and what came out of it. */
function alertsWith(answers: Answers = {}) {
  const events: unknown[] = [];
  const posts: unknown[] = [];
  const parts: AlertParts = {
    readWorkflowUrl: () => Promise.resolve(answers.url ?? success(url)),
    post: (to, message) => {
      posts.push([to, message.attachments[0].content.fallbackText]);
      return Promise.resolve(answers.post ?? success(undefined));
    },
    telemetry: {
      availability: () => undefined,
      metric: () => undefined,
      event: (name, properties) => void events.push([name, properties]),
    },
    links: {},
  };
  return { alerts: createAlerts(parts), events, posts };
}

describe("forwardAlert", () => {
  it("posts one card and says so", async () => {
    const { alerts, events, posts } = alertsWith();
    expect(await alerts.forward(commonAlert(admissionBroken))).toEqual({
      ok: true,
      value: { rule: "fleetmend-admission-broken", condition: "Fired" },
    });
    expect(posts).toEqual([[url, "Fired: Pod admission is broken"]]);
    expect(events).toEqual([
      [
        "alertCard",
        {
          outcome: "posted",
          rule: "fleetmend-admission-broken",
          condition: "Fired",
          cluster: "rg-training/aks-train-03",
        },
      ],
    ]);
  });

  it("refuses what is no alert, without asking for the URL", async () => {
    const { alerts, events, posts } = alertsWith({ url: failure({ kind: "unavailable", message: "not asked" }) });
    const answer = await alerts.forward({ schemaId: "other" });
    expect(answer).toMatchObject({
      ok: false,
      error: { kind: "wrong-input", message: /^Not an alert: schemaId must be / },
    });
    expect([events, posts]).toEqual([[], []]);
  });

  it.each<[string, Answers]>([
    ["unavailable", { post: failure({ kind: "unavailable", status: 503, message: "HTTP 503" }) }],
    ["refused", { post: failure({ kind: "refused", status: 404, message: "HTTP 404" }) }],
    ["not-configured", { url: failure({ kind: "not-configured", message: "no secret" }) }],
    ["unavailable", { url: failure({ kind: "unavailable", message: "Key Vault answers 500" }) }],
  ])("makes an event and a failure of a card that is %s", async (kind, answers) => {
    const { alerts, events } = alertsWith(answers);
    const answer = await alerts.forward(commonAlert(admissionBroken));
    if (answer.ok) throw new Error("it said that it was posted");
    expect(answer.error.kind).toBe(kind);
    expect(answer.error.todo).not.toBe("");
    expect(events).toEqual([
      [
        "alertCard",
        expect.objectContaining({ outcome: "failed", rule: "fleetmend-admission-broken", why: answer.error.message }),
      ],
    ]);
  });

  it("lets no part of the URL out, though the client's error quotes it", async () => {
    const { alerts, events } = alertsWith({
      post: failure({ kind: "unavailable", message: `connect to ${url} failed` }),
    });
    const answer = await alerts.forward(commonAlert(admissionBroken));
    expect(JSON.stringify([answer, events])).not.toContain("secret");
    expect(JSON.stringify(answer)).toContain("connect to the workflow's URL failed");
  });
});
