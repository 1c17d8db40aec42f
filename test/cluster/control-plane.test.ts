// The test cluster itself against what was seen on real clusters: the API server's texts, which certificates it accepts,
// and what a pod serves through port-forward. The installed objects and the faults are in kai.test.ts.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { connect } from "../../src/kubernetes/connect.ts";
import { openApi, removeIfThere } from "./api.ts";
import { openClusterUnderTest } from "./cluster-under-test.ts";
import { accessOf } from "./control-plane.ts";
import { startFaultProxy, type FaultProxy, type ProxyAction } from "./fault-proxy.ts";
import { inject } from "./faults.ts";
import { readBundles, writeBundle } from "./holder.ts";
import { families, type FamilyName } from "../../src/lab/kai/families.ts";
import { installFamily, probeNamespace, uninstall } from "./kai/install.ts";
import { podsOf } from "./kai/installed-pods.ts";
import { servedLeaf } from "./served-leaf.ts";
import type { KubeObject } from "../../src/lab/kai/kube-object.ts";
import { until } from "./until.ts";
import type { World } from "./world.ts";

let world: World;
let proxy: FaultProxy;
const folder = mkdtempSync(path.join(tmpdir(), "fleetmend-test-"));

beforeAll(async () => {
  world = await openClusterUnderTest({ mountRefreshMs: 200 });
  proxy = await startFaultProxy(world.plane);
});

afterEach(async () => {
  proxy.restart();
  await uninstall(world);
});

afterAll(async () => {
  await proxy.stop();
  await world.stop();
  rmSync(folder, { recursive: true });
});

const pod = {
  metadata: { name: "probe" },
  spec: { schedulerName: "kai-scheduler", containers: [{ name: "main", image: "REGISTRY/pause" }] },
};

/** A dry-run create as `fleetmend-prove`, which may create pods there and nothing more. */
async function dryRun(): Promise<{ status: number; message: string }> {
  const call = { body: pod, query: { dryRun: "All" } };
  const answer = await world
    .as("prove", "fleetmend")
    .request("POST", `/api/v1/namespaces/${probeNamespace}/pods`, call);
  return { status: answer.status, message: (answer.body as { message?: string }).message ?? "" };
}

const familyNames = Object.keys(families) as FamilyName[];

describe("the API server", () => {
  it("is a released kube-apiserver 1.37", async () => {
    const { body } = await world.as("read", "fleetmend").request("GET", "/version");
    const { gitVersion, goVersion } = body as Record<string, string>;
    console.log(`kube-apiserver ${gitVersion ?? ""}, ${goVersion ?? ""}`);
    expect(gitVersion).toBe("v1.37.2");
  });

  it.each(familyNames)("admits a pod through the hooks of a healthy family %s", async (name) => {
    await installFamily(world, name);
    expect(await dryRun()).toEqual({ status: 201, message: "" });
    expect(world.admission.calls.map(({ path: asked }) => asked)).toEqual(["/mutate--v1-pod", "/validate--v1-pod"]);
  });

  it("refuses a pod in Go's words when the bundle holds another generation of the same subject", async () => {
    await inject(await installFamily(world, "A"), "drift");
    expect(await dryRun()).toEqual({
      status: 500,
      message:
        'Internal error occurred: failed calling webhook "binder.run.ai": failed to call webhook: Post ' +
        '"https://binder.kai-scheduler.svc:443/mutate--v1-pod?timeout=10s": tls: failed to verify certificate: x509: ' +
        'certificate signed by unknown authority (possibly because of "x509: invalid signature: parent certificate ' +
        'cannot sign this kind of certificate" while trying to verify candidate authority certificate ' +
        '"binder.kai-scheduler.svc")',
    });
  });

  it("accepts old and new leaf in one bundle, whichever is served", async () => {
    const installed = await installFamily(world, "A");
    const [before = ""] = await readBundles(world.admin, { kind: "mutating", name: "kai-binder" });
    await inject(installed, "drift");
    const served = (await servedLeaf(world, podsOf(installed)[0] ?? ""))?.toString() ?? "";
    expect(served).not.toBe(before);
    for (const union of [before + served, served + before]) {
      for (const holder of installed.admission.holders) await writeBundle(world.admin, holder, union);
      expect((await dryRun()).status).toBe(201);
    }
  });

  it("goes on accepting over a kept-alive connection what it would refuse in a handshake", async () => {
    const installed = await installFamily(world, "A");
    await inject(installed, "latent-drift");
    expect((await dryRun()).status).toBe(201);
    const served = await servedLeaf(world, podsOf(installed)[0] ?? "");
    expect(world.admission.calls.at(-1)?.presentedLeaf).not.toBe(served?.fingerprint256);
    world.egress.closeConnections();
    expect((await dryRun()).status).toBe(500);
  });

  it("makes a handshake for each request when the backend closes after one", async () => {
    await installFamily(world, "A");
    world.admission.requestsPerConnection = 1;
    for (let count = 0; count < 3; count += 1) expect((await dryRun()).status).toBe(201);
    expect(world.admission.calls.map(({ reusedConnection }) => reusedConnection)).toEqual(Array(6).fill(false));
  });
});

