// What is found: one fault each is put into the recorded objects of a healthy KAI, looked at, and assessed.
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { assess } from "../../src/admission/assess.ts";
import type { Finding } from "../../src/admission/finding.ts";
import { failure, success } from "../../src/result.ts";
import { generateKeys, mintCertificate } from "../../src/trust/mint.ts";
import { lookAt, prover, reader, serve, servesItsSecret } from "./recorded-cluster.ts";
import type { Handshake, User } from "./recorded-cluster.ts";
import { addReplica, base64, healthy, pairFor, secretOf, setBundles } from "./recorded-objects.ts";
import type { HolderObject, Recording } from "./recorded-objects.ts";

/** What a Service's pods, or one pod by its name, answer to a handshake instead of what their Secret holds. */
type Serves = Readonly<Record<string, ReturnType<Handshake>>>;

interface Fault {
  readonly of: string;
  readonly put?: (recorded: Recording) => Promise<void> | void;
  readonly user?: User;
  readonly serves?: () => Promise<Serves> | Serves;
}

async function findingsOf({ of, put, user = prover, serves }: Fault): Promise<readonly Finding[]> {
  const recorded = await healthy(of);
  await put?.(recorded);
  const served = (await serves?.()) ?? {};
  const handshake: Handshake = (target) =>
    served[target.pod] ?? served[target.serverName.split(".")[0] ?? ""] ?? servesItsSecret(recorded)(target);
  const findings = assess(await lookAt(serve(recorded, { user, handshake })));
  for (const { kind, severity } of findings) expect(documented.get(kind), kind).toContain(severity);
  return findings;
}

/** The severities that docs/findings.md gives for each kind. */
const documented = new Map(
  [
    ...readFileSync(path.join(import.meta.dirname, "../../docs/findings.md"), "utf8").matchAll(
      /^\| `([a-z-]+)` +\| ([^|]+) \|/gm,
    ),
  ].map(([, kind = "", severities = ""]) => [kind, severities.trim().split(", ")]),
);

/** `severity kind object`, in the order of the findings. */
const brief = (findings: readonly Finding[]) =>
  findings.map(({ severity, kind, object }) => `${severity} ${kind} ${object}`);

const binderPod = "binder-8669877d6d-qm97n";
const mutating = "mutatingwebhookconfigurations";
const validating = "validatingwebhookconfigurations";
const ofBinders = (severityAndKind: string) => [
  `${severityAndKind} ${mutating}/kai-binder`,
  `${severityAndKind} ${validating}/kai-binder`,
];

const serving = (service: string, generation: "first" | "second") => async (): Promise<Serves> => ({
  [service]: success({ chain: [(await pairFor(service, generation)).der] }),
});

async function setSecret(recorded: Recording, service: string, generation: "first" | "second"): Promise<void> {
  const { pem, keyPem } = await pairFor(service, generation);
  secretOf(recorded, service).data = { "tls.crt": base64(pem), "tls.key": base64(keyPem) };
}

async function setBundlesTo(recorded: Recording, service: string, generation: "first" | "second"): Promise<void> {
  setBundles(recorded, service, (await pairFor(service, generation)).pem);
}

function writeSecretAt(recorded: Recording, service: string, time: string): void {
  for (const fields of secretOf(recorded, service).metadata.managedFields ?? []) fields.time = time;
}

const holdersOf = (recorded: Recording): readonly HolderObject[] => [...recorded.mutating, ...recorded.validating];

/** A pair that KAI would not make, in Secret and bundles: what is served is what is trusted. */
const withPair =
  (change: { notBefore?: string; notAfter?: string; serverName?: string }) => async (recorded: Recording) => {
    const { pem, keyPem } = await pairFor("binder", "first", change);
    secretOf(recorded, "binder").data = { "tls.crt": base64(pem), "tls.key": base64(keyPem) };
    setBundles(recorded, "binder", pem);
  };

describe("a healthy KAI", () => {
  it.each(["v0.5.5", "v0.7.12", "v0.8.5", "v0.9.14", "v0.14.0", "v0.17.0", "v0.20.1", "v0.20.1-upgraded-from-v0.5.5"])(
    "%s gives no finding at all: an identical self-signed leaf is accepted without CA:TRUE",
    async (of) => {
      expect(brief(await findingsOf({ of }))).toEqual([]);
    },
  );
});

