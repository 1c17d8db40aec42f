// The story that `npm run demo` tells of a fleet, act by act. Each act insists on how it ends. What is shown of fleetmend is
// what the packaged app answered, sent and did.
import { readFileSync } from "node:fs";
import path from "node:path";
import { blank, paragraph, styled, type Paragraph } from "../cli/typeset.ts";
import { commonAlert } from "./azure/common-alert.ts";
import { isCircumstance, type Circumstance, type Situation } from "./azure/situations.ts";
import { screenOf } from "./card-text.ts";
import type { FleetStage } from "./demo-fleet-stage.ts";
import { insist, type Act } from "./demo-page.ts";
import type { Fault } from "./kai/faults.ts";
import type { SubscriptionCluster } from "./subscription.ts";

/** How fleetmend is to leave a cluster with a fault. */
const endOf = {
  drift: "repaired",
  "latent-drift": "repaired",
  "one-holder": "repaired",
  "empty-bundle": "repaired",
  "garbage-bundle": "repaired",
  "aborted-upgrade": "repaired",
  "operator-blind": "repaired",
  "key-mismatch": "attention",
  "operator-down": "attention",
  expired: "for a person",
  "wrong-name": "for a person",
  "no-endpoints": "for a person",
  "rbac-trap": "for a person",
  "unknown-owner": "for a person",
} as const satisfies Partial<Record<Fault, string>>;

const faults = Object.keys(endOf) as (keyof typeof endOf)[];

/** But for `never-answers` each of these is a kind of `not assessed`. */
const unseen: readonly Circumstance[] = [
  "stopped",
  "creating",
  "deleting",
  "no-dns",
  "no-route",
  "authorized-ip-ranges",
  "tls-failed",
  "unauthorized",
  "forbidden",
  "local-accounts",
];

/** One cluster each; the others of the subscription are healthy. */
export const situations: readonly Situation[] = [...faults, ...unseen, "nothing-to-watch"];

const theTimerFires: Act<FleetStage> = {
  title: "The timer fires",
  words:
    "scanFleet lists the clusters from Azure and sends one message each; careCluster takes them. What is well is not shown. The first repair of a new version goes alone; when it has been proven two may run, then four.",
  async play(stage) {
    await stage.world.fireTimer("scanFleet");
    await stage.watch(({ clusters }) => clusters.length > 0 && clusters.every(({ run }) => run !== ""), 120);
    const { counts, clusters } = await stage.overview();
    const said = Object.entries(counts).filter(([, count]) => count > 0);
    const sum = said.map(([state, count]) => `${count} ${state}`).join(", ");
    stage.say([blank, paragraph(0, [`${clusters.length} clusters looked at after ${stage.seconds()} s: ${sum}.`])]);
  },
};

const azureSaysSo: Act<FleetStage> = {
  title: "Azure says that a cluster has changed",
  words:
    "Somebody updates a healthy cluster, and its webhook's certificate and caBundle drift apart. Event Grid delivers twice, as it may, and an event of fleetmend's own reading besides, which must set off nothing. fleetmend lets a quiet minute pass.",
  async play(stage) {
    const { subscription, deliver } = stage.world;
    const cluster = subscription.clusters.find(
      ({ situation, family }) => situation() === "healthy" && family !== "D1" && family !== "D4" && family !== "none",
    );
    insist(cluster !== undefined, "a healthy cluster without an operator must be there");
    stage.changed = cluster;
    await cluster.inject("drift");
    const written = subscription.eventFor(cluster, "write", "CloudEventSchemaV1_0");
    const own = subscription.eventFor(cluster, "listClusterUserCredential/action", "EventGridSchema");
    for (const event of [written, written, own]) {
      const status = await deliver(event);
      insist(status === 202, `Event Grid must be answered 202, and was answered ${status}`);
    }
    const { admitted, message } = await cluster.createPod();
    insist(!admitted, `a pod on ${cluster.name} must be refused now`);
    stage.say([blank, paragraph(0, [`OSMO creates a pod on ${cluster.name}: `, styled("bad", "refused")])]);
    stage.say([paragraph(2, [message])]);
  },
};

const notAssessed: Act<FleetStage> = {
  title: "What could not be looked at is never called healthy",
  words: "One cluster of each kind, with what stands in the way and who can remove it.",
  async play(stage) {
    for (const circumstance of unseen) {
      const cluster = clusterIn(stage, circumstance);
      const { notAssessed: why } = await stage.reportOf(cluster);
      insist(why?.kind === circumstance, `${cluster.name} must be not assessed for ${circumstance}`);
      stage.say([blank, paragraph(0, [styled("strong", cluster.name), "  ", why.kind]), paragraph(2, [why.message])]);
      stage.say([paragraph(2, [styled("faint", `→ ${why.todo}`)], 4)]);
    }
  },
};

