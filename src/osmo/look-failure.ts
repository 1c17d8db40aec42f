// What a look that could not see everything means for a rotation: wait, or ask a person. Nothing is planned on half a look.
import type { ApiFailure } from "../admission/cluster-api.ts";
import type { OsmoFailure } from "./osmo-failure.ts";
import type { RotationPlan } from "./rotation-step.ts";
import type { VaultFailure } from "./vault-api.ts";

/** Anything but a step. */
export type Halt = Exclude<RotationPlan, { plan: "step" }>;

const wait = (seconds: number, why: string): Halt => ({ plan: "wait", seconds, why });
const stop = (why: string, todo: string): Halt => ({ plan: "stop", why, todo });

export function haltOfOsmo({ kind, message }: OsmoFailure, where: string): Halt {
  const why = `OSMO (${where}): ${message}`;
  switch (kind) {
    case "signing-key":
      return stop(
        why,
        "restore service_auth.keys from a backup of OSMO's database: no token can be exchanged until then",
      );
    case "unauthenticated":
    case "denied":
      return stop(why, "check the role of the credential, and the gateway's own configuration");
    case "no-route":
    case "not-understood":
      return stop(why, "compare the versions of OSMO's image, chart and clients");
    case "forbidden":
      return stop(why, "allow get and create on pods/portforward in OSMO's namespace");
    case "refused":
    case "exists":
    case "user-not-found":
    case "token-not-found":
    case "managed-by-configmap":
    case "not-found":
      return wait(60, why);
    case "database":
    case "throttled":
    case "server-error":
    case "bad-answer":
    case "timeout":
    case "unreachable":
      return wait(30, why);
  }
}

export function haltOfVault({ kind, message }: VaultFailure, vault: string): Halt {
  const why = `Key Vault ${vault}: ${message}`;
  if (kind === "forbidden") {
    return stop(
      why,
      `give fleetmend's identity the role Key Vault Secrets Officer on ${vault}, and a network route to it`,
    );
  }
  return wait(kind === "soft-deleted" ? 15 : 60, why);
}

export function haltOfCluster({ kind, message }: ApiFailure): Halt {
  const why = `the cluster: ${message}`;
  if (kind === "forbidden" || kind === "unauthorized") return stop(why, "apply the rights of infra/kubernetes");
  return wait(30, why);
}