const faults: readonly (Fault & { readonly name: string; readonly found: readonly string[] })[] = [
  {
    name: "drift: the bundles are of another generation than what pods serve",
    of: "v0.5.5",
    put: (recorded) => setBundlesTo(recorded, "binder", "second"),
    found: ofBinders("broken bundle-stale"),
  },
  {
    name: "a post hook that never ran, once the pods have loaded the Secret",
    of: "v0.5.5",
    put: (recorded) => setSecret(recorded, "binder", "second"),
    found: ofBinders("broken bundle-stale"),
  },
  {
    name: "a post hook that never ran, and pods that did not load the Secret in time: refused as soon as they do",
    of: "v0.5.5",
    put: (recorded) => setSecret(recorded, "binder", "second"),
    serves: serving("binder", "first"),
    found: [
      ...ofBinders("warning next-certificate-refused"),
      `warning pod-serves-older kai-scheduler/pods/${binderPod}`,
    ],
  },
  {
    name: "a post hook that has not run yet, within two minutes of the Secret's change",
    of: "v0.5.5",
    put: async (recorded) => {
      await setSecret(recorded, "binder", "second");
      writeSecretAt(recorded, "binder", "2026-11-30T23:58:30Z");
    },
    serves: serving("binder", "first"),
    found: [...ofBinders("warning next-certificate-refused"), `info pod-serves-older kai-scheduler/pods/${binderPod}`],
  },
  {
    name: "the upgrade window: bundle and Secret are new, pods serve the old leaf yet",
    of: "v0.8.5",
    put: async (recorded) => {
      await setSecret(recorded, "kai-admission", "second");
      writeSecretAt(recorded, "kai-admission", "2026-11-30T23:58:30Z");
      await setBundlesTo(recorded, "kai-admission", "second");
    },
    serves: serving("kai-admission", "first"),
    found: [
      `broken bundle-stale ${mutating}/kai-admission`,
      `broken bundle-stale ${validating}/kai-admission`,
      "info pod-serves-older kai-scheduler/pods/kai-admission-69cb7d9784-cpnpj",
    ],
  },
  {
    name: "an empty bundle",
    of: "v0.5.5",
    put: (recorded) => {
      for (const { webhooks } of holdersOf(recorded))
        for (const { clientConfig } of webhooks) delete clientConfig.caBundle;
    },
    found: ofBinders("broken bundle-empty"),
  },
  {
    name: "a bundle of garbage",
    of: "v0.5.5",
    put: (recorded) => {
      setBundles(recorded, "binder", "garbage");
    },
    found: ofBinders("broken bundle-unparsable"),
  },
  {
    name: "a certificate that has expired, in bundle and pods alike",
    of: "v0.5.5",
    put: withPair({ notBefore: "2025-01-01T00:00:00Z", notAfter: "2026-01-01T00:00:00Z" }),
    found: ofBinders("broken certificate-expired"),
  },
  {
    name: "a certificate that is not valid yet",
    of: "v0.5.5",
    put: withPair({ notBefore: "2026-12-01T00:05:00Z" }),
    found: ofBinders("broken certificate-not-yet-valid"),
  },
  {
    name: "a certificate for another name",
    of: "v0.5.5",
    put: withPair({ serverName: "binder.elsewhere.svc" }),
    found: ofBinders("broken certificate-wrong-name"),
  },
  {
    name: "a certificate that expires within 30 days",
    of: "v0.5.5",
    put: withPair({ notAfter: "2026-12-20T00:00:00Z" }),
    found: ofBinders("warning expires-soon"),
  },
  {
    name: "a key in the Secret that does not match, while pods serve the pair of before",
    of: "v0.5.5",
    put: async (recorded) => {
      const { keyPem } = await pairFor("binder", "second");
      secretOf(recorded, "binder").data["tls.key"] = base64(keyPem);
    },
    found: ["warning secret-key-mismatch kai-scheduler/secrets/binder-webhook-tls-secret"],
  },
  {
    name: "another certificate in the Secret, whose key does not match: the pods are not stale, they cannot load it",
    of: "v0.5.5",
    put: async (recorded) => {
      const { pem } = await pairFor("binder", "second");
      secretOf(recorded, "binder").data["tls.crt"] = base64(pem);
    },
    serves: serving("binder", "first"),
    found: ["warning secret-key-mismatch kai-scheduler/secrets/binder-webhook-tls-secret"],
  },
  {
    name: "a Secret without a key",
    of: "v0.5.5",
    put: (recorded) => {
      delete secretOf(recorded, "binder").data["tls.key"];
    },
    found: ["warning secret-key-missing kai-scheduler/secrets/binder-webhook-tls-secret"],
  },
  {
    name: "an empty certificate in the Secret of an operator: bundles emptied too",
    of: "v0.17.0",
    put: (recorded) => {
      secretOf(recorded, "queue-controller").data["tls.crt"] = "";
      setBundles(recorded, "queue-controller", "");
    },
    serves: serving("queue-controller", "first"),
    found: [
      `broken bundle-empty ${validating}/kai-queue-validation-v2`,
      "warning secret-unusable kai-scheduler/secrets/queue-webhook-tls-secret",
    ],
  },
  {
    name: "a Secret that is gone, while pods serve from memory",
    of: "v0.5.5",
    put: (recorded) => {
      recorded.secrets = [];
    },
    serves: serving("binder", "first"),
    found: ["warning secret-absent kai-scheduler/secrets/binder-webhook-tls-secret"],
  },
  {
    name: "a restored Secret for another name, not loaded yet",
    of: "v0.5.5",
    put: async (recorded) => {
      const { pem, keyPem } = await pairFor("binder", "second", { serverName: "binder.elsewhere.svc" });
      secretOf(recorded, "binder").data = { "tls.crt": base64(pem), "tls.key": base64(keyPem) };
    },
    serves: serving("binder", "first"),
    found: [
      ...ofBinders("warning next-certificate-refused"),
      "warning secret-bad-certificate kai-scheduler/secrets/binder-webhook-tls-secret",
      `warning pod-serves-older kai-scheduler/pods/${binderPod}`,
    ],
  },
  {
    name: "a stale pod under a bundle that is right for the Secret",
    of: "v0.5.5",
    put: async (recorded) => {
      await setSecret(recorded, "binder", "second");
      await setBundlesTo(recorded, "binder", "second");
    },
    serves: serving("binder", "first"),
    found: [...ofBinders("broken bundle-stale"), `warning pod-serves-older kai-scheduler/pods/${binderPod}`],
  },
  {
    name: "replicas that differ: one of two pods is refused",
    of: "v0.5.5",
    put: (recorded) => {
      addReplica(recorded, "binder", "binder-two");
    },
    serves: async () => ({ "binder-two": success({ chain: [(await pairFor("binder", "second")).der] }) }),
    found: [
      ...ofBinders("broken bundle-stale"),
      `warning replicas-differ kai-scheduler/services/binder`,
      "warning pod-serves-older kai-scheduler/pods/binder-two",
    ],
  },
  {
    name: "replicas that differ under a bundle that holds both, which works",
    of: "v0.5.5",
    put: async (recorded) => {
      addReplica(recorded, "binder", "binder-two");
      await setSecret(recorded, "binder", "second");
      writeSecretAt(recorded, "binder", "2026-11-30T23:58:30Z");
      const pems = [(await pairFor("binder", "first")).pem, (await pairFor("binder", "second")).pem];
      setBundles(recorded, "binder", pems.join(""));
    },
    serves: async () => ({ [binderPod]: success({ chain: [(await pairFor("binder", "first")).der] }) }),
    found: [
      "info replicas-differ kai-scheduler/services/binder",
      `info pod-serves-older kai-scheduler/pods/${binderPod}`,
    ],
  },
  {
    name: "only one of two holders patched",
    of: "v0.5.5",
    put: async (recorded) => {
      await setSecret(recorded, "binder", "second");
      const { pem } = await pairFor("binder", "second");
      setBundles(recorded, "binder", pem, (_, kind) => kind === "mutating");
    },
    found: [`broken bundle-stale ${validating}/kai-binder`, "warning holders-differ kai-scheduler/services/binder"],
  },
  {
    name: "only the first of two entries patched, which is all that a patch of /webhooks/0 does",
    of: "v0.17.0",
    put: async (recorded) => {
      await setSecret(recorded, "admission", "second");
      const { pem } = await pairFor("admission", "second");
      for (const { metadata, webhooks } of holdersOf(recorded)) {
        const [first] = webhooks;
        if (metadata.name.endsWith("kai-admission") && first) first.clientConfig.caBundle = base64(pem);
      }
    },
    found: [
      `broken bundle-stale ${validating}/validating-kai-admission`,
      "warning holders-differ kai-scheduler/services/admission",
      "warning operator-blind kai-scheduler/deployments/kai-operator",
    ],
  },
  {
    name: "a bundle with one newline more in one holder: no difference for a person, and trusted",
    of: "v0.5.5",
    put: async (recorded) => {
      const { pem } = await pairFor("binder", "first");
      setBundles(recorded, "binder", `${pem}\n`, (_, kind) => kind === "mutating");
    },
    found: [],
  },
  {
    name: "a bundle that holds a certificate that nobody needs any more",
    of: "v0.5.5",
    put: async (recorded) => {
      const pems = [(await pairFor("binder", "first")).pem, (await pairFor("binder", "second")).pem];
      setBundles(recorded, "binder", pems.join(""));
    },
    found: ofBinders("info bundle-wider-than-needed"),
  },
  {
    name: "two blocks in an operator's Secret, copied to the bundle: nothing is wider than the Secret",
    of: "v0.17.0",
    put: async (recorded) => {
      const first = await pairFor("admission", "first");
      const second = await pairFor("admission", "second");
      secretOf(recorded, "admission").data = {
        "tls.crt": base64(second.pem + first.pem),
        "tls.key": base64(second.keyPem),
      };
      setBundles(recorded, "admission", second.pem + first.pem);
    },
    found: [],
  },
  {
    name: "a pod that goes on serving two blocks after the Secret went back to one: the same leaf",
    of: "v0.17.0",
    serves: async () => {
      const first = await pairFor("admission", "first");
      const second = await pairFor("admission", "second");
      return { admission: success({ chain: [first.der, second.der] }) };
    },
    found: [],
  },
];

