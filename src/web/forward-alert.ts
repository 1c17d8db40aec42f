// forwardAlert's use case: Azure Monitor's alert in, one card to Teams out. Every card, posted or not, is an event; what could
// not be posted is also the HTTP answer, so that the action group tries again. Posting and Key Vault are src/azure's.
import { failure, success, type Result } from "../result.ts";
import type { Telemetry } from "../fleet/telemetry.ts";
import { alertCard, type CardLinks } from "./alert-card.ts";
import type { CardMessage } from "./card-parts.ts";
import { parseCommonAlert, type Alert } from "./common-alert.ts";

/** Why the workflow's URL is not there. The message names the secret, never its value. */
export interface WorkflowUrlFailure {
  readonly kind: "not-configured" | "unavailable";
  readonly message: string;
}

/** Why Teams did not take the card, after the tries that the poster makes by itself (429 and 5xx). */
export interface PostFailure {
  readonly kind: "refused" | "unavailable";
  readonly message: string;
  readonly status?: number;
}

export interface AlertParts {
  /** The workflow's URL. It holds a signature and so is a secret: it is handed to `post` and to nobody else. */
  readWorkflowUrl(): Promise<Result<string, WorkflowUrlFailure>>;
  /** Posts the message; a 2xx (Teams answers 202) is success, which proves no delivery. */
  post(workflowUrl: string, message: CardMessage): Promise<Result<void, PostFailure>>;
  readonly telemetry: Telemetry;
  readonly links: CardLinks;
}

export interface Forwarded {
  readonly rule: string;
  readonly condition: "Fired" | "Resolved";
}

export interface ForwardFailure {
  readonly kind: "wrong-input" | "not-configured" | "refused" | "unavailable";
  readonly message: string;
  readonly todo: string;
}

/** What forwardAlert may ask. */
export interface Alerts {
  /** Takes the body as the action group sent it, parsed from JSON. */
  forward(body: unknown): Promise<Result<Forwarded, ForwardFailure>>;
}

export function createAlerts(parts: AlertParts): Alerts {
  return { forward: (body) => forward(parts, body) };
}

async function forward(parts: AlertParts, body: unknown): Promise<Result<Forwarded, ForwardFailure>> {
  const alert = parseCommonAlert(body);
  if (!alert.ok) {
    const todo = "Send Azure Monitor's common alert schema: `useCommonAlertSchema` of the action group's receiver.";
    return failure({ kind: "wrong-input", message: `Not an alert: ${alert.error}.`, todo });
  }
  const posted = await postCard(parts, alert.value);
  record(parts.telemetry, alert.value, posted);
  if (!posted.ok) return posted;
  return success({ rule: alert.value.rule, condition: alert.value.condition });
}

async function postCard(parts: AlertParts, alert: Alert): Promise<Result<void, ForwardFailure>> {
  const url = await parts.readWorkflowUrl();
  if (!url.ok) return failure({ ...url.error, todo: todoOf[url.error.kind] });
  const posted = await parts.post(url.value, alertCard(alert, parts.links));
  if (posted.ok) return posted;
  // A client's own error text may quote the address that it could not reach.
  const message = posted.error.message.replaceAll(url.value, "the workflow's URL");
  return failure({ kind: posted.error.kind, message, todo: todoOf[posted.error.kind] });
}

const todoOf: Readonly<Record<Exclude<ForwardFailure["kind"], "wrong-input">, string>> = {
  "not-configured":
    "Put the URL of the Teams workflow into the Key Vault secret that FLEETMEND_TEAMS_SECRET_ID names (docs/deploy.md).",
  refused: "Look whether the Teams workflow is still there and switched on; a new one has a new URL (docs/alerts.md).",
  unavailable: "Nothing yet: the action group tries again. If it goes on, see docs/alerts.md, card-failed.",
};

function record(telemetry: Telemetry, alert: Alert, posted: Result<void, ForwardFailure>): void {
  const clusters = alert.rows.flatMap((row) => row.dimensions.filter(({ name }) => name === "cluster"));
  telemetry.event("alertCard", {
    outcome: posted.ok ? "posted" : "failed",
    rule: alert.rule,
    condition: alert.condition,
    ...(clusters.length > 0 ? { cluster: [...new Set(clusters.map(({ value }) => value))].join(", ") } : {}),
    ...(posted.ok ? {} : { why: posted.error.message }),
  });
}
