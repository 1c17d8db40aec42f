// What an act of the fleet's demo can do: speak, ask the app, and watch the clusters' reports come in. Not here: the story.
import type { Piece } from "../cli/typeset.ts";
import { blank, command, paragraph, styled, type Style } from "../cli/typeset.ts";
import type { ClusterReport, ClusterState } from "../fleet/cluster-report.ts";
import type { FleetOverview, Ordered, ReportAnswer } from "../fleet/fleet.ts";
import { insist, type Page } from "./demo-page.ts";
import type { FleetWorld } from "./fleet-world.ts";
import type { SubscriptionCluster } from "./subscription.ts";

export interface FleetStage extends Page {
  readonly world: FleetWorld;
  readonly overview: () => Promise<FleetOverview>;
  readonly reportOf: (cluster: SubscriptionCluster) => Promise<ClusterReport>;
  /** Gives an order as `curl` would, shows the command, and answers what came back within `wait` seconds. */
  readonly order: (cluster: SubscriptionCluster, what: string, wait: number) => Promise<ClusterReport>;
  /** Shows each cluster that is not well as its state changes, until `isOver`. */
  readonly watch: (isOver: (overview: FleetOverview) => boolean, seconds: number) => Promise<void>;
  /** What fleetmend found first on a cluster, as it told Application Insights; a dash where it found nothing. */
  readonly firstFindingOf: (cluster: string) => string;
  /** Seconds since the demo began. */
  readonly seconds: () => number;
  /** The cluster that Azure has told to be changed, once an act has chosen it. */
  changed?: SubscriptionCluster;
}

export function createFleetStage(page: Page, world: FleetWorld, seconds: () => number): FleetStage {
  const get = async <T>(path: string): Promise<T> => {
    const { status, body } = await world.ask("GET", path);
    insist(status === 200, `GET ${path} must answer 200, and answered ${status}: ${JSON.stringify(body)}`);
    return body as T;
  };
  const overview = (): Promise<FleetOverview> => get("/api/fleet");
  const reportOf = async ({ name }: Pick<SubscriptionCluster, "name">): Promise<ClusterReport> => {
    const { report } = await get<ReportAnswer>(`/api/clusters/${name}`);
    insist(report !== undefined, `${name} must have a report`);
    return report;
  };
  const firstFindingOf = (cluster: string): string => findingIn(world, cluster);
  const shown = new Map<string, string>();
  return {
    ...page,
    world,
    overview,
    reportOf,
    firstFindingOf,
    seconds,
    async order({ name }, what, wait) {
      const path = `/api/clusters/${name}/${what}${what.includes("?") ? "&" : "?"}wait=${wait}`;
      page.say([blank, command(0, `$ curl -X POST "$url${path}"`)]);
      const { status, body } = await world.ask("POST", path);
      insist(status === 200, `the order must answer 200, and answered ${status}: ${JSON.stringify(body)}`);
      const { report } = body as Ordered;
      insist(report !== undefined, "the report must come in time");
      return report;
    },
    async watch(isOver, atMost) {
      const end = Date.now() + atMost * 1000;
      page.say([blank, row(page, ["cluster", "finding", "step", "result"], "strong")]);
      for (;;) {
        const now = await overview();
        for (const { name, state, run, repair } of now.clusters) {
          const key = `${state} ${repair ?? ""} ${run === "" ? "" : "seen"}`;
          if (run === "" || isQuiet(state) || shown.get(name) === key) continue;
          shown.set(name, key);
          const report = await reportOf({ name });
          const finding = report.notAssessed?.kind ?? firstFindingOf(name);
          page.say([row(page, [name, finding, stepOf(report), resultOf(report)], styleOf[report.state])]);
        }
        for (const { name, state, run } of now.clusters) if (run !== "" && isQuiet(state)) wellAgain(name, now);
        if (isOver(now)) return;
        insist(Date.now() < end, `everything must be settled within ${atMost} s`);
        await new Promise((resolve) => setTimeout(resolve, 250));
      }
      function wellAgain(name: string, { clusters }: FleetOverview): void {
        if (!shown.has(name) || shown.get(name) === "well") return;
        shown.set(name, "well");
        const repair = clusters.find((one) => one.name === name)?.repair;
        const result = repair === "proven" ? "healthy, proven" : "healthy";
        page.say([row(page, [name, firstFindingOf(name), "", result], "good")]);
      }
    },
  };
}

/** Nothing to say of them but how many there are. */
const isQuiet = (state: ClusterState): boolean => state === "healthy" || state === "nothing-to-watch";

const styleOf: Readonly<Record<ClusterState, Style>> = {
  healthy: "good",
  attention: "warning",
  broken: "bad",
  repairing: "warning",
  "not-assessed": "faint",
  "nothing-to-watch": "faint",
  off: "faint",
};

/** Columns of the table, the last one takes the rest. */
const columns = [15, 24, 22] as const;

/** One line, whatever the texts: what does not fit is cut. */
export function row({ width }: Page, texts: readonly string[], style: Style) {
  const cells = texts.map((text, index) => {
    const room = columns[index] ?? width - columns.reduce((sum, one) => sum + one, 0);
    return cut(text, room - (index === texts.length - 1 ? 0 : 2)).padEnd(index === texts.length - 1 ? 0 : room);
  });
  const last = cells.pop() ?? "";
  const pieces: Piece[] = [cells.join(""), styled(style, last)];
  return paragraph(0, style === "strong" ? [styled("strong", cells.join("") + last)] : pieces);
}

const cut = (text: string, room: number): string => (text.length <= room ? text : `${text.slice(0, room - 1)}…`);

function stepOf({ repair, notAssessed }: ClusterReport): string {
  if (notAssessed !== undefined) return "";
  const steps = repair?.done.filter(({ outcome }) => outcome === "written").length ?? 0;
  if (steps > 0) return steps === 1 ? "1 step done" : `${steps} steps done`;
  switch (repair?.outcome) {
    case "no-budget":
      return "waits for the budget";
    case "rights-missing":
      return "a right is missing";
    default:
      return "";
  }
}

function resultOf({ state, repair, advice, findings, missingRights }: ClusterReport): string {
  if (state === "not-assessed") return "not assessed";
  if (state !== "broken") return repair?.outcome === "proven" ? `${state}, proven` : state;
  if (repair?.outcome === "rights-missing" && missingRights !== undefined) return "for a person";
  return findings.some(({ fixableBy }) => fixableBy === "fleetmend") || advice.length === 0 ? state : "for a person";
}

function findingIn({ subscription }: FleetWorld, cluster: string): string {
  for (const { data } of subscription.telemetry.envelopes) {
    const { name, properties } = data.baseData as { name?: string; properties?: Readonly<Record<string, string>> };
    if (name !== "finding" || properties?.cluster !== cluster || properties.severity === "info") continue;
    return properties.kind ?? "";
  }
  return "–";
}