describe("what a fault gives", () => {
  it.each(faults)("$name", async ({ found, ...fault }) => {
    expect(brief(await findingsOf(fault))).toEqual(found);
  });
});

const reachFaults: readonly (Fault & { readonly name: string; readonly found: readonly string[] })[] = [
  {
    name: "a Service that is gone",
    of: "v0.5.5",
    put: (recorded) => {
      recorded.services = [];
    },
    found: ["broken service-missing kai-scheduler/services/binder"],
  },
  {
    name: "a Service that has not the port that is called, such as the binder of a later release",
    of: "v0.5.5",
    put: (recorded) => {
      for (const { spec } of recorded.services) spec.ports = spec.ports.filter(({ port }) => port !== 443);
    },
    found: ["broken service-port-missing kai-scheduler/services/binder"],
  },
  {
    name: "a Service of type ExternalName",
    of: "v0.5.5",
    put: (recorded) => {
      for (const { spec } of recorded.services) spec.type = "ExternalName";
    },
    found: ["broken service-unroutable kai-scheduler/services/binder"],
  },
  {
    name: "a headless Service, which works by endpoint routing only",
    of: "v0.5.5",
    put: (recorded) => {
      for (const { spec } of recorded.services) spec.clusterIP = "None";
    },
    found: ["undetermined service-unroutable kai-scheduler/services/binder"],
  },
  {
    name: "no ready pod",
    of: "v0.5.5",
    put: (recorded) => {
      for (const { endpoints } of recorded.slices) for (const one of endpoints) one.conditions.ready = false;
    },
    found: ["broken no-ready-endpoints kai-scheduler/services/binder"],
  },
  {
    name: "a ready pod on whose port nothing listens",
    of: "v0.5.5",
    serves: () => ({ binder: failure({ kind: "refused", message: "connection refused" }) }),
    found: [`broken pod-not-serving kai-scheduler/pods/${binderPod}`],
  },
  {
    name: "a ready pod that speaks plain HTTP",
    of: "v0.5.5",
    serves: () => ({ binder: failure({ kind: "not-tls", message: "wrong version number" }) }),
    found: [`broken pod-not-serving kai-scheduler/pods/${binderPod}`],
  },
  {
    name: "a handshake that OpenSSL ends: not known, whatever Go would say",
    of: "v0.5.5",
    serves: () => ({ binder: failure({ kind: "tls", message: "unsupported protocol" }) }),
    found: ofBinders("undetermined trust-undetermined"),
  },
  {
    name: "an endpoint that is no pod",
    of: "v0.5.5",
    put: (recorded) => {
      for (const { metadata, endpoints } of recorded.slices) {
        if (metadata.name.startsWith("binder")) endpoints.push({ addresses: ["10.9.9.9"], conditions: {} });
      }
    },
    found: ofBinders("undetermined trust-undetermined"),
  },
  {
    name: "hooks that are called by URL",
    of: "v0.5.5",
    put: (recorded) => {
      const url = "https://binder.example/mutate--v1-pod";
      for (const { webhooks } of holdersOf(recorded)) {
        for (const webhook of webhooks) webhook.clientConfig = { url, caBundle: webhook.clientConfig.caBundle ?? "" };
      }
    },
    found: ofBinders("undetermined trust-undetermined"),
  },
];

