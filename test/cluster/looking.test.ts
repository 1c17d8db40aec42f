// Looking at real clusters, as the users that the manifests make: which fault gives which findings, with both sides, in
// families A, C, D1 and D4; that nothing is tried that is not allowed; and that what stays unseen is said.
import path from "node:path";
import { X509Certificate } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { assess } from "../../src/admission/assess.ts";
import type { ClusterApi } from "../../src/admission/cluster-api.ts";
import { collect } from "../../src/admission/collect.ts";
import type { Finding, FindingKind } from "../../src/admission/finding.ts";
import { identifyInstallations } from "../../src/admission/owner.ts";
import type { ClusterSnapshot } from "../../src/admission/snapshot.ts";
import { connect, type Connection } from "../../src/kubernetes/connect.ts";
import type { Result } from "../../src/result.ts";
import { openClusterUnderTest } from "./cluster-under-test.ts";
import { accessOf } from "./control-plane.ts";
import { hasFault, inject, type FaultName } from "./faults.ts";
import { readBundles, writeBundle } from "./holder.ts";
import { families } from "../../src/lab/kai/families.ts";
import { installFamily, probeNamespace, uninstall, type Installed } from "./kai/install.ts";
import { podsOf } from "./kai/installed-pods.ts";
import { mintPair, pairData, writePair } from "./kai/pair.ts";
import { writeKubeconfig } from "./kubeconfig.ts";
import { servedLeaf } from "./served-leaf.ts";
import type { World } from "./world.ts";

let world: World;
let prover: Watched;
let reader: Watched;

beforeAll(async () => {
  world = await openClusterUnderTest({ mountRefreshMs: 200 });
  prover = await connectAs("prove");
  reader = await connectAs("read");
});

afterEach(() => uninstall(world));

afterAll(async () => {
  prover.connection.close();
  reader.connection.close();
  await world.stop();
});

interface Watched {
  readonly connection: Connection;
  readonly cluster: ClusterApi;
  /** What the API server answered with 403. */
  readonly refused: string[];
}

async function connectAs(user: "prove" | "read"): Promise<Watched> {
  const file = path.join(world.plane.folder, `looking-${user}.kubeconfig`);
  const connected = await connect({ kubeconfig: writeKubeconfig(file, { [user]: accessOf(world.plane, user) }) });
  if (!connected.ok) throw new Error(connected.error.message);
  const refused: string[] = [];
  return { connection: connected.value, cluster: watching(connected.value.cluster, refused), refused };
}

/** The same cluster; every refusal for want of a right is written down. */
function watching(cluster: ClusterApi, refused: string[]): ClusterApi {
  const noting = async <T, E extends { readonly kind: string }>(what: string, answer: Promise<Result<T, E>>) => {
    const result = await answer;
    if (!result.ok && result.error.kind === "forbidden") refused.push(what);
    return result;
  };
  return {
    ...cluster,
    get: (url) => noting(url, cluster.get(url)),
    list: (url, options) => noting(url, cluster.list(url, options)),
    create: (url, body, options) => noting(url, cluster.create(url, body, options)),
    handshake: (target) => noting(`port-forward ${target.pod}`, cluster.handshake(target)),
  };
}

interface Look {
  readonly snapshot: ClusterSnapshot;
  readonly findings: readonly Finding[];
}

/**
 * A look with a clock that is ahead: managedFields and conditions tell the times of the faults, and an operator is called
 * blind only after ten seconds, a pod stale only after two minutes.
 */
async function lookAs({ cluster }: Watched, aheadMs: number): Promise<Look> {
  const result = await collect(cluster, { now: () => new Date(Date.now() + aheadMs), probeNamespace });
  if (!result.ok) throw new Error(result.error.message);
  return { snapshot: result.value, findings: assess(result.value) };
}

/** `severity kind object`; the names of pods are not known beforehand. */
const brief = (findings: readonly Finding[]): readonly string[] =>
  findings.map(({ severity, kind, object }) => `${severity} ${kind} ${object.replace(/\/pods\/[^*].*$/, "/pods/…")}`);

/** What a look gives once what controllers and kubelet still do has come to rest. */
async function settles(user: Watched, aheadMs: number, expected: readonly string[]): Promise<Look> {
  const deadline = Date.now() + 10_000;
  for (;;) {
    const seen = await lookAs(user, aheadMs);
    const isExpected = JSON.stringify(brief(seen.findings)) === JSON.stringify(expected);
    if (isExpected || Date.now() > deadline) {
      expect(brief(seen.findings)).toEqual(expected);
      return seen;
    }
  }
}

