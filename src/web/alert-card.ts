// One alert as one Adaptive Card for Teams: what is broken, since when, what fleetmend did, what to do, and where to look.
// Pure: the alert goes in, the message for the Teams workflow comes out.
import type { Alert, AlertRow } from "./common-alert.ts";
import { fact, rich, run, type AdaptiveCard, type CardElement, type CardMessage, type OpenUrl } from "./card-parts.ts";

/**
 * What a Teams workflow takes in one message, about 28 KB:
 * https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using
 */
export const messageBytes = 28 * 1024;

/** More rows than this nobody reads on a telephone; the portal has them all. */
const maxRows = 10;

/** A portal link holds the whole query; a longer one than this would crowd out the rows. */
const maxUrl = 6000;

/** The columns that fleetmend's rules split by (infra/alerts), and how people call them. */
const labels: Readonly<Record<string, string>> = {
  cluster: "Cluster",
  hook: "Hook",
  cause: "Cause",
  since: "Since",
  did: "fleetmend did",
};

export interface CardLinks {
  /** The Functions app, such as `https://func-fleetmend.azurewebsites.net`; absent: no button to its reports. */
  readonly app?: string;
}

/**
 * The message for the workflow. Rows that do not fit are left out, the last ones first, and the card says how many. Titles
 * and advice come from the rule's custom properties `title`, `todo` and `runbook`; without them the rule's name and
 * description stand in.
 */
export function alertCard(alert: Alert, links: CardLinks = {}): CardMessage {
  let shown = Math.min(alert.rows.length, maxRows);
  let message = messageOf(alert, links, shown);
  while (shown > 0 && sizeOf(message) > messageBytes) {
    shown -= 1;
    message = messageOf(alert, links, shown);
  }
  return message;
}

/** The bytes that go over the wire. */
export const sizeOf = (message: CardMessage): number => Buffer.byteLength(JSON.stringify(message));

function messageOf(alert: Alert, links: CardLinks, shown: number): CardMessage {
  return {
    type: "message",
    attachments: [
      {
        contentType: "application/vnd.microsoft.card.adaptive",
        contentUrl: null,
        content: cardOf(alert, links, shown),
      },
    ],
  };
}

function cardOf(alert: Alert, links: CardLinks, shown: number): AdaptiveCard {
  const left = alert.rows.length - shown;
  return {
    $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
    type: "AdaptiveCard",
    version: "1.4",
    fallbackText: run(`${alert.condition}: ${titleOf(alert)}`, {}, 200).text,
    body: [
      header(alert),
      ...alert.rows.slice(0, shown).map((row, index) => rowBlock(alert, row, index > 0)),
      ...(left > 0
        ? [rich([run(`And ${left} more, not shown here: see the search results.`, { isSubtle: true })])]
        : []),
      ...whatToDo(alert),
    ],
    actions: buttons(alert, links),
  };
}

function header(alert: Alert): CardElement {
  const fired = alert.condition === "Fired";
  const word = fired ? `✗ FIRED · severity ${alert.severity}` : "✓ RESOLVED";
  // Without its resource group, which stands below: a telephone shows about 30 characters of a title.
  const only = alert.rows.length === 1 ? clusterOf(alert.rows[0])?.split("/").at(-1) : undefined;
  const title = only ? `${titleOf(alert)} on ${only}` : titleOf(alert);
  return {
    type: "Container",
    style: fired ? (alert.severity <= 1 ? "attention" : "warning") : "good",
    bleed: true,
    items: [
      rich([run(word, { weight: "Bolder", size: "Small", color: fired ? "Attention" : "Good" })]),
      rich([run(title, { weight: "Bolder", size: "Large", ...(fired ? {} : { strikethrough: true }) }, 200)], {
        spacing: "None",
      }),
      rich([run(when(alert), { isSubtle: true, size: "Small" })], { spacing: "None" }),
    ],
  };
}

const titleOf = (alert: Alert): string => alert.properties.title ?? alert.rule;

function when({ condition, firedAt, resolvedAt }: Alert): string {
  if (condition === "Fired" || !resolvedAt) return `Azure Monitor noticed at ${minute(firedAt)}`;
  return `From ${minute(firedAt)} to ${minute(resolvedAt)}, ${duration(resolvedAt.getTime() - firedAt.getTime())}`;
}

function rowBlock(alert: Alert, row: AlertRow, separator: boolean): CardElement {
  const known = row.dimensions.filter(({ value }) => value !== "");
  // A resolved alert carries the values with which it fired: they are history, and must not read as the present.
  const items: CardElement[] =
    alert.condition === "Resolved" && known.length > 0
      ? [rich([run("When it fired:", { isSubtle: true, size: "Small" })])]
      : [];
  items.push(
    ...known.map(({ name, value }) =>
      fact(labels[name] ?? name, run(name === "since" ? moment(value) : value, name === "hook" ? mono : {})),
    ),
  );
  if (known.length === 0) items.push(rich([run(alert.description || "The rule says no more.", {}, 1000)]));
  return { type: "Container", spacing: "Medium", ...(separator ? { separator } : {}), items };
}

const mono = { fontType: "Monospace" } as const;

function whatToDo(alert: Alert): CardElement[] {
  if (alert.condition === "Resolved") {
    const why = alert.properties.resolved ?? "Azure Monitor no longer finds what the rule looks for.";
    return [{ type: "Container", spacing: "Medium", separator: true, items: [rich([run(why, {}, 1000)])] }];
  }
  const todo = alert.properties.todo ?? alert.description;
  if (!todo) return [];
  return [
    {
      type: "Container",
      style: "emphasis",
      spacing: "Medium",
      items: [rich([run("What to do", { weight: "Bolder" })]), rich([run(todo, {}, 1000)], { spacing: "None" })],
    },
  ];
}

function buttons(alert: Alert, links: CardLinks): OpenUrl[] {
  const search = alert.rows.map((row) => row.searchUrl ?? "").find((url) => url !== "" && url.length <= maxUrl);
  const runbook = alert.properties.runbook ?? "";
  return [
    ...(search ? [open("Search results", search)] : []),
    ...(links.app ? [open("Report (needs the key)", reportUrl(links.app, alert))] : []),
    ...(runbook.startsWith("https://") && runbook.length <= maxUrl && URL.canParse(runbook)
      ? [open("Runbook", runbook)]
      : []),
  ];
}

/** The one cluster's report, or the fleet where there are several. */
function reportUrl(app: string, alert: Alert): string {
  const clusters = new Set(alert.rows.map(clusterOf));
  const [only] = clusters;
  if (clusters.size !== 1 || only === undefined) return `${app}/api/fleet`;
  // Rules name a cluster `<resource group>/<cluster>`; the API wants `<resource group>:<cluster>`.
  return `${app}/api/clusters/${encodeURIComponent(only.replace("/", ":"))}`;
}

const clusterOf = (row: AlertRow | undefined): string | undefined =>
  row?.dimensions.find(({ name, value }) => name === "cluster" && value !== "")?.value;

const open = (title: string, url: string): OpenUrl => ({ type: "Action.OpenUrl", title, url });

const moment = (text: string): string => (Number.isNaN(Date.parse(text)) ? text : minute(new Date(text)));
const minute = (at: Date): string => `${at.toISOString().slice(0, 16).replace("T", " ")} UTC`;

function duration(ms: number): string {
  const minutes = Math.max(0, Math.round(ms / 60_000));
  if (minutes < 120) return `${minutes} min`;
  return minutes < 2880 ? `${Math.round(minutes / 60)} h` : `${Math.round(minutes / 1440)} days`;
}