describe("what is wrong on the way to the pods", () => {
  it.each(reachFaults)("is $name", async ({ found, ...fault }) => {
    expect(brief(await findingsOf(fault))).toEqual(found);
  });
});

function operatorOf({ deployments }: Recording) {
  const operator = deployments.find(({ metadata }) => metadata.name === "kai-operator");
  if (operator === undefined) throw new Error("no operator was recorded");
  return operator;
}

const ofQueue = `${validating}/kai-queue-validation-v2`;
const operatorObject = "kai-scheduler/deployments/kai-operator";

const ownerFaults: readonly (Fault & { readonly name: string; readonly found: readonly string[] })[] = [
  {
    name: "an operator that is down",
    of: "v0.20.1",
    put: (recorded) => {
      operatorOf(recorded).status.readyReplicas = 0;
    },
    found: [`warning operator-down ${operatorObject}`],
  },
  {
    name: "an operator that is down, and a drift",
    of: "v0.20.1",
    put: async (recorded) => {
      operatorOf(recorded).status.readyReplicas = 0;
      await setSecret(recorded, "queue-controller", "second");
    },
    found: [`broken bundle-stale ${ofQueue}`, `warning operator-down ${operatorObject}`],
  },
  {
    name: "an operator that is gone",
    of: "v0.17.0",
    put: (recorded) => {
      recorded.deployments = recorded.deployments.filter(({ metadata }) => metadata.name !== "kai-operator");
    },
    found: [`warning operator-absent ${operatorObject}`],
  },
  {
    name: "an operator that is Ready and leaves a drift as it is",
    of: "v0.20.1",
    put: (recorded) => setSecret(recorded, "queue-controller", "second"),
    found: [`broken bundle-stale ${ofQueue}`, `warning operator-blind ${operatorObject}`],
  },
  {
    name: "an operator that has had only seconds",
    of: "v0.20.1",
    put: async (recorded) => {
      await setSecret(recorded, "queue-controller", "second");
      writeSecretAt(recorded, "queue-controller", "2026-11-30T23:59:55Z");
    },
    found: [`broken bundle-stale ${ofQueue}`],
  },
  {
    name: "an operator that has been Ready for only seconds",
    of: "v0.20.1",
    put: async (recorded) => {
      await setSecret(recorded, "queue-controller", "second");
      const status: object = operatorOf(recorded).status;
      const conditions = [{ type: "Available", status: "True", lastTransitionTime: "2026-11-30T23:59:55Z" }];
      Object.assign(status, { conditions });
    },
    found: [`broken bundle-stale ${ofQueue}`],
  },
  {
    name: "a blind operator whose bundle another hand has patched, which holds and works",
    of: "v0.20.1",
    put: async (recorded) => {
      await setSecret(recorded, "queue-controller", "second");
      const pems = [
        (await pairFor("queue-controller", "first")).pem,
        (await pairFor("queue-controller", "second")).pem,
      ];
      setBundles(recorded, "queue-controller", pems.join(""));
      for (const { metadata } of recorded.validating) {
        if (!metadata.name.startsWith("kai-queue")) continue;
        for (const fields of metadata.managedFields ?? []) fields.manager = "kubectl-patch";
      }
    },
    found: [
      `warning operator-blind ${operatorObject}`,
      `info bundle-wider-than-needed ${ofQueue}`,
      `info foreign-last-writer ${ofQueue}`,
    ],
  },
  {
    name: "a bundle that kubectl wrote last",
    of: "v0.5.5",
    put: (recorded) => {
      for (const { metadata } of recorded.mutating) {
        for (const fields of metadata.managedFields ?? []) fields.manager = "kubectl-patch";
      }
    },
    found: [`info foreign-last-writer ${mutating}/kai-binder`],
  },
  {
    name: "hooks that nobody says to own, and that work",
    of: "v0.5.5",
    put: (recorded) => {
      for (const { metadata } of holdersOf(recorded)) delete metadata.annotations;
    },
    found: ofBinders("info owner-unknown"),
  },
  {
    name: "hooks that nobody says to own, and that drift",
    of: "v0.5.5",
    put: async (recorded) => {
      for (const { metadata } of holdersOf(recorded)) delete metadata.annotations;
      await setBundlesTo(recorded, "binder", "second");
    },
    found: [...ofBinders("broken bundle-stale"), ...ofBinders("warning owner-unknown")],
  },
  {
    name: "a hook that fails open",
    of: "v0.5.5",
    put: (recorded) => {
      for (const { webhooks } of recorded.mutating) for (const webhook of webhooks) webhook.failurePolicy = "Ignore";
    },
    found: [`warning fails-open ${mutating}/kai-binder`],
  },
  {
    name: "a failed hook Job and its ServiceAccount",
    of: "v0.5.5",
    put: (recorded) => {
      const metadata = (name: string) => ({ name, namespace: "kai-scheduler", uid: name });
      const status = { conditions: [{ type: "Failed", status: "True" }] };
      recorded.jobs.push({ metadata: metadata("post-install-hook"), status });
      recorded.accounts.push({ metadata: metadata("webhookmanager") });
    },
    found: [
      "warning hook-leftover kai-scheduler/jobs/post-install-hook",
      "info hook-leftover kai-scheduler/serviceaccounts/webhookmanager",
    ],
  },
  {
    name: "no hooks and no operator",
    of: "v0.5.5",
    put: (recorded) => {
      recorded.mutating = [];
      recorded.validating = [];
    },
    found: ["info no-hooks kai-scheduler"],
  },
  {
    name: "an operator that has made no hooks at all",
    of: "v0.20.1",
    put: (recorded) => {
      recorded.mutating = [];
      recorded.validating = [];
    },
    found: [`warning no-hooks ${operatorObject}`],
  },
];