type Tested = "A" | "C" | "D1" | "D4";
const tested: readonly Tested[] = ["A", "C", "D1", "D4"];

const podHolders: Readonly<Record<Tested, readonly string[]>> = {
  A: ["mutatingwebhookconfigurations/kai-binder", "validatingwebhookconfigurations/kai-binder"],
  C: ["mutatingwebhookconfigurations/kai-admission", "validatingwebhookconfigurations/kai-admission"],
  D1: [
    "mutatingwebhookconfigurations/mutating-kai-admission",
    "validatingwebhookconfigurations/validating-kai-admission",
  ],
  // The second entry of the validating one is asked for topologies.
  D4: [
    "mutatingwebhookconfigurations/mutating-kai-admission",
    "validatingwebhookconfigurations/validating-kai-admission",
    "validatingwebhookconfigurations/validating-kai-admission",
  ],
};

const otherHolders: Readonly<Record<Tested, readonly string[]>> = {
  A: [],
  C: ["validatingwebhookconfigurations/kai-queuecontroller"],
  D1: [
    "validatingwebhookconfigurations/kai-podgroup-validation-v2alpha2",
    "validatingwebhookconfigurations/kai-queue-validation-v2",
  ],
  D4: [
    "validatingwebhookconfigurations/kai-podgroup-validation-v2alpha2",
    "validatingwebhookconfigurations/kai-queue-validation-v2",
  ],
};

const onPodHooks = (family: Tested, severityAndKind: string): readonly string[] =>
  podHolders[family].map((holder) => `${severityAndKind} ${holder}`);

const isOperated = (family: Tested): boolean => families[family].writer === "operator";
const admissionOf = (family: Tested) => families[family].components[0];
const secretOf = (family: Tested): string => `kai-scheduler/secrets/${admissionOf(family).secret}`;
const serviceOf = (family: Tested): string => `kai-scheduler/services/${admissionOf(family).service}`;
const operator = "kai-scheduler/deployments/kai-operator";

/** What a helm upgrade leaves that was killed between its hooks. */
const leftovers = [
  "info hook-leftover kai-scheduler/jobs/pre-install-hook",
  "info hook-leftover kai-scheduler/serviceaccounts/webhookmanager",
];

/** The drift of each family: in C an upgrade changes every pair, in D1 the operator is blind, in D4 it is down. */
const drift: Readonly<Record<Tested, readonly string[]>> = {
  A: [...onPodHooks("A", "broken bundle-stale"), ...leftovers],
  C: [
    ...onPodHooks("C", "broken bundle-stale"),
    "broken bundle-stale validatingwebhookconfigurations/kai-queuecontroller",
    ...leftovers,
  ],
  D1: [...onPodHooks("D1", "broken bundle-stale"), `warning operator-blind ${operator}`],
  D4: [...onPodHooks("D4", "broken bundle-stale"), `warning operator-down ${operator}`],
};

interface Scenario {
  readonly fault: FaultName;
  readonly found: (family: Tested) => readonly string[];
  readonly aheadMs?: number;
}

const byHand = (family: Tested): readonly string[] =>
  isOperated(family) ? [] : onPodHooks(family, "info foreign-last-writer");

