// What is wrong on the way to the pods, and where pods or hooks of one backend disagree. Certificates are judged in
// assess-trust.ts.
import { summarizePem } from "../trust/bundle.ts";
import { isRefused, leafGroupsOf, pathIn, qualified, referenceTo } from "./assess-case.ts";
import type { BackendCase, HookCase } from "./assess-case.ts";
import type { Finding, Severity } from "./finding.ts";
import type { Backend, BackendPod, ClusterSnapshot } from "./snapshot.ts";

/** Findings about one backend: none of them where no hook calls it. */
export function assessBackend({ backend, hooks }: BackendCase, snapshot: ClusterSnapshot): readonly Finding[] {
  if (hooks.length === 0) return [];
  const obstacle = obstacleOn(backend, hooks);
  if (obstacle !== undefined) return [obstacle];
  return [
    ...unroutable(backend, hooks),
    ...notServing(backend, hooks, snapshot),
    ...replicasDiffer(backend, hooks),
    ...holdersDiffer(backend, hooks),
  ];
}

/** The first thing that keeps every call from arriving; what lies behind it does not matter then. */
function obstacleOn(backend: Backend, hooks: readonly HookCase[]): Finding | undefined {
  const service = qualified({ namespace: backend.namespace, name: backend.service });
  const object = pathIn(backend.namespace, "services", backend.service);
  const evidence = { service, hooks: hooks.map(({ hook }) => referenceTo(hook)), object } as const;
  const rest = { severity: "broken", fixableBy: "person" } as const;
  if (!backend.exists) return { kind: "service-missing", ...evidence, ...rest };
  if (backend.serviceType === "ExternalName") {
    return { kind: "service-unroutable", serviceType: "ExternalName", ...evidence, ...rest };
  }
  if (!backend.portExists) return { kind: "service-port-missing", port: backend.port, ...evidence, ...rest };
  if (backend.readyEndpoints > 0) return undefined;
  return { kind: "no-ready-endpoints", pods: backend.pods.map(({ name }) => name), ...evidence, ...rest };
}

/** A headless Service is refused where the API server routes by cluster IP, its default, and works by endpoint routing. */
function unroutable(backend: Backend, hooks: readonly HookCase[]): readonly Finding[] {
  if (backend.serviceType !== "Headless") return [];
  return [
    {
      kind: "service-unroutable",
      serviceType: "Headless",
      service: qualified({ namespace: backend.namespace, name: backend.service }),
      hooks: hooks.map(({ hook }) => referenceTo(hook)),
      severity: "undetermined",
      object: pathIn(backend.namespace, "services", backend.service),
      fixableBy: "person",
    },
  ];
}

/** KAI's queue and podgroup servers have no readiness probe: they are Ready a moment before they listen. */
const startingMs = 60_000;

function notServing(
  backend: Backend,
  hooks: readonly HookCase[],
  { at }: ClusterSnapshot,
): readonly Extract<Finding, { kind: "pod-not-serving" }>[] {
  const ready = backend.pods.filter((pod) => pod.ready);
  return (["refused", "not-tls"] as const).flatMap((because) => {
    const pods = ready.filter(({ served }) => served?.from === "unseen" && served.why.kind === because);
    const [first] = pods;
    if (first?.port === undefined || first.served?.from !== "unseen") return [];
    const isStarting = pods.every((pod) => isYoung(pod, at));
    return [
      {
        kind: "pod-not-serving",
        service: qualified({ namespace: backend.namespace, name: backend.service }),
        pods: pods.map(({ name }) => name),
        readyPods: ready.length,
        port: first.port,
        because,
        detail: first.served.why.message,
        hooks: hooks.map(({ hook }) => referenceTo(hook)),
        severity: "broken",
        object: pathIn(backend.namespace, "pods", first.name),
        fixableBy: isStarting ? "time" : "person",
      },
    ];
  });
}

function isYoung({ startedAt }: BackendPod, at: Date): boolean {
  return startedAt !== undefined && at.getTime() - startedAt.getTime() < startingMs;
}

function replicasDiffer(backend: Backend, hooks: readonly HookCase[]): readonly Finding[] {
  const groups = leafGroupsOf(backend).map(({ served }) => served);
  if (groups.length < 2) return [];
  return [
    {
      kind: "replicas-differ",
      service: qualified({ namespace: backend.namespace, name: backend.service }),
      groups,
      severity: hooks.some((hook) => isRefused(hook)) ? "warning" : "info",
      object: pathIn(backend.namespace, "services", backend.service),
      fixableBy: "time",
    },
  ];
}

/** By certificates, not by bytes: a newline more makes another bundle for the API server, and not for a person. */
function holdersDiffer(backend: Backend, hooks: readonly HookCase[]): readonly Finding[] {
  const bundles = hooks.map(({ hook }) => ({ hook, certificates: summarizePem(hook.bundle) }));
  const contents = bundles.map(({ hook, certificates }) =>
    certificates.length > 0
      ? certificates
          .map(({ fingerprint }) => fingerprint)
          .toSorted()
          .join()
      : hook.bundle.length === 0
        ? "empty"
        : "unparsable",
  );
  if (new Set(contents).size < 2) return [];
  const severity: Severity = hooks.some((hook) => isRefused(hook)) ? "warning" : "info";
  return [
    {
      kind: "holders-differ",
      service: qualified({ namespace: backend.namespace, name: backend.service }),
      bundles: bundles.map(({ hook, certificates }) => ({ hook: referenceTo(hook), certificates })),
      severity,
      object: pathIn(backend.namespace, "services", backend.service),
      fixableBy: hooks.every(({ owner }) => owner === "kai-helm-hooks" || owner === "kai-operator")
        ? "fleetmend"
        : "person",
    },
  ];
}
