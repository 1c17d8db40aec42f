// What the use cases report to Application Insights. docs/telemetry.md has every name and property; src/azure implements it.

export type TelemetryProperties = Readonly<Record<string, string | number | boolean>>;

export interface AvailabilityResult {
  /** `<resource group>/<cluster>` */
  readonly name: string;
  readonly success: boolean;
  readonly durationMs: number;
  readonly message: string;
  readonly properties: TelemetryProperties;
}

/** None of these waits for the network, and none throws. No secret may be handed over. */
export interface Telemetry {
  availability(result: AvailabilityResult): void;
  event(name: TelemetryEvent, properties: TelemetryProperties): void;
  metric(name: TelemetryMetric, value: number, properties: TelemetryProperties): void;
}

export type TelemetryEvent = "finding" | "repair" | "notAssessed" | "budget" | "fleetScanned" | "alertCard";
export type TelemetryMetric = "daysToExpiry" | "clusters";
