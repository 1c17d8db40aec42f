// How much change the fleet may see, as it is shown. The rules and the reservation are in budget.ts.

export interface BudgetView {
  readonly maxConcurrentRepairs: number;
  readonly maxRepairsPerHour: number;
  /** How many at once the ramp allows now: 1, 2, 4, … up to the maximum, doubled by a proven repair. */
  readonly allowedNow: number;
  readonly running: readonly { readonly cluster: string; readonly run: string; readonly until: string }[];
  readonly startedInLastHour: number;
  /** Open after so many repairs in a row that were not proven: nothing is repaired until it closes. */
  readonly breaker: {
    readonly open: boolean;
    readonly failures: number;
    readonly until?: string;
    readonly why?: string;
  };
}
