// A repair that is killed after any of its requests, or that has any of its requests fail once, converges all the same,
// and admission is never worse in between. By default each request is killed once, its effect already in the cluster; each
// kind of write fails once in each way, and each kind of read in one way, the ways taking turns. FLEETMEND_FULL_MATRIX=1
// makes each read fail in each way, and adds the kills before the effect and the faults that happen although the API server
// has done what was asked.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { addedCertificatesAnnotation, reconcileRequestAnnotation } from "../../src/admission/mend-patch.ts";
import { AdmissionWatch } from "./admission-watch.ts";
import { removeIfThere } from "./api.ts";
import { openClusterUnderTest } from "./cluster-under-test.ts";
import { startFaultProxy, type FaultProxy, type ProxyAction } from "./fault-proxy.ts";
import type { ProxiedRequest } from "./proxied-request.ts";
import { inject } from "./faults.ts";
import { readBundles, writeBundle } from "./holder.ts";
import type { FamilyName } from "../../src/lab/kai/families.ts";
import { installFamily, uninstall, type Installed } from "./kai/install.ts";
import { secretsPath } from "./kai/pair.ts";
import { kaiNamespace } from "../../src/lab/kai/recorded.ts";
import { runRepair, startClock, type RepairRun, type RepairSetting } from "./repair-under-test.ts";
import type { Secret } from "../../src/lab/kai/kube-object.ts";
import type { World } from "./world.ts";

const isFull = process.env.FLEETMEND_FULL_MATRIX === "1";
const leasePath = `/apis/coordination.k8s.io/v1/namespaces/${kaiNamespace}/leases/fleetmend`;

let world: World;
let proxy: FaultProxy;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "fleetmend-crash-"));
  world = await openClusterUnderTest({ mountRefreshMs: 100 });
  proxy = await startFaultProxy(world.plane);
});

afterAll(async () => {
  await proxy.stop();
  await uninstall(world);
  await world.stop();
  rmSync(folder, { recursive: true });
});

interface Scenario extends RepairSetting {
  /** Puts the fault back, as it was when it was first injected. */
  breakAgain(): Promise<void>;
}

/** The drift is injected once, by KAI's own writers; between runs what the repair changed is written back. */
async function openScenario(name: FamilyName): Promise<Scenario> {
  await uninstall(world);
  const installed = await installFamily(world, name);
  await inject(installed, "drift");
  const { holders, secret } = installed.admission;
  const stale = await Promise.all(holders.map((holder) => readBundles(world.admin, holder)));
  const before = await world.admin.get<Secret>(`${secretsPath}/${secret}`);
  const watch = new AdmissionWatch(installed);
  const clock = startClock();
  const writer = world.as("admin", installed.family.writer === "operator" ? "operator" : "webhookmanager");
  return {
    installed,
    proxy,
    kubeconfig: proxy.kubeconfig(path.join(folder, name), "repair"),
    clock,
    watch,
    breakAgain: async () => {
      proxy.restart();
      clock.reset();
      await removeIfThere(world.admin, leasePath);
      for (const [index, holder] of holders.entries()) await writeBundle(writer, holder, stale[index]?.[0] ?? "");
      await writer.merge(`${secretsPath}/${secret}`, {
        metadata: { annotations: { [reconcileRequestAnnotation]: null, [addedCertificatesAnnotation]: null } },
        data: before.data,
      });
      await watch.restart();
    },
  };
}

/** What a request is, whichever pod or page it is about: each kind fails once in each way. */
function kindOf({ method, path: url }: ProxiedRequest, installed: Installed): string {
  const { pathname } = new URL(url, "https://api");
  const podName = new RegExp(
    `/pods/(${installed.family.components.map(({ deployment }) => deployment).join("|")})-[^/]+/`,
  );
  return `${method} ${pathname.replace(podName, "/pods/$1/")}`;
}

async function repairUndisturbed(scenario: Scenario): Promise<RepairRun> {
  proxy.restart();
  const run = await runRepair(scenario, "the-next-process");
  proxy.assertNothingForbidden();
  return run;
}

/** What must hold however the run before it ended. */
async function expectRepaired(scenario: Scenario, run: RepairRun): Promise<void> {
  expect(run).toMatchObject({ ended: "done", last: { because: { kind: "nothing-left" } } });
  expect(await scenario.watch.admits()).toBe(true);
  const broken = run.last.outcome === "blind" ? [] : run.last.findings.filter(({ severity }) => severity === "broken");
  expect(broken).toEqual([]);
}