describe("what is wrong with owners and writers", () => {
  it.each(ownerFaults)("is $name", async ({ found, ...fault }) => {
    expect(brief(await findingsOf(fault))).toEqual(found);
  });
});

const unseenByReader = [
  "undetermined not-seen /api/v1/namespaces/kai-scheduler/pods/*/portforward",
  "undetermined not-seen /api/v1/namespaces/kai-scheduler/secrets/binder-webhook-tls-secret",
];
const seesSecrets: User = {
  rules: reader.rules.concat({ verbs: ["get"], apiGroups: [""], resources: ["secrets"] }),
};
const notForwarded = "undetermined not-seen /api/v1/namespaces/kai-scheduler/pods/*/portforward";

const limitedLooks: readonly (Fault & { readonly name: string; readonly found: readonly string[] })[] = [
  {
    name: "leave trust undetermined with neither port-forward nor Secrets, also where the bundle has drifted",
    of: "v0.5.5",
    user: reader,
    put: (recorded) => setBundlesTo(recorded, "binder", "second"),
    found: [...ofBinders("undetermined trust-undetermined"), ...unseenByReader],
  },
  {
    name: "still find a bundle that cannot be read: nothing needs to be served for that",
    of: "v0.5.5",
    user: reader,
    put: (recorded) => {
      setBundles(recorded, "binder", "garbage");
    },
    found: [...ofBinders("broken bundle-unparsable"), ...unseenByReader],
  },
  {
    name: "judge by the Secret where only that may be read",
    of: "v0.5.5",
    user: seesSecrets,
    put: (recorded) => setBundlesTo(recorded, "binder", "second"),
    found: [...ofBinders("broken bundle-stale"), notForwarded],
  },
  {
    name: "find nothing else in a healthy cluster by the Secret",
    of: "v0.5.5",
    user: seesSecrets,
    found: [notForwarded],
  },
  {
    name: "do not call it broken by a Secret that pods may not have loaded yet",
    of: "v0.5.5",
    user: seesSecrets,
    put: async (recorded) => {
      await setSecret(recorded, "binder", "second");
      writeSecretAt(recorded, "binder", "2026-11-30T23:58:30Z");
    },
    found: [...ofBinders("warning next-certificate-refused"), notForwarded],
  },
  {
    name: "do not judge by a Secret whose key does not match: no pod has loaded that pair",
    of: "v0.5.5",
    user: seesSecrets,
    put: async (recorded) => {
      const { pem } = await pairFor("binder", "second");
      secretOf(recorded, "binder").data["tls.crt"] = base64(pem);
    },
    found: [
      "warning secret-key-mismatch kai-scheduler/secrets/binder-webhook-tls-secret",
      ...ofBinders("undetermined trust-undetermined"),
      notForwarded,
    ],
  },
];