const repairsGoOn: Act<FleetStage> = {
  title: "Meanwhile the repairs go on, by messages",
  words:
    "Each step is a message of its own; no instance remembers anything. When the quiet minute is over, the cluster that Azure spoke of is looked at, too.",
  async play(stage) {
    await stage.watch(({ clusters }) => clusters.every(isSettled) && isMended(clusters, stage.changed), 240);
    for (const cluster of stage.world.subscription.clusters) await insistOnEnd(stage, cluster);
    const { counts, budget } = await stage.overview();
    const broken = `${counts.broken} are broken still, and only a person can mend them: each report says how.`;
    stage.say([
      blank,
      paragraph(0, [
        `${budget.startedInLastHour} repairs within the hour, of ${budget.maxRepairsPerHour} that may be. ${broken}`,
      ]),
    ]);
  },
};

type Clusters = Awaited<ReturnType<FleetStage["overview"]>>["clusters"];

const isSettled = ({ state, repair }: Clusters[number]): boolean => state !== "repairing" && repair !== "no-budget";

function isMended(clusters: Clusters, cluster: SubscriptionCluster | undefined): boolean {
  const found = clusters.find(({ name }) => name === cluster?.name);
  return found?.state === "healthy" && found.repair === "proven";
}

/** By the report, and by a workflow's pod. */
async function insistOnEnd(stage: FleetStage, cluster: SubscriptionCluster): Promise<void> {
  const situation = cluster.situation();
  if (isCircumstance(situation)) return;
  const { state, repair, findings, advice, missingRights } = await stage.reportOf(cluster);
  const end = cluster === stage.changed || situation === "healthy" ? undefined : endOf[situation as keyof typeof endOf];
  const admitted = (await cluster.createPod()).admitted;
  const told = `${cluster.name} (${situation})`;
  switch (end) {
    case undefined:
      insist(state === "healthy" && admitted, `${told} must be healthy, and is ${state}`);
      return;
    case "repaired":
      insist(
        repair?.outcome === "proven" && state !== "broken" && admitted,
        `${told} must be repaired, and is ${state}`,
      );
      return;
    case "attention":
      insist(state === "attention" && admitted, `${told} must need attention, and is ${state}`);
      return;
    case "for a person": {
      const isTold =
        findings.some(({ severity }) => severity === "broken") && (advice.length > 0 || missingRights !== undefined);
      insist(state === "broken" && isTold, `${told} must be broken, with what to do; it is ${state}`);
    }
  }
}

const byHand: Act<FleetStage> = {
  title: "A repair by hand",
  words:
    "Somebody does not want to wait for the timer. The same drift on another cluster: the plan first, then the repair. ($url is the app's address; the key goes into the header x-functions-key.)",
  async play(stage) {
    const healthy = stage.world.subscription.clusters.filter(
      (one) => one !== stage.changed && one.situation() === "healthy" && one.family === "C",
    );
    const [cluster] = healthy;
    insist(cluster !== undefined, "another healthy cluster must be there");
    await cluster.inject("drift");
    const plan = await stage.order(cluster, "repair?dryRun=true", 60);
    insist(plan.repair?.outcome === "planned" && plan.repair.done.length === 0, "the dry run must write nothing");
    stage.say([
      paragraph(2, [plan.headline]),
      ...plan.repair.planned.map(({ summary }, index) => paragraph(2, [`${index + 1}. ${summary}`], 5)),
    ]);
    const { headline, repair, state } = await stage.order(cluster, "repair", 120);
    insist(
      state === "healthy" && repair?.outcome === "proven",
      `the repair must be proven, and ${cluster.name} is ${state}`,
    );
    stage.say([
      ...repair.done.map(({ summary, outcome }) => paragraph(2, [styled("good", "✓ "), `${outcome}: ${summary}`], 4)),
      paragraph(2, [styled("good", headline)]),
    ]);
  },
};

const toTeams: Act<FleetStage> = {
  title: "What Teams shows",
  words:
    "Azure Monitor's rules read the telemetry, and its action group calls forwardAlert. There is no Azure Monitor here: the alert is made by hand, of what the app has told Application Insights. The card is the one that was sent.",
  async play(stage) {
    const cluster = clusterIn(stage, "expired");
    const { status, body } = await stage.world.ask("POST", "/api/alerts", alertOf(stage, cluster));
    insist(status === 200, `forwardAlert must answer 200, and answered ${status}: ${JSON.stringify(body)}`);
    const card = stage.world.subscription.teams.posts.at(-1);
    insist(card !== undefined, "Teams must have got a card");
    stage.say([blank, ...drawn(screenOf(card), Math.min(stage.width, 78))]);
  },
};

