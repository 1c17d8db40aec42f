// What the use cases report to Application Insights: every name and property. docs/telemetry.md says what they mean, and a
// test compares the two; src/azure implements the port.

/**
 * Each item and its properties. Names are public: alert rules and dashboards read them. A property that has nothing to say
 * is left out.
 */
export const telemetryItems = {
  availability: ["cluster", "resourceGroup", "run", "state", "since", "mode", "reason"],
  finding: [
    "cluster",
    "resourceGroup",
    "run",
    "state",
    "kind",
    "severity",
    "object",
    "fixableBy",
    "change",
    "why",
    "todo",
    "reason",
  ],
  repair: ["cluster", "resourceGroup", "run", "state", "outcome", "why", "steps", "object", "reason"],
  notAssessed: ["cluster", "resourceGroup", "run", "kind", "since", "why", "todo", "passing", "reason"],
  budget: ["cluster", "resourceGroup", "run", "outcome", "kind", "until", "why"],
  fleetScanned: ["outcome", "why", "clusters", "sent", "removed"],
  alertCard: ["outcome", "why", "rule", "condition", "cluster"],
  daysToExpiry: ["cluster", "resourceGroup", "run"],
  clusters: ["state"],
} as const;

type ItemName = keyof typeof telemetryItems;
export type TelemetryMetric = "daysToExpiry" | "clusters";
export type TelemetryEvent = Exclude<ItemName, TelemetryMetric | "availability">;

export type TelemetryProperties<Name extends ItemName = ItemName> = Readonly<
  Partial<Record<(typeof telemetryItems)[Name][number], string | number | boolean>>
>;

export interface AvailabilityResult {
  /** `<resource group>/<cluster>` */
  readonly name: string;
  readonly success: boolean;
  readonly durationMs: number;
  readonly message: string;
  readonly properties: TelemetryProperties<"availability">;
}

/** None of these waits for the network, and none throws. No secret may be handed over. */
export interface Telemetry {
  availability(result: AvailabilityResult): void;
  event<Name extends TelemetryEvent>(name: Name, properties: TelemetryProperties<Name>): void;
  metric<Name extends TelemetryMetric>(name: Name, value: number, properties: TelemetryProperties<Name>): void;
}