describe("looks with fewer rights", () => {
  it.each(limitedLooks)("$name", async ({ found, ...fault }) => {
    expect(brief(await findingsOf(fault))).toEqual(found);
  });
});

describe("the evidence of a drift", () => {
  it("has both sides, Go's exact text, and the pods of how many", async () => {
    const [first] = await findingsOf({
      of: "v0.5.5",
      put: async (recorded) => {
        addReplica(recorded, "binder", "binder-two");
        await setBundlesTo(recorded, "binder", "second");
      },
    });
    expect(first).toMatchObject({
      kind: "bundle-stale",
      severity: "broken",
      fixableBy: "fleetmend",
      object: "mutatingwebhookconfigurations/kai-binder",
      hook: { holderKind: "MutatingWebhookConfiguration", holder: "kai-binder", index: 0, name: "binder.run.ai" },
      serverName: "binder.kai-scheduler.svc",
      bundle: [{ name: "binder.kai-scheduler.svc", notBefore: new Date("2026-06-09T08:30:00Z") }],
      served: {
        pods: [binderPod, "binder-two"],
        servedFrom: "handshake",
        leaf: { name: "binder.kai-scheduler.svc", notBefore: new Date("2026-05-03T12:00:00Z") },
      },
      readyPods: 2,
      cause: { kind: "same-name-other-key" },
      goText:
        'tls: failed to verify certificate: x509: certificate signed by unknown authority (possibly because of "x509: invalid signature: parent certificate cannot sign this kind of certificate" while trying to verify candidate authority certificate "binder.kai-scheduler.svc")',
    });
  });

  it("is the plain text where the bundle holds a CA of another name", async () => {
    const ca = await mintCertificate({
      subject: "binder.kai-scheduler.svc-ca",
      notBefore: new Date("2026-05-01T00:00:00Z"),
      notAfter: new Date("2036-05-01T00:00:00Z"),
      keys: await generateKeys("ec-p256"),
    });
    const [first] = await findingsOf({
      of: "v0.5.5",
      put: (recorded) => {
        setBundles(recorded, "binder", ca.pem);
      },
    });
    expect(first).toMatchObject({
      kind: "bundle-stale",
      cause: { kind: "no-issuer-in-bundle", issuerName: "binder.kai-scheduler.svc" },
      goText: "tls: failed to verify certificate: x509: certificate signed by unknown authority",
    });
  });

  it("names only the pods that are refused where another one is accepted", async () => {
    const findings = await findingsOf({
      of: "v0.5.5",
      put: (recorded) => {
        addReplica(recorded, "binder", "binder-two");
      },
      serves: async () => ({ "binder-two": success({ chain: [(await pairFor("binder", "second")).der] }) }),
    });
    expect(findings[0]).toMatchObject({ kind: "bundle-stale", served: { pods: ["binder-two"] }, readyPods: 2 });
  });
});