const scenarios: readonly Scenario[] = [
  { fault: "healthy", found: () => [] },
  { fault: "drift", found: (family) => drift[family] },
  { fault: "latent-drift", found: (family) => drift[family] },
  {
    fault: "empty-bundle",
    found: (family) => [
      ...onPodHooks(family, "broken bundle-empty"),
      ...(isOperated(family) ? [`warning secret-unusable ${secretOf(family)}`] : []),
    ],
  },
  {
    fault: "garbage-bundle",
    found: (family) => [
      ...onPodHooks(family, "broken bundle-unparsable"),
      ...(isOperated(family) ? [`warning secret-unusable ${secretOf(family)}`] : byHand(family)),
    ],
  },
  { fault: "expired", found: (family) => onPodHooks(family, "broken certificate-expired") },
  { fault: "wrong-name", found: (family) => onPodHooks(family, "broken certificate-wrong-name") },
  {
    fault: "key-mismatch",
    // The operator copies what no pod can load into the bundles: an outage. Without one the pods' old pair goes on working.
    found: (family) => [
      ...(isOperated(family) ? onPodHooks(family, "broken bundle-stale") : []),
      `warning secret-key-mismatch ${secretOf(family)}`,
    ],
  },
  {
    fault: "stale-pod",
    aheadMs: 180_000,
    found: (family) => [...onPodHooks(family, "broken bundle-stale"), "warning pod-serves-older kai-scheduler/pods/…"],
  },
  {
    fault: "replicas-differ",
    found: (family) => [
      ...onPodHooks(family, "broken bundle-stale"),
      `warning replicas-differ ${serviceOf(family)}`,
      "info pod-serves-older kai-scheduler/pods/…",
    ],
  },
  {
    fault: "one-holder",
    found: (family) => {
      const [first, ...rest] = drift[family];
      const [warnings, others] = [
        rest.filter((one) => !one.startsWith("info")),
        rest.filter((one) => one.startsWith("info")),
      ];
      const stale = warnings.filter((one) => one.startsWith("broken"));
      const operators = warnings.filter((one) => one.startsWith("warning"));
      const patched = isOperated(family) ? [`info foreign-last-writer ${podHolders[family][0] ?? ""}`] : [];
      expect(first).toContain("mutating");
      return [...stale, `warning holders-differ ${serviceOf(family)}`, ...operators, ...patched, ...others];
    },
  },
  { fault: "operator-down", found: () => [`warning operator-down ${operator}`] },
  { fault: "operator-blind", found: () => [] },
  {
    fault: "rbac-trap",
    found: (family) => [
      ...onPodHooks(family, "broken bundle-stale").map((one) =>
        one
          .replace("mutating-kai-admission", "robotics-mutating")
          .replace("validating-kai-admission", "robotics-validating"),
      ),
      `warning operator-blind ${operator}`,
    ],
  },
  {
    fault: "unknown-owner",
    found: (family) => [
      "broken bundle-stale mutatingwebhookconfigurations/robotics-pod-defaults",
      `warning holders-differ ${serviceOf(family)}`,
      "warning owner-unknown mutatingwebhookconfigurations/robotics-pod-defaults",
    ],
  },
  { fault: "no-endpoints", found: (family) => [`broken no-ready-endpoints ${serviceOf(family)}`] },
];

/** A working operator scales its Deployment up again at once. */
const isPossible = (family: Tested, fault: FaultName): boolean =>
  hasFault({ family: families[family] }, fault) && !(fault === "no-endpoints" && isOperated(family));

const cases = tested.flatMap((family) =>
  scenarios.filter(({ fault }) => isPossible(family, fault)).map((scenario) => ({ family, ...scenario })),
);

const ofKind = <K extends FindingKind>(findings: readonly Finding[], kind: K) =>
  findings.filter((finding): finding is Extract<Finding, { kind: K }> => finding.kind === kind);

/** What a reader cannot see of a family: what the pods serve, and what their Secrets hold. */
function unseenByReader(family: Tested): readonly string[] {
  const core = "/api/v1/namespaces/kai-scheduler";
  const secrets = families[family].components.map(({ secret }) => `${core}/secrets/${secret}`).toSorted();
  return [`${core}/pods/*/portforward`, ...secrets];
}

const readableFaults: Partial<Record<FaultName, FindingKind>> = {
  "garbage-bundle": "bundle-unparsable",
  "no-endpoints": "no-ready-endpoints",
};

describe("as fleetmend-prove", () => {
  it.each(cases)("$family $fault is found", async ({ family, fault, found, aheadMs = 15_000 }) => {
    const installed = await installFamily(world, family);
    await inject(installed, fault);
    await settles(prover, aheadMs, found(family));
    expect(prover.refused).toEqual([]);

    const { snapshot, findings } = await lookAs(reader, aheadMs);
    expect(reader.refused).toEqual([]);
    expect(snapshot.unseen.map(({ what }) => what)).toEqual(unseenByReader(family));
    const broken = findings.filter(({ severity }) => severity === "broken").map(({ kind }) => kind);
    const readable = readableFaults[fault];
    expect(broken.filter((kind) => kind !== readable)).toEqual([]);
    // Every hook is either known to be broken, whatever pods serve, or said to be undetermined.
    const undetermined = ofKind(findings, "trust-undetermined").length;
    const decided = readable === undefined ? 0 : podHolders[family].length;
    expect(undetermined).toBe(snapshot.hooks.length - decided);
    if (readable !== undefined) expect(broken.length).toBeGreaterThan(0);
  });
});

describe("a healthy cluster", () => {
  it.each([
    { family: "A", requests: 13, owner: "kai-helm-hooks" },
    { family: "C", requests: 15, owner: "kai-helm-hooks" },
    { family: "D1", requests: 16, owner: "kai-operator" },
    { family: "D4", requests: 16, owner: "kai-operator" },
  ] as const)(
    "of family $family takes $requests requests and is known as such",
    async ({ family, requests, owner }) => {
      await installFamily(world, family);
      const { snapshot } = await lookAs(prover, 0);
      expect(snapshot.requests).toBe(requests);
      const { portForward, secrets, dryRunPods } = snapshot.capability;
      expect({ portForward, dryRunPods }).toEqual({ portForward: true, dryRunPods: true });
      expect(secrets.toSorted()).toEqual(families[family].components.map(({ secret }) => secret).toSorted());
      expect(identifyInstallations(snapshot).map((one) => [one.family, one.owner])).toEqual([[family, owner]]);
      expect(snapshot.hooks.map(({ holder }) => `${holder.kind.toLowerCase()}s/${holder.name}`).toSorted()).toEqual(
        [...podHolders[family], ...otherHolders[family]].toSorted(),
      );
    },
  );
});

