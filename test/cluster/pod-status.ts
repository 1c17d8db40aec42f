// The status that the kubelet reports of a pod, as a pure function of what it knows.
import type { Pod } from "../../src/lab/kai/kube-object.ts";

/** What the status is made of. */
export interface Reported {
  readonly pod: Pod;
  readonly ip: string;
  readonly startedAt: string;
  phase: "waiting" | "crashing" | "running" | "succeeded" | "ended";
  ready: boolean;
  restarts: number;
  /** Someone holds the pod at not ready. */
  heldNotReady: boolean;
}

export function statusOf(sandbox: Reported): object {
  const { pod, phase } = sandbox;
  const ready = sandbox.ready && !sandbox.heldNotReady;
  const condition = (type: string, holds: boolean): object => ({
    type,
    status: holds ? "True" : "False",
    lastTransitionTime: now(),
  });
  return {
    phase: phase === "succeeded" ? "Succeeded" : phase === "waiting" ? "Pending" : "Running",
    hostIP: "127.0.0.1",
    startTime: sandbox.startedAt,
    ...(phase !== "waiting" && { podIP: sandbox.ip, podIPs: [{ ip: sandbox.ip }] }),
    conditions: [
      condition("PodScheduled", true),
      condition("Initialized", true),
      condition("ContainersReady", ready),
      condition("Ready", ready),
    ],
    containerStatuses: pod.spec.containers.map(({ name, image }) => ({
      name,
      image,
      imageID: image,
      ready,
      started: phase === "running",
      restartCount: sandbox.restarts,
      state: containerState(sandbox),
    })),
  };
}

function containerState({ phase, startedAt }: Reported): object {
  switch (phase) {
    case "waiting":
      return { waiting: { reason: "ContainerCreating" } };
    case "crashing":
      return { waiting: { reason: "CrashLoopBackOff" } };
    case "succeeded":
      return { terminated: { exitCode: 0, reason: "Completed", startedAt, finishedAt: now() } };
    case "running":
    case "ended":
      return { running: { startedAt } };
  }
}

/** Kubernetes times have whole seconds. */
export const now = (): string => new Date().toISOString().replace(/\.\d+Z$/, "Z");