describe("who can put it right", () => {
  it.each([
    { name: "fleetmend, where helm hooks write the bundle", fixableBy: "fleetmend", mark: {} },
    {
      name: "a person, where cert-manager does",
      fixableBy: "person",
      mark: { "cert-manager.io/inject-ca-from": "kai-scheduler/binder" },
    },
  ])("is $name", async ({ mark, fixableBy }) => {
    const [first] = await findingsOf({
      of: "v0.5.5",
      put: async (recorded) => {
        await setBundlesTo(recorded, "binder", "second");
        for (const { metadata } of holdersOf(recorded)) Object.assign(metadata.annotations ?? {}, mark);
      },
    });
    expect(first?.fixableBy).toBe(fixableBy);
  });

  it("is time, where pods are about to load a Secret that the bundle accepts", async () => {
    const [first] = await findingsOf({
      of: "v0.5.5",
      put: async (recorded) => {
        await setSecret(recorded, "binder", "second");
        writeSecretAt(recorded, "binder", "2026-11-30T23:58:30Z");
        await setBundlesTo(recorded, "binder", "second");
      },
      serves: serving("binder", "first"),
    });
    expect(first).toMatchObject({ kind: "bundle-stale", fixableBy: "time" });
  });

  it("is fleetmend for a stale pod that is refused, and a person for one that works and would be stopped first", async () => {
    const refused = await findingsOf({
      of: "v0.5.5",
      put: async (recorded) => {
        await setSecret(recorded, "binder", "second");
        await setBundlesTo(recorded, "binder", "second");
      },
      serves: serving("binder", "first"),
    });
    expect(refused.at(-1)).toMatchObject({ kind: "pod-serves-older", state: "stale", fixableBy: "fleetmend" });
    const works = await findingsOf({
      of: "v0.5.5",
      put: (recorded) => setSecret(recorded, "binder", "second"),
      serves: serving("binder", "first"),
    });
    expect(works.at(-1)).toMatchObject({ kind: "pod-serves-older", state: "stale", fixableBy: "person" });
  });
});