const fingerprintOf = (pem: string): string =>
  new X509Certificate(pem).fingerprint256.replaceAll(":", "").toLowerCase();

async function servedFingerprint(installed: Installed): Promise<string> {
  const [pod = ""] = podsOf(installed);
  const leaf = await servedLeaf(world, pod);
  if (leaf === undefined) throw new Error(`${pod} serves nothing`);
  return fingerprintOf(leaf.toString());
}

describe("a drift", () => {
  it.each(["A", "D4"] as const)(
    "of family %s is shown with both sides and what the API server says",
    async (family) => {
      const installed = await installFamily(world, family);
      await inject(installed, "drift");
      const { findings } = await settles(prover, 15_000, drift[family]);
      const [first] = ofKind(findings, "bundle-stale");
      const [held = ""] = await readBundles(
        world.admin,
        admissionOf(family).holders[0] ?? { kind: "mutating", name: "" },
      );
      expect(first?.bundle.map(({ fingerprint }) => fingerprint)).toEqual([fingerprintOf(held)]);
      expect(first?.served).toMatchObject({
        servedFrom: "handshake",
        leaf: { fingerprint: await servedFingerprint(installed) },
      });
      const pod = {
        metadata: { name: "probe" },
        spec: { schedulerName: "kai-scheduler", containers: [{ name: "main", image: "REGISTRY/pause" }] },
      };
      const call = { body: pod, query: { dryRun: "All" } };
      const answer = await world.admin.request("POST", `/api/v1/namespaces/${probeNamespace}/pods`, call);
      expect((answer.body as { message: string }).message.endsWith(first?.goText ?? "no finding")).toBe(true);
    },
  );

  it("by hand, put right, and again by hand changes the last writer, and neither family nor owner", async () => {
    await installFamily(world, "A");
    const [holder] = admissionOf("A").holders;
    if (holder === undefined) throw new Error("family A has no configuration");
    const [good = ""] = await readBundles(world.admin, holder);
    const seen: string[] = [];
    for (const [manager, bundle] of [
      ["kubectl-patch", (await mintPair("binder")).pem],
      ["fleetmend", good],
      ["kubectl-edit", (await mintPair("binder")).pem],
      ["fleetmend", good],
    ] as const) {
      await writeBundle(world.as(manager === "fleetmend" ? "repair" : "admin", manager), holder, bundle);
      const { snapshot, findings } = await lookAs(prover, 0);
      const writers = ofKind(findings, "foreign-last-writer").map(({ writer }) => writer.manager);
      const installations = identifyInstallations(snapshot).map(({ family, owner }) => `${family} ${owner}`);
      seen.push(
        [...installations, ...writers, ofKind(findings, "bundle-stale").length > 0 ? "broken" : "works"].join(", "),
      );
    }
    expect(seen).toEqual([
      "A kai-helm-hooks, kubectl-patch, broken",
      "A kai-helm-hooks, fleetmend, works",
      "A kai-helm-hooks, kubectl-edit, broken",
      "A kai-helm-hooks, fleetmend, works",
    ]);
  });

  it("behind a Ready operator that is blind is its own finding, also in D4", async () => {
    const installed = await installFamily(world, "D4");
    await inject(installed, "operator-blind");
    await writePair(
      world.as("admin", "kubectl-patch"),
      installed.admission.secret,
      pairData(await mintPair("admission")),
    );
    const expected = [...onPodHooks("D4", "broken bundle-stale"), `warning operator-blind ${operator}`];
    await settles(prover, 15_000, expected);
  });

  it("that an operator has had only seconds for is not called blindness", async () => {
    const installed = await installFamily(world, "D1");
    await inject(installed, "drift");
    await settles(prover, 0, onPodHooks("D1", "broken bundle-stale"));
  });
});

describe("the family", () => {
  it("B, of which no fault is tried here, is recognised on a live cluster", async () => {
    await installFamily(world, "B");
    const { snapshot } = await lookAs(prover, 0);
    expect(identifyInstallations(snapshot).map(({ family }) => family)).toEqual(["B"]);
  });
});
