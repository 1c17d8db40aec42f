// From what was seen of a token to the next step. Pure: no clock, no chance, no call. The order is the safety: a new token
// is proven and stored before a consumer moves, every consumer has moved before the old one goes.
import { orphanPlan, retirePlan } from "./plan-retirement.ts";
import type { RotationPlan } from "./rotation-step.ts";
import { dayAfter, type TokenCredential } from "./token-credential.ts";
import type { ConsumerView, TokenView, VersionView } from "./token-view.ts";

/** One step at most; after it, look again. */
export function planToken(view: TokenView, credential: TokenCredential): RotationPlan {
  if (view.admin === undefined) return noAdmin;
  const unread = view.consumers.find(({ readsNoToken }) => readsNoToken !== undefined);
  if (unread !== undefined) return { plan: "done", why: `${unread.name} reads no token: ${unread.readsNoToken ?? ""}` };
  if (view.softDeleted) return step({ step: "recover-secret", secret: credential.vaultSecret });
  const [newest] = view.versions;
  const why = whyNew(view, credential, newest);
  if (why !== undefined) return adoptPlan(view) ?? newPlan(view, credential, why);
  if (newest?.fingerprint === undefined) return noAdmin;
  const current: Current = { ...newest, fingerprint: newest.fingerprint };
  return (
    copyPlan(view, credential, current) ??
    consumerPlan(view, current) ??
    heartbeatPlan(view, credential) ??
    retirePlan(view, credential, current) ??
    orphanPlan(view, credential, current) ?? { plan: "done", why: `good until ${endOf(view, current) ?? "?"}` }
  );
}

/** The newest version, good and not due. */
export type Current = VersionView & { readonly fingerprint: string };

const step = (value: Extract<RotationPlan, { plan: "step" }>["step"]): RotationPlan => ({ plan: "step", step: value });

const noAdmin: RotationPlan = {
  plan: "stop",
  why: "no admin credential could be proven: neither the API token nor the default admin's password exchanges",
  todo:
    "put 43 fresh letters and digits into the Secret of the default admin (never a token that OSMO's API has made), " +
    "store the same in Key Vault, and restart osmo-service: it makes the default admin's token anew at its start",
};

/** Why a new token is needed, in words; undefined where the newest version is good and not due. */
function whyNew(view: TokenView, credential: TokenCredential, newest: VersionView | undefined): string | undefined {
  if (newest === undefined) return "Key Vault has none";
  if (!newest.enabled) return "Key Vault's newest version is disabled";
  const { verdict } = newest;
  if (verdict === undefined) return "Key Vault's newest version has no value";
  if (verdict.verdict === "dead") return `OSMO says that the present one is dead (${verdict.why})`;
  if (verdict.verdict === "wrong") return `the present one is of no use: ${verdict.why}`;
  const end = endOf(view, newest);
  return end !== undefined && end <= dayAfter(view.at, credential.leadDays)
    ? `the present one ends on ${end}`
    : undefined;
}

/** The day at whose start the token dies, as OSMO lists it. */
function endOf({ tokens }: TokenView, { verdict }: VersionView): string | undefined {
  if (verdict === undefined || verdict.verdict === "dead") return undefined;
  return tokens.find(({ user, name }) => user === verdict.user && name === verdict.tokenName)?.expiresOn;
}

/** A good value that only Kubernetes has: Key Vault gets it first, so that it can be gone back to. */
function adoptPlan(view: TokenView): RotationPlan | undefined {
  const { copy, versions, tokens } = view;
  if (copy === undefined || copy === "missing" || copy.fingerprint === undefined) return undefined;
  const { fingerprint, verdict } = copy;
  if (verdict?.verdict !== "good") return undefined;
  if (versions.some((version) => version.enabled && version.fingerprint === fingerprint)) return undefined;
  if (versions[0]?.verdict?.verdict === "good") return undefined;
  const row = tokens.find(({ user, name }) => user === verdict.user && name === verdict.tokenName);
  if (row === undefined || verdict.tokenName === "default-admin-token") return undefined;
  return step({ step: "adopt", fingerprint, tokenName: verdict.tokenName, expiresOn: row.expiresOn });
}

/** User and role first: a create for somebody who lacks the role fails, and a failing insert hurts everybody. */
function newPlan(view: TokenView, { user, role, lifeDays }: TokenCredential, why: string): RotationPlan {
  if (view.user === undefined) return step({ step: "create-user", user, role });
  if (view.user !== "any" && !view.user.roles.includes(role)) return step({ step: "give-role", user, role });
  return step({ step: "mint", expiresOn: dayAfter(view.at, lifeDays), why });
}

function copyPlan({ copy }: TokenView, credential: TokenCredential, current: Current): RotationPlan | undefined {
  if (copy === undefined || credential.copy === undefined) return undefined;
  const { namespace, name } = credential.copy.secret;
  if (copy === "missing") {
    const todo = `kubectl create secret generic ${name} -n ${namespace} --from-literal=${credential.copy.key}=placeholder`;
    return { plan: "stop", why: `there is no Secret ${namespace}/${name}`, todo: `${todo}   # fleetmend fills it` };
  }
  if (copy.fingerprint === current.fingerprint) return undefined;
  if (copy.managed)
    return { plan: "wait", seconds: 120, why: `the CSI driver has not brought ${namespace}/${name} along` };
  return step({ step: "write-copy", from: copy.fingerprint, to: current.fingerprint, version: current.version });
}

/**
 * One after the other, each proven before the next. Readers of an adopted value are not restarted for it: they had it, and
 * a restart costs running workflows something. That no older token depends on it is part of that.
 */
function consumerPlan({ consumers, versions }: TokenView, current: Current): RotationPlan | undefined {
  const isFirst =
    current.isAdopted === true && versions.every(({ enabled, version }) => !enabled || version === current.version);
  for (const consumer of consumers) {
    const isUntouched = isFirst && consumer.restartedFor === undefined && !consumer.isCrashing;
    const plan = isUntouched ? undefined : consumerStep(consumer, current.fingerprint);
    if (plan !== undefined) return plan;
  }
  return undefined;
}

function consumerStep(consumer: ConsumerView, fingerprint: string): RotationPlan | undefined {
  const { namespace, name } = consumer;
  if (consumer.restartedFor !== fingerprint)
    return step({ step: "restart", deployment: { namespace, name }, fingerprint });
  if (consumer.isCrashing) {
    const why = `the new pod of ${namespace}/${name} crash-loops on a token that OSMO accepts; the old token stays`;
    return { plan: "stop", why, todo: `kubectl logs -n ${namespace} deployment/${name} --previous` };
  }
  if (consumer.isRolledOut) return undefined;
  return { plan: "wait", seconds: 15, why: `${namespace}/${name} is not rolled out yet` };
}

/** Heard of since its last restart: pods that are ready prove nothing, their probes read files written before. */
function heartbeatPlan({ consumers, heartbeat }: TokenView, { copy }: TokenCredential): RotationPlan | undefined {
  const backend = copy?.backend;
  if (backend === undefined) return undefined;
  const youngest = Math.max(...consumers.map(({ youngestPod }) => youngestPod?.getTime() ?? 0));
  if (heartbeat !== undefined && heartbeat.getTime() > youngest) return undefined;
  return {
    plan: "wait",
    seconds: 30,
    why: `the backend ${backend} has not been heard of since its operator's restart`,
  };
}