describe("an operator that is blind", () => {
  it.each([
    {
      name: "v0.20.1 may miss the GPU operator's CRD",
      of: "v0.20.1",
      rename: {},
      likely: "missing-cluster-policy-crd",
    },
    { name: "v0.17.0 gives no hint", of: "v0.17.0", rename: {}, likely: "unknown" },
    {
      name: "under a custom name lacks the right to update it",
      of: "v0.17.0",
      rename: { "kai-queue-validation-v2": "team-queue-validation-v2" },
      likely: "no-right-to-update",
    },
    { name: "v0.9.14 may update any name", of: "v0.9.14", rename: {}, likely: "missing-cluster-policy-crd" },
  ])("of $name", async ({ of, rename, likely }) => {
    const findings = await findingsOf({
      of,
      put: async (recorded) => {
        await setSecret(recorded, "queue-controller", "second");
        for (const { metadata } of recorded.validating) {
          metadata.name = (rename as Record<string, string>)[metadata.name] ?? metadata.name;
        }
      },
    });
    const blind = findings.find(({ kind }) => kind === "operator-blind");
    expect(blind).toMatchObject({
      likely,
      deployment: "kai-scheduler/kai-operator",
      bundle: [{ notBefore: new Date("2026-05-03T12:00:00Z") }],
      secret: [{ notBefore: new Date("2026-06-09T08:30:00Z") }],
    });
  });
});

describe("an API server whose Go release was not seen", () => {
  it("is judged where all releases agree", async () => {
    const recorded = await healthy("v0.5.5");
    await setBundlesTo(recorded, "binder", "second");
    const answers = { "/version": success({ gitVersion: "v1.37.2", goVersion: "tip" }) };
    const findings = assess(await lookAt(serve(recorded, { user: prover, answers })));
    expect(brief(findings)).toEqual([...ofBinders("broken bundle-stale"), "undetermined not-seen /version"]);
  });
});