/** The payload of the rule admission-broken for one cluster, with the dimensions that its query would give. */
function alertOf(stage: FleetStage, cluster: SubscriptionCluster): unknown {
  const file = path.join(import.meta.dirname, "..", "..", "infra", "alerts", "rules.json");
  const { rules } = JSON.parse(readFileSync(file, "utf8")) as { rules: Readonly<Record<string, string>>[] };
  const rule = rules.find(({ name }) => name === "admission-broken");
  insist(rule !== undefined, "the rule admission-broken must be there");
  const items = stage.world.subscription.telemetry.envelopes.map(({ data }) => data.baseData as Item);
  const of = (wanted: string): Readonly<Record<string, string>> =>
    items.findLast(({ name, properties }) => name === wanted && properties?.cluster === cluster.name)?.properties ?? {};
  const name = `${cluster.resourceGroup}/${cluster.name}`;
  const { object = "", kind = "" } =
    of("finding").severity === "broken" ? of("finding") : brokenIn(items, cluster.name);
  return commonAlert({
    rule: "fleetmend-admission-broken",
    severity: "Sev1",
    firedAt: new Date().toISOString(),
    properties: { title: rule.title ?? "", todo: rule.todo ?? "", resolved: rule.resolved ?? "" },
    rows: [{ cluster: name, hook: object, cause: kind, since: of(name).since ?? "", did: "nothing yet" }],
  });
}

interface Item {
  readonly name?: string;
  readonly properties?: Readonly<Record<string, string>>;
}

function brokenIn(items: readonly Item[], cluster: string): Readonly<Record<string, string>> {
  const found = items.findLast(
    ({ name, properties }) => name === "finding" && properties?.cluster === cluster && properties.severity === "broken",
  );
  return found?.properties ?? {};
}

/** A card as text: a frame, and what a person reads in it. */
function drawn(lines: readonly string[], width: number): readonly Paragraph[] {
  const room = width - 4;
  const wrapped = lines.flatMap((line) => line.match(new RegExp(`.{1,${room}}(?:\\s|$)|.{1,${room}}`, "gu")) ?? [""]);
  return [
    paragraph(0, [`┌${"─".repeat(width - 2)}┐`]),
    ...wrapped.map((line) => paragraph(0, [`│ ${line.trimEnd().padEnd(room)} │`])),
    paragraph(0, [`└${"─".repeat(width - 2)}┘`]),
  ];
}

const whatWasReported: Act<FleetStage> = {
  title: "What it took, and what was reported",
  words: "Counted at the lab's Azure, where the requests came in.",
  play(stage) {
    const { arm, telemetry, clusters, identity } = stage.world.subscription;
    const count = (kind: string, name?: string): number =>
      telemetry.envelopes.filter(({ data }) => {
        const { name: own } = data.baseData as { name?: string };
        return data.baseType === kind && (name === undefined || own === name);
      }).length;
    const events = ["finding", "repair", "notAssessed", "budget", "alertCard"];
    const requests = clusters.reduce((sum, cluster) => sum + cluster.requests(), 0);
    const lines: readonly (readonly [string, string])[] = [
      [
        "Azure Resource Manager",
        `${arm.requests.list} LIST, ${arm.requests.get} GET, ${arm.requests.credentials} credentials, ${arm.requests.throttled} throttled`,
      ],
      ["Tokens", `${identity.issued()}`],
      ["API servers", `${requests} requests to ${clusters.length} clusters`],
      ["Availability", `${count("AvailabilityData")} results`],
      ["Events", events.map((name) => `${count("EventData", name)} ${name}`).join(", ")],
      ["Metrics", `${count("MetricData")}`],
    ];
    insist(count("AvailabilityData") > 0 && count("EventData", "repair") > 0, "telemetry must have come");
    stage.say([blank, ...lines.map(([what, text]) => paragraph(2, [what.padEnd(24), text], 26))]);
    return Promise.resolve();
  },
};

function clusterIn({ world }: FleetStage, situation: Situation): SubscriptionCluster {
  const found = world.subscription.clusters.find((one) => one.situation() === situation);
  insist(found !== undefined, `a cluster must be ${situation}`);
  return found;
}

export const story: readonly Act<FleetStage>[] = [
  theTimerFires,
  azureSaysSo,
  notAssessed,
  repairsGoOn,
  byHand,
  toTeams,
  whatWasReported,
];
