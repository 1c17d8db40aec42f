// Puts the use cases together behind the contract of the triggers. It wires and does nothing else.
import { careCluster } from "./care.ts";
import { changedCluster } from "./changed-cluster.ts";
import type { Fleet } from "./fleet.ts";
import type { FleetParts } from "./fleet-parts.ts";
import { orderCare } from "./order.ts";
import { clusterReport, fleetOverview } from "./overview.ts";
import { reportPoisoned } from "./poisoned.ts";
import { probeFleet } from "./probe-fleet.ts";
import { scanFleet } from "./scan-fleet.ts";

export type { FleetParts, FleetPolicy } from "./fleet-parts.ts";

export function createFleet(parts: FleetParts): Fleet {
  return {
    scan: (tick) => scanFleet(parts, tick),
    probe: (tick) => probeFleet(parts, tick),
    care: (message, delivery) => careCluster(parts, message, delivery),
    poisoned: (message) => reportPoisoned(parts, message),
    changed: (event) =>
      changedCluster({ ...parts, subscription: parts.policy.subscription, newRun: newRun(parts) }, event),
    order: (order) => orderCare(parts, order),
    overview: () => fleetOverview(parts),
    report: (cluster, run) => clusterReport(parts, cluster, run),
  };
}

const newRun =
  ({ now, random }: FleetParts) =>
  (): string =>
    `event-${now().getTime().toString(36)}-${Math.floor(random() * 2 ** 32).toString(36)}`;