/** All that a repair may ever write, whatever happened to it. */
function expectOnlyAllowedWrites(requests: readonly ProxiedRequest[]): void {
  const allowed = [
    /^POST \/apis\/authorization\.k8s\.io\/v1\/selfsubject(access|rules)reviews$/,
    /^(POST|PUT) \/apis\/coordination\.k8s\.io\/v1\/namespaces\/kai-scheduler\/leases(\/fleetmend)?$/,
    /^PATCH \/apis\/admissionregistration\.k8s\.io\/v1\/(mutating|validating)webhookconfigurations\/[^/]+$/,
    /^PATCH \/api\/v1\/namespaces\/kai-scheduler\/secrets\/[^/]+$/,
  ];
  const patched =
    /^\/(webhooks\/\d+\/(name|clientConfig|clientConfig\/caBundle)|data\/tls\.crt|metadata\/(uid|resourceVersion|annotations.*))$/;
  for (const { kind, method, path: url, body } of requests) {
    if (kind !== "write") continue;
    const line = `${method} ${new URL(url, "https://api").pathname}`;
    expect(
      allowed.some((pattern) => pattern.test(line)),
      line,
    ).toBe(true);
    if (method !== "PATCH") continue;
    for (const { path: pointer } of body as { path: string }[]) expect(pointer).toMatch(patched);
  }
}

const matrix: readonly { readonly name: FamilyName; readonly what: string }[] = [
  { name: "A", what: "a drift of family A (v0.5.5)" },
  { name: "D1", what: "a drift of family D that sticks (v0.20.1, blind operator)" },
];

describe.each(matrix)("the repair of $what", ({ name, what }) => {
  let scenario: Scenario;
  let kinds: readonly string[];
  let length: number;

  beforeAll(async () => {
    scenario = await openScenario(name);
    await scenario.breakAgain();
    const run = await repairUndisturbed(scenario);
    await expectRepaired(scenario, run);
    expectOnlyAllowedWrites(proxy.requests);
    length = proxy.requests.length;
    kinds = [...new Set(proxy.requests.map((request) => kindOf(request, scenario.installed)))];
    console.log(`${what}: ${length} requests, ${kinds.length} kinds\n  ${run.steps.join("\n  ")}`);
  });

  it("converges when the process is killed after any single request", { timeout: 900_000 }, async () => {
    const variants = isFull ? [true, false] : [true];
    let killed = 0;
    for (const delivered of variants) {
      for (let number = 1; number <= length; number += 1) {
        await scenario.breakAgain();
        proxy.onRequest = (request) => (request.number === number ? { do: "cut", delivered } : { do: "pass" });
        const first = await runRepair(scenario, `killed-after-${number}`);
        if (first.ended === "cut") killed += 1;
        expectOnlyAllowedWrites(proxy.requests);
        await expectRepaired(scenario, await repairUndisturbed(scenario));
        expectOnlyAllowedWrites(proxy.requests);
      }
    }
    console.log(`${what}: killed after each of ${length} requests (${killed} kills), converged each time, never worse`);
    // Requests run side by side, so that a run may need one fewer or more; nearly all must really have been killed.
    expect(killed).toBeGreaterThanOrEqual(variants.length * (length - 3));
  });

  it("converges when each kind of request fails once in each way", { timeout: 900_000 }, async () => {
    const faults: readonly ProxyAction[] = [
      { do: "answer", status: 409 },
      { do: "answer", status: 429 },
      { do: "answer", status: 500 },
      { do: "swallow", delivered: false },
      { do: "reset", delivered: false },
      ...(isFull
        ? ([
            { do: "swallow", delivered: true },
            { do: "reset", delivered: true },
          ] as const)
        : []),
    ];
    let failed = 0;
    let expected = 0;
    for (const [index, kind] of kinds.entries()) {
      const isWrite = !kind.startsWith("GET ");
      const turns = isFull || isWrite ? faults : faults.slice(index % faults.length, (index % faults.length) + 1);
      expected += turns.length;
      for (const fault of turns) {
        await scenario.breakAgain();
        let isOver = false;
        proxy.onRequest = (request) => {
          if (isOver || kindOf(request, scenario.installed) !== kind) return { do: "pass" };
          isOver = true;
          failed += 1;
          return fault;
        };
        const run = await runRepair(scenario, "unlucky");
        expect(isOver, `${kind} was sent`).toBe(true);
        await expectRepaired(scenario, run.ended === "done" ? run : await repairUndisturbed(scenario));
        expectOnlyAllowedWrites(proxy.requests);
      }
    }
    console.log(`${what}: ${kinds.length} kinds of request, ${failed} failures, converged each time`);
    expect(failed).toBe(expected);
  });
});
