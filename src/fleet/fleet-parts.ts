// What the fleet's use cases are given: ports, settings as plain values, and the world's time and chance. Types only.
import type { CareQueue } from "./care-message.ts";
import type { ClusterAccess } from "./cluster-access.ts";
import type { ClusterDirectory } from "./managed-cluster.ts";
import type { Mode } from "./mode.ts";
import type { Table } from "./table.ts";
import type { Telemetry } from "./telemetry.ts";

export interface FleetPolicy {
  /** The subscription's id, for people. */
  readonly subscription: string;
  readonly mode: Mode;
  readonly tagMayRaise: boolean;
  /** Where the dry-run pods would be. */
  readonly probeNamespace: string;
  readonly maxConcurrentRepairs: number;
  readonly maxRepairsPerHour: number;
  readonly breakerAfter: number;
  readonly breakerMinutes: number;
}

export interface FleetParts {
  readonly directory: ClusterDirectory;
  readonly access: ClusterAccess;
  readonly table: Table;
  readonly queue: CareQueue;
  readonly telemetry: Telemetry;
  readonly policy: FleetPolicy;
  readonly now: () => Date;
  /** In [0, 1). */
  readonly random: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  /** Names this process among others, such as the host's instance id. */
  readonly instance: string;
  /** The deployed version of fleetmend. */
  readonly version: string;
  /** One line for the invocation's log. */
  readonly log: (line: string) => void;
}