describe("the keeper of the processes", () => {
  it("kills them and removes the folder when its parent is gone, however it went", async () => {
    const kept = mkdtempSync(path.join(tmpdir(), "fleetmend-test-keeper-"));
    const log = path.join(folder, "keeper.log");
    const keeper = spawn(process.execPath, [path.join(import.meta.dirname, "keeper.ts"), kept]);
    const child = { name: "shell", command: "sh", arguments: ["-c", "echo $$; exec sleep 600"], log };
    keeper.stdin.write(`${JSON.stringify(child)}\n`);
    const pid = (): number => (existsSync(log) ? Number(readFileSync(log, "utf8")) : 0);
    await until("the process runs", () => pid() > 0 && isAlive(pid()));
    // What the kernel does to the pipe when the parent dies.
    keeper.stdin.end();
    await until("the process is gone", () => !isAlive(pid()));
    await until("the folder is gone", () => !existsSync(kept));
  });
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe("port-forward", () => {
  it("reaches each of two pods that serve different leaves", async () => {
    const installed = await installFamily(world, "A");
    await inject(installed, "replicas-differ");
    const connection = await connect({ kubeconfig: proxy.kubeconfig(path.join(folder, "prove"), "prove") });
    if (!connection.ok) throw new Error(JSON.stringify(connection.error));
    const served = await Promise.all(
      podsOf(installed).map(async (key) => {
        const [namespace = "", name = ""] = key.split("/");
        const target = { namespace, pod: name, port: 9443, serverName: "binder.kai-scheduler.svc" };
        const shaken = await connection.value.cluster.handshake(target);
        if (!shaken.ok) throw new Error(JSON.stringify(shaken.error));
        return Buffer.from(shaken.value.chain[0] ?? []);
      }),
    );
    const expected = await Promise.all(podsOf(installed).map((key) => servedLeaf(world, key)));
    expect(served).toEqual(expected.map((leaf) => leaf?.raw));
    expect(new Set(served.map((leaf) => leaf.toString("base64"))).size).toBe(2);
    proxy.assertNothingForbidden();
  });
});

describe("the fault proxy", () => {
  it("reports what the authorizer refused, and not what quota or Pod Security refused", async () => {
    await installFamily(world, "A");
    const api = openApi({ ...accessOf(world.plane, "read"), server: proxy.server }, "fleetmend");
    const pods = `/api/v1/namespaces/${probeNamespace}/pods`;
    expect((await api.request("POST", pods, { body: pod })).status).toBe(403);
    expect(proxy.forbidden().map(({ method, kind, number }) => ({ method, kind, number }))).toEqual([
      { method: "POST", kind: "write", number: 1 },
    ]);
    expect(() => {
      proxy.assertNothingForbidden();
    }).toThrow(/POST .*\/pods.*cannot create resource "pods"/);
    api.close();
  });

  it("answers, swallows, breaks and cuts as it is told, before or after the API server has done what was asked", async () => {
    const api = openApi({ ...accessOf(world.plane, "admin"), server: proxy.server }, "fleetmend");
    const maps = "/api/v1/namespaces/default/configmaps";
    const create = (name: string): Promise<unknown> =>
      api.request("POST", maps, { body: { metadata: { name } } }).then(
        ({ status }) => status,
        () => "broken",
      );
    const exists = async (name: string): Promise<boolean> =>
      (await world.admin.request("GET", `${maps}/${name}`)).status === 200;
    const actions: Record<string, ProxyAction> = {
      passed: { do: "pass" },
      answered: { do: "answer", status: 429 },
      "reset-before": { do: "reset", delivered: false },
      "reset-after": { do: "reset", delivered: true },
      "cut-after": { do: "cut", delivered: true },
    };
    proxy.onRequest = ({ body }) => actions[(body as KubeObject).metadata.name] ?? { do: "pass" };
    const answers: [string, unknown, boolean][] = [];
    for (const name of [...Object.keys(actions), "after-the-cut"]) {
      answers.push([name, await create(name), await exists(name)]);
      await removeIfThere(world.admin, `${maps}/${name}`);
    }
    expect(answers).toEqual([
      ["passed", 201, true],
      ["answered", 429, false],
      ["reset-before", "broken", false],
      ["reset-after", "broken", true],
      ["cut-after", "broken", true],
      ["after-the-cut", "broken", false],
    ]);
    expect(proxy.requests.map(({ number, kind }) => `${number} ${kind}`)).toEqual(
      [1, 2, 3, 4, 5, 6].map((n) => `${n} write`),
    );
    api.close();
  });
});
