// What fleetmend may do on a cluster: the subscription's mode, and what the cluster's own tag makes of it.

export const modes = ["off", "observe", "repair"] as const;
export type Mode = (typeof modes)[number];

/** The AKS resource tag that says otherwise for one cluster. */
export const modeTag = "fleetmend-mode";
